package fbt

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/features"

	"kinst/internal/isa"
	"kinst/internal/provider"
)

// A way is one in which probes are armed.
type way struct {
	context *provider.Context
	multi   bool // by kprobe.multi
	returns bool // by a hook of the return address
}

// ways are all the ways.
type ways struct {
	multiEntry, multiReturn *way
	entry                   *way // a site behind the tracer's nop
	exact                   *way // sites on the return instructions
	replaced                *way // a hook of the return address
	replacedOne             *way // the same where a program cannot tell functions apart

	by map[*provider.Context]*way
}

func newWays(arch *isa.Arch) ways {
	sites := provider.Context{Hook: provider.HookKprobe, Lookup: provider.LookupIP, IPBias: arch.ProbePC}
	multi := provider.Context{Hook: provider.HookKprobe, Attach: ebpf.AttachTraceKprobeMulti, Lookup: provider.LookupCookie}
	replaced := provider.Context{Hook: provider.HookKprobe, Lookup: provider.LookupFunc}
	replacedOne := provider.Context{Hook: provider.HookKprobe, Lookup: provider.LookupOne}

	w := ways{
		multiEntry:  &way{context: callArgs(multi), multi: true},
		multiReturn: &way{context: result(multi, arch), multi: true, returns: true},
		entry:       &way{context: callArgs(sites)},
		exact:       &way{context: returnArgs(sites)},
		replaced:    &way{context: result(replaced, arch), returns: true},
		replacedOne: &way{context: result(replacedOne, arch), returns: true},
		by:          make(map[*provider.Context]*way),
	}
	for _, way := range []*way{w.multiEntry, w.multiReturn, w.entry, w.exact, w.replaced, w.replacedOne} {
		w.know(way.context, way)
	}
	return w
}

func callArgs(c provider.Context) *provider.Context {
	c.CallArgs = true
	return &c
}

func returnArgs(c provider.Context) *provider.Context {
	c.ReturnArgs = true
	return &c
}

// result is the context of a return of which it is not known where it is:
// arg1 is the result, and arg0 for nobody to use.
func result(c provider.Context, arch *isa.Arch) *provider.Context {
	r, ok := arch.Register(arch.CallResult)
	if !ok {
		panic("fbt: no register " + arch.CallResult)
	}
	c.Places = []provider.Place{{Constant: new(uint64)}, {Offset: r.Offset, Size: r.Size}}
	return &c
}

// know notes that programs of a context are armed in a way.
func (w *ways) know(c *provider.Context, way *way) { w.by[c] = way }

// of is the way of a side of functions of which nothing more is known.
func (w *ways) of(side string, multi bool) *way {
	switch {
	case side == entry && multi:
		return w.multiEntry
	case side == entry:
		return w.entry
	case multi:
		return w.multiReturn
	}
	return w.hook()
}

// hook is the way of a return that can be had by its return address only. The
// kernel tells programs whose it was from Linux 5.15 on.
func (w *ways) hook() *way {
	if features.HaveProgramHelper(ebpf.Kprobe, asm.FnGetFuncIp) == nil {
		return w.replaced
	}
	return w.replacedOne
}
