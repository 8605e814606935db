// Package usdt is the provider of the probes that programs and libraries bring
// along (user-level statically defined tracing): NAMEPID:OBJECT:FUNCTION:PROBE,
// where NAME is what the program calls its provider. They are found in the
// files that the process has mapped when a description first names it, and in
// what it has mapped since when Renew is called.
package usdt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kinst/internal/isa"
	"kinst/internal/provider"
	"kinst/internal/provider/usersites"
	"kinst/internal/userland"
)

// A Provider is the usdt provider of one session.
type Provider struct {
	arch      *isa.Arch
	store     *userland.Store
	settle    func(pid int) error
	processes map[int]*process
}

var _ provider.Provider = (*Provider)(nil)

// New returns the provider. Before it looks at a process, it has settle wait
// for the process to have its libraries loaded.
func New(arch *isa.Arch, store *userland.Store, settle func(pid int) error) *Provider {
	return &Provider{arch: arch, store: store, settle: settle, processes: make(map[int]*process)}
}

// Name returns "*[0-9]".
func (*Provider) Name() string { return "*[0-9]" }

// process is the static probes of a process, in the objects that are new since
// it was last looked at.
type process struct {
	usersites.Process
	contexts []*provider.Context // one for each way to find the arguments
	probes   []*provider.Probe
	notes    []string
}

// Match returns the probes that a description names. The process must be named
// in it, at the end of the provider.
func (p *Provider) Match(_ context.Context, d provider.Desc) ([]*provider.Probe, []string, error) {
	name := strings.TrimRight(d.Provider, "0123456789")
	pid, err := strconv.Atoi(d.Provider[len(name):])
	if err != nil || pid == 0 || name == "" || name == "pid" {
		return nil, nil, provider.NoMatch("")
	}
	proc, err := p.process(pid)
	if errors.Is(err, userland.ErrNoProcess) {
		return nil, nil, provider.NoMatch("%v", err)
	}
	if err != nil {
		return nil, nil, err
	}
	var found []*provider.Probe
	for _, probe := range proc.probes {
		if provider.Matches(name, strings.TrimRight(probe.Provider, "0123456789")) && matches(d, probe) {
			found = append(found, probe)
		}
	}
	if found == nil {
		return nil, proc.notes, proc.none(name)
	}
	return found, proc.notes, nil
}

// matches reports whether a description of a process means one of its probes.
// Of two underscores in a probe's name programs make a hyphen in D, as DTrace
// does; either is taken.
func matches(d provider.Desc, probe *provider.Probe) bool {
	return probe.Target.(*usersites.Target).Object.Matches(d.Module, provider.Matches) &&
		provider.Matches(d.Function, probe.Function) &&
		(provider.Matches(d.Name, probe.Name) || d.Name == strings.ReplaceAll(probe.Name, "-", "__"))
}

// none says which providers there are.
func (p *process) none(name string) error {
	var names []string
	for _, probe := range p.probes {
		if !slices.Contains(names, probe.Provider) {
			names = append(names, probe.Provider)
		}
	}
	switch {
	case len(names) == 0:
		return provider.NoMatch("process %d has no static probes", p.PID)
	case slices.Contains(names, name+strconv.Itoa(p.PID)):
		return provider.NoMatch("the provider has no such probe; kinst -l -n '%s%d:::' lists those that it has", name, p.PID)
	}
	return provider.NoMatch("process %d has the providers %s", p.PID, strings.Join(names, ", "))
}

// process finds the static probes of a process once.
func (p *Provider) process(pid int) (*process, error) {
	if known := p.processes[pid]; known != nil {
		return known, nil
	}
	if err := p.settle(pid); err != nil {
		return nil, err
	}
	mapped, err := p.store.Process(pid)
	if err != nil {
		return nil, err
	}
	proc := &process{Process: usersites.NewProcess(mapped)}
	p.find(proc)
	p.processes[pid] = proc
	return proc, nil
}

// find finds the static probes of a process's objects.
func (p *Provider) find(proc *process) {
	proc.probes, proc.notes = nil, nil
	seen := make(map[*userland.File]bool)
	for _, o := range proc.Objects {
		if seen[o.File] {
			continue // a program cannot be armed twice at one place
		}
		seen[o.File] = true
		static, err := o.StaticProbes()
		if err != nil {
			proc.note(o, err)
			continue
		}
		for _, s := range static {
			if err := p.add(proc, o, s); err != nil {
				proc.note(o, fmt.Errorf("%s:%s is left out: %w", s.Provider, s.Name, err))
			}
		}
	}
}

// Renew implements usersites.Provider.
func (p *Provider) Renew(m *userland.Process, executed bool) bool {
	return usersites.Renew(p.processes, m, executed, func(known *process) bool {
		known.Look(m)
		p.find(known)
		return len(known.probes) > 0
	})
}

func (p *process) note(o *userland.Object, err error) {
	p.notes = append(p.notes, fmt.Sprintf("%s of process %d: %v", o.Path, p.PID, err))
}

// add makes a probe, or adds a site to one that is known: a function may have
// several sites of a probe. Where they hand over the arguments in different
// ways they are probes of the same name.
func (p *Provider) add(proc *process, o *userland.Object, s userland.StaticProbe) error {
	if why := o.Foreign(); why != "" {
		return errors.New(why)
	}
	in, err := o.InstructionAt(s.Addr)
	if err != nil {
		return err
	}
	if !in.Kind.Is(isa.Nop) {
		return fmt.Errorf("at %#x there is no nop for it, so it is not known to be an instruction", s.Addr)
	}
	places, err := p.places(o, s)
	if err != nil {
		return err
	}
	d := provider.Desc{
		Provider: s.Provider + strconv.Itoa(proc.PID),
		Module:   o.Name,
		Name:     strings.ReplaceAll(s.Name, "__", "-"),
	}
	f, err := o.FunctionAt(s.Addr)
	if err == nil {
		d.Function = f.Name
	}
	c := proc.context(places)
	site := usersites.Site{Addr: s.Addr, Semaphore: s.Semaphore}
	for _, known := range proc.probes {
		t := known.Target.(*usersites.Target)
		if known.Desc == d && known.Context == c && t.Object == o {
			addr, _ := o.Addr(s.Addr)
			t.Sites = append(t.Sites, site)
			known.More = append(known.More, addr)
			return nil
		}
	}
	probe, err := usersites.NewProbe(d, c, f.Addr, &usersites.Target{PID: proc.PID, Object: o, Sites: []usersites.Site{site}})
	if err != nil {
		return err
	}
	proc.probes = append(proc.probes, probe)
	return nil
}

// context returns the kind of the probes whose arguments are at places.
func (p *process) context(places []provider.Place) *provider.Context {
	for _, c := range p.contexts {
		if slices.EqualFunc(c.Places, places, samePlace) {
			return c
		}
	}
	c := usersites.Context()
	c.Places = places
	p.contexts = append(p.contexts, c)
	return c
}

func samePlace(a, b provider.Place) bool {
	if a.Constant != nil && b.Constant != nil && *a.Constant == *b.Constant {
		return true
	}
	return a == b
}

// Enable implements provider.Provider.
func (*Provider) Enable(ctx context.Context, enablings []provider.Enabling, progress func(done, total int)) (provider.Armed, error) {
	return usersites.Enable(ctx, enablings, progress)
}
