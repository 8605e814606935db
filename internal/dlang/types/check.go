package types

import (
	"strings"

	"kinst/internal/dlang/syntax"
)

// defaultStrsize is the strsize option's default.
const defaultStrsize = 256

// A checker checks one program.
type checker struct {
	env    *Env
	prog   *Program
	errors syntax.ErrorList
	str    *Type // string, of the program's strsize
	kernel kernelTypes

	vars     [3]map[string]*Var // by scope
	aggs     map[string]*Agg
	inlines  map[string]*inline
	typedefs map[string]*Type
	tags     map[string]*Type // by "struct name", "union name", "enum name"
	enums    map[string]*Const
	xlators  []*translator
	scopes   []map[string]Expr // names of inlines' and translators' parameters

	libraries []string // files of the library that have been read
	inLibrary int      // is reading one, or checking what one says

	sources int // clauses of the source so far
	clause  clauseState
}

// clauseState is what is known of the clause that is being checked.
type clauseState struct {
	syntax  *syntax.Clause
	context *Context
	number  int // of actions so far
	native  int // above 0: arg0... are as the kernel passes them

	// What has been done before in the clause, which restricts what may
	// follow.
	committed, speculated, recorded bool
}

func newChecker(env *Env) *checker {
	strsize := env.Strsize
	if strsize == 0 {
		strsize = defaultStrsize
	}
	c := &checker{
		env:      env,
		prog:     &Program{Strsize: strsize},
		str:      stringType(strsize),
		aggs:     make(map[string]*Agg),
		inlines:  make(map[string]*inline),
		typedefs: make(map[string]*Type),
		tags:     make(map[string]*Type),
		enums:    make(map[string]*Const),
	}
	c.kernel.load = env.BTF
	for i := range c.vars {
		c.vars[i] = make(map[string]*Var)
	}
	return c
}

// bailout is what fail panics with, and try recovers from.
type bailout struct{}

// system reports whether what is checked is not the program's own: the library's,
// or the meaning of a built-in name. The program's types are nothing to it.
func (c *checker) system() bool { return c.inLibrary > 0 || c.clause.native > 0 }

// fail adds a diagnosis and gives up the statement or declaration.
func (c *checker) fail(pos syntax.Pos, tag, format string, args ...any) {
	c.errors.Add(pos, tag, format, args...)
	panic(bailout{})
}

// try runs f up to its first diagnosis, and reports whether there was none.
func (c *checker) try(f func()) (ok bool) {
	defer func() {
		switch r := recover(); r {
		case nil:
		case bailout{}:
			ok = false
		default:
			panic(r)
		}
	}()
	f()
	return true
}

// finish looks at the program as a whole.
func (c *checker) finish() {
	for _, a := range c.prog.Aggs {
		if !a.keyed {
			a.Keys = nil
		}
	}
}

// checkClause checks a clause for each kind of probe that it runs on.
func (c *checker) checkClause(s *syntax.Clause) {
	contexts := c.env.Contexts(s)
	source := c.sources
	c.sources++
	defer func() { c.clause = clauseState{} }()
	if len(contexts) == 0 {
		c.clauseFor(s, &Context{Registers: true, Errno: true}, source)
		return
	}
	for _, context := range contexts {
		c.prog.Clauses = append(c.prog.Clauses, c.clauseFor(s, context, source))
	}
}

// clauseFor checks a clause for one kind of probe. A variable may be created by
// the body and used in the predicate, or the other way round: as in libdtrace
// the body is tried first, and if that meets an unknown name, the predicate and
// then the body again.
func (c *checker) clauseFor(s *syntax.Clause, context *Context, source int) *Clause {
	clause := &Clause{Source: source, Syntax: s, Context: context, Default: len(s.Body) == 0}
	before := len(c.errors)
	c.clause = clauseState{syntax: s, context: context}
	clause.Body = c.block(s.Body)
	defer c.condition(clause)
	if s.Predicate == nil {
		return clause
	}
	retry := undefined(c.errors[before:])
	if retry {
		c.errors = c.errors[:before]
	}
	c.try(func() { clause.Predicate = c.predicate(s.Predicate) })
	if retry {
		c.clause = clauseState{syntax: s, context: context}
		clause.Body = c.block(s.Body)
	}
	return clause
}

// condition puts the condition under which the probe fires in front of the
// predicate.
func (c *checker) condition(clause *Clause) {
	if clause.Context.When == "" {
		return
	}
	c.try(func() {
		at := clause.Syntax.Pos()
		when := c.decay(c.definition(at, "when "+clause.Syntax.Probes[0].Text+" fires", clause.Context.When))
		if clause.Predicate != nil {
			when = fold(&Logic{node{at, TypeInt}, syntax.LAND, when, clause.Predicate})
		}
		clause.Predicate = when
	})
}

// undefined reports whether one of the diagnoses is of an unknown name.
func undefined(errors syntax.ErrorList) bool {
	for _, e := range errors {
		if e.Tag == "D_IDENT_UNDEF" || e.Tag == "D_VAR_UNDEF" {
			return true
		}
	}
	return false
}

func (c *checker) predicate(x syntax.Expr) Expr {
	p := c.decay(c.expr(x))
	if !p.Type().IsScalar() {
		c.fail(x.Pos(), "D_PRED_SCALAR", "predicate result must be of scalar type")
	}
	return p
}

// block checks statements; each one's first error ends it.
func (c *checker) block(list []syntax.Stmt) []Stmt {
	var out []Stmt
	for _, s := range list {
		c.try(func() {
			if checked := c.stmt(s); checked != nil {
				out = append(out, checked)
			}
		})
	}
	return out
}

func (c *checker) stmt(s syntax.Stmt) Stmt {
	switch s := s.(type) {
	case *syntax.DeclStmt:
		c.varDecl(s.Decl)
		return nil
	case *syntax.IfStmt:
		return c.ifStmt(s)
	case *syntax.ExprStmt:
		c.clause.number++
		return c.exprStmt(s)
	}
	panic("types: unknown statement")
}

func (c *checker) ifStmt(s *syntax.IfStmt) Stmt {
	c.clause.number++
	out := &If{At: s.At, Number: c.clause.number}
	cond := c.decay(c.expr(s.Cond))
	if !cond.Type().IsScalar() {
		c.fail(s.Cond.Pos(), "D_OP_SCALAR", "condition of if must be of scalar type")
	}
	out.Cond = cond
	out.Then = c.block(s.Then)
	out.Else = c.block(s.Else)
	return out
}

func (c *checker) exprStmt(s *syntax.ExprStmt) Stmt {
	switch x := unparen(s.X).(type) {
	case *syntax.Call:
		if a := actions[x.Name]; a != nil {
			return c.action(x, a)
		}
		if _, ok := aggFuncs[x.Name]; ok {
			c.fail(x.At, "D_AGG_FUNC", "%s( ) may only be assigned to an aggregation", x.Name)
		}
	case *syntax.Assign:
		if ref, ok := unparen(x.X).(*syntax.AggRef); ok {
			return c.aggregate(x, ref)
		}
	case *syntax.AggRef:
		c.fail(x.At, "D_AGG_NULL", "expression has null effect: @%s", x.Name)
	}
	v := c.output(s.X)
	if xl, ok := v.(*xlated); ok {
		v = xl.value // the translator computes nothing as long as no member is used
	}
	return &ExprStmt{X: v, Number: c.clause.number}
}

func unparen(x syntax.Expr) syntax.Expr {
	for {
		p, ok := x.(*syntax.Paren)
		if !ok {
			return x
		}
		x = p.X
	}
}

// list joins words as English does: "a, b and c".
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
