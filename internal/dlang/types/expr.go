package types

import (
	"fmt"
	"reflect"
	"strings"

	"kinst/internal/dlang/syntax"
	"kinst/internal/isa"
)

// expr checks an expression. Arrays stay arrays: where a value is needed,
// decay turns them into pointers.
func (c *checker) expr(x syntax.Expr) Expr {
	e := c.output(x)
	if _, ok := e.(*xlated); ok {
		c.typed(e)
	}
	return e
}

// output checks an expression that may be the output of a translator.
func (c *checker) output(x syntax.Expr) Expr {
	switch x := x.(type) {
	case *syntax.Paren:
		return c.output(x.X)
	case *syntax.IntLit:
		return c.intLit(x)
	case *syntax.StringLit:
		return &Str{node: node{x.At, c.str}, Value: x.Value}
	case *syntax.Ident:
		return placed(c.ident(x), x.At)
	case *syntax.ScopedIdent:
		return c.scopedIdent(x)
	case *syntax.SymbolRef:
		return c.symbol(x)
	case *syntax.AggRef:
		c.fail(x.At, "D_OP_DYN", "aggregation @%s may not be used as a value", x.Name)
	case *syntax.Unary:
		return c.unary(x)
	case *syntax.Postfix:
		return c.incDec(x.At, x.Op, x.X, true)
	case *syntax.Binary:
		return c.binary(x)
	case *syntax.Assign:
		return c.assign(x)
	case *syntax.Cond:
		return c.cond(x)
	case *syntax.Call:
		return c.call(x)
	case *syntax.Index:
		return c.index(x)
	case *syntax.Member:
		return c.member(x)
	case *syntax.Cast:
		return c.cast(x)
	case *syntax.Sizeof:
		return c.sizeof(x)
	case *syntax.Offsetof:
		return c.offsetof(x)
	case *syntax.Stringof:
		return c.stringof(x)
	case *syntax.Xlate:
		return c.xlate(x)
	}
	panic(fmt.Sprintf("types: unknown expression %T", x))
}

// placed is an expression where the program has it: not where an inline or the
// meaning of a built-in name is written.
func placed(x Expr, at syntax.Pos) Expr {
	if x.Pos() == at {
		return x
	}
	v := reflect.New(reflect.TypeOf(x).Elem())
	v.Elem().Set(reflect.ValueOf(x).Elem())
	out := v.Interface().(interface {
		Expr
		place(syntax.Pos)
	})
	out.place(at)
	return out
}

// value checks an expression whose value is needed.
func (c *checker) value(x syntax.Expr) Expr { return c.decay(c.expr(x)) }

// decay turns an array into a pointer to its first element, and a function
// into a pointer to it.
func (c *checker) decay(x Expr) Expr {
	switch b := x.Type().Base(); b.Kind {
	case Array:
		return &AddrOf{node{x.Pos(), PointerTo(b.Elem)}, x}
	case Func:
		return &AddrOf{node{x.Pos(), PointerTo(x.Type())}, x}
	}
	return x
}

// intLit gives a constant the first type of C's list that holds it: int,
// long, and, where it is not decimal or has the suffix u, the unsigned ones.
func (c *checker) intLit(x *syntax.IntLit) Expr {
	fits := func(t *Type) bool {
		bits := 8 * t.Size
		if t.Signed {
			bits--
		}
		return bits == 64 || x.Value>>bits == 0
	}
	for _, t := range []*Type{TypeInt, TypeUint, TypeLong, TypeUlong} {
		switch {
		case x.Char && t != TypeInt:
		case x.Unsigned && t.Signed:
		case x.Long && t.Size < 8:
		case x.Decimal && !x.Unsigned && !t.Signed && t.Size < 8:
		case x.Char:
			return &Const{node{x.At, t}, x.Value}
		case fits(t):
			return &Const{node{x.At, t}, x.Value}
		}
	}
	return &Const{node{x.At, TypeUlong}, x.Value}
}

// ident resolves a name that is used as a value.
func (c *checker) ident(x *syntax.Ident) Expr {
	if e := c.lookup(x.At, x.Name); e != nil {
		return e
	}
	return c.unknown(x.At, x.Name)
}

// lookup finds what a name stands for, or nil. What the program defines is
// nothing to the library.
func (c *checker) lookup(at syntax.Pos, name string) Expr {
	for i := len(c.scopes) - 1; i >= 0; i-- {
		if b, ok := c.scopes[i][name].(*Bound); ok {
			return &Bound{node{at, b.T}, b.Binding}
		}
	}
	own := !c.system()
	if in := c.inlines[name]; in != nil && (own || !in.own) {
		if in.array {
			c.fail(at, "D_IDENT_BADREF", "array '%s' may not be referenced as scalar", name)
		}
		c.usable(at, in)
		return in.value
	}
	if v := c.vars[syntax.Global][name]; v != nil && own {
		return c.varRef(at, v)
	}
	if b := builtinByName[name]; b != nil {
		return c.builtin(at, b)
	}
	if r, ok := c.register(name); ok {
		return &Const{node{at, TypeInt}, uint64(r.Index)}
	}
	if e := c.enums[name]; e != nil && (own || !e.T.Base().own) {
		return &Const{node{at, e.T}, e.Value}
	}
	if c.fromLibrary(name) {
		return c.lookup(at, name)
	}
	if n, ok := systemConstant(name); ok {
		return &Const{node{at, TypeInt}, uint64(n)}
	}
	switch c.whatIs(name) {
	case "action", "subroutine", "aggregating function":
		c.fail(at, "D_IDENT_BADREF", "%s '%s' may not be referenced as scalar", c.whatIs(name), name)
	case "built-in variable":
		c.fail(at, "D_IDENT_BADREF", "array '%s' may not be referenced as scalar", name)
	}
	return nil
}

