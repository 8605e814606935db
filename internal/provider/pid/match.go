package pid

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kinst/internal/provider"
	"kinst/internal/provider/usersites"
	"kinst/internal/userland"
)

// absolute is the name of a function that stands for none: the probe's name is
// an address.
const absolute = "-"

const (
	entryName  = "entry"
	returnName = "return"
)

// A matcher collects the probes that one description means.
type matcher struct {
	ctx      context.Context
	provider *Provider
	process  *process
	desc     provider.Desc

	probes []*provider.Probe
	misses []error // where what is named is no probe
	left   provider.LeftOut
	notes  []string
	unseen int // functions that may be left unseen
	barren int // functions without a return
}

func (m *matcher) match() error {
	objects, err := m.objects()
	if err != nil {
		return err
	}
	offset, named, err := parseName(m.desc)
	if err != nil {
		return err
	}
	if m.desc.Function == absolute {
		if !named {
			return provider.NoMatch("the function - takes an address, as in %s:%s:-:0x1139", m.desc.Provider, m.desc.Module)
		}
		return m.absolute(objects, offset)
	}
	for _, o := range objects {
		if err := m.object(o, offset, named); err != nil {
			return err
		}
	}
	return m.result()
}

func parseName(d provider.Desc) (offset uint64, named bool, err error) {
	if d.Name == entryName || d.Name == returnName {
		return 0, false, nil
	}
	offset, named, err = provider.ParseOffset(d.Name)
	if none := (*provider.NoMatchError)(nil); errors.As(err, &none) {
		if _, hex := strconv.ParseUint(d.Name, 16, 64); hex == nil {
			return 0, false, provider.NoMatch("%q is not an offset; hexadecimal ones are written with 0x, 0x%[1]s", d.Name)
		}
		return 0, false, provider.NoMatch("%q is neither entry nor return nor an offset such as 9 or 0x9", d.Name)
	}
	return offset, named, err
}

// objects returns the objects that the description's module names.
func (m *matcher) objects() ([]*userland.Object, error) {
	var found []*userland.Object
	var names []string
	for _, o := range m.process.Objects {
		names = append(names, o.Name)
		if !o.Matches(m.desc.Module, provider.Matches) {
			continue
		}
		if why := o.Foreign(); why != "" {
			return nil, fmt.Errorf("%s of process %d: %s", o.Path, m.process.PID, why)
		}
		found = append(found, o)
	}
	if found != nil {
		return found, nil
	}
	if err := errors.Join(m.process.Unreadable...); err != nil {
		return nil, err
	}
	return nil, provider.NoMatch("process %d has not loaded %s; it has %s", m.process.PID, m.desc.Module, strings.Join(names, ", "))
}

// object takes what the description names in one object.
func (m *matcher) object(o *userland.Object, offset uint64, named bool) error {
	functions, err := o.Functions(m.desc.Function)
	if errors.Is(err, userland.ErrNoFunction) {
		m.misses = append(m.misses, fmt.Errorf("%s: %w", o.Name, err))
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s of process %d: %w", o.Path, m.process.PID, err)
	}
	for _, f := range functions {
		if err := m.ctx.Err(); err != nil {
			return err
		}
		if err := m.function(o, f, offset, named); err != nil {
			return err
		}
		if len(m.probes) > maxProbes {
			return fmt.Errorf("%s names more than %d probes: %w", m.desc, maxProbes, errTooMany)
		}
	}
	return nil
}

// function takes what the description names in one function.
func (m *matcher) function(o *userland.Object, f userland.Function, offset uint64, named bool) error {
	if f.Resolver {
		m.miss(o, f, "the dynamic linker calls it to choose the function of that name (it is an IFUNC); name the one that it chooses"+choices(o, f.Name))
		return nil
	}
	if m.desc.Name == entryName && !m.named() {
		// Most of these are many, and their first instructions will do.
		f.Size = min(f.Size, uint64(m.provider.arch.MaxLen))
	}
	l, err := o.Listing(f)
	if err != nil {
		m.misses = append(m.misses, fmt.Errorf("%s:%s: %w", m.desc.Provider, o.Name, err))
		return nil
	}
	if named {
		return m.one(o, l, offset)
	}
	if provider.Matches(m.desc.Name, entryName) {
		if err := m.entry(o, l); err != nil {
			return err
		}
	}
	if provider.Matches(m.desc.Name, returnName) {
		if err := m.returns(o, l); err != nil {
			return err
		}
	}
	if m.desc.Name == "" || provider.IsGlob(m.desc.Name) {
		return m.all(o, l)
	}
	return nil
}

// choices lists functions that a resolver may choose among. By custom their
// names begin with two underscores and its own: __memcpy_evex_unaligned.
func choices(o *userland.Object, name string) string {
	functions, err := o.Functions("__" + name + "_*")
	if err != nil {
		return ""
	}
	var names []string
	for _, f := range functions {
		names = append(names, f.Name)
	}
	return ", such as " + strings.Join(names, ", ")
}

// named reports whether the description names one function.
func (m *matcher) named() bool {
	return m.desc.Function != "" && !provider.IsGlob(m.desc.Function)
}

func (m *matcher) entry(o *userland.Object, l *userland.Listing) error {
	if why := o.Unprobeable(l.Insts[0]); why != "" {
		m.miss(o, l.Function, why)
		return nil
	}
	return m.add(entry, o, l.Function, entryName, []uint64{l.Function.Addr}, false)
}

