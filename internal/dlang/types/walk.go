package types

// EachExpr calls f for every expression of the clause, in the order in which
// they are evaluated, an operator before its operands.
func (c *Clause) EachExpr(f func(Expr)) {
	walk(f, c.Predicate)
	walkBlock(f, c.Body)
}

func walkBlock(f func(Expr), list []Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ExprStmt:
			walk(f, s.X)
		case *If:
			walk(f, s.Cond)
			walkBlock(f, s.Then)
			walkBlock(f, s.Else)
		case *Action:
			walk(f, s.Args...)
		case *Aggregate:
			walk(f, s.Keys...)
			walk(f, s.Value, s.Incr)
		}
	}
}

func walk(f func(Expr), list ...Expr) {
	for _, x := range list {
		if x == nil {
			continue
		}
		f(x)
		walk(f, operands(x)...)
	}
}

// operands is the expressions that an expression is made of.
func operands(x Expr) []Expr {
	switch x := x.(type) {
	case *VarRef:
		return x.Keys
	case *Reg:
		if x.Base != nil {
			return []Expr{x.Base}
		}
	case *Unary:
		return []Expr{x.X}
	case *Binary:
		return []Expr{x.X, x.Y}
	case *Logic:
		return []Expr{x.X, x.Y}
	case *Cond:
		return []Expr{x.C, x.X, x.Y}
	case *Comma:
		return []Expr{x.X, x.Y}
	case *Convert:
		return []Expr{x.X}
	case *Assign:
		return []Expr{x.Left, x.Value}
	case *Deref:
		return []Expr{x.X}
	case *Field:
		return []Expr{x.X}
	case *AddrOf:
		return []Expr{x.X}
	case *CallExpr:
		return x.Args
	case *Let:
		return []Expr{x.Value, x.Body}
	case *StructExpr:
		return x.Values
	case *SymExpr:
		return []Expr{x.X}
	}
	return nil
}