// unknown is an enumerator of the kernel; it reports any other name, which
// stands for nothing.
func (c *checker) unknown(at syntax.Pos, name string) Expr {
	if t, value, ok := c.enumerator(name); ok {
		e := &Const{node{at, t}, uint64(value)}
		if c.enums[name] == nil {
			c.enums[name] = e
		}
		return e
	}
	if why := absent[name]; why != "" {
		c.fail(at, "D_IDENT_UNDEF", "failed to resolve %s: %s", name, why)
	}
	c.fail(at, "D_IDENT_UNDEF", "failed to resolve %s: Unknown variable name", name)
	return nil
}

// varRef uses a variable's value.
func (c *checker) varRef(at syntax.Pos, v *Var) Expr {
	if v.Array {
		c.fail(at, "D_IDENT_BADREF", "array '%s' may not be referenced as scalar", v)
	}
	if !v.known {
		c.fail(at, "D_VAR_UNDEF", "%s has not yet been declared or assigned", v)
	}
	return &VarRef{node{at, v.Type}, v, nil}
}

func (c *checker) builtin(at syntax.Pos, b *Builtin) Expr {
	t := b.Type
	switch {
	case b.ID == Errno && c.clause.context != nil && !c.clause.context.Errno:
		c.fail(at, "D_IDENT_UNDEF", "failed to resolve errno: only a probe at which a system call returns has it")
	case b.ID >= Arg0 && b.ID < Arg0+10 && c.nativeMeans(b.ID) != "":
		return c.defined(at, b.Name, c.nativeMeans(b.ID), b.Type)
	case b.ID == IPL:
		return c.defined(at, b.Name, c.iplMeans(), b.Type)
	case b.ID == Execargs:
		return c.execargs(at)
	case b.Means != "" && t == nil:
		return c.definition(at, b.Name, b.Means)
	case b.Means != "":
		return c.defined(at, b.Name, b.Means, t)
	case b.ID == Curthread:
		task := c.kernelType(at, "", Struct, "task_struct")
		if task == nil {
			c.fail(at, "D_TYPE_ERR", "failed to resolve type struct task_struct for identifier curthread: %s", c.kernel.why("type"))
		}
		t = PointerTo(task)
	case t.IsString():
		t = c.str
	}
	return &BuiltinRef{node{at, t}, b}
}

// nativeMeans is what argn stands for in the program, if it is not what the
// kernel passes.
func (c *checker) nativeMeans(id BuiltinID) string {
	n := int(id - Arg0)
	if c.clause.native > 0 || c.clause.context == nil || n >= len(c.clause.context.Args) {
		return ""
	}
	return c.clause.context.Args[n].Native
}

// iplMeans is ipl in D.
func (c *checker) iplMeans() string {
	if c.clause.context != nil && !c.clause.context.Registers {
		return "0"
	}
	op := "=="
	if c.env.Arch.IRQOff {
		op = "!="
	}
	return fmt.Sprintf("(regs[%s] & %d) %s 0", c.env.Arch.IRQRegister, c.env.Arch.IRQMask, op)
}

// execargs is the arguments of the current process, which lie in its own
// memory one behind the other; a kernel thread has its name instead.
func (c *checker) execargs(at syntax.Pos) Expr {
	has := "curthread->mm != 0 ? curthread->mm->"
	return &CallExpr{node{at, c.str}, subroutineExecargs, []Expr{
		c.defined(at, "execargs", has+"arg_start : 0", typeUint64),
		c.defined(at, "execargs", has+"arg_end : 0", typeUint64),
	}}
}

// defined checks the D that a built-in name stands for, and converts it to a
// type.
func (c *checker) defined(at syntax.Pos, name, means string, t *Type) Expr {
	return c.convertTo(c.decay(c.definition(at, name, means)), t)
}

// definition checks the D that a built-in name stands for, which may need to
// know the running kernel's types.
func (c *checker) definition(at syntax.Pos, name, means string) Expr {
	file, err := syntax.Parse(&syntax.Source{Name: name, Text: "inline int means = (" + means + ");"}, nil)
	if err != nil {
		panic(fmt.Sprintf("types: the meaning of %s: %v", name, err))
	}
	c.clause.native++
	defer func() { c.clause.native-- }()
	before := len(c.errors)
	var x Expr
	if !c.try(func() { x = c.output(file.Decls[0].(*syntax.InlineDecl).Value) }) {
		why := c.errors[before]
		c.errors = c.errors[:before]
		c.fail(at, why.Tag, "failed to resolve %s for this kernel: %s", name, why.Msg)
	}
	return placed(x, at)
}

