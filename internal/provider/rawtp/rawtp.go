// Package rawtp is the provider of the kernel's tracepoints with the arguments
// that the kernel's code passes to them: rawtp:SYSTEM::NAME, where SYSTEM is
// that of the tracepoint's event in tracefs, or of tracepoints without one,
// the module that they are in.
//
// The package also attaches the programs of other providers to tracepoints.
package rawtp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/cilium/ebpf/btf"

	"kinst/internal/dlang/types"
	"kinst/internal/kernel"
	"kinst/internal/provider"
	"kinst/internal/provider/tracefs"
)

const name = "rawtp"

// A Provider is the rawtp provider of one session.
type Provider struct {
	kernel  *kernel.Kernel
	probes  func() ([]*provider.Probe, error)
	untyped *provider.Context // of a tracepoint of which nothing is asked

	mu    sync.Mutex
	typed map[string]*provider.Context // by tracepoint
}

var _ provider.Provider = (*Provider)(nil)

// New returns the provider for a kernel.
func New(k *kernel.Kernel) *Provider {
	p := &Provider{kernel: k, typed: make(map[string]*provider.Context), untyped: NewUntyped(k)}
	p.probes = sync.OnceValues(p.list)
	return p
}

// Name returns "rawtp".
func (*Provider) Name() string { return name }

// iter is what the kernel's function that calls whoever listens to a
// tracepoint is called, in front of the tracepoint's name.
const iter = "__traceiter_"

// NewContext returns the context of a tracepoint, without arguments yet.
func NewContext(k *kernel.Kernel, tracepoint string) *provider.Context {
	return newContext(func([]*provider.Probe) []kernel.Span { return k.TracepointFrames(tracepoint) })
}

// NewUntyped returns the context of probes that are named as their tracepoints and
// of whose arguments none are asked.
func NewUntyped(k *kernel.Kernel) *provider.Context {
	const most = 16 // of which the frames are told
	return newContext(func(probes []*provider.Probe) []kernel.Span {
		names := []string{"sys_enter", "sys_exit"} // which are most different
		if len(probes) <= most {
			names = names[:0]
			for _, p := range probes {
				names = append(names, p.Name)
			}
		}
		return k.TracepointFrames(names...)
	})
}

func newContext(between func([]*provider.Probe) []kernel.Span) *provider.Context {
	return &provider.Context{Hook: provider.HookRawTracepoint, Places: []provider.Place{}, Between: between}
}

func (p *Provider) list() ([]*provider.Probe, error) {
	syms, err := p.kernel.Symbols()
	if err != nil {
		return nil, fmt.Errorf("listing the tracepoints: %w", err)
	}
	events, err := tracefs.Events()
	if err != nil {
		return nil, err
	}
	systems := make(map[string]string, len(events))
	for _, e := range events {
		systems[e.Name] = e.System
	}
	modules := make(map[string]string)
	for sym := range syms.All() {
		if name, ok := strings.CutPrefix(sym.Name, iter); ok && sym.IsText() {
			modules[name] = sym.Module
		}
	}
	var probes []*provider.Probe
	for _, e := range events {
		if module, ok := modules[e.Name]; ok && systems[e.Name] == e.System {
			probes = append(probes, p.probe(e.System, e.Name, module))
		}
	}
	for sym := range syms.All() {
		if name, ok := strings.CutPrefix(sym.Name, iter); ok && sym.IsText() && systems[name] == "" {
			probes = append(probes, p.probe(sym.Module, name, sym.Module))
		}
	}
	return probes, nil
}

func (p *Provider) probe(system, tracepoint, module string) *provider.Probe {
	return &provider.Probe{
		Desc:    provider.Desc{Provider: name, Module: system, Name: tracepoint},
		Context: p.untyped,
		ContextFor: func(uses provider.Uses) (*provider.Context, error) {
			if !uses.Args && uses.Numbers == 0 {
				return p.untyped, nil
			}
			return p.Typed(module, tracepoint)
		},
	}
}

// Typed returns the context of a tracepoint with what the kernel's code
// passes to it. Module is the one that has the tracepoint.
func (p *Provider) Typed(module, tracepoint string) (*provider.Context, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.typed[tracepoint]; c != nil {
		return c, nil
	}
	params, err := Params(p.kernel, module, tracepoint)
	if err != nil {
		return nil, err
	}
	c := NewContext(p.kernel, tracepoint)
	for i, param := range params {
		c.Places = append(c.Places, provider.Word(i))
		c.Args = append(c.Args, types.Arg{Name: param.Name, Type: types.FromBTF(param.Type)[0]})
	}
	p.typed[tracepoint] = c
	return c, nil
}

// Params returns the parameters of the function that calls whoever listens to
// a tracepoint of a module, but the first, which is the listener's own: what
// the kernel's code passes to the tracepoint. The error wraps btf.ErrNotFound
// if there is no such tracepoint.
func Params(k *kernel.Kernel, module, tracepoint string) ([]btf.FuncParam, error) {
	spec, err := k.ModuleBTF(module)
	if err != nil {
		return nil, err
	}
	var f *btf.Func
	if err := spec.TypeByName(iter+tracepoint, &f); err != nil {
		return nil, fmt.Errorf("the kernel's types (BTF) do not describe the tracepoint %s: %w", tracepoint, err)
	}
	proto, ok := f.Type.(*btf.FuncProto)
	if !ok || len(proto.Params) == 0 {
		return nil, fmt.Errorf("the kernel's types (BTF) describe the tracepoint %s as %v", tracepoint, f.Type)
	}
	return proto.Params[1:], nil
}

// Match implements provider.Provider.
func (p *Provider) Match(_ context.Context, d provider.Desc) ([]*provider.Probe, []string, error) {
	if !provider.Matches(d.Function, "") {
		return nil, nil, provider.NoMatch("the probes of the provider rawtp have no function")
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
		return nil, nil, provider.NoMatch("the kernel has no tracepoint %s in %s", provider.OrAny(d.Name), provider.OrAny(d.Module))
	}
	return found, nil, nil
}

// Enable implements provider.Provider.
func (p *Provider) Enable(ctx context.Context, enablings []provider.Enabling, progress func(done, total int)) (provider.Armed, error) {
	armed := new(Programs)
	done, total := 0, provider.Count(enablings)
	for _, e := range enablings {
		for _, probe := range e.Probes {
			if err := ctx.Err(); err != nil {
				return nil, errors.Join(err, armed.Close())
			}
			if err := armed.Attach(probe.Name, e.Program); err != nil {
				return nil, errors.Join(fmt.Errorf("enabling %s: %w", probe.Desc, err), armed.Close())
			}
			done++
			progress(done, total)
		}
	}
	return armed, nil
}
