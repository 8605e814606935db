// Package kinst is the provider of the kernel's instructions. Its probes are
// kinst:MODULE:FUNCTION:OFFSET, made on demand: a function is read when a
// description names it, never before.
package kinst

import (
	"context"
	"errors"
	"sync"

	"kinst/internal/arm"
	"kinst/internal/isa"
	"kinst/internal/kernel"
	"kinst/internal/provider"
)

const name = "kinst"

// A Provider is the kinst provider of one session.
type Provider struct {
	kernel   *kernel.Kernel
	arch     *isa.Arch
	open     func() (*arm.Session, error)
	contexts map[int]*provider.Context  // by IPBias
	debug    *provider.Context          // of breakpoints
	probes   map[uint64]*provider.Probe // by address
	atTracer int                        // how many of them are at the function tracer's nop
	listings listings
}

var _ provider.Provider = (*Provider)(nil)

// New returns the provider for a kernel. The session that arms its probes is
// opened when the first is enabled.
func New(k *kernel.Kernel, arch *isa.Arch, open func() (*arm.Session, error)) *Provider {
	return &Provider{
		kernel:   k,
		arch:     arch,
		open:     sync.OnceValues(open),
		contexts: make(map[int]*provider.Context),
		debug:    &provider.Context{Hook: provider.HookPerfEvent, Lookup: provider.LookupIP, Counter: provider.CountBreakpoints},
		probes:   make(map[uint64]*provider.Probe),
		listings: listings{of: make(map[uint64]*kernel.Listing)},
	}
}

// listings are those that Match has read and Enable asks for again.
type listings struct {
	of    map[uint64]*kernel.Listing // by the function's address
	insts int                        // of all together
}

// mostKept bounds the instructions of the listings that are kept, to some 10 MB.
const mostKept = 100_000

// listing returns the instructions of a function.
func (p *Provider) listing(f kernel.Function) (*kernel.Listing, error) {
	if l := p.listings.of[f.Addr]; l != nil && l.Function.Name == f.Name {
		return l, nil
	}
	l, err := p.kernel.Listing(p.arch, f)
	if err == nil && p.listings.of[f.Addr] == nil && p.listings.insts+len(l.Insts) <= mostKept {
		p.listings.of[f.Addr] = l
		p.listings.insts += len(l.Insts)
	}
	return l, err
}

// listingAt returns the instructions of the function at an address.
func (p *Provider) listingAt(addr uint64) (*kernel.Listing, error) {
	if l := p.listings.of[addr]; l != nil {
		return l, nil
	}
	f, err := p.kernel.FunctionAt(addr)
	if err != nil {
		return nil, err
	}
	return p.kernel.Listing(p.arch, f)
}

// forget lets go of all listings.
func (p *Provider) forget() {
	clear(p.listings.of)
	p.listings.insts = 0
}

// Name returns "kinst".
func (*Provider) Name() string { return name }

// context returns the kind of the probes for which the kernel reports an
// address that is bias bytes beyond the instruction's. Probes that are put on
// another instruction, as those of a landing pad are, are of a kind of their own,
// and so get a program of their own, which tells their hits from those of that
// instruction.
func (p *Provider) context(bias int) *provider.Context {
	if p.contexts[bias] == nil {
		p.contexts[bias] = &provider.Context{Hook: provider.HookKprobe, Lookup: provider.LookupIP, IPBias: bias}
	}
	return p.contexts[bias]
}

// fewAtTracer is how many probes are put on the function tracer's nop, or the
// landing pad before it. With each of them the kernel goes through all functions
// that can be traced. Where there are more, they are put on the instruction
// behind, where that is executed as often.
const fewAtTracer = 8

// chooseAtTracer lets a probe whose instruction may be the tracer's nop, or the
// landing pad before it, choose where it is put once all are known.
func (p *Provider) chooseAtTracer(probe *provider.Probe, l *kernel.Listing, i int) {
	p.atTracer++
	body := sync.OnceValues(func() (uint64, bool) { return l.Body(i) })
	if p.atTracer > fewAtTracer {
		body() // and let go of the listing
	}
	usual := probe.Context
	probe.ContextFor = func(provider.Uses) (*provider.Context, error) {
		if p.atTracer <= fewAtTracer {
			return usual, nil
		}
		if addr, ok := body(); ok {
			return p.context(p.arch.ProbePC + int(addr-probe.Addr)), nil
		}
		return usual, nil
	}
}

// target is what a probe needs to be armed.
type target struct {
	site  arm.Site
	named bool // by its offset: to leave it out is an error
	// breakpoint says that it takes a hardware breakpoint, as kprobes are
	// refused there.
	breakpoint bool
}

// Match makes the probes that a description names. The provider must be named
// in full, and at least one of function and module.
func (p *Provider) Match(ctx context.Context, d provider.Desc) ([]*provider.Probe, []string, error) {
	if d.Provider != name {
		return nil, nil, provider.NoMatch("probes of kinst are made on demand only")
	}
	if d.Function == "" && (d.Module == "" || provider.IsGlob(d.Module)) {
		return nil, nil, provider.NoMatch("probes of kinst are made on demand: name a function, as in kinst::vfs_read:")
	}
	functions, err := p.kernel.Functions(d.Module, d.Function)
	if err != nil {
		if errors.Is(err, kernel.ErrNoFunction) || errors.Is(err, kernel.ErrNotLoaded) {
			return nil, nil, provider.NoMatch("%v", err)
		}
		return nil, nil, err
	}
	offset, named, err := provider.ParseOffset(d.Name)
	if err != nil {
		return nil, nil, err
	}
	m := matcher{provider: p, desc: d, glob: d.Function == "" || provider.IsGlob(d.Function)}
	for _, f := range functions {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if named {
			err = m.one(f, offset)
		} else {
			err = m.all(f)
		}
		if err == nil {
			err = m.bounded()
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return m.result()
}
