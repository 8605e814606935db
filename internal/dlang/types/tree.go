package types

import (
	"kinst/internal/dlang/syntax"
	"kinst/internal/isa"
	"kinst/internal/record"
)

// A Program is a D program that has been checked.
type Program struct {
	// Clauses are in program order. A clause of the source that runs on
	// several kinds of probe is here once for each of them.
	Clauses []*Clause
	Vars    []*Var
	Aggs    []*Agg
	Strsize int
}

// A Clause is a clause of the source for one kind of probe.
type Clause struct {
	Source    int // which clause of the program it is, counted from 0
	Syntax    *syntax.Clause
	Context   *Context
	Predicate Expr // nil if there is none
	Body      []Stmt
	// Default says that the body is empty: the clause records that its probe
	// fired.
	Default bool
}

// A Var is a variable that the program declares or assigns.
type Var struct {
	Scope syntax.Scope
	Name  string
	Type  *Type   // of an element, for an associative array
	Keys  []*Type // of an associative array; nil for any other variable
	Array bool    // is an associative array
	Index int     // in Program.Vars

	known    bool // its type is known
	assigned bool // or declared
}

// String is the variable as the program names it.
func (v *Var) String() string {
	switch v.Scope {
	case syntax.Thread:
		return "self->" + v.Name
	case syntax.Local:
		return "this->" + v.Name
	}
	return v.Name
}

// An Agg is an aggregation.
type Agg struct {
	Name  string // without @
	Func  record.AggFunc
	Keys  []*Type
	Index int // in Program.Aggs
	// Signed says that values are compared and printed as signed numbers, as they
	// are where one of the aggregated expressions is signed. (DTrace's always are.)
	Signed bool
	// The parameters of lquantize and llquantize.
	Base, Limit, Step, Levels, Factor int64

	pos     syntax.Pos // of the first assignment; not valid if there is none yet
	keyed   bool       // Keys is known
	defined bool       // Func is known
}

// Statements.

// A Stmt is a statement of a clause.
type Stmt interface{ Pos() syntax.Pos }

type (
	// An ExprStmt evaluates an expression for its side effects.
	ExprStmt struct {
		X      Expr
		Number int // which action of the clause it is, counted from 1
	}

	// An If runs one of two lists.
	If struct {
		At         syntax.Pos
		Cond       Expr
		Then, Else []Stmt
		Number     int
	}

	// An Action records something or acts.
	Action struct {
		At     syntax.Pos
		Name   string
		Number int
		Args   []Expr // without format and aggregations
		Aggs   []*Agg
		Format string
		// HasFormat tells a format of "" from none.
		HasFormat bool
	}

	// An Aggregate adds to an aggregation.
	Aggregate struct {
		At     syntax.Pos
		Number int
		Agg    *Agg
		Keys   []Expr
		Value  Expr // nil for count()
		Incr   Expr // how often a quantize family function counts it; nil for once
	}
)

func (s *ExprStmt) Pos() syntax.Pos  { return s.X.Pos() }
func (s *If) Pos() syntax.Pos        { return s.At }
func (s *Action) Pos() syntax.Pos    { return s.At }
func (s *Aggregate) Pos() syntax.Pos { return s.At }

// Expressions.

// An Expr is an expression with its type. Conversions are explicit: the
// operands of an operator have the type that it works in.
type Expr interface {
	Pos() syntax.Pos
	Type() *Type
}

// node is what every expression has.
type node struct {
	At syntax.Pos
	T  *Type
}

func (n node) Pos() syntax.Pos { return n.At }

func (n *node) place(at syntax.Pos) { n.At = at }

// Type returns the expression's type, typedefs and all.
func (n node) Type() *Type { return n.T }

type (
	// A Const is an integer or a pointer, sign- or zero-extended to 64 bits
	// as its type asks.
	Const struct {
		node
		Value uint64
	}

	// A Str is a string constant, or, with Null, the null string, which is
	// what a variable without a value holds.
	Str struct {
		node
		Value string
		Null  bool
	}

	// A VarRef is a variable, or, with Keys, an element of an associative
	// array. It is an lvalue.
	VarRef struct {
		node
		Var  *Var
		Keys []Expr
	}

	// A BuiltinRef is a built-in variable.
	BuiltinRef struct {
		node
		Builtin *Builtin
	}

	// An ArgRef is args[N].
	ArgRef struct {
		node
		N int
	}

	// A Reg is an element of regs[], or, with User, of uregs[].
	Reg struct {
		node
		Register isa.Register
		User     bool
		// Base is where the user's registers are in memory, for kernels that do
		// not tell it (bpf_task_pt_regs); nil if that is not known.
		Base Expr
	}

	// A Sym is the kernel's object at an address: a variable's lvalue, or a
	// function.
	Sym struct {
		node
		Name string
		Addr uint64
	}

	// A Unary is -x, ~x (of a promoted type) or !x (of type int).
	Unary struct {
		node
		Op syntax.Token
		X  Expr
	}

	// A Binary is an arithmetic or bitwise operator on operands of its own
	// type (a shift's right operand may have any integer type), or a
	// comparison, of type int, on operands of one type.
	Binary struct {
		node
		Op   syntax.Token
		X, Y Expr
	}

	// A Logic is &&, || or ^^, of type int.
	Logic struct {
		node
		Op   syntax.Token
		X, Y Expr
	}

	// A Cond is c ? x : y; x and y have its type.
	Cond struct {
		node
		C, X, Y Expr
	}

	// A Comma evaluates X, then Y, which is its value.
	Comma struct {
		node
		X, Y Expr
	}

	// A Convert is a value converted to the type, as C's assignment does. To
	// string it is stringof: the characters at a pointer, in an array, or
	// already a string.
	Convert struct {
		node
		X Expr
	}

	// An Assign stores Value in Left, an lvalue, and has Left's type. Value
	// may contain one Current, which is Left's value before; where Post is
	// set that is the value of the expression too (x++).
	Assign struct {
		node
		Left  Expr
		Value Expr
		Post  bool
	}

	// A Current stands for the value of the innermost Assign's Left.
	Current struct{ node }

	// A Deref is the object that the pointer X points to. It is an lvalue.
	Deref struct {
		node
		X Expr
	}

	// A Field is a member of the struct or union X. It is an lvalue if X is.
	Field struct {
		node
		X      Expr
		Member Member
	}

	// An AddrOf is the address of an lvalue, or of an array's first element.
	AddrOf struct {
		node
		X Expr
	}

	// A CallExpr calls a subroutine.
	CallExpr struct {
		node
		Func *Subroutine
		Args []Expr
	}

	// A StructExpr is a struct made of the values of some of its members; the
	// others are 0.
	StructExpr struct {
		node
		Members []Member
		Values  []Expr
	}

	// A Let evaluates Body with Binding standing for Value, which is evaluated
	// once.
	Let struct {
		node
		Binding *Binding
		Value   Expr
		Body    Expr
	}

	// A Bound is a use of the value that a Let binds.
	Bound struct {
		node
		Binding *Binding
	}

	// A StackExpr is stack(Frames) or ustack(Frames, Strings).
	StackExpr struct {
		node
		Frames, Strings int
		User            bool
	}

	// A SymExpr is sym(X), ufunc(X), ...; its type says which.
	SymExpr struct {
		node
		X Expr
	}
)

// A Binding is the name that a Let gives to a value.
type Binding struct{ Name string }
