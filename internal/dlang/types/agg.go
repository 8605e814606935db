package types

import (
	"math"

	"kinst/internal/dlang/syntax"
	"kinst/internal/record"
)

var aggFuncs = map[string]record.AggFunc{
	"count": record.Count, "sum": record.Sum, "min": record.Min, "max": record.Max, "avg": record.Avg,
	"stddev": record.Stddev, "quantize": record.Quantize, "lquantize": record.Lquantize, "llquantize": record.Llquantize,
}

func isAggFunc(name string) bool {
	_, ok := aggFuncs[name]
	return ok
}

// aggArity is how many arguments an aggregating function takes at least, and
// whether it takes no more.
var aggArity = map[record.AggFunc]struct {
	min   int
	fixed bool
}{
	record.Count: {0, true}, record.Sum: {1, true}, record.Min: {1, true}, record.Max: {1, true},
	record.Avg: {1, true}, record.Stddev: {1, true},
	record.Quantize: {1, false}, record.Lquantize: {3, false}, record.Llquantize: {5, false},
}

// aggregate checks `@name[keys] = func(args)`.
func (c *checker) aggregate(x *syntax.Assign, ref *syntax.AggRef) Stmt {
	call, ok := unparen(x.Y).(*syntax.Call)
	fn, known := record.AggFunc(0), false
	if ok {
		fn, known = aggFuncs[call.Name]
	}
	if !known || x.Op != syntax.ASSIGN {
		c.fail(x.At, "D_AGG_FUNC", "@%s must be assigned the result of an aggregating function", ref.Name)
	}
	agg := c.aggs[ref.Name]
	if agg == nil {
		agg = &Agg{Name: ref.Name, Index: len(c.prog.Aggs)}
	}
	if agg.defined && agg.Func != fn {
		c.fail(x.At, "D_AGG_REDEF", "aggregation redefined: @%s\n\t current: @%s = %s( )\n\tprevious: @%s = %s( ) : line %d",
			ref.Name, ref.Name, fn, ref.Name, agg.Func, agg.pos.Line)
	}
	st := &Aggregate{At: x.At, Number: c.clause.number, Agg: agg}
	st.Keys = c.aggKeys(ref, agg)
	args := c.aggArgs(call, fn, agg)
	st.Value, st.Incr = args.value, args.incr
	c.order(x.At, call.Name, aggregates)
	if !agg.defined {
		c.settleAgg(agg, fn, ref, args)
	}
	if st.Value != nil && st.Value.Type().signed() {
		agg.Signed = true
	}
	return st
}

// settleAgg makes an aggregation known by its first assignment.
func (c *checker) settleAgg(agg *Agg, fn record.AggFunc, ref *syntax.AggRef, args aggArgs) {
	agg.Func, agg.defined, agg.pos = fn, true, ref.At
	agg.Base, agg.Limit, agg.Step, agg.Levels, agg.Factor = args.base, args.limit, args.step, args.levels, args.factor
	c.aggs[ref.Name] = agg
	c.prog.Aggs = append(c.prog.Aggs, agg)
}

// aggKeys checks the keys; the first use of an aggregation sets their types.
func (c *checker) aggKeys(ref *syntax.AggRef, agg *Agg) []Expr {
	keys := make([]Expr, len(ref.Keys))
	for i, k := range ref.Keys {
		keys[i] = c.keyExpr(k)
		if t := keys[i].Type(); t.IsVoid() || t.IsDynamic() {
			c.fail(k.Pos(), "D_KEY_TYPE", "%s expression may not be used as aggregation index: key #%d", c.typeName(keys[i]), i+1)
		}
	}
	if !agg.keyed {
		agg.Keys, agg.keyed = keyTypes(keys), true
		return keys
	}
	c.signature(ref.At, "@"+ref.Name+"[ ]", agg.Keys, keys)
	for i, k := range keys {
		if t := k.Type(); t.Base().Kind == Stack && t.Base().Len > agg.Keys[i].Base().Len {
			agg.Keys[i] = t // as deep as the deepest
		}
	}
	return c.convertAll(keys, agg.Keys)
}