func (c *checker) scopedIdent(x *syntax.ScopedIdent) Expr {
	v := c.vars[x.Scope][x.Name]
	if v == nil {
		c.fail(x.At, "D_VAR_UNDEF", "%s has not yet been declared or assigned", &Var{Scope: x.Scope, Name: x.Name})
	}
	return c.varRef(x.At, v)
}

// symbol is a kernel symbol by its name.
func (c *checker) symbol(x *syntax.SymbolRef) Expr {
	name := scoped(x.Module, x.Name)
	if x.Module == "" {
		name = "`" + x.Name
	}
	if c.env.Symbol == nil {
		c.fail(x.At, "D_IDENT_UNDEF", "failed to resolve %s: the kernel's symbols are not known", name)
	}
	addr, err := c.env.Symbol(x.Module, x.Name)
	if err != nil {
		c.fail(x.At, "D_IDENT_UNDEF", "failed to resolve %s: %v", name, err)
	}
	t := c.symbolType(x.Module, x.Name)
	if t == nil {
		t = TypeDynamic
	}
	return &Sym{node{x.At, t}, x.Name, addr}
}

// typed fails for what cannot be used as a value: a symbol whose type is not
// known, the output of a translator.
func (c *checker) typed(x Expr) {
	if xl, ok := x.(*xlated); ok {
		c.fail(xl.At, "D_OP_DYN", "the output of a translator can only be used through its members")
	}
	if s, ok := x.(*Sym); ok && s.T == TypeDynamic {
		c.fail(s.At, "D_SYM_NOTYPES", "no symbolic type information is available for %s: use *(type *)&`%s", s.Name, s.Name)
	}
}

func (c *checker) unary(x *syntax.Unary) Expr {
	switch x.Op {
	case syntax.INC, syntax.DEC:
		return c.incDec(x.At, x.Op, x.X, false)
	case syntax.AND:
		return c.addrOf(x)
	case syntax.MUL:
		v := c.output(x.X)
		if xl, ok := v.(*xlated); ok && xl.T.Base().Kind == Pointer {
			return &xlated{node{x.At, xl.T.pointee()}, xl.translator, xl.value}
		}
		c.typed(v)
		return c.deref(x.At, c.decay(v))
	case syntax.NOT:
		v := c.value(x.X)
		if !v.Type().IsScalar() {
			c.fail(x.At, "D_OP_SCALAR", "operator ! requires an operand of scalar type")
		}
		return fold(&Unary{node{x.At, TypeInt}, x.Op, v})
	}
	v := c.value(x.X)
	if x.Op == syntax.BITNOT && !v.Type().IsInteger() {
		c.fail(x.At, "D_OP_INT", "operator ~ requires an operand of integral type")
	}
	if !v.Type().IsInteger() {
		c.fail(x.At, "D_OP_ARITH", "operator %s requires an operand of arithmetic type", x.Op)
	}
	v = c.promote(v)
	if x.Op == syntax.ADD {
		return v
	}
	return fold(&Unary{node{x.At, v.Type()}, x.Op, v})
}

func (c *checker) addrOf(x *syntax.Unary) Expr {
	v := c.output(x.X)
	switch v := v.(type) {
	case *VarRef:
		if !v.T.IsStruct() && v.T.Base().Kind != Array || v.Keys != nil {
			c.fail(x.At, "D_ADDROF_VAR", "cannot take address of dynamic variable")
		}
	case *Field:
		if v.Member.Bits != 0 {
			c.fail(x.At, "D_ADDROF_BITFIELD", "cannot take address of bit-field")
		}
	case *Sym:
		if v.T == TypeDynamic {
			return &Const{node{x.At, typeVoidPtr}, v.Addr}
		}
	case *xlated:
		c.fail(x.At, "D_ADDROF_VAR", "cannot take address of dynamic object")
	}
	if !isLvalue(v) {
		c.fail(x.At, "D_ADDROF_LVAL", "unacceptable operand for unary & operator")
	}
	return &AddrOf{node{x.At, PointerTo(v.Type())}, v}
}

// isLvalue reports whether x is an object rather than a value.
func isLvalue(x Expr) bool {
	switch x := x.(type) {
	case *VarRef, *Deref, *Sym:
		return true
	case *Field:
		return isLvalue(x.X)
	}
	return false
}

// isWritable reports whether a D program may assign to an lvalue: a variable
// of its own or part of one, or what a variable points to (memory that
// alloca() or copyin() gave; anything else is refused when it is tried).
func isWritable(x Expr) bool {
	switch x := x.(type) {
	case *VarRef:
		return true
	case *Field:
		return isWritable(x.X)
	case *Deref:
		return isWritable(x.X)
	case *AddrOf:
		return isWritable(x.X)
	case *Convert:
		return isWritable(x.X)
	case *Binary:
		return x.Op == syntax.ADD && isWritable(x.X)
	}
	return false
}

// deref is *x.
func (c *checker) deref(at syntax.Pos, x Expr) Expr {
	t := x.Type().Base()
	if t.Kind != Pointer {
		c.fail(at, "D_DEREF_NONPTR", "cannot dereference non-pointer type")
	}
	switch t.Elem.Base().Kind {
	case Void:
		c.fail(at, "D_DEREF_VOID", "cannot dereference pointer to void")
	case Func:
		c.fail(at, "D_DEREF_FUNC", "cannot dereference pointer to function")
	case Enum:
		c.checkComplete(at, t.Elem)
	}
	if a, ok := x.(*AddrOf); ok && a.X.Type().Base().Kind != Array {
		return a.X
	}
	c.inBounds(at, x)
	return &Deref{node{at, t.Elem}, x}
}

