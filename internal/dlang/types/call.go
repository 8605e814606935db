package types

import (
	"kinst/internal/dlang/syntax"
)

// A Subroutine is a function that D programs can call for its value.
type Subroutine struct {
	Name   string
	Result *Type
	Params []*Type
	// Optional is how many of the last parameters may be left out.
	Optional    int
	Destructive bool
	// Means is the D that a call stands for, if it is not a primitive; its
	// parameters are called a, b, ...
	Means string
}

// subroutines is DTrace's subroutines by name.
var subroutines = func() map[string]*Subroutine {
	str, ptr, char := stringType(0), typeVoidPtr, typeCharPtr
	port16, port32, port64 := basic["unsigned short"], TypeUint, typeUint64
	m := make(map[string]*Subroutine)
	for _, s := range []*Subroutine{
		{Name: "alloca", Result: ptr, Params: []*Type{typeSize}},
		{Name: "basename", Result: str, Params: []*Type{char}},
		{Name: "bcopy", Result: TypeVoid, Params: []*Type{ptr, ptr, typeSize}},
		{Name: "cleanpath", Result: str, Params: []*Type{char}},
		{Name: "copyin", Result: ptr, Params: []*Type{typeUintptr, typeSize}},
		{Name: "copyinstr", Result: str, Params: []*Type{typeUintptr, typeSize}, Optional: 1},
		{Name: "copyinto", Result: TypeVoid, Params: []*Type{typeUintptr, typeSize, ptr}},
		{Name: "copyout", Result: TypeVoid, Params: []*Type{ptr, typeUintptr, typeSize}, Destructive: true},
		{Name: "copyoutstr", Result: TypeVoid, Params: []*Type{char, typeUintptr, typeSize}, Destructive: true},
		{Name: "dirname", Result: str, Params: []*Type{char}},
		{Name: "getmajor", Result: TypeUint, Params: []*Type{TypeUint}, Means: "a >> 20"},
		{Name: "getminor", Result: TypeUint, Params: []*Type{TypeUint}, Means: "a & 0xfffff"},
		{Name: "htonl", Result: port32, Params: []*Type{port32}},
		{Name: "htonll", Result: port64, Params: []*Type{port64}},
		{Name: "htons", Result: port16, Params: []*Type{port16}},
		{Name: "index", Result: TypeInt, Params: []*Type{char, char, TypeInt}, Optional: 1},
		{Name: "inet_ntoa", Result: str, Params: []*Type{PointerTo(TypeUint)}},
		{Name: "inet_ntoa6", Result: str, Params: []*Type{ptr}},
		{Name: "inet_ntop", Result: str, Params: []*Type{TypeInt, ptr}},
		{Name: "link_ntop", Result: str, Params: []*Type{TypeInt, ptr}},
		{Name: "lltostr", Result: str, Params: []*Type{typeInt64, TypeInt}, Optional: 1},
		{Name: "mutex_owned", Result: TypeInt, Params: []*Type{ptr}, Means: "(long)curthread == (((struct mutex *)a)->owner.counter & ~7l)"},
		{Name: "mutex_owner", Result: ptr, Params: []*Type{ptr}, Means: "((struct mutex *)a)->owner.counter & ~7l"},
		{Name: "mutex_type_adaptive", Result: TypeInt, Params: []*Type{ptr}, Means: "((struct mutex *)a)->owner.counter, 1"},
		{Name: "mutex_type_spin", Result: TypeInt, Params: []*Type{ptr}, Means: "((struct mutex *)a)->owner.counter, 0"},
		{Name: "ntohl", Result: port32, Params: []*Type{port32}},
		{Name: "ntohll", Result: port64, Params: []*Type{port64}},
		{Name: "ntohs", Result: port16, Params: []*Type{port16}},
		{Name: "progenyof", Result: TypeInt, Params: []*Type{typePid}},
		{Name: "rand", Result: TypeInt},
		{Name: "rindex", Result: TypeInt, Params: []*Type{char, char, TypeInt}, Optional: 1},
		{Name: "rw_iswriter", Result: TypeInt, Params: []*Type{ptr}, Means: "(((struct rw_semaphore *)a)->count.counter & 1) && (((struct rw_semaphore *)a)->owner.counter & ~7l) == (long)curthread"},
		{Name: "rw_read_held", Result: TypeInt, Params: []*Type{ptr}, Means: "!(((struct rw_semaphore *)a)->count.counter & 1) && ((struct rw_semaphore *)a)->count.counter >> 8 > 0"},
		{Name: "rw_write_held", Result: TypeInt, Params: []*Type{ptr}, Means: "((struct rw_semaphore *)a)->count.counter & 1"},
		{Name: "speculation", Result: TypeInt},
		{Name: "strchr", Result: str, Params: []*Type{char, TypeChar}},
		{Name: "strjoin", Result: str, Params: []*Type{char, char}},
		{Name: "strlen", Result: typeSize, Params: []*Type{char}},
		{Name: "strrchr", Result: str, Params: []*Type{char, TypeChar}},
		{Name: "strstr", Result: str, Params: []*Type{char, char}},
		{Name: "strtok", Result: str, Params: []*Type{char, char}},
		{Name: "strtoll", Result: typeInt64, Params: []*Type{char, TypeInt}, Optional: 1},
		{Name: "substr", Result: str, Params: []*Type{char, TypeInt, TypeInt}, Optional: 1},
		{Name: "tolower", Result: str, Params: []*Type{char}},
		{Name: "toupper", Result: str, Params: []*Type{char}},
	} {
		m[s.Name] = s
	}
	return m
}()

