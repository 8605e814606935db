// Package usersites arms the probes of the providers whose probes are
// instructions of user processes.
package usersites

import (
	"context"
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	"kinst/internal/provider"
	"kinst/internal/uprobe"
	"kinst/internal/userland"
)

// A Target is what must be armed for a probe: it is the probe's Target.
type Target struct {
	PID    int
	Object *userland.Object
	Sites  []Site
	Named  bool // by its address: to leave it out is an error
}

// A Site is a place in the object's file.
type Site struct {
	Addr      uint64 // of the instruction
	Semaphore uint64 // see uprobe.Site
}

// Context returns the kind of probes of one process, to be filled in.
func Context() *provider.Context {
	return &provider.Context{Hook: provider.HookUprobe, Attach: uprobe.AttachType(), Lookup: provider.LookupIP}
}

// NewProbe makes a probe that fires at addresses of a function of the target's
// object.
func NewProbe(d provider.Desc, c *provider.Context, function uint64, t *Target) (*provider.Probe, error) {
	mapped := make([]uint64, len(t.Sites))
	for i, s := range t.Sites {
		var ok bool
		if mapped[i], ok = t.Object.Addr(s.Addr); !ok {
			return nil, fmt.Errorf("%s: process %d has not mapped that part of %s", d, t.PID, t.Object.Path)
		}
	}
	entry, _ := t.Object.Addr(function)
	return &provider.Probe{Desc: d, Context: c, Addr: mapped[0], More: mapped[1:], Entry: entry, Target: t}, nil
}

// Enable arms the probes of each program. Those that the kernel refuses are
// left out, unless they were named by their address.
func Enable(ctx context.Context, enablings []provider.Enabling, progress func(done, total int)) (provider.Armed, error) {
	a := new(armed)
	done, total := 0, provider.Count(enablings)
	for _, e := range enablings {
		if err := a.arm(ctx, e.Program, e.Probes); err != nil {
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

// arm arms probes of one process. One that has several sites is armed whole or
// not at all.
func (a *armed) arm(ctx context.Context, prog *ebpf.Program, probes []*provider.Probe) error {
	sites, owners := sitesOf(probes)
	pid := probes[0].Target.(*Target).PID
	group, refusals, err := uprobe.Arm(ctx, prog, pid, sites, func(int) {})
	if err != nil {
		return err
	}
	refused := make(map[*provider.Probe]bool)
	partly := false
	for _, r := range refusals {
		probe := owners[r.Index]
		if probe.Target.(*Target).Named {
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
		a.programs = append(a.programs, prog)
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
	return a.arm(ctx, prog, left)
}

// sitesOf lists the sites of probes, and which probe each is of.
func sitesOf(probes []*provider.Probe) (sites []uprobe.Site, owners []*provider.Probe) {
	links := make(map[*userland.Object]string)
	for _, probe := range probes {
		t := probe.Target.(*Target)
		if links[t.Object] == "" {
			links[t.Object] = t.Object.Link()
		}
		for _, s := range t.Sites {
			offset, _ := t.Object.Offset(s.Addr)
			sites = append(sites, uprobe.Site{File: links[t.Object], Offset: offset, Semaphore: s.Semaphore})
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
	groups := a.groups
	a.groups = nil
	return uprobe.Close(groups...)
}