// inBounds refuses a constant index outside of an array that is part of a
// variable of the program, of which nothing is known to lie there. Arrays of the
// kernel may be longer than their types say.
func (c *checker) inBounds(at syntax.Pos, pointer Expr) {
	sum, ok := pointer.(*Binary)
	if !ok || sum.Op != syntax.ADD {
		return
	}
	array, isAddress := sum.X.(*AddrOf)
	offset, isConst := sum.Y.(*Const)
	if !isAddress || !isConst || array.X.Type().Base().Kind != Array || !inVariable(array.X) {
		return
	}
	t := array.X.Type()
	size := int64(t.Base().Elem.Size)
	if n := int64(offset.Value); size > 0 && (n < 0 || n/size >= int64(t.Base().Len)) {
		c.fail(at, "D_ARR_BOUNDS", "index %d is outside of the array: its type is %s", n/size, t)
	}
}

// inVariable reports whether an object is a variable of the program or a part of
// one.
func inVariable(x Expr) bool {
	switch x := x.(type) {
	case *VarRef:
		return true
	case *Field:
		return inVariable(x.X)
	case *Deref: // of an array's element
		pointer := x.X
		if sum, ok := pointer.(*Binary); ok && sum.Op == syntax.ADD {
			pointer = sum.X
		}
		a, ok := pointer.(*AddrOf)
		return ok && a.X.Type().Base().Kind == Array && inVariable(a.X)
	}
	return false
}

// incDec is ++ or --.
func (c *checker) incDec(at syntax.Pos, op syntax.Token, operand syntax.Expr, post bool) Expr {
	left := c.lvalue(operand)
	if v, ok := left.(*VarRef); ok && v.T == nil {
		c.settle(v, typeInt64)
	}
	if !left.Type().IsScalar() {
		c.fail(at, "D_OP_SCALAR", "operator %s requires operand of scalar type", op)
	}
	if t := left.Type().Base(); t.Kind == Pointer && !t.Elem.sized() {
		c.fail(at, "D_OP_VFPTR", "operator %s requires an operand of known size", op)
	}
	c.writable(at, op, left)
	arith := syntax.ADD
	if op == syntax.DEC {
		arith = syntax.SUB
	}
	one := &Const{node{at, TypeInt}, 1}
	sum := c.additive(at, arith, &Current{node{at, left.Type()}}, one)
	return &Assign{node{at, left.Type()}, left, c.convertTo(sum, left.Type()), post}
}

// writable checks the left operand of an operator that changes it.
func (c *checker) writable(at syntax.Pos, op syntax.Token, left Expr) {
	if !isLvalue(left) {
		c.fail(at, "D_OP_LVAL", "operator %s requires modifiable lvalue as an operand", op)
	}
	if !isWritable(left) {
		c.fail(at, "D_OP_WRITE", "operator %s can only be applied to a writable variable", op)
	}
}

// lvalue checks the operand of an operator that changes it, and makes the
// variable that it names if there is none yet: a VarRef without a type.
func (c *checker) lvalue(x syntax.Expr) Expr {
	switch x := unparen(x).(type) {
	case *syntax.Ident:
		if c.lookupVar(x.Name) == nil && c.lookup(x.At, x.Name) == nil {
			return &VarRef{node{At: x.At}, c.newVar(syntax.Global, x.Name), nil}
		}
		if v := c.lookupVar(x.Name); v != nil && !v.known && !v.Array {
			return &VarRef{node{At: x.At}, v, nil}
		}
	case *syntax.ScopedIdent:
		v := c.vars[x.Scope][x.Name]
		if v == nil {
			v = c.newVar(x.Scope, x.Name)
		}
		if !v.known && !v.Array {
			return &VarRef{node{At: x.At}, v, nil}
		}
	case *syntax.Index:
		if v := c.arrayOf(x); v != nil {
			return c.element(x, v)
		}
	}
	return c.expr(x)
}

// lookupVar finds a global variable that no parameter hides.
func (c *checker) lookupVar(name string) *Var {
	for _, s := range c.scopes {
		if s[name] != nil {
			return nil
		}
	}
	return c.vars[syntax.Global][name]
}

func (c *checker) newVar(scope syntax.Scope, name string) *Var {
	v := &Var{Scope: scope, Name: name}
	c.addVar(v)
	return v
}

// settle gives a new variable its type.
func (c *checker) settle(v *VarRef, t *Type) {
	v.T = t
	v.Var.Type = t
	v.Var.known = true
}

// arrayOf returns the associative array that x is an element of, also if it is
// not known yet; nil if x indexes something else.
func (c *checker) arrayOf(x *syntax.Index) *Var {
	switch base := unparen(x.X).(type) {
	case *syntax.Ident:
		if v := c.lookupVar(base.Name); v != nil {
			if v.Array {
				return v
			}
			return nil
		}
		if base.Name == "args" || base.Name == "regs" || base.Name == "uregs" || c.lookup2(base) {
			return nil
		}
		return &Var{Scope: syntax.Global, Name: base.Name, Array: true, Index: -1}
	case *syntax.ScopedIdent:
		if v := c.vars[base.Scope][base.Name]; v != nil {
			if v.Array {
				return v
			}
			return nil
		}
		if base.Scope == syntax.Local {
			c.fail(base.At, "D_ARR_LOCAL", "local variables may not be used as associative arrays: %s", base.Name)
		}
		return &Var{Scope: base.Scope, Name: base.Name, Array: true, Index: -1}
	}
	return nil
}

