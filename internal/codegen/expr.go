package codegen

import (
	"fmt"

	"github.com/cilium/ebpf/asm"

	"kinst/internal/dlang/syntax"
	"kinst/internal/dlang/types"
	"kinst/internal/record"
)

// A number in a register has the width of its type: 64 bits for types of 8
// bytes, else 32, narrower ones sign- or zero-extended to them. The upper half
// of a register with a 32-bit number is 0, as every 32-bit operation of BPF
// leaves it.

// widthOf is the width in which numbers of a type are worked with.
func widthOf(t *types.Type) width { return width(t.Base().Size < 8) }

// signed reports whether numbers of the type are signed.
func signed(t *types.Type) bool { return t.Base().Signed }

// A value is what a Let binds: a number in a register, or an object.
type value struct {
	reg reg
	str str
	obj region
}

// effect evaluates an expression whose value nobody wants.
func (g *generator) effect(x types.Expr) {
	switch x := x.(type) {
	case *types.Assign:
		g.assign(x, false)
	case *types.Comma:
		g.effect(x.X)
		g.effect(x.Y)
	case *types.CallExpr:
		g.callEffect(x)
	case *types.Convert:
		g.effect(x.X)
	default:
		if x.Type().IsScalar() {
			g.scalar(x)
		} else if x.Type().IsString() {
			g.str(x)
		}
	}
}

// scalar evaluates an integer or a pointer. The register must not be changed.
func (g *generator) scalar(x types.Expr) reg {
	switch x := x.(type) {
	case *types.Const:
		return g.constant(x.Value, widthOf(x.Type()))
	case *types.BuiltinRef:
		return g.builtin(x)
	case *types.ArgRef:
		return g.narrow(g.argument(x.N), x.Type())
	case *types.Reg:
		return g.register(x)
	case *types.Unary:
		return g.unary(x)
	case *types.Binary:
		if isComparison(x.Op) {
			return g.truth(x)
		}
		return g.binary(x)
	case *types.Logic:
		return g.truth(x)
	case *types.Cond:
		return g.cond(x)
	case *types.Comma:
		g.effect(x.X)
		return g.scalar(x.Y)
	case *types.Convert:
		return g.convert(x)
	case *types.Assign:
		return g.assign(x, true)
	case *types.Current:
		return g.current[len(g.current)-1].load(g)
	case *types.VarRef, *types.Deref, *types.Field, *types.Sym:
		return g.locate(x).load(g)
	case *types.AddrOf:
		return g.addressOfObject(x)
	case *types.CallExpr:
		return g.callScalar(x)
	case *types.Let:
		g.bind(x)
		return g.scalar(x.Body)
	case *types.Bound:
		return g.bound[x.Binding].reg
	}
	panic(fmt.Sprintf("codegen: %T is no scalar", x))
}

// bind evaluates the value of a Let.
func (g *generator) bind(x *types.Let) {
	switch {
	case x.Value.Type().IsString():
		g.bound[x.Binding] = value{str: g.str(x.Value)}
	case x.Value.Type().IsScalar():
		g.bound[x.Binding] = value{reg: g.scalar(x.Value)}
	default:
		g.bound[x.Binding] = value{obj: g.copied(x.Value)}
	}
}

func isComparison(op syntax.Token) bool { return op >= syntax.EQL && op <= syntax.GEQ }

func (g *generator) unary(x *types.Unary) reg {
	if x.Op == syntax.NOT {
		return g.truth(x)
	}
	w := widthOf(x.Type())
	r := g.copyOf(g.scalar(x.X), w)
	if x.Op == syntax.BITNOT {
		g.aluImm(asm.Xor, w, r, -1)
	} else {
		g.emit(ins{op: aluOp(asm.Neg, w, asm.ImmSource), dst: r})
	}
	return r
}

var aluOps = map[syntax.Token]asm.ALUOp{
	syntax.ADD: asm.Add, syntax.SUB: asm.Sub, syntax.MUL: asm.Mul, syntax.AND: asm.And,
	syntax.OR: asm.Or, syntax.XOR: asm.Xor, syntax.SHL: asm.LSh, syntax.SHR: asm.RSh,
	syntax.DIV: asm.Div, syntax.MOD: asm.Mod,
}