// aggArgs is the arguments of an aggregating function.
type aggArgs struct {
	value, incr                       Expr
	base, limit, step, levels, factor int64
}

// aggArgs checks the arguments of an aggregating function against what it
// takes, and against the constants of the aggregation's first use.
func (c *checker) aggArgs(x *syntax.Call, fn record.AggFunc, agg *Agg) aggArgs {
	if arity := aggArity[fn]; len(x.Args) < arity.min || arity.fixed && len(x.Args) > arity.min {
		c.fail(x.At, "D_PROTO_LEN", "%s( ) prototype mismatch: %d %s passed, %d expected", x.Name, len(x.Args), plural(len(x.Args), "arg"), arity.min)
	}
	var args aggArgs
	if fn == record.Count {
		return args
	}
	args.value = c.scalarArg(x)
	rest := x.Args[1:]
	switch fn {
	case record.Lquantize:
		rest = c.lquantize(x, &args, agg)
	case record.Llquantize:
		rest = c.llquantize(x, &args, agg)
	}
	args.incr = c.increment(x, rest)
	return args
}

// scalarArg is the value that is aggregated, as 64 bits.
func (c *checker) scalarArg(x *syntax.Call) Expr {
	v := c.value(x.Args[0])
	c.typed(v)
	if !v.Type().IsScalar() {
		c.fail(x.Args[0].Pos(), "D_AGG_SCALAR", "%s( ) argument #1 must be of scalar type", x.Name)
	}
	t := typeInt64
	if !c.promote(v).Type().signed() {
		t = typeUint64
	}
	return c.convertTo(v, t)
}

// increment is the last argument of the quantize family: how much a value
// counts.
func (c *checker) increment(x *syntax.Call, rest []syntax.Expr) Expr {
	if len(rest) == 0 {
		return nil
	}
	most := len(x.Args) - len(rest) + 1
	if len(rest) > 1 {
		c.fail(x.At, "D_PROTO_LEN", "%s( ) prototype mismatch: %d args passed, at most %d expected", x.Name, len(x.Args), most)
	}
	v := c.value(rest[0])
	if !v.Type().IsScalar() {
		c.fail(rest[0].Pos(), "D_PROTO_ARG", "%s( ) increment value (argument #%d) must be of scalar type", x.Name, most)
	}
	return c.convertTo(v, typeInt64)
}

// lquantize checks lquantize(value, base, limit[, step[, increment]]) and
// returns the arguments behind the step.
func (c *checker) lquantize(x *syntax.Call, args *aggArgs, agg *Agg) []syntax.Expr {
	bound := func(n int, family string) int64 {
		k, ok := c.expr(x.Args[n]).(*Const)
		if !ok {
			c.fail(x.Args[n].Pos(), "D_LQUANT_"+family+"TYPE", "lquantize( ) argument #%d must be an integer constant", n)
		}
		if int64(k.Value) < math.MinInt32 || int64(k.Value) > math.MaxInt32 {
			c.fail(x.Args[n].Pos(), "D_LQUANT_"+family+"VAL", "lquantize( ) argument #%d must be a 32-bit quantity", n)
		}
		return int64(k.Value)
	}
	args.base, args.limit, args.step = bound(1, "BASE"), bound(2, "LIM"), 1
	if args.limit < args.base {
		c.fail(x.At, "D_LQUANT_MISMATCH", "lquantize( ) base (argument #1) must be less than limit (argument #2)")
	}
	rest := x.Args[3:]
	if len(rest) > 0 {
		k, ok := c.expr(rest[0]).(*Const)
		if !ok || !positive(k) {
			c.fail(rest[0].Pos(), "D_LQUANT_STEPTYPE", "lquantize( ) argument #3 must be a non-zero positive integer constant")
		}
		if k.Value > math.MaxUint16 {
			c.fail(rest[0].Pos(), "D_LQUANT_STEPVAL", "lquantize( ) argument #3 must be a 16-bit quantity")
		}
		args.step = int64(k.Value)
		rest = rest[1:]
	}
	args.levels = (args.limit - args.base) / args.step
	if args.levels == 0 {
		c.fail(x.At, "D_LQUANT_STEPLARGE", "lquantize( ) step (argument #3) too large: must have at least one quantization level")
	}
	if args.levels > math.MaxUint16 {
		c.fail(x.At, "D_LQUANT_STEPSMALL", "lquantize( ) step (argument #3) too small: number of quantization levels must be a 16-bit quantity")
	}
	if agg.defined {
		match := func(tag, what string, n int, was, is int64) {
			if was != is {
				c.fail(x.At, tag, "lquantize( ) %s (argument #%d) doesn't match previous declaration: expected %d, found %d", what, n, was, is)
			}
		}
		match("D_LQUANT_MATCHBASE", "base", 1, agg.Base, args.base)
		match("D_LQUANT_MATCHLIM", "limit", 2, agg.Base+agg.Levels*agg.Step, args.base+args.levels*args.step)
		match("D_LQUANT_MATCHSTEP", "step", 3, agg.Step, args.step)
	}
	return rest
}

