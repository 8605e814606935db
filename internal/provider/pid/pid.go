// Package pid is the provider of the functions and instructions of user
// processes: pidPID:OBJECT:FUNCTION:NAME, where NAME is entry, return or the
// offset of an instruction. Its probes are made on demand, from the files that
// the process has mapped when a description first names it, and from what it has
// mapped since when Renew is called.
//
// The probes are uprobes on instructions, also those of return: they stand on
// the instructions that leave the function. The kernel's own return probes
// replace the return address on the stack, which programs that look at their
// stack, such as Go's, or that unwind it do not bear.
package pid

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"kinst/internal/isa"
	"kinst/internal/provider"
	"kinst/internal/provider/usersites"
	"kinst/internal/userland"
)

const prefix = "pid"

// A Provider is the pid provider of one session.
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

// Name returns "pid*".
func (*Provider) Name() string { return prefix + "*" }

// A process is one whose probes are asked for.
type process struct {
	usersites.Process
	name     string // of the provider: pid123
	contexts map[kind]*provider.Context
	probes   map[key]*provider.Probe
}

// kind is what a probe fires at.
type kind int

const (
	entry kind = iota
	exit
	instruction
)

// key is what a probe is known by: the address is its function's for entry and
// return.
type key struct {
	file *userland.File
	kind kind
	addr uint64
}

// Match makes the probes that a description names. The provider must be named
// in full.
func (p *Provider) Match(ctx context.Context, d provider.Desc) ([]*provider.Probe, []string, error) {
	digits, _ := strings.CutPrefix(d.Provider, prefix)
	pid, err := strconv.Atoi(digits)
	if err != nil || pid <= 0 {
		return nil, nil, provider.NoMatch("probes of pid are made on demand: name a process, as in pid123:a.out:main:entry or, with -c or -p, pid$target:a.out:main:entry")
	}
	proc, err := p.process(pid)
	if err != nil {
		return nil, nil, err
	}
	m := matcher{ctx: ctx, provider: p, process: proc, desc: d}
	if err := m.match(); err != nil {
		return nil, m.notes, err
	}
	return m.probes, m.notes, nil
}

// process looks at a process once.
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
	if program := mapped.Program(); program != nil && program.Foreign() != "" {
		return nil, fmt.Errorf("process %d: %s", pid, program.Foreign())
	}
	known := &process{
		Process:  usersites.NewProcess(mapped),
		name:     prefix + strconv.Itoa(pid),
		contexts: map[kind]*provider.Context{entry: usersites.Context(), exit: usersites.Context(), instruction: usersites.Context()},
		probes:   make(map[key]*provider.Probe),
	}
	known.contexts[entry].CallArgs = true
	known.contexts[exit].ReturnArgs = true
	p.processes[pid] = known
	return known, nil
}

// Renew implements usersites.Provider.
func (p *Provider) Renew(m *userland.Process, executed bool) bool {
	return usersites.Renew(p.processes, m, executed, func(known *process) bool {
		known.Look(m)
		clear(known.probes)
		return len(known.Objects) > 0
	})
}

// probe returns the probe of a kind that fires at addresses of a function. The
// first time it makes it.
func (p *process) probe(k kind, o *userland.Object, d provider.Desc, function uint64, addrs []uint64) (*provider.Probe, error) {
	by := key{o.File, k, function}
	if k == instruction {
		by.addr = addrs[0]
	}
	if known := p.probes[by]; known != nil {
		return known, nil
	}
	t := &usersites.Target{PID: p.PID, Object: o}
	for _, addr := range addrs {
		t.Sites = append(t.Sites, usersites.Site{Addr: addr})
	}
	probe, err := usersites.NewProbe(d, p.contexts[k], function, t)
	if err != nil {
		return nil, err
	}
	p.probes[by] = probe
	return probe, nil
}

// Enable implements provider.Provider.
func (*Provider) Enable(ctx context.Context, enablings []provider.Enabling, progress func(done, total int)) (provider.Armed, error) {
	return usersites.Enable(ctx, enablings, progress)
}

var errTooMany = errors.New("that are too many; name an object, or a function")

// maxProbes is how many probes a description may name: as many as illumos
// allows for all processes together (fasttrap-max-probes).
const maxProbes = 250_000
