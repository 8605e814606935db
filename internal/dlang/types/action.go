package types

import (
	"kinst/internal/dlang/syntax"
)

// An effect is what an action does to the record and to the system, as far as
// the order of a clause's actions depends on it.
type effect int

const (
	records effect = iota // leaves data in the record, or tells the consumer to act
	destroys
	commits
	speculates
	discards
	aggregates
	exits
)

// An actionProto is an action that a statement can be.
type actionProto struct {
	name     string
	min, max int // arguments; max < 0 for any number
	effect   effect
	check    func(*checker, *syntax.Call, *Action)
	wrong    string // tag for a wrong number of arguments; "" for D_PROTO_LEN
}

var actions map[string]*actionProto

func init() {
	actions = make(map[string]*actionProto)
	for _, a := range []*actionProto{
		{name: "trace", min: 1, max: 1, check: (*checker).traceAction},
		{name: "tracemem", min: 2, max: 3, check: (*checker).tracememAction},
		{name: "print", min: 1, max: 1, check: (*checker).traceAction},
		{name: "printf", min: 1, max: -1, check: (*checker).printfAction},
		{name: "printa", min: 1, max: -1, check: (*checker).printaAction},
		{name: "exit", min: 1, max: 1, effect: exits, check: intArgs},
		{name: "stack", min: 0, max: -1, check: exprAction},
		{name: "ustack", min: 0, max: -1, check: exprAction},
		{name: "jstack", min: 0, max: -1, check: exprAction},
		{name: "sym", min: 1, max: 1, check: exprAction},
		{name: "func", min: 1, max: 1, check: exprAction},
		{name: "mod", min: 1, max: 1, check: exprAction},
		{name: "usym", min: 1, max: 1, check: exprAction},
		{name: "ufunc", min: 1, max: 1, check: exprAction},
		{name: "umod", min: 1, max: 1, check: exprAction},
		{name: "uaddr", min: 1, max: 1, check: exprAction},
		{name: "clear", min: 1, max: 1, check: aggAction("CLEAR"), wrong: "D_CLEAR_PROTO"},
		{name: "trunc", min: 1, max: 2, check: aggAction("TRUNC"), wrong: "D_TRUNC_PROTO"},
		{name: "normalize", min: 2, max: 2, check: aggAction("NORMALIZE"), wrong: "D_NORMALIZE_PROTO"},
		{name: "denormalize", min: 1, max: 1, check: aggAction("NORMALIZE"), wrong: "D_NORMALIZE_PROTO"},
		{name: "ftruncate", min: 0, max: 0, check: intArgs},
		{name: "setopt", min: 1, max: 2, check: (*checker).setoptAction},
		{name: "speculate", min: 1, max: 1, effect: speculates, check: intArgs},
		{name: "commit", min: 1, max: 1, effect: commits, check: intArgs},
		{name: "discard", min: 1, max: 1, effect: discards, check: intArgs},
		{name: "system", min: 1, max: -1, effect: destroys, check: (*checker).printfAction},
		{name: "freopen", min: 1, max: -1, effect: destroys, check: (*checker).printfAction},
		{name: "stop", min: 0, max: 0, effect: destroys, check: intArgs},
		{name: "raise", min: 1, max: 1, effect: destroys, check: intArgs},
		{name: "chill", min: 1, max: 1, effect: destroys, check: intArgs},
		{name: "panic", min: 0, max: 0, effect: destroys, check: intArgs},
		{name: "breakpoint", min: 0, max: 0, effect: destroys, check: intArgs},
	} {
		actions[a.name] = a
	}
}

// action checks a statement that is an action.
func (c *checker) action(x *syntax.Call, p *actionProto) Stmt {
	a := &Action{At: x.At, Name: x.Name, Number: c.clause.number}
	c.argCount(x, p)
	p.check(c, x, a)
	c.order(x.At, x.Name, p.effect)
	if p.effect == destroys && !c.env.Destructive {
		c.fail(x.At, "D_UNKNOWN", "%s( ): destructive actions not allowed; allow them with -w", x.Name)
	}
	return a
}