// subroutineExecargs is what the variable execargs is made by: (start, end).
var subroutineExecargs = &Subroutine{Name: "execargs"}

// call checks a call in an expression.
func (c *checker) call(x *syntax.Call) Expr {
	switch x.Name {
	case "stack", "ustack", "jstack":
		return c.stack(x)
	case "sym", "func", "mod", "usym", "ufunc", "umod", "uaddr":
		return c.sym(x)
	}
	s := subroutines[x.Name]
	if s == nil {
		c.notCallable(x)
	}
	args := c.callArgs(x, s)
	if s.Destructive {
		c.order(x.At, x.Name, destroys)
		if !c.env.Destructive {
			c.fail(x.At, "D_UNKNOWN", "%s( ): destructive actions not allowed; allow them with -w", x.Name)
		}
	}
	t := s.Result
	if t.IsString() {
		t = c.str
	}
	if s.Means != "" {
		return c.expand(x.At, s, args)
	}
	if s.Name == "progenyof" {
		args = append(args, c.defined(x.At, s.Name, "(uint64_t)curthread", typeUint64),
			c.defined(x.At, s.Name, "offsetof(struct task_struct, real_parent)", typeUint64),
			c.defined(x.At, s.Name, "offsetof(struct task_struct, tgid)", typeUint64))
	}
	return &CallExpr{node{x.At, t}, s, args}
}

// expand is a call of a subroutine that D itself can express.
func (c *checker) expand(at syntax.Pos, s *Subroutine, args []Expr) Expr {
	names := make(map[string]Expr)
	bindings := make([]*Binding, len(args))
	for i, a := range args {
		bindings[i] = &Binding{string(rune('a' + i))}
		names[bindings[i].Name] = &Bound{node{at, a.Type()}, bindings[i]}
	}
	var x Expr
	c.within(names, func() { x = c.defined(at, s.Name, s.Means, s.Result) })
	for i, a := range args {
		x = &Let{node{at, s.Result}, bindings[i], a, x}
	}
	return x
}

// notCallable says why a name cannot be called where a value is needed.
func (c *checker) notCallable(x *syntax.Call) {
	if actions[x.Name] != nil {
		c.fail(x.At, "D_CG_EXPR", "%s( ) may not be called from a D expression (D program context required)", x.Name)
	}
	if _, ok := aggFuncs[x.Name]; ok {
		c.fail(x.At, "D_AGG_FUNC", "%s( ) may only be assigned to an aggregation", x.Name)
	}
	if c.lookup(x.At, x.Name) != nil {
		c.fail(x.At, "D_FUNC_IDKIND", "identifier '%s' is not a function", x.Name)
	}
	c.fail(x.At, "D_FUNC_UNDEF", "undefined function name: %s", x.Name)
}

