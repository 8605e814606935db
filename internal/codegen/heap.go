package codegen

import (
	"github.com/cilium/ebpf/asm"

	"kinst/internal/dlang/types"
	"kinst/internal/record"
)

// Memory that alloca(), copyin() and copyinstr() give lies in scratch memory
// and belongs to the clause until it ends. Its address is an ordinary number:
// it is read as the kernel's memory is, and written after a check that it is
// the program's own.

// maxDynamic is how much memory alloca() and copyin() give where the size is
// not a constant.
const maxDynamic = 4096

// reserve takes scratch memory for the rest of the clause.
func (g *generator) reserve(size int) region {
	r := g.scratchTemp(size)
	if g.heapEnd == 0 {
		g.heapStart = r.off
	}
	g.heapEnd = g.scratchUsed
	return r
}

// sized evaluates the size of a piece of memory, with its bound; too large a
// one stops the clause.
func (g *generator) sized(x types.Expr) (size reg, bound int) {
	if k, ok := x.(*types.Const); ok && k.Value <= maxDynamic {
		return g.constant(k.Value, w64), max(int(k.Value), 1)
	}
	size = g.copyOf(g.scalar(x), w64)
	fits := g.newLabel()
	g.jumpIfImm(asm.JLE, w64, size, maxDynamic, fits)
	g.fault(record.FaultNoScratch, noReg)
	g.place(fits)
	return size, maxDynamic
}

// alloca is alloca(size).
func (g *generator) alloca(x *types.CallExpr) reg {
	_, bound := g.sized(x.Args[0])
	r := g.reserve(bound)
	g.zero(r)
	return g.plainAddress(r)
}

// plainAddress is the address of memory as a number, which may be kept in a
// variable and worked with.
func (g *generator) plainAddress(r region) (at reg) {
	g.memory(func() {
		tmp := g.scratchTemp(8)
		g.store(tmp.base, tmp.off, g.addr(r), 8)
		at = g.newReg()
		g.load(at, tmp.base, tmp.off, 8)
	})
	return at
}

// copyin is copyin(address, size).
func (g *generator) copyin(x *types.CallExpr) reg {
	addr := g.scalar(x.Args[0])
	size, bound := g.sized(x.Args[1])
	r := g.reserve(bound)
	g.readSized(asm.FnProbeReadUser, g.addr(r), size, addr)
	return g.plainAddress(r)
}

// readSized copies memory of a size that the verifier knows bounds of.
func (g *generator) readSized(fn asm.BuiltinFunc, to, size, addr reg) {
	failed := g.call(fn, to, size, addr)
	good := g.newLabel()
	g.jumpIfImm(asm.JEq, w64, failed, 0, good)
	g.fault(record.FaultBadAddress, addr)
	g.place(good)
}

// copyinstr is copyinstr(address[, size]).
func (g *generator) copyinstr(x *types.CallExpr, to region) {
	addr := g.scalar(x.Args[0])
	if len(x.Args) > 1 {
		if k, ok := x.Args[1].(*types.Const); ok {
			to.size = min(max(int(k.Value)+1, 2), to.size)
		} else {
			g.boundedCopyinstr(addr, x.Args[1], to)
			return
		}
	}
	g.readString(asm.FnProbeReadUserStr, to, addr)
}

// boundedCopyinstr reads a string of at most a number of bytes that is not a
// constant.
func (g *generator) boundedCopyinstr(addr reg, most types.Expr, to region) {
	size := g.copyOf(g.scalar(most), w64)
	fits := g.newLabel()
	g.aluImm(asm.Add, w64, size, 1)
	g.jumpIfImm(asm.JLE, w64, size, int64(to.size), fits)
	g.set(size, uint64(to.size), w64)
	g.place(fits)
	n := g.call(asm.FnProbeReadUserStr, g.addr(to), size, addr)
	good := g.newLabel()
	g.jumpIfImm(asm.JSGE, w64, n, 0, good)
	g.fault(record.FaultBadAddress, addr)
	g.place(good)
}

// copyinto is copyinto(address, size, to).
func (g *generator) copyinto(x *types.CallExpr) reg {
	addr := g.scalar(x.Args[0])
	size, bound := g.sized(x.Args[1])
	g.readSized(asm.FnProbeReadUser, g.ownSized(g.scalar(x.Args[2]), x.Args[1], size, bound), size, addr)
	return noReg
}

// bcopy is bcopy(from, to, size).
func (g *generator) bcopy(x *types.CallExpr) reg {
	from := g.scalar(x.Args[0])
	size, bound := g.sized(x.Args[2])
	g.readSized(asm.FnProbeReadKernel, g.ownSized(g.scalar(x.Args[1]), x.Args[2], size, bound), size, from)
	return noReg
}

// copyout is copyout(from, address, size) and copyoutstr(string, address,
// size).
func (g *generator) copyout(x *types.CallExpr) reg {
	var from reg
	size, bound := g.sized(x.Args[2])
	done := g.newLabel()
	g.memory(func() {
		buffer := g.scratchTemp(bound)
		if x.Args[0].Type().IsString() {
			s := g.solid(x.Args[0])
			from = g.addr(buffer)
			size = g.call(asm.FnProbeReadKernelStr, from, size, g.addr(s.region))
			g.jumpIfImm(asm.JSLE, w64, size, 0, done)
			fits := g.newLabel()
			g.jumpIfImm(asm.JLE, w64, size, int64(bound), fits)
			g.set(size, uint64(bound), w64)
			g.place(fits)
		} else {
			from = g.addr(buffer)
			g.readSized(asm.FnProbeReadKernel, from, size, g.scalar(x.Args[0]))
		}
		to := g.scalar(x.Args[1])
		g.jumpIfImm(asm.JLT, w64, size, 1, done) // not JEq, of which older verifiers learn nothing
		failed := g.call(asm.FnProbeWriteUser, to, from, size)
		g.jumpIfImm(asm.JEq, w64, failed, 0, done)
		g.fault(record.FaultBadAddress, to)
		g.place(done)
	})
	return noReg
}
