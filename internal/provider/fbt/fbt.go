// Package fbt is the provider of the kernel's functions:
// fbt:MODULE:FUNCTION:entry and fbt:MODULE:FUNCTION:return.
//
// A kernel that can put one program on many functions at once does that
// (kprobe.multi, from Linux 5.18 on where it is built with CONFIG_FPROBE): for
// tens of thousands it takes a second. Otherwise, and for programs that look
// at registers, package arm puts sites on instructions. An entry's is behind
// the nop that the function tracer uses: on the nop a probe is cheaper to hit
// but five times as expensive to put in and out. A return's are the function's
// return instructions. Where a function also ends in a jump to another one,
// which then returns for both, the kernel replaces its return address instead.
package fbt

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/cilium/ebpf/features"

	"kinst/internal/arm"
	"kinst/internal/isa"
	"kinst/internal/kernel"
	"kinst/internal/provider"
)

const name = "fbt"

// The two probes of a function.
const (
	entry    = "entry"
	returned = "return"
)

// A Provider is the fbt provider of one session.
type Provider struct {
	kernel *kernel.Kernel
	arch   *isa.Arch
	open   func() (*arm.Session, error)
	multi  func() bool // the kernel has kprobe.multi
	ways   ways

	mu     sync.Mutex
	probes map[uint64]*[2]provider.Probe // by the function's address
	typed  map[signature]*provider.Context
}

var _ provider.Provider = (*Provider)(nil)

// New returns the provider for a kernel. The session that arms its probes is
// opened when it is first needed.
func New(k *kernel.Kernel, arch *isa.Arch, open func() (*arm.Session, error)) *Provider {
	return &Provider{
		kernel: k,
		arch:   arch,
		open:   sync.OnceValues(open),
		multi:  sync.OnceValue(func() bool { return features.HaveBPFLinkKprobeMulti() == nil }),
		ways:   newWays(arch),
		probes: make(map[uint64]*[2]provider.Probe),
		typed:  make(map[signature]*provider.Context),
	}
}

// Name returns "fbt".
func (*Provider) Name() string { return name }

// target is what must be known of a function to arm its probes.
type target struct {
	kernel.Entry
	named bool // in full: to leave it out is an error
}

// Match implements provider.Provider.
func (p *Provider) Match(ctx context.Context, d provider.Desc) ([]*provider.Probe, []string, error) {
	var sides []int
	for i, side := range []string{entry, returned} {
		if provider.Matches(d.Name, side) {
			sides = append(sides, i)
		}
	}
	if sides == nil {
		return nil, nil, provider.NoMatch("the probes of the provider fbt are entry and return")
	}
	if err := p.available(); err != nil {
		return nil, nil, err
	}
	entries, err := p.kernel.Entries(p.arch, d.Module, d.Function)
	switch {
	case errors.Is(err, kernel.ErrNoFunction) || errors.Is(err, kernel.ErrNotLoaded):
		return nil, nil, provider.NoMatch("%v", err)
	case err != nil:
		return nil, nil, err
	case len(entries) == 0:
		return nil, nil, p.whyNone(d)
	}
	named := d.Function != "" && !provider.IsGlob(d.Function)
	found := make([]*provider.Probe, 0, len(entries)*len(sides))
	for _, e := range entries {
		pair := p.pair(e)
		for _, side := range sides {
			probe := &pair[side]
			if named {
				probe.Target.(*target).named = true
			}
			found = append(found, probe)
		}
	}
	return found, nil, nil
}

// available returns why there are no probes at all, if that is so.
func (p *Provider) available() error {
	err := provider.HaveKprobes()
	if err != nil && p.multi() {
		return nil
	}
	return err
}

// whyNone says why the functions of a description, which exist, have no
// probes.
func (p *Provider) whyNone(d provider.Desc) error {
	functions, err := p.kernel.Functions(d.Module, d.Function)
	if err != nil {
		return err
	}
	if len(functions) > 1 {
		return provider.NoMatch("the kernel lets none of these %d functions be traced", len(functions))
	}
	l, err := p.kernel.Listing(p.arch, functions[0])
	if err != nil {
		return provider.NoMatch("%v", err)
	}
	if why := l.Unprobeable(0); why != "" {
		return provider.NoMatch("%s: %s", functions[0], why)
	}
	return provider.NoMatch("the function tracer does not know %s (notrace)", functions[0])
}

// pair returns the probes of a function.
func (p *Provider) pair(e kernel.Entry) *[2]provider.Probe {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.probes[e.Addr]; known != nil {
		return known
	}
	pair := new([2]provider.Probe)
	for i, side := range []string{entry, returned} {
		probe := &pair[i]
		*probe = provider.Probe{
			Desc:    provider.Desc{Provider: name, Module: e.Module, Function: e.Name, Name: side},
			Context: p.ways.of(side, p.multi()).context,
			Addr:    e.Addr,
			Entry:   e.Addr,
			Target:  &target{Entry: e},
		}
		probe.ContextFor = func(uses provider.Uses) (*provider.Context, error) { return p.contextFor(probe, uses) }
	}
	p.probes[e.Addr] = pair
	return pair
}

// contextFor chooses the way in which a probe is armed for what is used of it.
func (p *Provider) contextFor(probe *provider.Probe, uses provider.Uses) (*provider.Context, error) {
	w, err := p.choose(probe, uses)
	if err != nil {
		return nil, err
	}
	if !uses.Args {
		return w.context, nil
	}
	return p.typedContext(w, probe)
}

// choose chooses the way in which a probe is armed, and has the probe know the
// addresses that the programs will tell it by.
func (p *Provider) choose(probe *provider.Probe, uses provider.Uses) (*way, error) {
	t := probe.Target.(*target)
	multi := p.multi() && !uses.Registers
	if probe.Name == entry {
		if !multi {
			probe.Addr, probe.More = t.Code, nil
			if t.Body != t.Code {
				probe.More = []uint64{t.Body}
			}
		}
		return p.ways.of(entry, multi), nil
	}
	where := uses.Numbers&1 != 0 // arg0 is where it returns
	if multi && !where {
		return p.ways.of(returned, true), nil
	}
	exits, err := p.exits(t.Function)
	if err != nil {
		return nil, err
	}
	switch {
	case exits.elsewhere == "":
		probe.Addr, probe.More = exits.addrs[0], exits.addrs[1:]
		return p.ways.exact, nil
	case where:
		return nil, provider.NoMatch("there is no telling where it returns, which arg0 is: %s", exits.elsewhere)
	}
	probe.Addr, probe.More = t.Addr, nil
	if t.Code != t.Addr {
		probe.More = []uint64{t.Code} // what kernels before 6.0 say
	}
	return p.ways.hook(), nil
}

// signature is what tells typed contexts apart.
type signature struct {
	way   *way
	types string
}

func (p *Provider) typedContext(w *way, probe *provider.Probe) (*provider.Context, error) {
	args, err := p.args(probe)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := signature{way: w}
	for _, a := range args {
		s.types += fmt.Sprintf("%s %s,", a.Type, a.Name)
	}
	if p.typed[s] == nil {
		c := *w.context
		c.Args = args
		p.typed[s] = &c
		p.ways.know(&c, w)
	}
	return p.typed[s], nil
}
