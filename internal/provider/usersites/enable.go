// Package usersites arms the probes of the providers whose probes are
// instructions of user processes.
package usersites

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cilium/ebpf"

	"kinst/internal/provider"
	"kinst/internal/uprobe"
	"kinst/internal/userland"
)

// A Provider is one whose processes may change.
type Provider interface {
	provider.Provider
	// Renew has Match return the probes of what a process, as it is now, has
	// mapped since it was last looked at; or if it has executed a program, of all
	// that it has mapped when Match is called. It reports whether there can be
	// any.
	Renew(m *userland.Process, executed bool) bool
}

// An Armed is what Enable of such a provider returns.
type Armed interface {
	provider.Armed
	// Retire disarms the probes of processes in objects that are gone.
	Retire(gone func(pid int, o *userland.Object) bool) error
}

// A Process is one that may change. Its objects are those that are new since it
// was last looked at.
type Process struct {
	*userland.Process
	seen []*userland.Object // all so far, where they are
}

// NewProcess returns a process of which all objects are new.
func NewProcess(m *userland.Process) Process { return Process{m, m.Objects} }

// Look makes it the process as it is now.
func (p *Process) Look(m *userland.Process) {
	fresh := &userland.Process{PID: m.PID, Unreadable: m.Unreadable}
	old := &userland.Process{Objects: slices.DeleteFunc(slices.Clone(p.seen), m.Moved)}
	for _, o := range m.Objects {
		if !old.Has(o) {
			fresh.Objects = append(fresh.Objects, o)
		}
	}
	p.Process, p.seen = fresh, append(old.Objects, fresh.Objects...)
}

// Renew is Provider.Renew of a provider that knows processes by their IDs: one
// that has executed a program is forgotten, another looked at again by look.
func Renew[P any](processes map[int]*P, m *userland.Process, executed bool, look func(*P) (probes bool)) bool {
	known := processes[m.PID]
	switch {
	case executed:
		delete(processes, m.PID)
		return true
	case known == nil:
		return false
	}
	return look(known)
}

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
		a.programs = append(a.programs, e.Program)
		for _, probes := range byObject(e.Probes) {
			if err := a.arm(ctx, e.Program, probes); err != nil {
				return nil, errors.Join(err, a.Close())
			}
		}
		done += len(e.Probes)
		progress(done, total)
	}
	return a, nil
}

// byObject puts together the probes of the same object.
func byObject(probes []*provider.Probe) [][]*provider.Probe {
	var lists [][]*provider.Probe
	index := make(map[*userland.Object]int)
	for _, p := range probes {
		o := p.Target.(*Target).Object
		if _, ok := index[o]; !ok {
			index[o] = len(lists)
			lists = append(lists, nil)
		}
		lists[index[o]] = append(lists[index[o]], p)
	}
	return lists
}

// armed is the probes of a session that are in the kernel.
type armed struct {
	groups   []group
	programs []*ebpf.Program
	refused  []provider.Refusal
}

// group is the probes of a program in one object.
type group struct {
	*uprobe.Group
	target *Target // of one of them
}

// arm arms probes of one object. One that has several sites is armed whole or
// not at all.
func (a *armed) arm(ctx context.Context, prog *ebpf.Program, probes []*provider.Probe) error {
	sites, owners := sitesOf(probes)
	target := probes[0].Target.(*Target)
	armed, refusals, err := uprobe.Arm(ctx, prog, target.PID, sites, func(int) {})
	if err != nil {
		return err
	}
	refused := make(map[*provider.Probe]bool)
	partly := false
	for _, r := range refusals {
		probe := owners[r.Index]
		if probe.Target.(*Target).Named {
			return errors.Join(fmt.Errorf("%s: the kernel refuses a probe there: %w", probe.Desc, r.Err), armed.Close())
		}
		if !refused[probe] {
			a.refused = append(a.refused, provider.Refusal{Probe: probe, Err: r.Err})
		}
		refused[probe] = true
		partly = partly || len(probe.More) > 0
	}
	if !partly {
		a.groups = append(a.groups, group{armed, target})
		return nil
	}
	var left []*provider.Probe
	for _, probe := range probes {
		if !refused[probe] {
			left = append(left, probe)
		}
	}
	if err := armed.Close(); err != nil || len(left) == 0 {
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
	return a.Retire(func(int, *userland.Object) bool { return true })
}

// Retire implements Armed.
func (a *armed) Retire(gone func(pid int, o *userland.Object) bool) error {
	var out []*uprobe.Group
	a.groups = slices.DeleteFunc(a.groups, func(g group) bool {
		if !gone(g.target.PID, g.target.Object) {
			return false
		}
		out = append(out, g.Group)
		return true
	})
	return uprobe.Close(out...)
}
