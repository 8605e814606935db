package kinst

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kinst/internal/arm"
	"kinst/internal/isa"
	"kinst/internal/kernel"
	"kinst/internal/provider"
)

// A matcher collects the probes that one description means.
type matcher struct {
	provider *Provider
	desc     provider.Desc
	glob     bool // the description leaves the function open

	probes []*provider.Probe
	misses []error        // functions where the named offset is no probe
	left   map[string]int // how many instructions are left out, by reason
	notes  []string
}

// all takes every instruction of a function that can be probed.
func (m *matcher) all(f kernel.Function) error {
	listing, err := m.provider.kernel.Listing(m.provider.arch, f)
	if err != nil {
		return m.skip(f, err)
	}
	for i := range listing.Insts {
		offset := listing.Insts[i].Addr - f.Addr
		if !provider.Matches(m.desc.Name, strconv.FormatUint(offset, 10)) {
			continue
		}
		if reason := listing.Unprobeable(i); reason != "" {
			m.leaveOut(reason)
		} else {
			m.add(listing, i, false)
		}
	}
	return nil
}

// one takes the instruction at an offset.
func (m *matcher) one(f kernel.Function, offset uint64) error {
	listing, err := m.provider.kernel.Listing(m.provider.arch, f)
	if err != nil {
		return m.skip(f, err)
	}
	i, ok := find(listing.Insts, f.Addr+offset)
	switch {
	case !ok:
		m.misses = append(m.misses, boundaryError(listing, offset, i))
	case listing.Unprobeable(i) != "":
		m.misses = append(m.misses, fmt.Errorf("%s: %s", describe(f, offset), listing.Unprobeable(i)))
	default:
		m.add(listing, i, true)
	}
	return nil
}

// find returns the index of the instruction at addr, or of the first behind.
func find(insts []isa.Inst, addr uint64) (int, bool) {
	return slices.BinarySearchFunc(insts, addr, func(in isa.Inst, addr uint64) int {
		switch {
		case in.Addr < addr:
			return -1
		case in.Addr > addr:
			return 1
		}
		return 0
	})
}

// skip leaves out a function that cannot be read, unless it is the one that
// was named.
func (m *matcher) skip(f kernel.Function, err error) error {
	if !m.glob {
		return fmt.Errorf("kinst:%s:%s: %w", f.Module, f.Name, err)
	}
	m.notes = append(m.notes, fmt.Sprintf("kinst:%s:%s is left out: %v", f.Module, f.Name, err))
	return nil
}

func (m *matcher) leaveOut(reason string) {
	if m.left == nil {
		m.left = make(map[string]int)
	}
	m.left[reason]++
}

// add appends the probe of an instruction. Names that share an address are
// names of one probe.
func (m *matcher) add(l *kernel.Listing, i int, named bool) {
	f, addr := l.Function, l.Insts[i].Addr
	offset := addr - f.Addr
	probe := m.provider.probes[addr]
	if probe == nil {
		probe = &provider.Probe{
			Desc: provider.Desc{
				Provider: name,
				Module:   f.Module,
				Function: f.Name,
				Name:     strconv.FormatUint(offset, 10),
			},
			Context: m.provider.context(m.provider.arch.ProbePC + int(l.Landing(i)-addr)),
			Addr:    addr,
			Target:  &target{site: arm.Site{Module: f.Module, Symbol: f.Name, Base: f.Addr, Offset: offset}},
		}
		m.provider.probes[addr] = probe
	}
	if named {
		probe.Target.(*target).named = true
	}
	m.probes = append(m.probes, probe)
}

// result returns what was found. A named offset that is no probe of any
// function is an error; of some functions only, a note.
func (m *matcher) result() ([]*provider.Probe, []string, error) {
	if len(m.probes) == 0 && len(m.misses) > 0 {
		return nil, nil, errors.Join(m.misses...)
	}
	for _, miss := range m.misses {
		m.notes = append(m.notes, miss.Error())
	}
	total := 0
	var reasons []string
	for reason, n := range m.left {
		total += n
		reasons = append(reasons, fmt.Sprintf("%d: %s", n, reason))
	}
	if total > 0 {
		slices.Sort(reasons)
		m.notes = append(m.notes, fmt.Sprintf("%s: %s left out (%s)",
			m.desc, instructions(total), strings.Join(reasons, "; ")))
	}
	if len(m.probes) == 0 {
		return nil, m.notes, provider.NoMatch("%s", strings.Join(m.notes, "; "))
	}
	return m.probes, m.notes, nil
}

func instructions(n int) string {
	if n == 1 {
		return "1 instruction is"
	}
	return fmt.Sprintf("%d instructions are", n)
}

// boundaryError says that no instruction starts at an offset, and where the
// nearest do: i is the first behind it.
func boundaryError(l *kernel.Listing, offset uint64, i int) error {
	f := l.Function
	last := l.Insts[len(l.Insts)-1]
	if size := last.End() - f.Addr; offset >= size {
		return fmt.Errorf("%s: the function has %d bytes; its last instruction starts at %d", describe(f, offset), size, last.Addr-f.Addr)
	}
	before := l.Insts[i-1].Addr - f.Addr
	if i == len(l.Insts) {
		return fmt.Errorf("%s: no instruction starts there; the nearest is at %d", describe(f, offset), before)
	}
	return fmt.Errorf("%s: no instruction starts there; the nearest are at %d and %d", describe(f, offset), before, l.Insts[i].Addr-f.Addr)
}

// describe writes a probe as the user would: without the module where it is
// the kernel's own.
func describe(f kernel.Function, offset uint64) string {
	return arm.Site{Module: f.Module, Symbol: f.Name, Base: f.Addr, Offset: offset}.String()
}
