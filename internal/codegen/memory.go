package codegen

import (
	"github.com/cilium/ebpf/asm"

	"kinst/internal/dlang/types"
	"kinst/internal/record"
)

// readKernel copies kernel memory; a bad address stops the clause.
func (g *generator) readKernel(to region, size int, addr reg) {
	g.read(asm.FnProbeReadKernel, to, size, addr)
}

// readUser copies memory of the current process; a bad address stops the
// clause.
func (g *generator) readUser(to region, size int, addr reg) {
	g.read(asm.FnProbeReadUser, to, size, addr)
}

func (g *generator) read(fn asm.BuiltinFunc, to region, size int, addr reg) {
	g.readOr(fn, to, size, addr, func() { g.fault(record.FaultBadAddress, addr) })
}

// readOr copies memory; if that fails it does what failed says, which must not
// come back.
func (g *generator) readOr(fn asm.BuiltinFunc, to region, size int, addr reg, failed func()) {
	result := g.call(fn, g.addr(to), g.constant(uint64(size), w64), addr)
	good := g.newLabel()
	g.jumpIfImm(asm.JEq, w64, result, 0, good)
	failed()
	g.place(good)
}

// A kernelObject is a number at an address of the kernel.
type kernelObject struct {
	addr reg
	t    *types.Type
}

func (o *kernelObject) load(g *generator) (r reg) {
	g.memory(func() {
		size := o.t.Base().Size
		at := region{fp, g.stack(size), size}
		g.readKernel(at, size, o.addr)
		r = (&object{at, o.t}).load(g)
	})
	return r
}

// store is refused: D programs do not write to the kernel's memory.
func (o *kernelObject) store(g *generator, v reg) {
	skip := g.newLabel()
	never := g.constant(0, w64)
	g.jumpIfImm(asm.JNE, w64, never, 0, skip)
	g.fault(record.FaultBadAddress, o.addr)
	g.place(skip)
}

// A home is where an object is: in our own memory, or at an address of the
// kernel.
type home struct {
	region     // base is noReg for an address of the kernel
	addr   reg // if it is not in our own memory
}

// home finds the object that an expression names.
func (g *generator) home(x types.Expr) home {
	switch x := x.(type) {
	case *types.Deref:
		return home{addr: g.scalar(x.X)}
	case *types.Sym:
		return home{addr: g.constant(x.Addr, w64)}
	case *types.Convert:
		return g.home(x.X)
	case *types.Field:
		h := g.home(x.X)
		off := x.Member.Offset / 8
		if h.base == noReg {
			return home{addr: g.addressOf(h.addr, off)}
		}
		return home{region: h.at(off)}
	case *types.VarRef:
		if o, ok := g.locateVar(x).(*object); ok {
			return home{region: o.region}
		}
	}
	panic("codegen: an object without a home")
}

// locateField finds a member of a struct.
func (g *generator) locateField(x *types.Field) location {
	if x.Member.Bits != 0 {
		return g.bitField(x)
	}
	h := g.home(x)
	if h.base == noReg {
		return &kernelObject{h.addr, x.Type()}
	}
	return &object{h.region, x.Type()}
}

// addressOfObject is &x, and the value of an array or a string where a pointer
// is wanted.
func (g *generator) addressOfObject(x *types.AddrOf) reg {
	if x.X.Type().IsString() {
		return g.addr(g.str(x.X).region)
	}
	h := g.home(x.X)
	if h.base == noReg {
		return h.addr
	}
	return g.addr(h.region)
}

// copyObject copies a struct or an array.
func (g *generator) copyObject(x types.Expr, to region) {
	h := g.home(x)
	addr := h.addr
	if h.base != noReg {
		addr = g.addr(h.region)
	}
	g.readKernel(to, to.size, addr)
}

// A bitField is a member of less than whole bytes.
type bitField struct {
	of     location // the bytes that it is in, as an unsigned number
	t      *types.Type
	shift  int
	bits   int
	signed bool
}

func (g *generator) bitField(x *types.Field) location {
	m := x.Member
	unit := x.Type().Base()
	h := g.home(x.X)
	// The field lies within one aligned unit of its type.
	first := m.Offset / (8 * unit.Size) * unit.Size
	t := &types.Type{Kind: types.Int, Size: unit.Size}
	f := &bitField{t: x.Type(), shift: m.Offset - 8*first, bits: m.Bits, signed: unit.Signed}
	if h.base == noReg {
		f.of = &kernelObject{g.addressOf(h.addr, first), t}
	} else {
		f.of = &object{h.at(first), t}
	}
	return f
}

func (f *bitField) load(g *generator) reg {
	r := g.copyOf(f.of.load(g), w64)
	g.aluImm(asm.LSh, w64, r, int64(64-f.shift-f.bits))
	if f.signed {
		g.aluImm(asm.ArSh, w64, r, int64(64-f.bits))
	} else {
		g.aluImm(asm.RSh, w64, r, int64(64-f.bits))
	}
	if widthOf(f.t) == w32 {
		return g.copyOf(r, w32)
	}
	return r
}

func (f *bitField) store(g *generator, v reg) {
	mask := (uint64(1)<<f.bits - 1) << f.shift
	old := g.copyOf(f.of.load(g), w64)
	g.alu(asm.And, w64, old, g.constant(^mask, w64))
	put := g.copyOf(v, w64)
	g.aluImm(asm.LSh, w64, put, int64(f.shift))
	g.alu(asm.And, w64, put, g.constant(mask, w64))
	g.alu(asm.Or, w64, old, put)
	f.of.store(g, old)
}
