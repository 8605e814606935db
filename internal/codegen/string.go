package codegen

import (
	"encoding/binary"

	"github.com/cilium/ebpf/asm"

	"kinst/internal/dlang/syntax"
	"kinst/internal/dlang/types"
	"kinst/internal/record"
)

// A str is a string in our own memory: NUL-terminated within its region.
type str struct {
	region
	// constant is its value, if it is known.
	constant *types.Str
}

// capacity is the number of bytes that the value of a string expression needs
// at most, its NUL included.
func (c *compiler) capacity(x types.Expr) int {
	switch x := x.(type) {
	case *types.Str:
		return min(len(x.Value)+1, c.opts.Strsize)
	case *types.BuiltinRef:
		if x.Builtin.ID == types.Execname {
			return min(types.TaskCommLen, c.opts.Strsize)
		}
	case *types.Cond:
		return max(c.capacity(x.X), c.capacity(x.Y))
	case *types.Comma:
		return c.capacity(x.Y)
	}
	return c.opts.Strsize
}

// str evaluates a string.
func (g *generator) str(x types.Expr) str {
	switch x := x.(type) {
	case *types.Str:
		size := g.capacity(x)
		value := x.Value[:size-1]
		return str{region{g.mapValue(globalsMap, g.globals.constant(value)), 0, size}, x}
	case *types.Comma:
		g.effect(x.X)
		return g.str(x.Y)
	case *types.Let:
		g.bind(x)
		return g.str(x.Body)
	case *types.Bound:
		return g.bound[x.Binding].str
	case *types.VarRef:
		if o, ok := g.locateVar(x).(*object); ok {
			return str{region: o.region}
		}
	}
	s := str{region: g.temp(g.capacity(x))}
	g.stringInto(x, s.region)
	return s
}

// stringInto writes a string into memory that has room for it, cutting off
// what is too much.
func (g *generator) stringInto(x types.Expr, to region) {
	switch x := x.(type) {
	case *types.Str:
		g.constantInto(x.Value, to)
		return
	case *types.BuiltinRef:
		if x.Builtin.ID == types.Execname && to.size >= types.TaskCommLen {
			g.call(asm.FnGetCurrentComm, g.addr(to), g.constant(types.TaskCommLen, w64))
			return
		}
	case *types.Convert:
		g.readString(asm.FnProbeReadKernelStr, to, g.pointer(x.X))
		return
	case *types.Comma:
		g.effect(x.X)
		g.stringInto(x.Y, to)
		return
	case *types.Cond:
		g.eitherInto(x, to)
		return
	case *types.VarRef:
		g.variableInto(x, to)
		return
	case *types.Assign:
		g.assignObject(x)
		g.stringInto(x.Left, to)
		return
	case *types.CallExpr:
		g.callInto(x, to)
		return
	}
	g.copyString(to, g.str(x))
}

// copyString copies a string of our own.
func (g *generator) copyString(to region, s str) {
	g.call(asm.FnProbeReadKernelStr, g.addr(to), g.constant(uint64(to.size), w64), g.addr(s.region))
}

// constantInto writes a string constant.
func (g *generator) constantInto(value string, to region) {
	value = value[:min(len(value), to.size-1)]
	if len(value) >= 64 {
		at := g.mapValue(globalsMap, g.globals.constant(value))
		g.call(asm.FnProbeReadKernel, g.addr(to), g.constant(uint64(len(value)+1), w64), at)
		return
	}
	text := append([]byte(value), 0)
	for n := 0; n < len(text); {
		size := chunk(len(text) - n)
		g.storeImm(to.base, to.off+n, int64(number(text[n:n+size])), size)
		n += size
	}
}

// chunk is the size of the widest immediate store of at most n bytes.
func chunk(n int) int {
	switch {
	case n >= 4:
		return 4
	case n >= 2:
		return 2
	}
	return 1
}

// number is the number that the machine reads from up to 4 bytes.
func number(b []byte) int32 {
	switch len(b) {
	case 4:
		return int32(binary.NativeEndian.Uint32(b))
	case 2:
		return int32(binary.NativeEndian.Uint16(b))
	}
	return int32(b[0])
}

// pointer is the address of what stringof is applied to: where a pointer
// points, where an array is.
func (g *generator) pointer(x types.Expr) reg {
	if x.Type().IsScalar() {
		return g.scalar(x)
	}
	return g.addressOfObject(&types.AddrOf{X: x})
}

// readString copies a string from an address; a bad one stops the clause.
func (g *generator) readString(fn asm.BuiltinFunc, to region, addr reg) {
	n := g.call(fn, g.addr(to), g.constant(uint64(to.size), w64), addr)
	good := g.newLabel()
	g.jumpIfImm(asm.JSGE, w64, n, 0, good)
	g.fault(record.FaultBadAddress, addr)
	g.place(good)
}

// eitherInto is c ? x : y of strings.
func (g *generator) eitherInto(x *types.Cond, to region) {
	otherwise, end := g.newLabel(), g.newLabel()
	g.branch(x.C, false, otherwise)
	g.scope(func() { g.stringInto(x.X, to) })
	g.jump(end)
	g.place(otherwise)
	g.scope(func() { g.stringInto(x.Y, to) })
	g.place(end)
}

// paddedInto writes a string with zeros behind it, as a key needs.
func (g *generator) paddedInto(x types.Expr, to region) {
	if b, ok := x.(*types.BuiltinRef); !ok || b.Builtin.ID != types.Execname || to.size != types.TaskCommLen {
		g.zero(to)
	}
	g.stringInto(x, to)
}

// compareStrings jumps if a comparison of strings holds.
func (g *generator) compareStrings(op syntax.Token, left, right types.Expr, to label) {
	g.memory(func() {
		l, r := g.str(left), g.str(right)
		if op == syntax.EQL || op == syntax.NEQ {
			switch {
			case r.constant != nil:
				g.equalsConstant(op, l.region, r.constant.Value, to)
				return
			case l.constant != nil:
				g.equalsConstant(op, r.region, l.constant.Value, to)
				return
			}
		}
		order := g.callSub(subCompare, g.addr(l.region), g.addr(r.region), g.constant(uint64(min(l.size, r.size)), w64))
		g.jumpIfImm(signedJumps[op], w64, order, 0, to)
	})
}

// equalsConstant compares a string with a constant, its NUL included, a few
// bytes at a time.
func (g *generator) equalsConstant(op syntax.Token, s region, value string, to label) {
	text := append([]byte(value), 0)
	differ := to
	if op == syntax.EQL {
		differ = g.newLabel()
	}
	if len(text) > s.size { // it cannot be so long
		if op == syntax.NEQ {
			g.jump(to)
		}
		return
	}
	for n := 0; n < len(text); {
		size := chunk(len(text) - n)
		part := g.newReg()
		g.load(part, s.base, s.off+n, size)
		g.jumpIfImm(asm.JNE, w32, part, int64(number(text[n:n+size])), differ)
		n += size
	}
	if op == syntax.EQL {
		g.jump(to)
		g.place(differ)
	}
}
