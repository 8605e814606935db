package types

import "kinst/internal/dlang/syntax"

// promote is C's integer promotion: what is smaller than int, and bit-fields
// that int can hold, become int.
func (c *checker) promote(x Expr) Expr {
	return c.convertTo(x, promoted(x))
}

func promoted(x Expr) *Type {
	t := x.Type()
	b := t.Base()
	if f, ok := x.(*Field); ok && f.Member.Bits > 0 && b.Kind != Pointer {
		if f.Member.Bits < 32 || f.Member.Bits == 32 && b.Signed {
			return TypeInt
		}
	}
	return promotedType(t)
}

func promotedType(t *Type) *Type {
	b := t.Base()
	switch {
	case b.Kind == Enum && b.Size <= 4:
		if b.Signed || b.Size < 4 {
			return TypeInt
		}
		return TypeUint
	case b.Kind == Enum:
		if b.Signed {
			return TypeLong
		}
		return TypeUlong
	case b.Kind == Int && b.Size < 4:
		return TypeInt
	}
	return t
}

// arithmetic is C's usual arithmetic conversions: the type in which an
// operator works on operands of the two types. Where one of the types is it,
// the name that the program gave it is kept.
func (c *checker) arithmetic(a, b *Type) *Type {
	a, b = promotedType(a), promotedType(b)
	ba, bb := a.Base(), b.Base()
	switch {
	case ba.Size > bb.Size:
		return a
	case ba.Size < bb.Size:
		return b
	case ba.Signed && !bb.Signed:
		return b
	}
	return a
}

// convertTo converts a value to a type that it is assignable to, or that it is
// cast to.
func (c *checker) convertTo(x Expr, t *Type) Expr {
	if _, ok := x.(*xlated); ok {
		return x // only its members are values
	}
	from := x.Type()
	b := t.Base()
	switch {
	case t.IsString():
		if from.IsString() {
			return x
		}
		if isZero(x) {
			return &Str{node: node{x.Pos(), t}, Null: true}
		}
		return &Convert{node{x.Pos(), t}, x}
	case from.IsString() && b.Kind == Pointer:
		return &AddrOf{node{x.Pos(), t}, x}
	case from.Base().Kind == Array || from.Base().Kind == Func:
		x = c.decay(x)
		from = x.Type()
	}
	if t == from || b.Kind == Void || !t.IsScalar() {
		return x
	}
	if k, ok := x.(*Const); ok {
		return &Const{node{k.At, t}, truncate(k.Value, b)}
	}
	return &Convert{node{x.Pos(), t}, x}
}

// truncate keeps the bits of a value that a type holds, extended to 64 bits.
func truncate(v uint64, t *Type) uint64 {
	switch {
	case t.Bool:
		if v != 0 {
			return 1
		}
		return 0
	case t.Size >= 8:
		return v
	}
	shift := 64 - 8*t.Size
	if t.Signed {
		return uint64(int64(v<<shift) >> shift)
	}
	return v << shift >> shift
}

// isZero reports whether x is a constant 0.
func isZero(x Expr) bool {
	k, ok := x.(*Const)
	return ok && k.Value == 0
}

// fold evaluates an expression whose operands are constants.
func fold(x Expr) Expr {
	switch x := x.(type) {
	case *Unary:
		if k, ok := x.X.(*Const); ok {
			return &Const{x.node, foldUnary(x.Op, k.Value, x.T.Base())}
		}
	case *Binary:
		a, aok := x.X.(*Const)
		b, bok := x.Y.(*Const)
		if aok && bok {
			return &Const{x.node, foldBinary(x.Op, a, b, x.T.Base())}
		}
		if s, ok := foldStrings(x); ok {
			return s
		}
	case *Logic:
		return foldLogic(x)
	case *Cond:
		if k, ok := x.C.(*Const); ok {
			if k.Value != 0 {
				return x.X
			}
			return x.Y
		}
	}
	return x
}

func foldUnary(op syntax.Token, v uint64, t *Type) uint64 {
	switch op {
	case syntax.SUB:
		return truncate(-v, t)
	case syntax.BITNOT:
		return truncate(^v, t)
	}
	return boolean(v == 0)
}

func boolean(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// foldBinary evaluates an arithmetic operator or a comparison; t is the type of
// the result. Signed overflow wraps around. Division is by a constant that is
// not zero.
func foldBinary(op syntax.Token, x, y *Const, t *Type) uint64 {
	a, b := x.Value, y.Value
	signed := x.T.signed()
	switch op {
	case syntax.ADD:
		return truncate(a+b, t)
	case syntax.SUB:
		return truncate(a-b, t)
	case syntax.MUL:
		return truncate(a*b, t)
	case syntax.DIV:
		return truncate(divide(a, b, signed), t)
	case syntax.MOD:
		return truncate(a-b*divide(a, b, signed), t)
	case syntax.AND:
		return a & b
	case syntax.OR:
		return a | b
	case syntax.XOR:
		return truncate(a^b, t)
	case syntax.SHL:
		return truncate(a<<shiftCount(b, t), t)
	case syntax.SHR:
		if signed {
			return uint64(int64(a) >> shiftCount(b, t))
		}
		return a >> shiftCount(b, t)
	}
	return boolean(compare(op, a, b, signed))
}

func divide(a, b uint64, signed bool) uint64 {
	if signed {
		return uint64(int64(a) / int64(b))
	}
	return a / b
}

// shiftCount is how far a shift moves bits: what the machine makes of counts
// that C leaves undefined.
func shiftCount(n uint64, t *Type) uint64 { return n & uint64(8*t.Size-1) }

func compare(op syntax.Token, a, b uint64, signed bool) bool {
	if signed { // order as unsigned numbers
		a ^= 1 << 63
		b ^= 1 << 63
	}
	switch op {
	case syntax.EQL:
		return a == b
	case syntax.NEQ:
		return a != b
	case syntax.LSS:
		return a < b
	case syntax.LEQ:
		return a <= b
	case syntax.GTR:
		return a > b
	}
	return a >= b
}

// foldStrings compares string constants.
func foldStrings(x *Binary) (Expr, bool) {
	a, aok := x.X.(*Str)
	b, bok := x.Y.(*Str)
	if !aok || !bok || a.Null || b.Null {
		return nil, false
	}
	var order int64
	switch {
	case a.Value < b.Value:
		order = -1
	case a.Value > b.Value:
		order = 1
	}
	return &Const{x.node, boolean(compare(x.Op, uint64(order), 0, true))}, true
}

// foldLogic evaluates && || ^^ as far as the constants among the operands
// decide it.
func foldLogic(x *Logic) Expr {
	a, aok := x.X.(*Const)
	b, bok := x.Y.(*Const)
	if aok && bok {
		p, q := a.Value != 0, b.Value != 0
		switch x.Op {
		case syntax.LAND:
			return &Const{x.node, boolean(p && q)}
		case syntax.LOR:
			return &Const{x.node, boolean(p || q)}
		}
		return &Const{x.node, boolean(p != q)}
	}
	if aok && x.Op == syntax.LAND && a.Value == 0 {
		return &Const{x.node, 0}
	}
	if aok && x.Op == syntax.LOR && a.Value != 0 {
		return &Const{x.node, 1}
	}
	return x
}
