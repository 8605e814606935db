// Package derived makes providers whose probes have a meaning of their own, the
// same on every kernel, out of what each kernel has: tracepoints, system calls
// and functions. The arguments are D expressions of what these pass. They are
// compiled when a program uses them, so that one which does not fit a kernel
// harms nobody else.
package derived

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"kinst/internal/arm"
	"kinst/internal/isa"
	"kinst/internal/kernel"
	"kinst/internal/provider"
	"kinst/internal/provider/syscall"
)

// A Definition defines a probe.
type Definition struct {
	Name string
	// From are places where it can be taken from. The first that the kernel
	// has is.
	From []Source
}

// A Source is where a probe is taken from: one of a tracepoint, system calls
// and functions.
//
// The D of When and Args names what the source passes in braces: the
// parameters of a tracepoint or a function by their names in the kernel's
// source, the system call's number by {number}, its registers by {arg0} to
// {arg5}, its result by {result}. {call:NAME} is the number of the system call
// NAME.
type Source struct {
	Tracepoint string

	Calls     []string // system calls, by the kernel's names
	Functions []string // names or globs of functions
	Returned  bool     // of calls and functions: at their return, not their entry

	// Needs is a parameter without which the source is none. Kernels differ.
	Needs string
	// When is the condition under which the probe fires; always, if empty.
	When string
	Args []Arg
}

// An Arg is an argument of a probe.
type Arg struct {
	Value string // the D of argN
	// As is the type that args[N] is translated to: "psinfo_t *". If it is
	// empty, args[N] is the value, of the type Type.
	As, Type string
}

// Kernel is what the probes are made from.
type Kernel struct {
	Kernel   *kernel.Kernel
	Arch     *isa.Arch
	Syscalls *syscall.Provider
	Arms     func() (*arm.Session, error)
}

// A Provider has the probes of a table of definitions.
type Provider struct {
	name   string
	kernel Kernel
	table  []Definition

	mu     sync.Mutex
	probes map[string]found // by name
}

var _ provider.Provider = (*Provider)(nil)

// found is what was found out about a probe.
type found struct {
	probe *provider.Probe
	err   error // why there is none
}

// New returns the provider of a name.
func New(name string, k Kernel, table []Definition) *Provider {
	return &Provider{name: name, kernel: k, table: table, probes: make(map[string]found)}
}

// Name returns the provider's name.
func (p *Provider) Name() string { return p.name }

// Match implements provider.Provider.
func (p *Provider) Match(_ context.Context, d provider.Desc) ([]*provider.Probe, []string, error) {
	if !provider.Matches(d.Module, kernel.VMLinux) || !provider.Matches(d.Function, "") {
		return nil, nil, provider.NoMatch("the probes of the provider %s have the module %s and no function", p.name, kernel.VMLinux)
	}
	var probes []*provider.Probe
	var notes, names []string
	var why error
	for _, def := range p.table {
		names = append(names, def.Name)
		if !provider.Matches(d.Name, def.Name) {
			continue
		}
		f := p.find(def)
		if f.err != nil {
			why = f.err
			notes = append(notes, fmt.Sprintf("%s:::%s is left out: %v", p.name, def.Name, f.err))
			continue
		}
		probes = append(probes, f.probe)
	}
	switch {
	case probes != nil:
		return probes, notes, nil
	case why != nil:
		return nil, nil, provider.NoMatch("%v", why)
	}
	return nil, nil, provider.NoMatch("the provider %s has %s", p.name, strings.Join(names, ", "))
}

// find looks for the first source that the kernel has, once.
func (p *Provider) find(def Definition) found {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f, ok := p.probes[def.Name]; ok {
		return f
	}
	f := p.probe(def)
	p.probes[def.Name] = f
	return f
}

func (p *Provider) probe(def Definition) found {
	var missing []string
	for _, s := range def.From {
		origin, why := p.kernel.resolve(s)
		if why != nil {
			missing = append(missing, why.Error())
			continue
		}
		probe := origin.probe
		probe.Desc = provider.Desc{Provider: p.name, Module: kernel.VMLinux, Name: def.Name}
		probe.Target = origin
		return found{probe: probe}
	}
	return found{err: fmt.Errorf("this kernel has nothing to make it from: %s", strings.Join(missing, "; "))}
}
