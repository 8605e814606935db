// Package dtrace is the provider of the probes of tracing itself: BEGIN, END
// and ERROR.
package dtrace

import (
	"context"
	"fmt"
	"sync"

	"github.com/cilium/ebpf"

	"kinst/internal/provider"
)

// The names of the probes.
const (
	Begin = "BEGIN" // before any other probe
	End   = "END"   // after all others
	Error = "ERROR" // when a fault stopped a clause
)

// Probes are the provider's probes, in the order of their IDs.
var Probes = []*provider.Probe{newProbe(Begin), newProbe(End), newProbe(Error)}

func newProbe(name string) *provider.Probe {
	return &provider.Probe{
		Desc:    provider.Desc{Provider: "dtrace", Name: name},
		Context: &provider.Context{Hook: provider.HookRun},
	}
}

// A Provider is the dtrace provider of one session.
type Provider struct {
	mu       sync.Mutex
	programs map[string]*ebpf.Program
}

var _ provider.Provider = (*Provider)(nil)

// Name returns "dtrace".
func (*Provider) Name() string { return "dtrace" }

// Match implements provider.Provider.
func (*Provider) Match(_ context.Context, d provider.Desc) ([]*provider.Probe, []string, error) {
	var found []*provider.Probe
	for _, p := range Probes {
		if provider.Matches(d.Module, "") && provider.Matches(d.Function, "") && provider.Matches(d.Name, p.Name) {
			found = append(found, p)
		}
	}
	if found == nil {
		return nil, nil, provider.NoMatch("the provider dtrace has BEGIN, END and ERROR")
	}
	return found, nil, nil
}

// Enable keeps the programs for Fire.
func (p *Provider) Enable(_ context.Context, enablings []provider.Enabling, _ func(done, total int)) (provider.Armed, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.programs == nil {
		p.programs = make(map[string]*ebpf.Program)
	}
	for _, e := range enablings {
		for _, probe := range e.Probes {
			p.programs[probe.Name] = e.Program
		}
	}
	return nothing{}, nil
}

// Fire runs the program of a probe on this CPU, with arg0... set to args. It
// does nothing if no clause names the probe.
func (p *Provider) Fire(name string, args ...uint64) error {
	p.mu.Lock()
	prog := p.programs[name]
	p.mu.Unlock()
	if prog == nil {
		return nil
	}
	var ctx [10]uint64
	copy(ctx[:], args)
	if _, err := prog.Run(&ebpf.RunOptions{Context: ctx}); err != nil {
		return fmt.Errorf("firing dtrace:::%s: %w", name, err)
	}
	return nil
}

// nothing is what is armed: the programs run only when Fire is called.
type nothing struct{}

func (nothing) Refused() []provider.Refusal { return nil }
func (nothing) Missed() (uint64, error)     { return 0, nil }
func (nothing) Close() error                { return nil }
