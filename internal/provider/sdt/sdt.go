// Package sdt is the provider of the kernel's tracepoints with the fields of
// their events as arguments: sdt:SYSTEM::NAME, as in tracefs's events.
//
// A program that uses fields is run by the event, once the kernel has made its
// record. Taking it off again takes the kernel about 0.1 s, for it waits for
// the end of every CPU's and every task's work. One that uses none is attached
// to the tracepoint itself, which takes no time, and so all tracepoints can be
// counted at once.
package sdt

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"kinst/internal/dlang/types"
	"kinst/internal/kernel"
	"kinst/internal/provider"
	"kinst/internal/provider/rawtp"
	"kinst/internal/provider/tracefs"
)

const name = "sdt"

// A Provider is the sdt provider of one session.
type Provider struct {
	kernel  *kernel.Kernel
	probes  func() ([]*provider.Probe, error)
	untyped *provider.Context // of an event of which no field is asked

	mu    sync.Mutex
	typed map[tracefs.Event]*provider.Context
}

var _ provider.Provider = (*Provider)(nil)

// New returns the provider for a kernel.
func New(k *kernel.Kernel) *Provider {
	p := &Provider{kernel: k, typed: make(map[tracefs.Event]*provider.Context), untyped: rawtp.NewUntyped(k)}
	p.probes = sync.OnceValues(p.list)
	return p
}

// Name returns "sdt".
func (*Provider) Name() string { return name }

func (p *Provider) list() ([]*provider.Probe, error) {
	events, err := tracefs.Events()
	if err != nil {
		return nil, err
	}
	probes := make([]*provider.Probe, len(events))
	for i, e := range events {
		probes[i] = &provider.Probe{
			Desc:    provider.Desc{Provider: name, Module: e.System, Name: e.Name},
			Context: p.untyped,
			ContextFor: func(uses provider.Uses) (*provider.Context, error) {
				if !uses.Args && uses.Numbers == 0 {
					return p.untyped, nil
				}
				return p.fields(e)
			},
		}
	}
	return probes, nil
}

// fields is the context of an event with its fields.
func (p *Provider) fields(e tracefs.Event) (*provider.Context, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.typed[e]; c != nil {
		return c, nil
	}
	format, err := tracefs.ReadFormat(e.System, e.Name)
	if err != nil {
		return nil, err
	}
	spec, err := p.kernel.BTF()
	if err != nil {
		return nil, err
	}
	c := &provider.Context{Hook: provider.HookTracepoint, Places: []provider.Place{}}
	for i, f := range format.Fields {
		arg := types.Arg{Name: f.Name, Type: f.In(spec)}
		if f.IsText() {
			arg.Type = &types.Type{Kind: types.String, Name: "string"}
			arg.Means = fmt.Sprintf("stringof((char *)arg%d)", i)
		}
		c.Places = append(c.Places, place(f))
		c.Args = append(c.Args, arg)
	}
	p.typed[e] = c
	return c, nil
}

// place is where a field is in the record. Of an array its address is handed
// on.
func place(f tracefs.Field) provider.Place {
	return provider.Place{
		Offset:  f.Offset,
		Size:    f.Size,
		Signed:  f.Signed,
		Address: f.ByAddress() && !f.Located,
		Located: f.Located,
	}
}

// Match implements provider.Provider.
func (p *Provider) Match(_ context.Context, d provider.Desc) ([]*provider.Probe, []string, error) {
	if !provider.Matches(d.Function, "") {
		return nil, nil, provider.NoMatch("the probes of the provider sdt have no function")
	}
	probes, err := p.probes()
	if err != nil {
		return nil, nil, err
	}
	var found []*provider.Probe
	for _, probe := range probes {
		if provider.Matches(d.Module, probe.Module) && provider.Matches(d.Name, probe.Name) {
			found = append(found, probe)
		}
	}
	if found == nil {
		return nil, nil, provider.NoMatch("the kernel has no event %s:%s", provider.OrAny(d.Module), provider.OrAny(d.Name))
	}
	return found, nil, nil
}

// Enable implements provider.Provider.
func (p *Provider) Enable(ctx context.Context, enablings []provider.Enabling, progress func(done, total int)) (provider.Armed, error) {
	a := &armed{raw: new(rawtp.Programs), events: new(tracefs.Programs)}
	done, total := 0, provider.Count(enablings)
	for _, e := range enablings {
		for _, probe := range e.Probes {
			if err := ctx.Err(); err != nil {
				return nil, errors.Join(err, a.Close())
			}
			if err := a.attach(e, probe); err != nil {
				return nil, errors.Join(fmt.Errorf("enabling %s: %w", probe.Desc, err), a.Close())
			}
			done++
			progress(done, total)
		}
	}
	return a, nil
}

// armed is the programs on tracepoints, and those on events.
type armed struct {
	raw    *rawtp.Programs
	events *tracefs.Programs
}

func (a *armed) attach(e provider.Enabling, probe *provider.Probe) error {
	if e.Context.Hook == provider.HookRawTracepoint {
		return a.raw.Attach(probe.Name, e.Program)
	}
	return a.events.Attach(tracefs.Event{System: probe.Module, Name: probe.Name}, e.Program)
}

// Refused returns nothing: a tracepoint that cannot be had is an error.
func (*armed) Refused() []provider.Refusal { return nil }

func (a *armed) Missed() (uint64, error) {
	raw, err := a.raw.Missed()
	if err != nil {
		return raw, err
	}
	events, err := a.events.Missed()
	return raw + events, err
}

func (a *armed) Close() error { return errors.Join(a.raw.Close(), a.events.Close()) }