// llquantize checks llquantize(value, factor, low, high, steps[, increment])
// and returns the arguments behind the steps.
func (c *checker) llquantize(x *syntax.Call, args *aggArgs, agg *Agg) []syntax.Expr {
	params := []struct {
		family, what string
		value        *int64
		was          int64
	}{
		{"FACTOR", "factor", &args.factor, agg.Factor},
		{"LOW", "low magnitude", &args.base, agg.Base},
		{"HIGH", "high magnitude", &args.limit, agg.Limit},
		{"NSTEP", "linear steps per magnitude", &args.step, agg.Step},
	}
	for i, p := range params {
		arg := x.Args[i+1]
		k, ok := c.expr(arg).(*Const)
		if !ok {
			c.fail(arg.Pos(), "D_LLQUANT_"+p.family+"TYPE", "llquantize( ) argument #%d (%s) must be an integer constant", i+1, p.what)
		}
		if k.Value > math.MaxUint16 {
			c.fail(arg.Pos(), "D_LLQUANT_"+p.family+"VAL", "llquantize( ) argument #%d (%s) must be an unsigned 16-bit quantity", i+1, p.what)
		}
		*p.value = int64(k.Value)
	}
	c.llquantizeShape(x, args)
	if agg.defined {
		for i, p := range params {
			if p.was != *p.value {
				c.fail(x.At, "D_LLQUANT_"+p.family+"MATCH", "llquantize( ) %s (argument #%d) doesn't match previous declaration: expected %d, found %d", p.what, i+1, p.was, *p.value)
			}
		}
	}
	return x.Args[5:]
}

// llquantizeShape checks that the parameters of llquantize() go together.
func (c *checker) llquantizeShape(x *syntax.Call, args *aggArgs) {
	factor, low, high, steps := args.factor, args.base, args.limit, args.step
	switch {
	case factor < 2:
		c.fail(x.At, "D_LLQUANT_FACTORSMALL", "llquantize( ) factor (argument #1) must be two or more")
	case low >= high:
		c.fail(x.At, "D_LLQUANT_MAGRANGE", "llquantize( ) high magnitude (argument #3) must be greater than low magnitude (argument #2)")
	case steps < factor:
		c.fail(x.At, "D_LLQUANT_FACTORNSTEPS", "llquantize( ) factor (argument #1) must be less than or equal to the number of linear steps per magnitude (argument #4)")
	}
	power := factor
	for power < steps {
		power *= factor
	}
	if steps%factor != 0 || power%steps != 0 {
		c.fail(x.At, "D_LLQUANT_FACTOREVEN", "llquantize( ) factor (argument #1) must evenly divide the number of steps per magnitude (argument #4), and the number of steps per magnitude must evenly divide a power of the factor")
	}
	order := uint64(1)
	for range high {
		if order > math.MaxUint64/uint64(factor) {
			c.fail(x.At, "D_LLQUANT_MAGTOOBIG", "llquantize( ) factor (%d) raised to power of high magnitude (%d) overflows 64-bits", factor, high)
		}
		order *= uint64(factor)
	}
}
