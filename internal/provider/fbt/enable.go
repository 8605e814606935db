package fbt

import (
	"context"
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"kinst/internal/arm"
	"kinst/internal/provider"
)

// Enable implements provider.Provider. Probes that the kernel refuses are left
// out, unless they were named in full.
func (p *Provider) Enable(ctx context.Context, enablings []provider.Enabling, progress func(done, total int)) (provider.Armed, error) {
	a := &armed{provider: p}
	done, total := 0, provider.Count(enablings)
	for _, e := range enablings {
		w := p.ways.by[e.Context]
		var err error
		switch {
		case w.multi:
			err = a.multi(w, e)
		case w == p.ways.entry:
			err = a.entries(ctx, e, func(n, _ int) { progress(done+n, total) })
		default:
			err = a.returns(ctx, w, e, func(n, _ int) { progress(done+n, total) })
		}
		if err != nil {
			return nil, errors.Join(err, a.Close())
		}
		done += len(e.Probes)
		progress(done, total)
	}
	return a, nil
}

// armed is the probes of a session that are in the kernel.
type armed struct {
	provider *Provider
	links    []link.Link
	groups   []*arm.Group
	programs []*ebpf.Program
	refused  []provider.Refusal
}

// multi puts a program on all functions at once.
func (a *armed) multi(w *way, e provider.Enabling) error {
	opts := link.KprobeMultiOptions{
		Addresses: make([]uintptr, len(e.Probes)),
		Cookies:   make([]uint64, len(e.Probes)),
	}
	for i, probe := range e.Probes {
		opts.Addresses[i] = uintptr(probe.Target.(*target).Addr)
		opts.Cookies[i] = uint64(e.First) + uint64(i)
	}
	attach := link.KprobeMulti
	if w.returns {
		attach = link.KretprobeMulti
	}
	l, err := attach(e.Program, opts)
	if err != nil {
		return fmt.Errorf("enabling %s: %w", describe(e.Probes), err)
	}
	a.links = append(a.links, l)
	a.programs = append(a.programs, e.Program)
	return nil
}

// describe names probes for a message.
func describe(probes []*provider.Probe) string {
	if len(probes) == 1 {
		return probes[0].Desc.String()
	}
	return fmt.Sprintf("%d probes from %s on", len(probes), probes[0].Desc)
}

// fewEntries is how many entries are put on the tracer's nop itself, where to
// hit them takes the kernel half the time.
const fewEntries = 64

// entries puts sites at the beginning of functions: where there are many,
// behind the tracer's nop, and on the nop where the kernel does not take that.
func (a *armed) entries(ctx context.Context, e provider.Enabling, progress func(done, total int)) error {
	if len(e.Probes) <= fewEntries {
		return a.arm(ctx, e, atCode, a.refuse, progress)
	}
	var again []*provider.Probe
	err := a.arm(ctx, e, atBody, func(r provider.Refusal) error {
		again = append(again, r.Probe)
		return nil
	}, progress)
	if err != nil || again == nil {
		return err
	}
	e.Probes = again
	return a.arm(ctx, e, atCode, a.refuse, func(int, int) {})
}

func atCode(p *provider.Probe) []arm.Site { return []arm.Site{site(p, p.Target.(*target).Code)} }
func atBody(p *provider.Probe) []arm.Site { return []arm.Site{site(p, p.Target.(*target).Body)} }

func site(p *provider.Probe, addr uint64) arm.Site {
	return arm.Site{Module: p.Module, Symbol: p.Function, Base: p.Entry, Offset: addr - p.Entry}
}

// returns puts sites on return instructions, or has return addresses replaced.
func (a *armed) returns(ctx context.Context, w *way, e provider.Enabling, progress func(done, total int)) error {
	if w.returns {
		return a.arm(ctx, e, atReturn, a.refuse, progress)
	}
	return a.arm(ctx, e, atExits, func(r provider.Refusal) error {
		if len(r.Probe.More) > 0 {
			r.Err = fmt.Errorf("not all of its returns are seen: %w", r.Err)
		}
		return a.refuse(r)
	}, progress)
}

func atReturn(p *provider.Probe) []arm.Site {
	s := site(p, p.Entry)
	s.Return = true
	return []arm.Site{s}
}

func atExits(p *provider.Probe) []arm.Site {
	sites := []arm.Site{site(p, p.Addr)}
	for _, addr := range p.More {
		sites = append(sites, site(p, addr))
	}
	return sites
}

// arm puts a program on the sites of probes, and tells refused of those that
// the kernel does not take.
func (a *armed) arm(ctx context.Context, e provider.Enabling, sitesOf func(*provider.Probe) []arm.Site,
	refused func(provider.Refusal) error, progress func(done, total int)) error {
	session, err := a.provider.open()
	if err != nil {
		return err
	}
	var sites []arm.Site
	probes := make(map[arm.Site]*provider.Probe)
	for _, probe := range e.Probes {
		for _, s := range sitesOf(probe) {
			sites = append(sites, s)
			probes[s] = probe
		}
	}
	group, refusals, err := session.Arm(ctx, []*ebpf.Program{e.Program}, sites, progress)
	if err != nil {
		return err
	}
	a.groups = append(a.groups, group)
	a.programs = append(a.programs, e.Program)
	for _, r := range refusals {
		if err := refused(provider.Refusal{Probe: probes[r.Site], Err: r.Err}); err != nil {
			return err
		}
	}
	return nil
}

// refuse notes a probe that the kernel does not take. If it was named, that is
// an error.
func (a *armed) refuse(r provider.Refusal) error {
	if r.Probe.Target.(*target).named {
		return fmt.Errorf("%s: the kernel refuses a probe there: %w", r.Probe.Desc, r.Err)
	}
	a.refused = append(a.refused, r)
	return nil
}

// Refused implements provider.Armed.
func (a *armed) Refused() []provider.Refusal { return a.refused }

// Missed implements provider.Armed.
func (a *armed) Missed() (uint64, error) {
	missed, err := provider.RecursionMisses(a.programs)
	if err != nil {
		return missed, err
	}
	n, err := arm.Missed(a.groups)
	return missed + n, err
}

// Close disarms every probe.
func (a *armed) Close() error {
	var errs []error
	for _, l := range a.links {
		errs = append(errs, l.Close())
	}
	for _, g := range a.groups {
		errs = append(errs, g.Disarm())
	}
	a.links, a.groups = nil, nil
	return errors.Join(errs...)
}
