package codegen

import (
	"fmt"

	"github.com/cilium/ebpf/asm"

	"kinst/internal/dlang/types"
	"kinst/internal/provider"
	"kinst/internal/record"
)

// builtin evaluates a built-in variable that is a number.
func (g *generator) builtin(x *types.BuiltinRef) reg {
	id := x.Builtin.ID
	switch {
	case id >= types.Arg0 && id < types.Arg0+10:
		return g.argument(int(id - types.Arg0))
	}
	switch id {
	case types.CPU:
		return g.get(resCPU)
	case types.Curthread:
		return g.get(resTask)
	case types.PID:
		return g.upper(g.get(resPidTgid))
	case types.TID:
		return g.copyOf(g.get(resPidTgid), w32)
	case types.GID:
		return g.upper(g.get(resUidGid))
	case types.UID:
		return g.copyOf(g.get(resUidGid), w32)
	case types.Timestamp:
		return g.get(resTime)
	case types.WallTimestamp:
		wall := g.newReg()
		g.load(wall, g.get(resGlobals), wallOffset, 8)
		g.alu(asm.Add, w64, wall, g.get(resTime))
		return wall
	case types.ID:
		return g.probeID()
	case types.Epid:
		return g.epid()
	}
	panic(fmt.Sprintf("codegen: built-in variable %s", x.Builtin.Name))
}

// upper is the upper half of a register as a 32-bit number.
func (g *generator) upper(r reg) reg {
	u := g.copyOf(r, w64)
	g.aluImm(asm.RSh, w64, u, 32)
	return u
}

// register reads a register of the probed place.
func (g *generator) register(x *types.Reg) reg {
	r := g.newReg()
	g.load(r, g.ctx, x.Register.Offset, 8)
	if x.Register.Name == g.opts.Arch.PC && g.unit.Context.IPBias != 0 {
		g.aluImm(asm.Sub, w64, r, int64(g.unit.Context.IPBias))
	}
	if x.Register.Size < 8 {
		g.aluImm(asm.And, w64, r, 1<<(8*x.Register.Size)-1)
	}
	return r
}

// argument is argn, 64 bits, 0 beyond the probe's arguments.
func (g *generator) argument(n int) reg {
	c := g.unit.Context
	switch {
	case c.Places != nil && n < len(c.Places):
		return g.placedArgument(n)
	case c.Places != nil:
		return g.constant(0, w64)
	case c.Hook == provider.HookRun:
		r := g.newReg()
		g.load(r, g.ctx, 8*n, 8)
		return r
	case c.CallArgs && n < len(g.opts.Arch.CallArgs):
		reg, _ := g.opts.Arch.Register(g.opts.Arch.CallArgs[n])
		r := g.newReg()
		g.load(r, g.ctx, reg.Offset, 8)
		return r
	case c.CallArgs:
		return g.stackArgument(n - len(g.opts.Arch.CallArgs))
	case c.ReturnArgs:
		return g.returnArgument(n)
	case c.PCArgs && n < 2:
		return g.programCounter(n == 1)
	}
	return g.constant(0, w64)
}

// placedArgument reads an argument that the context says the place of.
func (g *generator) placedArgument(n int) reg {
	c := g.unit.Context
	p := c.Places[n]
	r := g.readPlace(p, func() { g.fault(record.FaultBadAddress, noReg) })
	isSigned := p.Signed
	if n < len(c.Args) && c.Args[n].Type != nil {
		isSigned = signed(c.Args[n].Type)
	}
	if p.Constant == nil && p.Size < 8 && isSigned {
		shift := int64(64 - 8*p.Size)
		g.aluImm(asm.LSh, w64, r, shift)
		g.aluImm(asm.ArSh, w64, r, shift)
	}
	return r
}

// stackArgument reads argument n of those that a C function is given on the
// stack.
func (g *generator) stackArgument(n int) (r reg) {
	sp, _ := g.opts.Arch.Register(g.opts.Arch.SP)
	at := g.newReg()
	g.load(at, g.ctx, sp.Offset, 8)
	g.aluImm(asm.Add, w64, at, int64(g.opts.Arch.StackArgs+8*n))
	g.memory(func() {
		word := region{fp, g.stack(8), 8}
		g.read(memoryReader(g.unit.Context.Hook), word, 8, at)
		r = g.newReg()
		g.load(r, word.base, word.off, 8)
	})
	return r
}

// programCounter is where the processor was interrupted, if that is in the
// kernel resp. in user space, else 0.
func (g *generator) programCounter(user bool) reg {
	pc, _ := g.opts.Arch.Register(g.opts.Arch.PC)
	r := g.newReg()
	g.load(r, g.ctx, pc.Offset, 8)
	op := asm.JSLT // the kernel's addresses are the upper half
	if user {
		op = asm.JSGE
	}
	is := g.newLabel()
	g.jumpIfImm(op, w64, r, 0, is)
	g.set(r, 0, w64)
	g.place(is)
	return r
}

// probeID is the number of the probe that fired.
func (g *generator) probeID() reg {
	ids := make([]uint32, len(g.unit.Probes))
	inOrder := true
	for i, p := range g.unit.Probes {
		ids[i] = g.unit.First + uint32(i) + 1
		if g.opts.ID != nil {
			ids[i] = g.opts.ID(p)
		}
		inOrder = inOrder && ids[i] == ids[0]+uint32(i)
	}
	if len(ids) == 1 {
		return g.constant(uint64(ids[0]), w32)
	}
	id := g.copyOf(g.get(resIndex), w32)
	if inOrder {
		g.aluImm(asm.Add, w32, id, int64(int32(ids[0]-g.unit.First)))
		return id
	}
	return g.table(id, ids)
}

// table looks up a number by the probe's index, which it destroys.
func (g *generator) table(index reg, numbers []uint32) reg {
	name := siteMap(g.sites)
	g.sites++
	g.tableMap(name, numbers)
	g.aluImm(asm.Sub, w32, index, int64(g.unit.First))
	g.jumpIfImm(asm.JGE, w64, index, int64(len(numbers)), g.exitTo)
	g.aluImm(asm.LSh, w64, index, 2)
	at := g.mapValue(name, 0)
	g.alu(asm.Add, w64, at, index)
	n := g.newReg()
	g.load(n, at, 0, 4)
	return n
}

// epid is the number of the enabled probe: of the probe and the clause.
func (g *generator) epid() reg {
	first := uint32(1 + g.clause.number)
	for _, u := range g.units {
		if u == g.unit {
			break
		}
		first += uint32(len(u.Probes) * len(u.Clauses))
	}
	if len(g.unit.Probes) == 1 {
		return g.constant(uint64(first), w32)
	}
	n := g.copyOf(g.get(resIndex), w32)
	g.aluImm(asm.Sub, w32, n, int64(g.unit.First))
	g.aluImm(asm.Mul, w32, n, int64(len(g.unit.Clauses)))
	g.aluImm(asm.Add, w32, n, int64(first))
	return n
}
