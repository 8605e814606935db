package syntax

import "strconv"

// sugarError is the thread-local variable that a failed clause sets, to keep
// the rest of the clauses that it was taken apart into from running. As in
// libdtrace its name, like those of the conditions, is none that a program
// can write.
const sugarError = "%error"

// Desugar takes a clause with if statements apart into clauses without, for
// the same probes and to run in this order, as FreeBSD's dt_sugar.c does. Each
// condition is evaluated once, in a clause of its own, and kept in a
// clause-local variable that the predicates of the clauses under it test. An
// else runs if its condition, kept in the same way, is false.
//
// A clause without if statements is returned as it is. If any clause of a
// program was taken apart, DesugarError must be put before the first of them.
func Desugar(c *Clause) []*Clause {
	if !hasIf(c.Body) {
		return []*Clause{c}
	}
	d := &desugarer{probes: c.Probes}
	condition := 0
	if c.Predicate != nil {
		condition = d.condition(c.Predicate, 0)
	}
	d.statements(c.Body, condition)
	reset := d.clause(c.Pos(), nil, assign(c.Pos(), errorVar(c.Pos()), 0))
	return append([]*Clause{reset}, d.clauses...)
}

// DesugarError returns the clause that notes a failure for the clauses that
// Desugar makes:
//
//	dtrace:::ERROR { self->%error = 1; }
func DesugarError(at Pos) *Clause {
	spec := &ProbeSpec{At: at, Text: "dtrace:::ERROR", Provider: "dtrace", Name: "ERROR"}
	d := &desugarer{probes: []*ProbeSpec{spec}}
	return d.clause(at, nil, assign(at, errorVar(at), 1))
}

// DesugarFile returns a program whose clauses have no if statements: what
// dtrace(1) prints for -d.
func DesugarFile(f *File) *File {
	out := &File{Pragmas: f.Pragmas}
	sugar := false
	for _, d := range f.Decls {
		c, ok := d.(*Clause)
		if !ok {
			out.Decls = append(out.Decls, d)
			continue
		}
		if hasIf(c.Body) && !sugar {
			out.Decls = append(out.Decls, DesugarError(c.Pos()))
			sugar = true
		}
		for _, c := range Desugar(c) {
			out.Decls = append(out.Decls, c)
		}
	}
	return out
}

func hasIf(list []Stmt) bool {
	for _, s := range list {
		if _, ok := s.(*IfStmt); ok {
			return true
		}
	}
	return false
}

type desugarer struct {
	probes     []*ProbeSpec
	conditions int // number of condition variables so far
	clauses    []*Clause
}

func (d *desugarer) clause(at Pos, predicate Expr, body ...Stmt) *Clause {
	return &Clause{Probes: d.probes, Predicate: predicate, Body: body, HasBody: true, End: at}
}

// statements appends clauses for a list of statements under a condition; 0 is
// none. The statements between two ifs stay together.
func (d *desugarer) statements(list []Stmt, condition int) {
	block := 0 // start of the statements not yet in a clause
	for i, s := range list {
		if s, ok := s.(*IfStmt); ok {
			d.block(list[block:i], condition)
			d.ifStmt(s, condition)
			block = i + 1
		}
	}
	d.block(list[block:], condition)
}

// ifStmt appends the clauses of an if statement under a condition.
func (d *desugarer) ifStmt(s *IfStmt, condition int) {
	then := d.condition(s.Cond, condition)
	d.statements(s.Then, then)
	if len(s.Else) > 0 {
		otherwise := &Unary{At: s.At, Op: NOT, X: conditionVar(s.At, then)}
		d.statements(s.Else, d.condition(otherwise, condition))
	}
}

// condition appends a clause that evaluates x, under a condition, and returns
// the number of the variable that holds the result, 0 or 1:
//
//	/!self->%error/ { this->%condition_2 = this->%condition_1 && x; }
//
// A condition under none is `1 && x`, so that the variable is an int always.
func (d *desugarer) condition(x Expr, under int) int {
	d.conditions++
	at := x.Pos()
	var left Expr = intLit(at, 1)
	if under != 0 {
		left = conditionVar(at, under)
	}
	value := &Binary{At: at, Op: LAND, X: left, Y: x}
	set := &ExprStmt{&Assign{At: at, Op: ASSIGN, X: conditionVar(at, d.conditions), Y: value}}
	d.clauses = append(d.clauses, d.clause(at, noError(at), set))
	return d.conditions
}

// block appends a clause for statements without an if under a condition. Those
// before any condition need no test: nothing can have failed yet.
func (d *desugarer) block(list []Stmt, condition int) {
	if len(list) == 0 {
		return
	}
	at := list[0].Pos()
	var predicate Expr
	switch {
	case condition != 0:
		predicate = &Binary{At: at, Op: LAND, X: noError(at), Y: conditionVar(at, condition)}
	case d.conditions != 0:
		predicate = noError(at)
	}
	d.clauses = append(d.clauses, d.clause(at, predicate, list...))
}

func errorVar(at Pos) Expr { return &ScopedIdent{At: at, Scope: Thread, Name: sugarError} }

func noError(at Pos) Expr { return &Unary{At: at, Op: NOT, X: errorVar(at)} }

func conditionVar(at Pos, n int) Expr {
	return &ScopedIdent{At: at, Scope: Local, Name: "%condition_" + strconv.Itoa(n)}
}

func intLit(at Pos, value uint64) Expr { return &IntLit{At: at, Value: value, Decimal: true} }

func assign(at Pos, x Expr, value uint64) Stmt {
	return &ExprStmt{&Assign{At: at, Op: ASSIGN, X: x, Y: intLit(at, value)}}
}