func (c *checker) argCount(x *syntax.Call, p *actionProto) {
	n := len(x.Args)
	if n >= p.min && (p.max < 0 || n <= p.max) {
		return
	}
	tag, bound, least := p.wrong, p.min, ""
	if tag == "" {
		tag = "D_PROTO_LEN"
	}
	switch {
	case p.max >= 0 && n > p.max && p.min != p.max:
		bound, least = p.max, "no more than "
	case p.min != p.max:
		least = "at least "
	}
	c.fail(x.At, tag, "%s( ) prototype mismatch: %d %s passed, %s%d expected", x.Name, n, plural(n, "arg"), least, bound)
}

// order checks what may follow what in a clause, as libdtrace does.
func (c *checker) order(at syntax.Pos, name string, e effect) {
	s := &c.clause
	switch {
	case e == commits && s.committed:
		c.fail(at, "D_COMM_COMM", "commit( ) may not follow commit( )")
	case e == commits && s.recorded:
		c.fail(at, "D_COMM_DREC", "commit( ) may not follow data-recording action(s)")
	case e == aggregates && s.committed:
		c.fail(at, "D_AGG_COMM", "aggregating actions may not follow commit( )")
	case e == speculates && s.speculated:
		c.fail(at, "D_SPEC_SPEC", "speculate( ) may not follow speculate( )")
	case e == speculates && s.committed:
		c.fail(at, "D_SPEC_COMM", "speculate( ) may not follow commit( )")
	case e == speculates && s.recorded:
		c.fail(at, "D_SPEC_DREC", "speculate( ) may not follow data-recording action(s)")
	case e == aggregates && s.speculated:
		c.fail(at, "D_AGG_SPEC", "aggregating actions may not follow speculate( )")
	case e == destroys && s.speculated:
		c.fail(at, "D_ACT_SPEC", "destructive actions may not follow speculate( )")
	case e == exits && s.speculated:
		c.fail(at, "D_EXIT_SPEC", "exit( ) may not follow speculate( )")
	case (e == records || e == exits) && s.committed:
		c.fail(at, "D_DREC_COMM", "data-recording actions may not follow commit( )")
	}
	switch e {
	case commits:
		s.committed = true
	case speculates:
		s.speculated = true
	case records, aggregates, exits:
		s.recorded = s.recorded || !s.speculated
	}
}

// intArgs checks arguments that are all of type int.
func intArgs(c *checker, x *syntax.Call, a *Action) {
	for i, arg := range x.Args {
		v := c.value(arg)
		if !c.assignable(TypeInt, v) {
			c.protoArg(arg.Pos(), x.Name+"( )", i+1, "int", v)
		}
		t := TypeInt
		if x.Name == "chill" {
			t = typeInt64
		}
		a.Args = append(a.Args, c.convertTo(v, t))
	}
}

// exprAction is stack(), sym(x) and the like, which are expressions too.
func exprAction(c *checker, x *syntax.Call, a *Action) {
	a.Args = []Expr{c.call(x)}
}

func (c *checker) traceAction(x *syntax.Call, a *Action) {
	if _, ok := unparen(x.Args[0]).(*syntax.AggRef); ok {
		c.fail(x.At, "D_TRACE_DYN", "%s( ) may not be applied to a dynamic expression", x.Name)
	}
	v := c.structure(c.output(x.Args[0]))
	c.typed(v)
	switch t := v.Type(); {
	case t.IsVoid():
		c.fail(x.At, "D_TRACE_VOID", "%s( ) may not be applied to a void expression", x.Name)
	case t.IsDynamic():
		c.fail(x.At, "D_TRACE_DYN", "%s( ) may not be applied to a dynamic expression", x.Name)
	case t.Base().Kind == Func:
		v = c.decay(v)
	}
	a.Args = []Expr{v}
}

func (c *checker) tracememAction(x *syntax.Call, a *Action) {
	addr := c.value(x.Args[0])
	if !addr.Type().IsInteger() && !addr.Type().IsPointer() {
		c.fail(x.Args[0].Pos(), "D_TRACEMEM_ADDR", "tracemem( ) argument #1 is incompatible with prototype:\n\tprototype: pointer or integer\n\t argument: %s", c.typeName(addr))
	}
	size, ok := c.expr(x.Args[1]).(*Const)
	if !ok || !positive(size) {
		c.fail(x.Args[1].Pos(), "D_TRACEMEM_SIZE", "tracemem( ) argument #2 must be a non-zero positive integral constant expression")
	}
	if size.Value > maxObject {
		c.fail(x.Args[1].Pos(), "D_TRACEMEM_SIZE", "tracemem( ) argument #2 is too big: %d bytes are the most", maxObject)
	}
	a.Args = []Expr{c.convertTo(addr, typeUintptr), size}
	if len(x.Args) == 3 {
		dynamic := c.value(x.Args[2])
		if !dynamic.Type().IsInteger() {
			c.fail(x.Args[2].Pos(), "D_TRACEMEM_DYNSIZE", "tracemem( ) argument #3 must be of integer type")
		}
		a.Args = append(a.Args, c.convertTo(dynamic, typeUint64))
	}
}