// lookup2 reports whether a name is known as something else than a variable.
func (c *checker) lookup2(x *syntax.Ident) bool {
	return c.whatIs(x.Name) != "" || c.scoped(x.Name)
}

func (c *checker) scoped(name string) bool {
	for _, s := range c.scopes {
		if s[name] != nil {
			return true
		}
	}
	return false
}

// element is an element of an associative array. A new array takes its keys'
// types from the first use, and its elements' from the first assignment.
func (c *checker) element(x *syntax.Index, v *Var) *VarRef {
	keys := c.keys(x.Args)
	if v.Index < 0 {
		v.Keys = keyTypes(keys)
		c.addVar(v)
	}
	c.signature(x.At, v.String()+"[ ]", v.Keys, keys)
	return &VarRef{node{x.At, v.Type}, v, c.convertAll(keys, v.Keys)}
}

// keys checks the indexes of an associative array or aggregation.
func (c *checker) keys(args []syntax.Expr) []Expr {
	out := make([]Expr, len(args))
	for i, a := range args {
		out[i] = c.keyExpr(a)
		t := out[i].Type()
		if t.IsVoid() || t.IsDynamic() {
			c.fail(a.Pos(), "D_KEY_TYPE", "%s expression may not be used as array index: key #%d", c.typeName(out[i]), i+1)
		}
	}
	return out
}

// keyExpr checks a key: an array of char counts as a string, other arrays as
// their address.
func (c *checker) keyExpr(x syntax.Expr) Expr {
	e := c.expr(x)
	c.typed(e)
	if t := e.Type().Base(); t.Kind == Array && t.IsStringLike() {
		return c.convertTo(e, c.str)
	}
	return c.decay(e)
}

func keyTypes(keys []Expr) []*Type {
	out := make([]*Type, len(keys))
	for i, k := range keys {
		out[i] = k.Type()
	}
	return out
}

