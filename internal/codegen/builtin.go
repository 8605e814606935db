package codegen

import (
	"fmt"

	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/features"

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
	case types.Caller:
		return g.caller(false)
	case types.UCaller:
		return g.caller(true)
	case types.StackDepth:
		return g.depth(false)
	case types.UStackDepth:
		return g.depth(true)
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
	if x.User {
		return g.userRegister(x)
	}
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

// userRegister reads a register of the user's, as saved when the thread entered
// the kernel.
func (g *generator) userRegister(x *types.Reg) reg {
	base := g.userRegs(x)
	t := types.TypeUlong
	if x.Register.Size < 8 {
		t = types.TypeUint
	}
	return (&kernelObject{g.addressOf(base, x.Register.Offset), t}).load(g)
}

// userRegs is the address of the user's registers.
func (g *generator) userRegs(x *types.Reg) reg {
	if features.HaveProgramHelper(programTypes[g.unit.Context.Hook], asm.FnTaskPtRegs) == nil {
		return g.call(asm.FnTaskPtRegs, g.call(asm.FnGetCurrentTaskBtf))
	}
	if x.Base == nil {
		g.fail("uregs[ ]: this kernel does not tell where they are (bpf_task_pt_regs), nor do its types")
	}
	return g.scalar(x.Base)
}

// userStack is BPF_F_USER_STACK.
const userStack = 1 << 8

// caller is the return address of the current function: the second address of
// the stack.
func (g *generator) caller(user bool) (r reg) {
	g.memory(func() {
		at := region{fp, g.stack(16), 16}
		g.zero(at)
		g.getStack(at, user)
		r = g.newReg()
		g.load(r, at.base, at.off+8, 8)
	})
	return r
}

// depth is how many frames a stack has.
func (g *generator) depth(user bool) (r reg) {
	g.memory(func() {
		n := g.getStack(g.scratchTemp(8*maxDepth), user)
		r = g.copyOf(n, w64)
		some := g.newLabel()
		g.jumpIfImm(asm.JSGT, w64, r, 0, some)
		g.set(r, 0, w64)
		g.place(some)
		g.aluImm(asm.RSh, w64, r, 3)
	})
	return r
}

// maxDepth is the kernel's PERF_MAX_STACK_DEPTH.
const maxDepth = 127

// getStack writes the addresses of a stack and returns how many bytes these
// are.
func (g *generator) getStack(to region, user bool) reg {
	var flags reg // how many frames to leave out, and what stack it is
	switch {
	case user && g.atEntry() && to.size > 8:
		return g.entryStack(to)
	case user:
		flags = g.constant(userStack, w64)
	case g.class == classRun || g.class == classRaw:
		flags = g.framesBetween()
	default:
		flags = g.constant(0, w64)
	}
	n := g.call(asm.FnGetStack, g.ctx, g.addr(to), g.constant(uint64(to.size), w64), flags)
	if bias := g.unit.Context.IPBias; bias != 0 && !user {
		n = g.unbias(to, n, bias)
	}
	return n
}

// unbias makes the first of n bytes of addresses that of the probed
// instruction, which the kernel reports bias bytes too far.
func (g *generator) unbias(stack region, n reg, bias int) reg {
	size := g.copyOf(n, w64)
	none := g.newLabel()
	g.jumpIfImm(asm.JSLT, w64, size, 8, none)
	pc := g.newReg()
	g.load(pc, stack.base, stack.off, 8)
	g.aluImm(asm.Sub, w64, pc, int64(bias))
	g.store(stack.base, stack.off, pc, 8)
	g.place(none)
	return size
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
