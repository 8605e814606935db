package codegen

import (
	"fmt"

	"github.com/cilium/ebpf/asm"

	"kinst/internal/dlang/syntax"
	"kinst/internal/dlang/types"
	"kinst/internal/record"
)

// readKernel copies kernel memory; a bad address stops the clause.
func (g *generator) readKernel(to region, size int, addr reg) {
	g.read(asm.FnProbeReadKernel, to, size, addr)
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

// store writes to memory that alloca() or copyin() gave; any other address
// stops the clause.
func (o *kernelObject) store(g *generator, v reg) {
	size := o.t.Base().Size
	g.store(g.own(o.addr, size), 0, v, size)
}

// A part is where a piece of an object is: so many bytes from the start of
// what root names.
type part struct {
	root types.Expr // a *types.VarRef, *types.Deref or *types.Sym, or what makes an object
	off  int
	dyn  reg // to be added to off, or noReg
}

// part finds out which piece of which object an lvalue is.
func (g *generator) part(x types.Expr) part {
	switch x := x.(type) {
	case *types.Field:
		p := g.part(x.X)
		p.off += x.Member.Offset / 8
		return p
	case *types.Convert:
		return g.part(x.X)
	case *types.Deref:
		if array, index, ok := ownElement(x); ok {
			return g.elementPart(array, index, x.Type().Base().Size)
		}
	}
	return part{root: x}
}

// ownElement reports whether x is an element of an array that is part of a
// variable, and returns the array and the element's offset, nil for 0.
func ownElement(x *types.Deref) (array, offset types.Expr, ok bool) {
	pointer := x.X
	if sum, ok := pointer.(*types.Binary); ok && sum.Op == syntax.ADD {
		pointer, offset = sum.X, sum.Y
	}
	a, ok := pointer.(*types.AddrOf)
	if !ok || a.X.Type().Base().Kind != types.Array {
		return nil, nil, false
	}
	return a.X, offset, inVariable(a.X)
}

// inVariable reports whether an lvalue is a variable or a part of one.
func inVariable(x types.Expr) bool {
	switch x := x.(type) {
	case *types.VarRef:
		return true
	case *types.Field:
		return inVariable(x.X)
	case *types.Deref:
		array, _, ok := ownElement(x)
		return ok && inVariable(array)
	}
	return false
}

// elementPart is an element of an array in a variable. An index outside of the
// array stops the clause.
func (g *generator) elementPart(array, offset types.Expr, size int) part {
	p := g.part(array)
	if offset == nil {
		return p
	}
	last := int64(array.Type().Base().Size - size)
	inside := g.newLabel()
	if k, ok := offset.(*types.Const); ok {
		if k.Value <= uint64(last) {
			p.off += int(k.Value)
			return p
		}
	}
	index := g.copyOf(g.scalar(offset), w64)
	g.jumpIfImm(asm.JLE, w64, index, last, inside)
	g.scope(func() { g.fault(record.FaultBadAddress, g.outside(p, index)) })
	g.place(inside)
	if p.dyn != noReg {
		g.alu(asm.Add, w64, index, p.dyn)
	}
	p.dyn = index
	return p
}

// outside is the address of what is so many bytes from the start of an array
// that p is: from 0 in an element that there is not.
func (g *generator) outside(p part, offset reg) reg {
	addr := g.copyOf(offset, w64)
	none := g.newLabel()
	switch loc := g.locateVar(p.root.(*types.VarRef)).(type) {
	case *object:
		g.alu(asm.Add, w64, addr, g.plainAddress(loc.region))
	case *element:
		at := loc.find(g, none)
		g.alu(asm.Add, w64, addr, g.plainAddress(region{base: at, size: loc.size}))
	}
	g.place(none)
	g.aluImm(asm.Add, w64, addr, int64(p.off))
	if p.dyn != noReg {
		g.alu(asm.Add, w64, addr, p.dyn)
	}
	return addr
}

// locatePart finds a number of type t in a part of an object.
func (g *generator) locatePart(p part, t *types.Type) location {
	switch root := p.root.(type) {
	case *types.VarRef:
		switch loc := g.locateVar(root).(type) {
		case *object:
			return &object{g.shifted(loc.region, p), t}
		case *element:
			return &elementPart{loc, p, t}
		default:
			return loc
		}
	case *types.Deref:
		return &kernelObject{g.addressOf(g.scalar(root.X), p.off), t}
	case *types.Sym:
		return &kernelObject{g.constant(root.Addr+uint64(p.off), w64), t}
	case *types.Bound:
		return &object{g.shifted(g.bound[root.Binding].obj, p), t}
	case *types.Assign, *types.Comma, *types.Cond, *types.Let, *types.StructExpr:
		return &object{g.shifted(g.copied(root), p), t}
	}
	panic(fmt.Sprintf("codegen: %T is no object", p.root))
}

// copied is a copy of a struct or an array, or what an expression makes one.
func (g *generator) copied(x types.Expr) region {
	r := g.scratchTemp(x.Type().Base().Size)
	g.copyObject(x, r)
	return r
}

// shifted is a part of a region.
func (g *generator) shifted(r region, p part) region {
	r = r.at(p.off)
	if p.dyn != noReg {
		r = region{g.plus(r, p.dyn), 0, r.size}
	}
	return r
}

// locateField finds a member of a struct.
func (g *generator) locateField(x *types.Field) location {
	if x.Member.Bits != 0 {
		return g.bitField(x)
	}
	return g.locatePart(g.part(x), x.Type())
}

// addressOfObject is &x, and the value of an array or a string where a pointer
// is wanted.
func (g *generator) addressOfObject(x *types.AddrOf) reg {
	if x.X.Type().IsString() {
		return g.plainAddress(g.solid(x.X).region)
	}
	switch loc := g.locatePart(g.part(x.X), x.X.Type()).(type) {
	case *object:
		return g.plainAddress(loc.region)
	case *kernelObject:
		return loc.addr
	case *elementPart:
		copied := g.reserve(loc.size)
		loc.copyTo(g, copied)
		return g.plainAddress(g.shifted(copied, loc.part))
	}
	panic("codegen: the address of a number")
}

// copyObject copies a struct or an array.
func (g *generator) copyObject(x types.Expr, to region) {
	switch x := x.(type) {
	case *types.Assign:
		g.assignObject(x)
		g.copyObject(x.Left, to)
		return
	case *types.Comma:
		g.effect(x.X)
		g.copyObject(x.Y, to)
		return
	case *types.Cond:
		otherwise, end := g.newLabel(), g.newLabel()
		g.branch(x.C, false, otherwise)
		g.scope(func() { g.copyObject(x.X, to) })
		g.jump(end)
		g.place(otherwise)
		g.scope(func() { g.copyObject(x.Y, to) })
		g.place(end)
		return
	case *types.Let:
		g.bind(x)
		g.copyObject(x.Body, to)
		return
	case *types.StructExpr:
		g.zero(to)
		for i, m := range x.Members {
			g.memberInto(x.Values[i], to, m)
		}
		return
	}
	p := g.part(x)
	switch loc := g.locatePart(p, x.Type()).(type) {
	case *object:
		g.readKernel(to, to.size, g.addr(loc.region))
	case *kernelObject:
		g.readKernel(to, to.size, loc.addr)
	case *elementPart:
		none, end := g.newLabel(), g.newLabel()
		at := g.shifted(region{base: loc.find(g, none), size: loc.size}, loc.part)
		g.readKernel(to, to.size, g.addr(at))
		g.jump(end)
		g.place(none)
		g.zero(to)
		g.place(end)
	}
}

// memberInto writes a member of a struct in memory.
func (g *generator) memberInto(x types.Expr, whole region, m types.Member) {
	size := m.Type.Base().Size
	if m.Bits != 0 {
		first := m.Offset / (8 * size) * size
		unit := &types.Type{Kind: types.Int, Size: size}
		f := &bitField{of: &object{whole.at(first), unit}, t: m.Type, shift: m.Offset - 8*first, bits: m.Bits}
		f.store(g, g.scalar(x))
		return
	}
	to := region{whole.base, whole.off + m.Offset/8, size}
	if m.Type.IsScalar() {
		g.scalarInto(x, to, size)
	} else {
		g.objectInto(x, to)
	}
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
	// The field lies within one aligned unit of its type.
	first := m.Offset / (8 * unit.Size) * unit.Size
	p := g.part(x.X)
	p.off += first
	return &bitField{
		of: g.locatePart(p, &types.Type{Kind: types.Int, Size: unit.Size}),
		t:  x.Type(), shift: m.Offset - 8*first, bits: m.Bits, signed: unit.Signed,
	}
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