func (m *matcher) returns(o *userland.Object, l *userland.Listing) error {
	r := findReturns(o, l)
	if r.unseen {
		m.unseen++
	}
	if len(r.addrs) == 0 {
		m.barren++
		return nil
	}
	return m.add(exit, o, l.Function, returnName, r.addrs, false)
}

// all takes every instruction of a function that can be probed.
func (m *matcher) all(o *userland.Object, l *userland.Listing) error {
	for _, in := range l.Insts {
		name := strconv.FormatUint(in.Addr-l.Function.Addr, 10)
		if !provider.Matches(m.desc.Name, name) {
			continue
		}
		if why := o.Unprobeable(in); why != "" {
			m.left.Add(why)
			continue
		}
		if err := m.add(instruction, o, l.Function, name, []uint64{in.Addr}, false); err != nil {
			return err
		}
	}
	return nil
}

// one takes the instruction at an offset.
func (m *matcher) one(o *userland.Object, l *userland.Listing, offset uint64) error {
	name := strconv.FormatUint(offset, 10)
	d := m.probeDesc(o, l.Function, name)
	i, ok := provider.FindInst(l.Insts, l.Function.Addr+offset)
	if !ok {
		m.misses = append(m.misses, provider.BoundaryError(d.String(), l.Insts, l.Function.Addr+offset, provider.OffsetFrom(l.Function.Addr)))
		return nil
	}
	if why := o.Unprobeable(l.Insts[i]); why != "" {
		m.misses = append(m.misses, fmt.Errorf("%s: %s", d, why))
		return nil
	}
	return m.add(instruction, o, l.Function, name, []uint64{l.Insts[i].Addr}, true)
}

// absolute takes the instruction at an address: one of the object's file, as
// objdump shows it, or of the process's memory.
func (m *matcher) absolute(objects []*userland.Object, addr uint64) error {
	for _, o := range objects {
		vaddr, ok := addr, true
		if _, inFile := o.Offset(addr); !inFile {
			vaddr, ok = o.At(addr)
		}
		if !ok {
			continue
		}
		f, err := o.FunctionAt(vaddr)
		if err != nil {
			return fmt.Errorf("%s: whether an instruction starts there cannot be told, because no function is known that holds it: %w", m.desc, err)
		}
		l, err := o.Listing(f)
		if err != nil {
			return fmt.Errorf("%s: %w", m.desc, err)
		}
		if _, ok := provider.FindInst(l.Insts, vaddr); !ok {
			return provider.BoundaryError(m.desc.String(), l.Insts, vaddr, hexadecimal)
		}
		f.Name = absolute
		l.Function = f
		return m.atAddress(o, l, vaddr)
	}
	return provider.NoMatch("%#x is not in the text of %s", addr, m.desc.Module)
}

func hexadecimal(addr uint64) string { return fmt.Sprintf("%#x", addr) }

func (m *matcher) atAddress(o *userland.Object, l *userland.Listing, vaddr uint64) error {
	i, _ := provider.FindInst(l.Insts, vaddr)
	if why := o.Unprobeable(l.Insts[i]); why != "" {
		return fmt.Errorf("%s: %s", m.desc, why)
	}
	return m.add(instruction, o, l.Function, hexadecimal(vaddr), []uint64{vaddr}, true)
}

func (m *matcher) probeDesc(o *userland.Object, f userland.Function, name string) provider.Desc {
	return provider.Desc{Provider: m.process.name, Module: o.Name, Function: f.Name, Name: name}
}

func (m *matcher) add(k kind, o *userland.Object, f userland.Function, name string, addrs []uint64, named bool) error {
	probe, err := m.process.probe(k, o, m.probeDesc(o, f, name), f.Addr, addrs)
	if err != nil {
		return err
	}
	if named {
		probe.Target.(*usersites.Target).Named = true
	}
	m.probes = append(m.probes, probe)
	return nil
}

func (m *matcher) miss(o *userland.Object, f userland.Function, why string) {
	m.misses = append(m.misses, fmt.Errorf("%s: %s", m.probeDesc(o, f, m.desc.Name), why))
}

// maxMisses is how many misses are told one by one.
const maxMisses = 3

// result makes an error of the misses if nothing was found, and notes if
// something was.
func (m *matcher) result() error {
	if m.unseen > 0 {
		m.notes = append(m.notes, fmt.Sprintf("%s: %d of the functions have jumps that may leave them without being seen as a return: to an address in a register or in memory, or to another function on a condition", m.desc, m.unseen))
	}
	if m.barren > 0 {
		m.misses = append(m.misses, fmt.Errorf("%d of the functions have no instruction that returns", m.barren))
	}
	if note := m.left.Note(m.desc); note != "" {
		m.notes = append(m.notes, note)
	}
	if len(m.probes) > 0 {
		if m.named() {
			for _, miss := range m.misses {
				m.notes = append(m.notes, miss.Error())
			}
		} else if len(m.misses) > 0 {
			m.notes = append(m.notes, fmt.Sprintf("%s: %d functions are left out, such as: %v", m.desc, len(m.misses), m.misses[0]))
		}
		return nil
	}
	return m.nothing()
}

// nothing says why nothing was found.
func (m *matcher) nothing() error {
	texts := make([]string, 0, maxMisses)
	for _, miss := range m.misses[:min(len(m.misses), maxMisses)] {
		texts = append(texts, miss.Error())
	}
	if none := len(m.misses) - len(texts); none > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", none))
	}
	if slices.ContainsFunc(m.misses, func(err error) bool { return !errors.Is(err, userland.ErrNoFunction) }) {
		return errors.New(strings.Join(texts, "; "))
	}
	return provider.NoMatch("%s", strings.Join(append(texts, m.notes...), "; "))
}