// callArgs checks the arguments of a subroutine. A string may be given as
// string, char array or pointer to char alike: it is handed on as a string.
func (c *checker) callArgs(x *syntax.Call, s *Subroutine) []Expr {
	least, n := len(s.Params)-s.Optional, len(x.Args)
	if n < least || n > len(s.Params) {
		bound, at := least, ""
		if s.Optional > 0 {
			at = "at least "
		}
		c.fail(x.At, "D_PROTO_LEN", "%s( ) prototype mismatch: %d %s passed, %s%d expected", s.Name, n, plural(n, "arg"), at, bound)
	}
	args := make([]Expr, n)
	for i, a := range x.Args {
		v := c.expr(a)
		c.typed(v)
		want := s.Params[i]
		switch {
		case want == typeCharPtr && v.Type().IsStringLike():
			args[i] = c.toString(a.Pos(), v)
			continue
		case want == typeCharPtr && isZero(v):
			args[i] = c.convertTo(v, c.str)
			continue
		case want == typeCharPtr || !c.assignable(want, v) && !(want.IsInteger() && v.Type().IsPointer()):
			c.protoArg(a.Pos(), s.Name+"( )", i+1, want.String(), v)
		}
		args[i] = c.convertTo(v, want)
	}
	return args
}

// stack is stack([frames]), ustack([frames[, strsize]]) or jstack.
func (c *checker) stack(x *syntax.Call) Expr {
	s := &StackExpr{node: node{At: x.At}, User: x.Name != "stack"}
	s.Frames = c.defaultFrames(x.Name)
	if x.Name == "jstack" {
		s.Strings = orDefault(c.env.Jstackstrsize, 512)
	}
	most := 1
	if s.User {
		most = 2
	}
	if len(x.Args) > most {
		tag := "D_STACK_PROTO"
		if s.User {
			tag = "D_USTACK_PROTO"
		}
		c.fail(x.At, tag, "%s( ) prototype mismatch: too many arguments", x.Name)
	}
	if len(x.Args) > 0 {
		k, ok := c.expr(x.Args[0]).(*Const)
		switch {
		case (!ok || !positive(k)) && s.User:
			c.fail(x.Args[0].Pos(), "D_USTACK_FRAMES", "%s( ) argument #1 must be a non-zero positive integer constant", x.Name)
		case !ok || !positive(k):
			c.fail(x.Args[0].Pos(), "D_STACK_SIZE", "stack( ) size must be a non-zero positive integral constant expression")
		}
		s.Frames = int(min(k.Value, maxFrames))
	}
	if len(x.Args) > 1 {
		k, ok := c.expr(x.Args[1]).(*Const)
		if !ok || k.T.signed() && int64(k.Value) < 0 {
			c.fail(x.Args[1].Pos(), "D_USTACK_STRSIZE", "%s( ) argument #2 must be a positive integer constant", x.Name)
		}
		s.Strings = int(min(k.Value, maxObject))
	}
	s.T = StackType(s.Frames, s.User)
	return s
}

// maxFrames is the most that the kernel records of a stack
// (PERF_MAX_STACK_DEPTH).
const maxFrames = 127

func (c *checker) defaultFrames(name string) int {
	switch name {
	case "stack":
		return min(orDefault(c.env.Stackframes, 20), maxFrames)
	case "ustack":
		return min(orDefault(c.env.Ustackframes, 100), maxFrames)
	}
	return min(orDefault(c.env.Jstackframes, 50), maxFrames)
}

func orDefault(n, def int) int {
	if n == 0 {
		return def
	}
	return n
}

// userStack is the name of the type of user stacks.
const userStack = "ustack"

// StackType is the type of a stack of so many frames.
func StackType(frames int, user bool) *Type {
	t := &Type{Kind: Stack, Name: "stack", Size: 8 * frames, Len: frames}
	if user {
		t.Name = userStack
		t.Size += 8
	}
	return t
}

// sym is sym(address) and its like.
func (c *checker) sym(x *syntax.Call) Expr {
	if len(x.Args) != 1 {
		c.fail(x.At, "D_PROTO_LEN", "%s( ) prototype mismatch: %d %s passed, 1 expected", x.Name, len(x.Args), plural(len(x.Args), "arg"))
	}
	v := c.value(x.Args[0])
	c.typed(v)
	if !v.Type().IsInteger() && !v.Type().IsPointer() {
		c.protoArg(x.Args[0].Pos(), x.Name+"( )", 1, "uintptr_t", v)
	}
	t := &Type{Kind: Symbol, Name: x.Name, Size: 8}
	if x.Name[0] == 'u' {
		t.Size = 16
	}
	return &SymExpr{node{x.At, t}, c.convertTo(v, typeUintptr)}
}