// binary is an arithmetic or bitwise operator.
func (g *generator) binary(x *types.Binary) reg {
	w := widthOf(x.Type())
	if x.Op == syntax.DIV || x.Op == syntax.MOD {
		return g.divide(x, w)
	}
	op := aluOps[x.Op]
	if x.Op == syntax.SHR && signed(x.X.Type()) {
		op = asm.ArSh
	}
	shift := x.Op == syntax.SHL || x.Op == syntax.SHR
	left := g.scalar(x.X)
	if k, ok := immediate(x.Y); ok {
		if shift {
			k &= int64(8*x.Type().Base().Size - 1)
		}
		r := g.copyOf(left, w)
		g.aluImm(op, w, r, k)
		return r
	}
	right := g.scalar(x.Y)
	r := g.copyOf(left, w)
	if shift { // C leaves large counts open, and the verifier refuses them
		right = g.copyOf(right, w)
		g.aluImm(asm.And, w, right, int64(8*x.Type().Base().Size-1))
	}
	g.alu(op, w, r, right)
	return r
}

// immediate returns the value of a constant that fits the immediate operand of
// an instruction.
func immediate(x types.Expr) (int64, bool) {
	k, ok := x.(*types.Const)
	if !ok {
		return 0, false
	}
	if widthOf(k.Type()) == w32 {
		return int64(int32(k.Value)), true
	}
	return int64(k.Value), int64(k.Value) == int64(int32(k.Value))
}

// divide is / or %. BPF divides unsigned numbers only: the absolute values of
// signed ones are divided, and the sign put back. INT_MIN / -1 wraps around to
// INT_MIN.
func (g *generator) divide(x *types.Binary, w width) reg {
	op := aluOps[x.Op]
	left, right := g.scalar(x.X), g.scalar(x.Y)
	divisor, constant := x.Y.(*types.Const)
	if !constant {
		nonzero := g.newLabel()
		g.jumpIfImm(asm.JNE, w64, right, 0, nonzero)
		g.fault(record.FaultDivideByZero, noReg)
		g.place(nonzero)
	}
	r := g.copyOf(left, w)
	if !signed(x.Type()) {
		g.alu(op, w, r, right)
		return r
	}
	sign := g.sign(left, w)
	g.alu(asm.Xor, w, r, sign)
	g.alu(asm.Sub, w, r, sign)
	if constant && int64(divisor.Value) > 0 {
		g.alu(op, w, r, right)
	} else {
		other := g.sign(right, w)
		size := g.copyOf(right, w)
		g.alu(asm.Xor, w, size, other)
		g.alu(asm.Sub, w, size, other)
		g.alu(op, w, r, size)
		if x.Op == syntax.DIV { // a remainder has the sign of the dividend
			sign = g.copyOf(sign, w)
			g.alu(asm.Xor, w, sign, other)
		}
	}
	g.alu(asm.Xor, w, r, sign)
	g.alu(asm.Sub, w, r, sign)
	return r
}

// sign is -1 for negative numbers and 0 for others.
func (g *generator) sign(r reg, w width) reg {
	s := g.copyOf(r, w)
	bits := int64(63)
	if w == w32 {
		bits = 31
	}
	g.aluImm(asm.ArSh, w, s, bits)
	return s
}

// convert converts a number to another type.
func (g *generator) convert(x *types.Convert) reg {
	to, from := x.Type().Base(), x.X.Type().Base()
	if to.Bool {
		return g.truth(x.X)
	}
	r := g.scalar(x.X)
	switch {
	case to.Size >= 8 && from.Size < 8 && from.Signed:
		wide := g.copyOf(r, w64)
		g.aluImm(asm.LSh, w64, wide, 32)
		g.aluImm(asm.ArSh, w64, wide, 32)
		return wide
	case !fits(from, to):
		return g.narrow(r, x.Type())
	}
	return r
}

// fits reports whether a number of a type is extended as another type asks.
func fits(from, to *types.Type) bool {
	switch {
	case to.Size >= 4:
		return from.Size <= to.Size
	case from.Signed == to.Signed:
		return from.Size <= to.Size
	}
	return !from.Signed && from.Size < to.Size
}

// narrow keeps the bits of a number that a type holds, extended as the type
// asks.
func (g *generator) narrow(r reg, t *types.Type) reg {
	b := t.Base()
	if b.Size >= 8 {
		return r
	}
	n := g.copyOf(r, w32)
	g.extend(n, b)
	return n
}

// extend extends a number of a type smaller than 4 bytes to 32 bits.
func (g *generator) extend(r reg, t *types.Type) {
	bits := int64(32 - 8*t.Size)
	switch {
	case bits <= 0:
	case t.Signed:
		g.aluImm(asm.LSh, w32, r, bits)
		g.aluImm(asm.ArSh, w32, r, bits)
	default:
		g.aluImm(asm.And, w32, r, 1<<(8*t.Size)-1)
	}
}

