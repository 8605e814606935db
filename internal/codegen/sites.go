package codegen

import (
	"github.com/cilium/ebpf/asm"

	"kinst/internal/provider"
)

// addresses calls visit with each address at which a probe of the unit fires,
// and the probe's place in the unit.
func (u *Unit) addresses(visit func(addr uint64, probe int)) {
	for i, p := range u.Probes {
		visit(p.Addr, i)
		for _, addr := range p.More {
			visit(addr, i)
		}
	}
}

// returnArgument is argument n of a function's return: where it returns, and
// what.
func (g *generator) returnArgument(n int) reg {
	arch := g.opts.Arch
	if n == 1 {
		return g.loadRegister(arch.CallResult)
	}
	if n > 1 {
		return g.constant(0, w64)
	}
	// No function is larger than what 32 bits can tell.
	offset := g.copyOf(g.loadRegister(arch.PC), w32)
	entries := make([]uint32, len(g.unit.Probes))
	for i, p := range g.unit.Probes {
		entries[i] = uint32(p.Entry) + uint32(g.unit.Context.IPBias)
	}
	entry := g.constant(uint64(entries[0]), w32)
	if len(entries) > 1 {
		entry = g.table(g.copyOf(g.get(resIndex), w32), entries)
	}
	g.alu(asm.Sub, w32, offset, entry)
	return offset
}

// loadRegister loads a register that is saved whole, by D's name.
func (g *generator) loadRegister(name string) reg {
	saved, _ := g.opts.Arch.Register(name)
	r := g.newReg()
	g.load(r, g.ctx, saved.Offset, saved.Size)
	return r
}

// memoryReader is the helper that reads what a hook's contexts point to.
func memoryReader(h provider.Hook) asm.BuiltinFunc {
	if h == provider.HookUprobe {
		return asm.FnProbeReadUser
	}
	return asm.FnProbeReadKernel
}