// positive reports whether a constant is greater than 0.
func positive(k *Const) bool {
	return k.T.IsInteger() && k.Value != 0 && (!k.T.signed() || int64(k.Value) > 0)
}

// setoptAction is setopt("name") and setopt("name", "value").
func (c *checker) setoptAction(x *syntax.Call, a *Action) {
	for i, arg := range x.Args {
		v := c.expr(arg)
		if !v.Type().IsStringLike() {
			c.protoArg(arg.Pos(), "setopt( )", i+1, "const char *", v)
		}
		a.Args = append(a.Args, c.convertTo(v, c.str))
	}
}

// aggAction is an action on one aggregation, with an integer behind it in
// trunc() and normalize().
func aggAction(family string) func(*checker, *syntax.Call, *Action) {
	return func(c *checker, x *syntax.Call, a *Action) {
		a.Aggs = []*Agg{c.aggArg(x, 0, "D_"+family+"_AGGARG", "D_"+family+"_AGGBAD")}
		if len(x.Args) < 2 {
			return
		}
		v := c.value(x.Args[1])
		if !v.Type().IsScalar() {
			c.fail(x.Args[1].Pos(), "D_"+family+"_SCALAR", "%s( ) argument #2 must be of scalar type", x.Name)
		}
		if k, ok := v.(*Const); ok && x.Name == "normalize" && !positive(k) {
			c.fail(x.Args[1].Pos(), "D_"+family+"_SCALAR", "normalize( ) argument #2 must be greater than 0")
		}
		a.Args = []Expr{c.convertTo(v, typeInt64)}
	}
}

// aggArg is the argument of an action that must be an aggregation.
func (c *checker) aggArg(x *syntax.Call, n int, notAgg, undefined string) *Agg {
	ref, ok := unparen(x.Args[n]).(*syntax.AggRef)
	if !ok {
		v := c.expr(x.Args[n])
		c.fail(x.Args[n].Pos(), notAgg, "%s( ) argument #%d is incompatible with prototype:\n\tprototype: aggregation\n\t argument: %s", x.Name, n+1, c.typeName(v))
	}
	agg := c.aggs[ref.Name]
	if agg == nil {
		c.fail(ref.At, undefined, "undefined aggregation: @%s", ref.Name)
	}
	return agg
}

// printaAction is printa(@a, ...) and printa("format", @a, ...).
func (c *checker) printaAction(x *syntax.Call, a *Action) {
	first := 0
	if s, ok := unparen(x.Args[0]).(*syntax.StringLit); ok {
		a.Format, a.HasFormat = s.Value, true
		first = 1
		if len(x.Args) < 2 {
			c.fail(x.At, "D_PRINTA_PROTO", "printa( ) prototype mismatch: 1 arg passed, 2 expected")
		}
	}
	for i := first; i < len(x.Args); i++ {
		agg := c.aggArg(x, i, "D_PRINTA_AGGARG", "D_PRINTA_AGGBAD")
		if len(a.Aggs) > 0 {
			c.sameKeys(x.Args[i].Pos(), a.Aggs[0], agg)
		}
		a.Aggs = append(a.Aggs, agg)
	}
	if a.HasFormat {
		c.printaFormat(x, a)
	}
}

// sameKeys checks that two aggregations can be printed side by side.
func (c *checker) sameKeys(at syntax.Pos, a, b *Agg) {
	same := len(a.Keys) == len(b.Keys)
	for i := 0; same && i < len(a.Keys); i++ {
		same = Compatible(a.Keys[i], b.Keys[i])
	}
	if !same {
		c.fail(at, "D_PRINTA_AGGKEY", "printa( ) @%s and @%s have different keys", a.Name, b.Name)
	}
}