// truth is 1 if x is not 0, else 0.
func (g *generator) truth(x types.Expr) reg {
	r := g.newReg()
	no, end := g.newLabel(), g.newLabel()
	g.scope(func() {
		g.branch(x, false, no)
		g.set(r, 1, w32)
		g.jump(end)
		g.place(no)
		g.set(r, 0, w32)
		g.place(end)
	})
	return r
}

// cond is c ? x : y of numbers.
func (g *generator) cond(x *types.Cond) reg {
	r, w := g.newReg(), widthOf(x.Type())
	otherwise, end := g.newLabel(), g.newLabel()
	g.branch(x.C, false, otherwise)
	g.scope(func() { g.move(r, g.scalar(x.X), w) })
	g.jump(end)
	g.place(otherwise)
	g.scope(func() { g.move(r, g.scalar(x.Y), w) })
	g.place(end)
	return r
}

// branch jumps to a label if x is not 0, or, for when == false, if it is. What
// x fetches only on some way is not at hand behind it.
func (g *generator) branch(x types.Expr, when bool, to label) {
	switch x := x.(type) {
	case *types.Const:
		if (x.Value != 0) == when {
			g.jump(to)
		}
		return
	case *types.Unary:
		if x.Op == syntax.NOT {
			g.branch(x.X, !when, to)
			return
		}
	case *types.Binary:
		if isComparison(x.Op) {
			g.compare(x, when, to)
			return
		}
	case *types.Logic:
		g.logic(x, when, to)
		return
	case *types.Comma:
		g.effect(x.X)
		g.branch(x.Y, when, to)
		return
	}
	op := asm.JEq
	if when {
		op = asm.JNE
	}
	g.jumpIfImm(op, w64, g.scalar(x), 0, to)
}

func (g *generator) logic(x *types.Logic, when bool, to label) {
	switch {
	case x.Op == syntax.LXOR:
		left := g.copyOf(g.truth(x.X), w32)
		g.alu(asm.Xor, w32, left, g.truth(x.Y))
		op := asm.JEq
		if when {
			op = asm.JNE
		}
		g.jumpIfImm(op, w64, left, 0, to)
	case (x.Op == syntax.LAND) == when: // both decide
		end := g.newLabel()
		g.branch(x.X, !when, end)
		g.scope(func() { g.branch(x.Y, when, to) })
		g.place(end)
	default:
		g.branch(x.X, when, to)
		g.scope(func() { g.branch(x.Y, when, to) })
	}
}

var signedJumps = map[syntax.Token]asm.JumpOp{
	syntax.EQL: asm.JEq, syntax.NEQ: asm.JNE,
	syntax.LSS: asm.JSLT, syntax.LEQ: asm.JSLE, syntax.GTR: asm.JSGT, syntax.GEQ: asm.JSGE,
}

var unsignedJumps = map[syntax.Token]asm.JumpOp{
	syntax.EQL: asm.JEq, syntax.NEQ: asm.JNE,
	syntax.LSS: asm.JLT, syntax.LEQ: asm.JLE, syntax.GTR: asm.JGT, syntax.GEQ: asm.JGE,
}

// opposite is the comparison that holds where one does not.
var opposite = map[syntax.Token]syntax.Token{
	syntax.EQL: syntax.NEQ, syntax.NEQ: syntax.EQL,
	syntax.LSS: syntax.GEQ, syntax.GEQ: syntax.LSS,
	syntax.GTR: syntax.LEQ, syntax.LEQ: syntax.GTR,
}

// mirrored is the comparison with its operands exchanged.
var mirrored = map[syntax.Token]syntax.Token{
	syntax.EQL: syntax.EQL, syntax.NEQ: syntax.NEQ,
	syntax.LSS: syntax.GTR, syntax.GTR: syntax.LSS,
	syntax.LEQ: syntax.GEQ, syntax.GEQ: syntax.LEQ,
}

// compare jumps if a comparison holds, or, for when == false, if it does not.
func (g *generator) compare(x *types.Binary, when bool, to label) {
	op := x.Op
	if !when {
		op = opposite[op]
	}
	left, right := x.X, x.Y
	if left.Type().IsString() {
		g.compareStrings(op, left, right, to)
		return
	}
	if _, ok := immediate(left); ok {
		left, right, op = right, left, mirrored[op]
	}
	w := widthOf(left.Type())
	jumps := unsignedJumps
	if signed(left.Type()) {
		jumps = signedJumps
	}
	l := g.scalar(left)
	if k, ok := immediate(right); ok {
		g.jumpIfImm(jumps[op], w, l, k, to)
		return
	}
	g.jumpIf(jumps[op], w, l, g.scalar(right), to)
}
