package pid

import (
	"context"
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	"kinst/internal/provider"
	"kinst/internal/uprobe"
	"kinst/internal/userland"
)

// Enable arms the probes of each program. Those that the kernel refuses are
// left out, unless they were named by their offset.
func (p *Provider) Enable(ctx context.Context, enablings []provider.Enabling, progress func(done, total int)) (provider.Armed, error) {
	a := new(armed)
	done, total := 0, provider.Count(enablings)
	for _, e := range enablings {
		if err := a.arm(ctx, e, e.Probes); err != nil {
			return nil, errors.Join(err, a.Close())
		}
		done += len(e.Probes)
		progress(done, total)
	}
	return a, nil
}

// armed is the probes of a session that are in the kernel.
type armed struct {
	groups   []*uprobe.Group
	programs []*ebpf.Program
	refused  []provider.Refusal
}

// arm arms probes of an enabling. A probe that has several sites is armed
// whole or not at all.
func (a *armed) arm(ctx context.Context, e provider.Enabling, probes []*provider.Probe) error {
	sites, owners := sitesOf(probes)
	pid := probes[0].Target.(*target).process.PID
	group, refusals, err := uprobe.Arm(ctx, e.Program, pid, sites, func(int) {})
	if err != nil {
		return err
	}
	refused := make(map[*provider.Probe]bool)
	partly := false
	for _, r := range refusals {
		probe := owners[r.Index]
		if probe.Target.(*target).named {
			return errors.Join(fmt.Errorf("%s: the kernel refuses a probe there: %w", probe.Desc, r.Err), group.Close())
		}
		if !refused[probe] {
			a.refused = append(a.refused, provider.Refusal{Probe: probe, Err: r.Err})
		}
		refused[probe] = true
		partly = partly || len(probe.More) > 0
	}
	if !partly {
		a.groups = append(a.groups, group)
		a.programs = append(a.programs, e.Program)
		return nil
	}
	var left []*provider.Probe
	for _, probe := range probes {
		if !refused[probe] {
			left = append(left, probe)
		}
	}
	if err := group.Close(); err != nil || len(left) == 0 {
		return err
	}
	return a.arm(ctx, e, left)
}

// sitesOf lists the sites of probes, and which probe each is of.
func sitesOf(probes []*provider.Probe) (sites []uprobe.Site, owners []*provider.Probe) {
	links := make(map[*userland.Object]string)
	for _, probe := range probes {
		t := probe.Target.(*target)
		if links[t.object] == "" {
			links[t.object] = t.object.Link()
		}
		for _, addr := range t.addrs {
			offset, _ := t.object.Offset(addr)
			sites = append(sites, uprobe.Site{File: links[t.object], Offset: offset})
			owners = append(owners, probe)
		}
	}
	return sites, owners
}

// Refused implements provider.Armed.
func (a *armed) Refused() []provider.Refusal { return a.refused }

// Missed implements provider.Armed.
func (a *armed) Missed() (uint64, error) { return provider.RecursionMisses(a.programs) }

// Close disarms every probe.
func (a *armed) Close() error {
	var errs []error
	for _, g := range a.groups {
		errs = append(errs, g.Close())
	}
	a.groups = nil
	return errors.Join(errs...)
}
