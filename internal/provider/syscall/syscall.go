// Package syscall is the provider of system calls. Its probes are
// syscall:vmlinux:NAME:entry and syscall:vmlinux:NAME:return, where NAME is
// the kernel's function less its sys_, as in tracefs's events/syscalls.
//
// All of them hang on two raw tracepoints, sys_enter and sys_exit, where a
// program tells the calls apart by their numbers. That takes no longer for a
// thousand probes than for one: the events of tracefs take 0.1 to 0.3 s each to
// close, for they wait for the end of every CPU's and every task's work.
//
// System calls of 32-bit programs have numbers, names and arguments of their
// own. As for the kernel's own events, there are no probes for them.
package syscall

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"kinst/internal/isa"
	"kinst/internal/kernel"
	"kinst/internal/provider"
	"kinst/internal/provider/rawtp"
)

// A Provider is the syscall provider of one session.
type Provider struct {
	kernel *kernel.Kernel
	arch   *isa.Arch
	table  func() (*table, error)

	mu    sync.Mutex
	typed map[string]*provider.Context // by the side and the types
}

var _ provider.Provider = (*Provider)(nil)

// New returns the provider for a kernel.
func New(k *kernel.Kernel, arch *isa.Arch) *Provider {
	p := &Provider{kernel: k, arch: arch, typed: make(map[string]*provider.Context)}
	p.table = sync.OnceValues(p.readTable)
	return p
}

// Name returns "syscall".
func (*Provider) Name() string { return "syscall" }

// A side is one of the two probes of a system call.
type side struct {
	name       string // of the probe
	tracepoint string
	context    *provider.Context
}

// A target is what a probe hangs on.
type target struct {
	side *side
}

// table is the probes: of each call its entry and its return, by number.
type table struct {
	probes []*provider.Probe
	names  map[string]string // from the names of manual pages, where they differ
}

func (p *Provider) readTable() (*table, error) {
	exists, err := p.known()
	if err != nil {
		return nil, err
	}
	sides, err := p.sides()
	if err != nil {
		return nil, err
	}
	t := &table{names: make(map[string]string)}
	for _, call := range p.arch.Syscalls() {
		if !exists(call.Function) {
			continue
		}
		if call.Name != call.Function {
			t.names[call.Name] = call.Function
		}
		for _, s := range sides {
			t.probes = append(t.probes, p.probe(s, call))
		}
	}
	return t, nil
}

func (p *Provider) probe(s *side, call isa.Syscall) *provider.Probe {
	return &provider.Probe{
		Desc:    provider.Desc{Provider: "syscall", Module: kernel.VMLinux, Function: call.Function, Name: s.name},
		Context: s.context,
		Addr:    uint64(call.Number),
		ContextFor: func(uses provider.Uses) (*provider.Context, error) {
			if !uses.Args {
				return s.context, nil
			}
			return p.typedContext(s, call.Function)
		},
		Target: target{s},
	}
}

// sides says how the two sides of a system call hand over what they know.
//
// The arguments of sys_enter are the struct pt_regs * of the system call and
// its number, those of sys_exit the former and the result.
func (p *Provider) sides() ([]*side, error) {
	compat, err := p.compat()
	if err != nil {
		return nil, err
	}
	var args []provider.Place
	for _, name := range p.arch.SyscallArgs {
		args = append(args, inRegs(p.register(name)))
	}
	result := provider.Word(1)
	return []*side{
		{"entry", "sys_enter", &provider.Context{
			Hook:    provider.HookRawTracepoint,
			Lookup:  provider.LookupKey,
			Key:     provider.Word(1),
			Unless:  compat,
			Places:  args,
			Between: p.between("sys_enter"),
		}},
		{"return", "sys_exit", &provider.Context{
			Hook:    provider.HookRawTracepoint,
			Lookup:  provider.LookupKey,
			Key:     inRegs(p.arch.SyscallNumber),
			Unless:  compat,
			Places:  []provider.Place{result, result},
			Between: p.between("sys_exit"),
			Errno:   true,
		}},
	}, nil
}

// between is for a context of a tracepoint of system calls.
func (p *Provider) between(tracepoint string) func([]*provider.Probe) []kernel.Span {
	return func([]*provider.Probe) []kernel.Span { return p.kernel.TracepointFrames(tracepoint) }
}

func (p *Provider) register(name string) isa.Register {
	r, ok := p.arch.Register(name)
	if !ok {
		panic("syscall: no register " + name)
	}
	return r
}

// inRegs is the place of a register where the context's first word points to
// a struct pt_regs.
func inRegs(r isa.Register) provider.Place {
	return provider.Place{Indirect: true, Offset: r.Offset, Size: r.Size}
}

// compat finds the bits by which system calls of 32-bit programs are known.
func (p *Provider) compat() (*provider.TaskBits, error) {
	if p.arch.Compat.Mask == 0 {
		return nil, nil
	}
	spec, err := p.kernel.BTF()
	if err != nil {
		return nil, fmt.Errorf("telling system calls of 32-bit programs from others: %w", err)
	}
	bits, err := provider.TaskMember(spec, p.arch.Compat.Member)
	if err != nil {
		return nil, fmt.Errorf("telling system calls of 32-bit programs from others: %w", err)
	}
	bits.Mask = p.arch.Compat.Mask
	return bits, nil
}

// Side returns the context of system calls of all numbers at their "entry" or
// "return", for somebody to change, and the tracepoint that it belongs to.
func (p *Provider) Side(name string) (*provider.Context, string, error) {
	sides, err := p.sides()
	if err != nil {
		return nil, "", err
	}
	for _, s := range sides {
		if s.name == name {
			return s.context, s.tracepoint, nil
		}
	}
	return nil, "", fmt.Errorf("system calls have no %s", name)
}

// Match implements provider.Provider.
func (p *Provider) Match(_ context.Context, d provider.Desc) ([]*provider.Probe, []string, error) {
	if !provider.Matches(d.Module, kernel.VMLinux) {
		return nil, nil, provider.NoMatch("the module of the provider syscall is %s", kernel.VMLinux)
	}
	t, err := p.table()
	if err != nil {
		return nil, nil, err
	}
	var found []*provider.Probe
	for _, probe := range t.probes {
		if provider.Matches(d.Name, probe.Name) && provider.Matches(d.Function, probe.Function) {
			found = append(found, probe)
		}
	}
	if found == nil {
		return nil, nil, t.whyNone(d)
	}
	return found, nil, nil
}

func (t *table) whyNone(d provider.Desc) error {
	if !provider.Matches(d.Name, "entry") && !provider.Matches(d.Name, "return") {
		return provider.NoMatch("the probes of the provider syscall are entry and return")
	}
	if f, ok := t.names[d.Function]; ok {
		return provider.NoMatch("the kernel's name of %s is %s", d.Function, f)
	}
	return provider.NoMatch("the kernel has no system call %s", d.Function)
}

// Enable implements provider.Provider.
func (p *Provider) Enable(_ context.Context, enablings []provider.Enabling, progress func(done, total int)) (provider.Armed, error) {
	armed := new(rawtp.Programs)
	done, total := 0, provider.Count(enablings)
	for _, e := range enablings {
		if err := armed.Attach(e.Probes[0].Target.(target).side.tracepoint, e.Program); err != nil {
			return nil, errors.Join(fmt.Errorf("enabling %s: %w", e.Probes[0].Desc, err), armed.Close())
		}
		done += len(e.Probes)
		progress(done, total)
	}
	return armed, nil
}