// signature checks arguments against the types of a prototype.
func (c *checker) signature(at syntax.Pos, name string, proto []*Type, args []Expr) {
	if len(args) != len(proto) {
		c.fail(at, "D_PROTO_LEN", "%s prototype mismatch: %d %s passed, %d expected", name, len(args), plural(len(args), "arg"), len(proto))
	}
	for i, a := range args {
		if !c.assignable(proto[i], a) {
			c.protoArg(a.Pos(), name, i+1, proto[i].String(), a)
		}
	}
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

func (c *checker) protoArg(at syntax.Pos, name string, n int, proto string, arg Expr) {
	c.fail(at, "D_PROTO_ARG", "%s argument #%d is incompatible with prototype:\n\tprototype: %s\n\t argument: %s", name, n, proto, c.typeName(arg))
}

func (c *checker) convertAll(args []Expr, to []*Type) []Expr {
	out := make([]Expr, len(args))
	for i, a := range args {
		out[i] = c.convertTo(a, to[i])
	}
	return out
}

// typeName is an expression's type as diagnoses print it.
func (c *checker) typeName(x Expr) string {
	if s, ok := x.(*Sym); ok && s.T == TypeDynamic {
		return "symbol " + s.Name
	}
	return x.Type().String()
}

// index is x[args].
func (c *checker) index(x *syntax.Index) Expr {
	if id, ok := unparen(x.X).(*syntax.Ident); ok && c.vars[syntax.Global][id.Name] == nil && !c.scoped(id.Name) {
		switch id.Name {
		case "args":
			return c.arg(x)
		case "regs", "uregs":
			return c.reg(x, id.Name)
		}
		if c.inlines[id.Name] == nil {
			c.fromLibrary(id.Name)
		}
		if in := c.inlines[id.Name]; in != nil && in.array {
			return c.inlineCall(x, in)
		}
	}
	if v := c.arrayOf(x); v != nil {
		if !v.known {
			c.fail(x.At, "D_VAR_UNDEF", "%s has not yet been declared or assigned", v)
		}
		return c.element(x, v)
	}
	base := c.expr(x.X)
	if len(x.Args) != 1 {
		c.fail(x.At, "D_ARR_BADREF", "cannot access %s as an associative array", c.typeName(base))
	}
	return c.deref(x.At, c.additive(x.At, syntax.ADD, c.decay(base), c.value(x.Args[0])))
}

// constIndex checks the one index of args[] and regs[].
func (c *checker) constIndex(x *syntax.Index, name string) *Const {
	if len(x.Args) != 1 {
		c.fail(x.At, "D_PROTO_LEN", "%s[ ] prototype mismatch: %d %s passed, 1 expected", name, len(x.Args), plural(len(x.Args), "arg"))
	}
	v := c.expr(x.Args[0])
	n, ok := v.(*Const)
	if !ok {
		c.protoArg(x.At, name+"[ ]", 1, "integer constant", v)
	}
	return n
}

func (c *checker) arg(x *syntax.Index) Expr {
	if c.clause.context == nil {
		c.fail(x.At, "D_ARGS_NONE", "args[ ] may not be referenced outside of a probe clause")
	}
	n := c.constIndex(x, "args")
	args := c.clause.context.Args
	if n.Value >= uint64(len(args)) {
		c.fail(x.At, "D_ARGS_IDX", "index %d is out of range for %s args[ ]", int64(n.Value), c.clause.syntax.Probes[0].Text)
	}
	a := args[n.Value]
	if a.Means != "" {
		return c.definition(x.At, fmt.Sprintf("args[%d]", n.Value), a.Means)
	}
	if a.Type == nil {
		c.fail(x.At, "D_ARGS_TYPE", "failed to resolve translated type for args[%d]", n.Value)
	}
	return &ArgRef{node{x.At, a.Type}, int(n.Value)}
}

// reg is regs[n] or uregs[n].
func (c *checker) reg(x *syntax.Index, name string) Expr {
	if len(x.Args) == 1 {
		if id, ok := unparen(x.Args[0]).(*syntax.Ident); ok {
			c.checkRegister(id)
		}
	}
	n := c.constIndex(x, name)
	r := c.registerAt(n.Value)
	if r == nil {
		c.fail(x.At, "D_REGS_IDX", "index %d is out of range for array %s", int64(n.Value), name)
	}
	if r.Size == 0 {
		c.fail(x.At, "D_REGS_IDX", "%s: %s", r.Name, r.Absent)
	}
	user := name == "uregs"
	if !user && c.clause.context != nil && !c.clause.context.Registers {
		c.fail(x.At, "D_REGS_IDX", "regs[ ] may not be used here: %s has no registers", c.clause.syntax.Probes[0].Text)
	}
	reg := &Reg{node{x.At, typeUint64}, *r, user, nil}
	if user {
		before := len(c.errors)
		c.try(func() { reg.Base = c.defined(x.At, "uregs", userRegsMeans, typeUint64) })
		c.errors = c.errors[:before]
	}
	return reg
}

// userRegsMeans is where the kernel saves a thread's user registers, on kernels
// that do not tell it to programs: at the very end of its stack.
const userRegsMeans = "(uint64_t)curthread->stack + sizeof (union thread_union) - sizeof (struct pt_regs)"

// checkRegister says more of a register that does not exist than that the name
// is unknown.
func (c *checker) checkRegister(id *syntax.Ident) {
	if !strings.HasPrefix(id.Name, "R_") || c.lookup(id.At, id.Name) != nil {
		return
	}
	c.fail(id.At, "D_IDENT_UNDEF", "failed to resolve %s: there is no such register; there are %s", id.Name, c.registerNames())
}

// register finds a register by its name in D.
func (c *checker) register(name string) (isa.Register, bool) {
	if c.env.Arch == nil || !strings.HasPrefix(name, "R_") {
		return isa.Register{}, false
	}
	return c.env.Arch.Register(name)
}

// registerAt finds a register by its index in regs[].
func (c *checker) registerAt(index uint64) *isa.Register {
	if c.env.Arch == nil {
		return nil
	}
	for i, r := range c.env.Arch.Registers {
		if uint64(r.Index) == index {
			return &c.env.Arch.Registers[i]
		}
	}
	return nil
}

// registerNames lists the registers that can be read, each by one name.
func (c *checker) registerNames() string {
	if c.env.Arch == nil {
		return "none"
	}
	var names []string
	seen := make(map[int]bool)
	for _, r := range c.env.Arch.Registers {
		if r.Size > 0 && !seen[r.Index] {
			seen[r.Index] = true
			names = append(names, r.Name)
		}
	}
	return list(names)
}

// inlineCall is name[args] of an inline with parameters.
func (c *checker) inlineCall(x *syntax.Index, in *inline) Expr {
	proto := make([]*Type, len(in.params))
	for i, p := range in.params {
		proto[i] = p.typ
	}
	args := make([]Expr, len(x.Args))
	for i, a := range x.Args {
		args[i] = c.keyExpr(a)
	}
	c.usable(x.At, in)
	c.signature(x.At, in.name+"[ ]", proto, args)
	bind := func(body Expr) Expr {
		for i, a := range c.convertAll(args, proto) {
			body = &Let{node{x.At, body.Type()}, in.params[i].binding, a, body}
		}
		return body
	}
	if xl, ok := in.value.(*xlated); ok {
		return &xlated{node{x.At, xl.T}, xl.translator, bind(xl.value)}
	}
	return bind(in.value)
}

// member is x.name or x->name.
func (c *checker) member(x *syntax.Member) Expr {
	op := "."
	if x.Arrow {
		op = "->"
	}
	base := c.output(x.X)
	if xl, ok := base.(*xlated); ok {
		return c.xlatedMember(x, xl)
	}
	c.typed(base)
	t := base.Type().Base()
	if x.Arrow {
		if !t.IsPointer() {
			c.fail(x.At, "D_OP_PTR", "operator -> must be applied to a pointer")
		}
		t = t.Elem.Base()
	}
	if !t.IsStruct() {
		if x.Arrow {
			c.fail(x.At, "D_OP_SOU", "operator -> cannot be applied to pointer to type \"%s\"; must be applied to a struct or union pointer", t)
		}
		c.fail(x.At, "D_OP_SOU", "operator . cannot be applied to type \"%s\"; must be applied to a struct or union", base.Type())
	}
	if t.Incomplete {
		if t = c.complete(x.At, t); t.Incomplete {
			c.fail(x.At, "D_OP_INCOMPLETE", "operator %s cannot be applied to a forward declaration: no %s definition is available", op, t)
		}
	}
	m, ok := t.Member(x.Name)
	if !ok {
		c.fail(x.At, "D_TYPE_MEMBER", "%s is not a member of %s", x.Name, t)
	}
	if x.Arrow {
		base = c.deref(x.At, c.decay(base))
	}
	return &Field{node{x.At, m.Type}, base, m}
}

func (c *checker) cast(x *syntax.Cast) Expr {
	t := c.typeExpr(x.Type)
	v := c.expr(x.X)
	c.typed(v)
	from := v.Type()
	if t.Base().Kind == Enum {
		c.checkComplete(x.At, t)
	}
	switch {
	case t.IsVoid():
		return &Convert{node{x.At, t}, v}
	case Compatible(t, from) && !t.IsInteger():
		return retype(v, t)
	case t.IsScalar() && (from.IsScalar() || from.IsPointer() || from.Base().Kind == Func):
		if t.IsInteger() && from.Base().Kind == Array && !t.sized() {
			break
		}
		return c.convertTo(c.decay(v), t)
	case t.IsString() && (from.IsScalar() || from.IsPointer() || from.IsString()):
		return c.toString(x.At, v)
	}
	c.fail(x.At, "D_CAST_INVAL", "invalid cast expression: \"%s\" to \"%s\"", from, t)
	return nil
}

// checkComplete says that values of the type can be worked with.
func (c *checker) checkComplete(at syntax.Pos, t *Type) {
	if t.Base().Incomplete {
		c.fail(at, "D_DECL_INCOMPLETE", "incomplete struct/union/enum %s", t)
	}
}

// retype gives an expression a compatible type under another name.
func retype(x Expr, t *Type) Expr { return &Convert{node{x.Pos(), t}, x} }

// toString is stringof: the characters at an address, in an array, or of a
// string.
func (c *checker) toString(at syntax.Pos, x Expr) Expr {
	if x.Type().IsString() {
		return x
	}
	return &Convert{node{at, c.str}, x}
}

func (c *checker) stringof(x *syntax.Stringof) Expr {
	v := c.expr(x.X)
	c.typed(v)
	t := v.Type()
	if !t.IsScalar() && !t.IsPointer() && !t.IsStringLike() {
		c.fail(x.At, "D_STRINGOF_TYPE", "cannot apply stringof to a value of type %s", c.typeName(v))
	}
	return c.toString(x.At, v)
}

func (c *checker) sizeof(x *syntax.Sizeof) Expr {
	var size int
	if x.Type != nil {
		t := c.typeExpr(x.Type)
		if t.IsStruct() && t.Base().Incomplete {
			t = c.complete(x.At, t)
		}
		size = t.Base().Size
	} else {
		v := c.output(x.X)
		if f, ok := v.(*Field); ok && f.Member.Bits != 0 {
			c.fail(x.At, "D_SIZEOF_BITFIELD", "cannot apply sizeof to a bit-field")
		}
		size = v.Type().Base().Size
		if s, ok := v.(*Str); ok {
			size = len(s.Value) + 1
		}
	}
	if size == 0 {
		c.fail(x.At, "D_SIZEOF_TYPE", "cannot apply sizeof to an operand of unknown size")
	}
	return &Const{node{x.At, typeSize}, uint64(size)}
}

func (c *checker) offsetof(x *syntax.Offsetof) Expr {
	t := c.typeExpr(x.Type)
	if t.IsStruct() && t.Base().Incomplete {
		t = c.complete(x.At, t)
	}
	if !t.IsStruct() || t.Base().Incomplete {
		c.fail(x.At, "D_OFFSETOF_TYPE", "offsetof operand must be of type struct or union")
	}
	m, ok := t.Member(x.Member)
	if !ok {
		c.fail(x.At, "D_TYPE_MEMBER", "%s is not a member of %s", x.Member, t)
	}
	if m.Bits != 0 {
		c.fail(x.At, "D_OFFSETOF_BITFIELD", "cannot take offset of a bit-field: %s", x.Member)
	}
	return &Const{node{x.At, typeSize}, uint64(m.Offset / 8)}
}

func (c *checker) cond(x *syntax.Cond) Expr {
	cond := c.value(x.C)
	if !cond.Type().IsScalar() {
		c.fail(x.C.Pos(), "D_OP_SCALAR", "operator ?: expression must be of scalar type")
	}
	a, b := c.structure(c.output(x.X)), c.structure(c.output(x.Y))
	for _, arm := range []Expr{a, b} {
		if xl, ok := arm.(*xlated); ok {
			c.fail(xl.At, "D_OP_DYN", "operator ?: cannot choose among outputs of translators, \"%s\": let it choose among their members", xl.T)
		}
		c.typed(arm)
		if arm.Type().IsDynamic() {
			c.fail(x.At, "D_OP_DYN", "operator ?: operands cannot be of dynamic type")
		}
	}
	if a.Type().Base().Kind == Func {
		a = c.decay(a)
	}
	if b.Type().Base().Kind == Func {
		b = c.decay(b)
	}
	t := c.condType(x.At, a, b)
	return fold(&Cond{node{x.At, t}, cond, c.convertTo(a, t), c.convertTo(b, t)})
}

// condType is the type of c ? a : b.
func (c *checker) condType(at syntax.Pos, a, b Expr) *Type {
	ta, tb := a.Type(), b.Type()
	switch {
	case ta.IsInteger() && tb.IsInteger():
		return c.arithmetic(ta, tb)
	case ta.IsStringLike() && tb.IsStringLike() && (ta.IsString() || tb.IsString() || ta.Base().Kind == Array || tb.Base().Kind == Array):
		return c.str
	case ta.IsString() && isZero(b):
		return ta
	case tb.IsString() && isZero(a):
		return tb
	case Compatible(ta, tb):
		return ta
	case c.pointerCompatible(a, b):
		if !ta.IsPointer() || ta.pointee().IsVoid() && tb.IsPointer() {
			return c.decay(b).Type()
		}
		return c.decay(a).Type()
	}
	c.fail(at, "D_OP_INCOMPAT", "operator ?: operands must have compatible types")
	return nil
}

// assign is x = y or x op= y.
func (c *checker) assign(x *syntax.Assign) Expr {
	if ref, ok := unparen(x.X).(*syntax.AggRef); ok {
		c.fail(x.At, "D_OP_DYN", "aggregation @%s may only be assigned in a statement of its own", ref.Name)
	}
	if x.Op != syntax.ASSIGN {
		return c.compound(x)
	}
	left := c.lvalue(x.X)
	right := c.structure(c.output(x.Y))
	c.typed(right)
	if v, ok := left.(*VarRef); ok && v.T == nil {
		c.settle(v, c.typeForVar(x, right))
	}
	t := left.Type()
	if k := t.Base().Kind; k == Array || k == Func {
		c.fail(x.At, "D_OP_ARRFUN", "operator = may not be applied to operand of type \"%s\"", t)
	}
	if !c.assignable(t, right) {
		c.fail(x.At, "D_OP_INCOMPAT", "operands have incompatible types: \"%s\" = \"%s\"", t, c.typeName(right))
	}
	c.writable(x.At, x.Op, left)
	return &Assign{node{x.At, t}, left, c.convertTo(right, t), false}
}

// typeForVar is the type of a variable whose first assignment is from right.
func (c *checker) typeForVar(x *syntax.Assign, right Expr) *Type {
	t := right.Type()
	switch b := t.Base(); {
	case b.Kind == Array || b.Kind == Func:
		c.fail(x.At, "D_OP_ARRFUN", "operator = may not be applied to operand of type \"%s\"", t)
	case b.IsStruct() && b.Size == 0:
		c.fail(x.At, "D_DECL_VOIDOBJ", "cannot declare an object without members: %s", t)
	case b.Kind == Void || b.Kind == Dynamic || b.Kind == Stack || b.Kind == Symbol:
		c.fail(x.At, "D_OP_INCOMPAT", "operands have incompatible types: \"%s\" = \"%s\"", TypeDynamic, t)
	}
	return t
}

// compound is x op= y.
func (c *checker) compound(x *syntax.Assign) Expr {
	op := x.Op.BinaryOf()
	left := c.lvalue(x.X)
	if v, ok := left.(*VarRef); ok && v.T == nil {
		c.fail(x.At, "D_VAR_UNDEF", "%s has not yet been declared or assigned", v.Var)
	}
	right := c.value(x.Y)
	c.typed(right)
	c.compoundOperands(x, left, right)
	c.writable(x.At, x.Op, left)
	current := &Current{node{x.At, left.Type()}}
	var value Expr
	switch op {
	case syntax.ADD, syntax.SUB:
		value = c.additive(x.At, op, current, right)
	default:
		value = c.arithmeticOp(x.At, op, current, right)
	}
	return &Assign{node{x.At, left.Type()}, left, c.convertTo(value, left.Type()), false}
}

func (c *checker) compoundOperands(x *syntax.Assign, left, right Expr) {
	lt, rt := left.Type(), right.Type()
	incompatible := func() {
		c.fail(x.At, "D_OP_INCOMPAT", "operands have incompatible types: \"%s\" %s \"%s\"", lt, x.Op, rt)
	}
	switch x.Op {
	case syntax.MUL_ASSIGN, syntax.DIV_ASSIGN:
		if !lt.IsInteger() || !rt.IsInteger() {
			c.fail(x.At, "D_OP_ARITH", "operator %s requires operands of arithmetic type", x.Op)
		}
	case syntax.ADD_ASSIGN, syntax.SUB_ASSIGN:
		switch {
		case lt.IsInteger() && rt.IsInteger():
		case lt.IsString() || rt.IsString():
			incompatible()
		case lt.Base().Kind != Pointer || !lt.pointee().sized():
			c.fail(x.At, "D_OP_VFPTR", "operator %s requires left-hand scalar operand of known size", x.Op)
		case !rt.IsInteger():
			incompatible()
		}
	default:
		if !lt.IsInteger() || !rt.IsInteger() {
			c.fail(x.At, "D_OP_INT", "operator %s requires operands of integral type", x.Op)
		}
	}
}
