package kinst

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"kinst/internal/arm"
	"kinst/internal/kernel"
	"kinst/internal/provider"
)

// A matcher collects the probes that one description means.
type matcher struct {
	provider *Provider
	desc     provider.Desc
	glob     bool // the description leaves the function open

	probes []*provider.Probe
	misses []error // functions where the named offset is no probe
	left   provider.LeftOut
	notes  []string
}

// bounded returns an error once there are more probes than the description may
// mean. To go on would take memory for each.
func (m *matcher) bounded() error {
	if m.desc.Most == 0 || len(m.probes) <= m.desc.Most {
		return nil
	}
	return fmt.Errorf("%s means more than %d instructions, which are too many to be traced at once: name fewer functions, or one offset", m.desc, m.desc.Most)
}

// all takes every instruction of a function that can be probed.
func (m *matcher) all(f kernel.Function) error {
	listing, err := m.provider.listing(f)
	if err != nil {
		return m.skip(f, err)
	}
	for i := range listing.Insts {
		offset := listing.Insts[i].Addr - f.Addr
		if !provider.Matches(m.desc.Name, strconv.FormatUint(offset, 10)) {
			continue
		}
		if reason := listing.Unprobeable(i); reason != "" {
			m.left.Add(reason)
		} else {
			m.add(listing, i, false)
		}
	}
	return nil
}

// one takes the instruction at an offset.
func (m *matcher) one(f kernel.Function, offset uint64) error {
	listing, err := m.provider.listing(f)
	if err != nil {
		return m.skip(f, err)
	}
	i, ok := provider.FindInst(listing.Insts, f.Addr+offset)
	switch {
	case !ok:
		m.misses = append(m.misses, provider.BoundaryError(describe(f, offset), listing.Insts, f.Addr+offset, provider.OffsetFrom(f.Addr)))
	case listing.Unprobeable(i) == "":
		m.add(listing, i, true)
	case listing.Breakpointable(i) && !m.glob:
		m.addBreakpoint(listing, i)
	default:
		m.misses = append(m.misses, fmt.Errorf("%s: %s", describe(f, offset), listing.Unprobeable(i)))
	}
	return nil
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

// add appends the probe of an instruction. Names that share an address are
// names of one probe.
func (m *matcher) add(l *kernel.Listing, i int, named bool) {
	bias := m.provider.arch.ProbePC + int(l.Landing(i)-l.Insts[i].Addr)
	t := m.addOf(l, i, m.provider.context(bias))
	t.named = t.named || named
}

// addBreakpoint appends the probe of an instruction that takes a hardware
// breakpoint.
func (m *matcher) addBreakpoint(l *kernel.Listing, i int) {
	t := m.addOf(l, i, m.provider.debug)
	t.named, t.breakpoint = true, true
	m.notes = append(m.notes, fmt.Sprintf("%s takes a hardware breakpoint: a kprobe is not possible, %s", t.site, l.Unprobeable(i)))
}

func (m *matcher) addOf(l *kernel.Listing, i int, c *provider.Context) *target {
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
			Context: c,
			Addr:    addr,
			Target:  &target{site: arm.Site{Module: f.Module, Symbol: f.Name, Base: f.Addr, Offset: offset}},
		}
		m.provider.probes[addr] = probe
		if l.IsEntry(i) {
			m.provider.chooseAtTracer(probe, l, i)
		}
	}
	m.probes = append(m.probes, probe)
	return probe.Target.(*target)
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
	if note := m.left.Note(m.desc); note != "" {
		m.notes = append(m.notes, note)
	}
	if len(m.probes) == 0 {
		return nil, m.notes, provider.NoMatch("%s", strings.Join(m.notes, "; "))
	}
	return m.probes, m.notes, nil
}

// describe writes a probe as the user would: without the module where it is
// the kernel's own.
func describe(f kernel.Function, offset uint64) string {
	return arm.Site{Module: f.Module, Symbol: f.Name, Base: f.Addr, Offset: offset}.String()
}
