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

// atEntry reports whether the program runs at the first instruction of a user
// program's functions.
func (g *generator) atEntry() bool {
	return g.unit.Context.Hook == provider.HookUprobe && g.unit.Context.CallArgs
}

// entryStack is getStack where the function has not made its frame yet. The
// kernel follows the frames from the caller's on and so leaves the caller out:
// it is put in by the return address.
func (g *generator) entryStack(to region) reg {
	ip, caller := to, to.at(8)
	rest := to.at(8)
	n := g.call(asm.FnGetStack, g.ctx, g.addr(rest), g.constant(uint64(rest.size), w64), g.constant(userStack, w64))
	r := g.copyOf(n, w64)
	none := g.newLabel()
	g.jumpIfImm(asm.JSLT, w64, r, 8, none)
	g.store(ip.base, ip.off, g.loadRegister(g.opts.Arch.PC), 8)
	g.memory(func() {
		place := provider.Place{Size: 8}
		at, _ := g.opts.Arch.Register(g.opts.Arch.Caller.Register)
		if place.Indirect = g.opts.Arch.Caller.Memory; place.Indirect {
			place.Base, place.Offset = at.Offset, int(g.opts.Arch.Caller.Disp)
		} else {
			place.Base = at.Offset
		}
		known, unknown := g.newLabel(), g.newLabel()
		address := g.readPlace(place, func() { g.jump(unknown) })
		g.jump(known)
		g.place(unknown)
		g.set(address, 0, w64)
		g.place(known)
		g.store(caller.base, caller.off, address, 8)
	})
	g.aluImm(asm.Add, w64, r, 8)
	g.place(none)
	return r
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
