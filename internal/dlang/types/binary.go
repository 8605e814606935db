package types

import "kinst/internal/dlang/syntax"

// binary checks an operator between two operands.
func (c *checker) binary(x *syntax.Binary) Expr {
	switch x.Op {
	case syntax.COMMA:
		return c.comma(x)
	case syntax.LAND, syntax.LOR, syntax.LXOR:
		return c.logic(x)
	case syntax.EQL, syntax.NEQ, syntax.LSS, syntax.LEQ, syntax.GTR, syntax.GEQ:
		return c.comparison(x)
	}
	left, right := c.value(x.X), c.value(x.Y)
	c.typed(left)
	c.typed(right)
	if x.Op == syntax.ADD || x.Op == syntax.SUB {
		return c.additive(x.At, x.Op, left, right)
	}
	return c.arithmeticOp(x.At, x.Op, left, right)
}

func (c *checker) comma(x *syntax.Binary) Expr {
	for _, operand := range []syntax.Expr{x.X, x.Y} {
		if call, ok := unparen(operand).(*syntax.Call); ok && actions[call.Name] != nil {
			c.fail(x.At, "D_OP_ACT", "operator , operands cannot be actions")
		}
		if _, ok := unparen(operand).(*syntax.AggRef); ok {
			c.fail(x.At, "D_OP_DYN", "operator , operands cannot be of dynamic type")
		}
	}
	left := c.expr(x.X)
	right := c.value(x.Y)
	return &Comma{node{x.At, right.Type()}, left, right}
}

func (c *checker) logic(x *syntax.Binary) Expr {
	left, right := c.value(x.X), c.value(x.Y)
	if !left.Type().IsScalar() || !right.Type().IsScalar() {
		c.fail(x.At, "D_OP_SCALAR", "operator %s requires operands of scalar type", lxor(x.Op))
	}
	return fold(&Logic{node{x.At, TypeInt}, x.Op, left, right})
}

// lxor spells an operator.
func lxor(op syntax.Token) string { return op.String() }

// arithmeticOp is * / % & | ^ << >>.
func (c *checker) arithmeticOp(at syntax.Pos, op syntax.Token, left, right Expr) Expr {
	if !left.Type().IsInteger() || !right.Type().IsInteger() {
		if op == syntax.MUL || op == syntax.DIV {
			c.fail(at, "D_OP_ARITH", "operator %s requires operands of arithmetic type", op)
		}
		c.fail(at, "D_OP_INT", "operator %s requires operands of integral type", op)
	}
	if op == syntax.SHL || op == syntax.SHR {
		left, right = c.promote(left), c.promote(right)
		return fold(&Binary{node{at, left.Type()}, op, left, right})
	}
	t := c.arithmetic(left.Type(), right.Type())
	left, right = c.convertTo(c.promote(left), t), c.convertTo(c.promote(right), t)
	if (op == syntax.DIV || op == syntax.MOD) && isZero(right) {
		c.fail(at, "D_DIV_ZERO", "expression contains division by zero")
	}
	return fold(&Binary{node{at, t}, op, left, right})
}

// additive is + or -, of integers and of pointers.
func (c *checker) additive(at syntax.Pos, op syntax.Token, left, right Expr) Expr {
	lt, rt := left.Type(), right.Type()
	pointer := func(t *Type) bool { return t.Base().Kind == Pointer && t.pointee().sized() }
	switch {
	case lt.IsInteger() && rt.IsInteger():
		t := c.arithmetic(lt, rt)
		return fold(&Binary{node{at, t}, op, c.convertTo(c.promote(left), t), c.convertTo(c.promote(right), t)})
	case pointer(lt) && rt.IsInteger():
		return fold(&Binary{node{at, lt}, op, left, c.scale(right, lt)})
	case lt.IsInteger() && pointer(rt) && op == syntax.ADD:
		return fold(&Binary{node{at, rt}, op, right, c.scale(left, rt)})
	case pointer(lt) && pointer(rt) && op == syntax.SUB && c.pointerCompatible(left, right):
		diff := fold(&Binary{node{at, typePtrdiff}, op, c.convertTo(left, typePtrdiff), c.convertTo(right, typePtrdiff)})
		size := &Const{node{at, typePtrdiff}, uint64(lt.pointee().Base().Size)}
		if size.Value == 1 {
			return diff
		}
		return fold(&Binary{node{at, typePtrdiff}, syntax.DIV, diff, size})
	}
	c.fail(at, "D_OP_INCOMPAT", "operands have incompatible types: \"%s\" %s \"%s\"", lt, op, rt)
	return nil
}

