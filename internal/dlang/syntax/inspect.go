package syntax

// Inspect calls f for every expression in a declaration, a statement or an
// expression, itself included, those around others first.
func Inspect(n Node, f func(Expr)) {
	switch n := n.(type) {
	case *Clause:
		inspectExpr(n.Predicate, f)
		inspectStmts(n.Body, f)
	case *InlineDecl:
		inspectExpr(n.Value, f)
	case *TranslatorDecl:
		for _, m := range n.Members {
			inspectExpr(m.Value, f)
		}
	case Stmt:
		inspectStmts([]Stmt{n}, f)
	case Expr:
		inspectExpr(n, f)
	}
}

func inspectStmts(list []Stmt, f func(Expr)) {
	for _, s := range list {
		switch s := s.(type) {
		case *ExprStmt:
			inspectExpr(s.X, f)
		case *IfStmt:
			inspectExpr(s.Cond, f)
			inspectStmts(s.Then, f)
			inspectStmts(s.Else, f)
		}
	}
}

func inspectExpr(x Expr, f func(Expr)) {
	if x == nil {
		return
	}
	f(x)
	for _, operand := range operands(x) {
		inspectExpr(operand, f)
	}
}

// operands are the expressions that x is made of; some may be nil.
func operands(x Expr) []Expr {
	switch x := x.(type) {
	case *AggRef:
		return x.Keys
	case *Unary:
		return []Expr{x.X}
	case *Postfix:
		return []Expr{x.X}
	case *Binary:
		return []Expr{x.X, x.Y}
	case *Assign:
		return []Expr{x.X, x.Y}
	case *Cond:
		return []Expr{x.C, x.X, x.Y}
	case *Call:
		return x.Args
	case *Index:
		return append([]Expr{x.X}, x.Args...)
	case *Member:
		return []Expr{x.X}
	case *Cast:
		return []Expr{x.X}
	case *Sizeof:
		return []Expr{x.X}
	case *Stringof:
		return []Expr{x.X}
	case *Xlate:
		return []Expr{x.X}
	case *Paren:
		return []Expr{x.X}
	}
	return nil
}