// scale is an index in bytes: n elements of what the pointer type points to.
func (c *checker) scale(n Expr, pointer *Type) Expr {
	n = c.convertTo(c.promote(n), typeInt64)
	size := uint64(pointer.pointee().Base().Size)
	if size == 1 {
		return n
	}
	return fold(&Binary{node{n.Pos(), typeInt64}, syntax.MUL, n, &Const{node{n.Pos(), typeInt64}, size}})
}

// comparison is == != < <= > >=, of integers, pointers and strings.
func (c *checker) comparison(x *syntax.Binary) Expr {
	left := c.expr(x.X)
	c.typed(left)
	right := c.enumTag(x, left)
	if right == nil {
		right = c.expr(x.Y)
		c.typed(right)
	}
	lt, rt := left.Type(), right.Type()
	var t *Type
	switch {
	case lt.IsInteger() && rt.IsInteger():
		left, right = c.promote(left), c.promote(right)
		t = c.arithmetic(lt, rt)
	case lt.IsStringLike() && rt.IsStringLike() && (lt.IsString() || rt.IsString()):
		t = c.str
	case lt.IsString() && isZero(right) || rt.IsString() && isZero(left):
		t = c.str
	case c.pointerCompatible(left, right) && !lt.IsString() && !rt.IsString():
		left, right = c.decay(left), c.decay(right)
		t = typeUintptr
	default:
		c.fail(x.At, "D_OP_INCOMPAT", "operands have incompatible types: \"%s\" %s \"%s\"", lt, x.Op, rt)
	}
	return fold(&Binary{node{x.At, TypeInt}, x.Op, c.convertTo(left, t), c.convertTo(right, t)})
}

// enumTag is the right operand of a comparison if the left one is of an enum
// and the right one names a value of it.
func (c *checker) enumTag(x *syntax.Binary, left Expr) Expr {
	id, ok := unparen(x.Y).(*syntax.Ident)
	if !ok || left.Type().Base().Kind != Enum {
		return nil
	}
	value, ok := left.Type().Enumerator(id.Name)
	if !ok {
		return nil
	}
	if v := c.lookupVar(id.Name); v != nil {
		c.fail(x.At, "D_IDENT_AMBIG", "ambiguous use of operator %s: %s is both a %s enum tag and a global variable", x.Op, id.Name, left.Type())
	}
	return &Const{node{id.At, left.Type()}, uint64(value)}
}

// pointerCompatible reports whether two values can be compared as addresses:
// pointers to the same type, to void, or a pointer and an integer.
func (c *checker) pointerCompatible(a, b Expr) bool {
	ta, tb := a.Type(), b.Type()
	pa, pb := ta.IsPointer() || ta.Base().Kind == Func, tb.IsPointer() || tb.Base().Kind == Func
	switch {
	case pa && tb.IsInteger(), ta.IsInteger() && pb:
		return true
	case !pa || !pb:
		return false
	}
	ea, eb := ta.pointee(), tb.pointee()
	return ea.IsVoid() || eb.IsVoid() || Compatible(ea, eb) || ta.Base().Kind == Func || tb.Base().Kind == Func ||
		ta.IsStringLike() && tb.IsStringLike()
}

// assignable reports whether a value can be assigned to an object of type t or
// passed where t is expected.
func (c *checker) assignable(t *Type, x Expr) bool {
	from := x.Type()
	switch {
	case from.IsVoid() || from.IsDynamic():
		return false
	case t.IsInteger() && from.IsInteger():
		return true
	case t.IsString():
		return from.IsStringLike() || isZero(x)
	case t.IsStruct() || from.IsStruct():
		return Compatible(t, from)
	case t.Base().Kind == Pointer && from.IsString():
		return t.IsStringLike()
	case t.Base().Kind == Pointer:
		return from.IsInteger() || c.pointerCompatible(&Current{node{x.Pos(), t}}, x)
	case t.IsInteger():
		return from.IsPointer() && t.Base().Size == 8
	case t.Base().Kind == Stack || t.Base().Kind == Symbol:
		return Compatible(t, from)
	}
	return false
}
