package syntax

import "fmt"

// A Source is one D source: a script file, a -n argument, a -D header.
type Source struct {
	Name string // as errors print it; "" for a program given on the command line
	Text string
}

// A Pos is a place in a source. Lines and columns count from 1, columns in
// bytes. After a `# line` directive of the preprocessor, Line is the line that
// the directive names and Source the file that it names.
type Pos struct {
	Source *Source
	Line   int
	Column int
}

// IsValid reports whether the position is known.
func (p Pos) IsValid() bool { return p.Line > 0 }

func (p Pos) String() string {
	if !p.IsValid() {
		return "-"
	}
	if p.Source == nil || p.Source.Name == "" {
		return fmt.Sprintf("line %d", p.Line)
	}
	return fmt.Sprintf("%s:%d", p.Source.Name, p.Line)
}

// A Node is any part of the tree.
type Node interface{ Pos() Pos }

// A File is a parsed D program: its declarations in source order.
type File struct {
	Decls   []Decl
	Pragmas []*Pragma // `#pragma D ...` in source order, wherever they stand
}

// Declarations.

// A Decl is one external declaration of a D program.
type Decl interface {
	Node
	decl()
}

type (
	// A Clause is `probes /predicate/ { body }`.
	Clause struct {
		Probes    []*ProbeSpec
		Predicate Expr // nil if there is none
		Body      []Stmt
		HasBody   bool // false for a clause without braces: the default action
		End       Pos  // of the closing brace
	}

	// A ProbeSpec names probes: four fields, each empty (any), a name or a
	// glob; or an integer ID.
	ProbeSpec struct {
		At                               Pos
		Text                             string // as written, macros expanded
		Provider, Module, Function, Name string
		ID                               int // > 0 if the probe is named by its ID
	}

	// A VarDecl declares a variable's type: `int x;`, `self int y;`,
	// `string s[int, string];`.
	VarDecl struct {
		At     Pos
		Scope  Scope
		Extern bool // declared extern: it exists in the kernel
		Type   TypeExpr
		Name   string
	}

	// A TypeDecl is a typedef (Name set) or the definition or forward
	// declaration of a struct, union or enum (Name empty).
	TypeDecl struct {
		At   Pos
		Name string
		Type TypeExpr
	}

	// An InlineDecl is `inline type name = value;` or, with Params,
	// `inline type name[type a, ...] = value;`.
	InlineDecl struct {
		At     Pos
		Type   TypeExpr
		Name   string
		Params []*Param
		Value  Expr
	}

	// A TranslatorDecl is `translator out < in name > { member = expr; ... };`.
	TranslatorDecl struct {
		At      Pos
		Out, In TypeExpr
		Param   string
		Members []*MemberInit
	}

	// A ProviderDecl is a `provider name { ... };` declaration, which D
	// programs that share a header with USDT sources carry. It has no effect.
	ProviderDecl struct {
		At   Pos
		Name string
	}
)

// A MemberInit is one `name = expr;` of a translator.
type MemberInit struct {
	At    Pos
	Name  string
	Value Expr
}

// A Pragma is `#pragma D kind args...`.
type Pragma struct {
	At   Pos
	Kind string   // "option", "attributes", "binding", "depends_on", ...
	Args []string // the rest of the line, in words
}

func (d *Clause) Pos() Pos         { return d.Probes[0].At }
func (d *ProbeSpec) Pos() Pos      { return d.At }
func (d *VarDecl) Pos() Pos        { return d.At }
func (d *TypeDecl) Pos() Pos       { return d.At }
func (d *InlineDecl) Pos() Pos     { return d.At }
func (d *TranslatorDecl) Pos() Pos { return d.At }
func (d *ProviderDecl) Pos() Pos   { return d.At }
func (d *MemberInit) Pos() Pos     { return d.At }
func (d *Pragma) Pos() Pos         { return d.At }

func (*Clause) decl()         {}
func (*VarDecl) decl()        {}
func (*TypeDecl) decl()       {}
func (*InlineDecl) decl()     {}
func (*TranslatorDecl) decl() {}
func (*ProviderDecl) decl()   {}

// Statements.

// A Stmt is one statement of a clause's body.
type Stmt interface {
	Node
	stmt()
}

type (
	// An ExprStmt is `expr;`: an assignment, an action, an aggregation.
	ExprStmt struct{ X Expr }

	// A DeclStmt is a variable declared inside a clause: `this int x;`.
	DeclStmt struct{ Decl *VarDecl }

	// An IfStmt is `if (cond) then else else`. Else is nil where there is none.
	IfStmt struct {
		At   Pos
		Cond Expr
		Then []Stmt
		Else []Stmt
	}
)

func (s *ExprStmt) Pos() Pos { return s.X.Pos() }
func (s *DeclStmt) Pos() Pos { return s.Decl.At }
func (s *IfStmt) Pos() Pos   { return s.At }

func (*ExprStmt) stmt() {}
func (*DeclStmt) stmt() {}
func (*IfStmt) stmt()   {}

// Expressions.

// Scope says where a variable lives.
type Scope int

const (
	Global Scope = iota
	Thread       // self->
	Local        // this->
)

func (s Scope) String() string { return [...]string{"global", "self", "this"}[s] }

// An Expr is an expression. An operator's position is that of its token, any
// other expression's that of its first token.
type Expr interface {
	Node
	expr()
}

type (
	// An IntLit is an integer or a character constant, or a macro variable
	// that stands for an integer. Unsigned and Long are set by suffixes only;
	// the checker chooses the type by C's rules.
	IntLit struct {
		At       Pos
		Value    uint64
		Decimal  bool // written in decimal: C then never makes it unsigned
		Unsigned bool // suffix u
		Long     bool // suffix l or ll
		Char     bool // 'c': of type int
		Text     string
	}

	// A StringLit is a string constant, adjacent ones joined, or a macro
	// variable that stands for a string ($$1).
	StringLit struct {
		At    Pos
		Value string
	}

	// An Ident is a name: a variable, an inline, a built-in, an enumerator.
	Ident struct {
		At   Pos
		Name string
	}

	// A ScopedIdent is `self->name` or `this->name`.
	ScopedIdent struct {
		At    Pos
		Scope Scope // Thread or Local
		Name  string
	}

	// A SymbolRef is a kernel symbol: `name or module`name.
	SymbolRef struct {
		At     Pos
		Module string // "" for any
		Name   string
	}

	// An AggRef is `@name` or `@name[keys]`; Name is "" for plain @.
	AggRef struct {
		At   Pos
		Name string
		Keys []Expr // nil where there are no brackets
	}

	// A Unary is a prefix operator: one of + - ! ~ * & ++ --.
	Unary struct {
		At Pos
		Op Token
		X  Expr
	}

	// A Postfix is x++ or x--.
	Postfix struct {
		At Pos
		Op Token
		X  Expr
	}

	// A Binary is any operator between two operands, but assignment. The
	// comma operator is one (Op == COMMA).
	Binary struct {
		At   Pos
		Op   Token
		X, Y Expr
	}

	// An Assign is `x = y` or `x op= y`.
	Assign struct {
		At   Pos
		Op   Token // ASSIGN, ADD_ASSIGN, ...
		X, Y Expr
	}

	// A Cond is `c ? x : y`.
	Cond struct {
		At      Pos
		C, X, Y Expr
	}

	// A Call is `name(args)`: a subroutine, an action, an aggregating function.
	Call struct {
		At   Pos
		Name string
		Args []Expr
	}

	// An Index is `x[args]`: an associative array's element, or (one
	// argument) a C array's.
	Index struct {
		At   Pos
		X    Expr
		Args []Expr
	}

	// A Member is `x.name` or, with Arrow, `x->name`.
	Member struct {
		At    Pos
		X     Expr
		Name  string
		Arrow bool
	}

	// A Cast is `(type)x`.
	Cast struct {
		At   Pos
		Type TypeExpr
		X    Expr
	}

	// A Sizeof is `sizeof (type)` or `sizeof expr`: one of the two is set.
	Sizeof struct {
		At   Pos
		Type TypeExpr
		X    Expr
	}

	// An Offsetof is `offsetof(type, member)`.
	Offsetof struct {
		At     Pos
		Type   TypeExpr
		Member string
	}

	// A Stringof is `stringof x` or `stringof(x)`.
	Stringof struct {
		At Pos
		X  Expr
	}

	// An Xlate is `xlate <type>(x)`.
	Xlate struct {
		At   Pos
		Type TypeExpr
		X    Expr
	}

	// A Paren is `(x)`. It is kept for the printer and for positions.
	Paren struct {
		At Pos
		X  Expr
	}
)

func (x *IntLit) Pos() Pos      { return x.At }
func (x *StringLit) Pos() Pos   { return x.At }
func (x *Ident) Pos() Pos       { return x.At }
func (x *ScopedIdent) Pos() Pos { return x.At }
func (x *SymbolRef) Pos() Pos   { return x.At }
func (x *AggRef) Pos() Pos      { return x.At }
func (x *Unary) Pos() Pos       { return x.At }
func (x *Postfix) Pos() Pos     { return x.At }
func (x *Binary) Pos() Pos      { return x.At }
func (x *Assign) Pos() Pos      { return x.At }
func (x *Cond) Pos() Pos        { return x.At }
func (x *Call) Pos() Pos        { return x.At }
func (x *Index) Pos() Pos       { return x.At }
func (x *Member) Pos() Pos      { return x.At }
func (x *Cast) Pos() Pos        { return x.At }
func (x *Sizeof) Pos() Pos      { return x.At }
func (x *Offsetof) Pos() Pos    { return x.At }
func (x *Stringof) Pos() Pos    { return x.At }
func (x *Xlate) Pos() Pos       { return x.At }
func (x *Paren) Pos() Pos       { return x.At }

func (*IntLit) expr()      {}
func (*StringLit) expr()   {}
func (*Ident) expr()       {}
func (*ScopedIdent) expr() {}
func (*SymbolRef) expr()   {}
func (*AggRef) expr()      {}
func (*Unary) expr()       {}
func (*Postfix) expr()     {}
func (*Binary) expr()      {}
func (*Assign) expr()      {}
func (*Cond) expr()        {}
func (*Call) expr()        {}
func (*Index) expr()       {}
func (*Member) expr()      {}
func (*Cast) expr()        {}
func (*Sizeof) expr()      {}
func (*Offsetof) expr()    {}
func (*Stringof) expr()    {}
func (*Xlate) expr()       {}
func (*Paren) expr()       {}

// Types, as written.

// A TypeExpr is a type as the source writes it, its declarator resolved:
// `int *a[3]` is an ArrayType of a PointerType of a NamedType.
type TypeExpr interface {
	Node
	typeExpr()
}

type (
	// A NamedType is a basic type (Words: "unsigned", "int"), "string", or a
	// typedef's name, with a module's name before it where one is written
	// (ext4`name). const, volatile and the like are dropped.
	NamedType struct {
		At     Pos
		Module string
		Words  []string
	}

	// A StructType is a struct or union: a reference (Fields nil), or a
	// definition.
	StructType struct {
		At     Pos
		Union  bool
		Module string
		Tag    string
		Fields []*Field
		Def    bool // a definition, also where Fields is empty
	}

	// An EnumType is an enum: a reference (Def false) or a definition.
	EnumType struct {
		At      Pos
		Module  string
		Tag     string
		Members []*Enumerator
		Def     bool
	}

	// A PointerType is `Elem *`.
	PointerType struct {
		At   Pos
		Elem TypeExpr
	}

	// An ArrayType is `Elem x[Len]`, or, for a D variable, the associative
	// array `Elem x[Keys...]`. Both Len and Keys are nil for `x[]`.
	ArrayType struct {
		At   Pos
		Elem TypeExpr
		Len  Expr
		Keys []TypeExpr
	}

	// A FuncType is a function's type, met behind pointers.
	FuncType struct {
		At       Pos
		Result   TypeExpr
		Params   []*Param
		Variadic bool
	}
)

// A Field is a member of a struct or union. Name is "" for an anonymous one.
type Field struct {
	At   Pos
	Type TypeExpr
	Name string
	Bits Expr // of a bit-field; nil otherwise
}

// An Enumerator is a member of an enum; Value is nil if none is written.
type Enumerator struct {
	At    Pos
	Name  string
	Value Expr
}

// A Param is a parameter; Name may be "".
type Param struct {
	At   Pos
	Type TypeExpr
	Name string
}

func (t *NamedType) Pos() Pos   { return t.At }
func (t *StructType) Pos() Pos  { return t.At }
func (t *EnumType) Pos() Pos    { return t.At }
func (t *PointerType) Pos() Pos { return t.At }
func (t *ArrayType) Pos() Pos   { return t.At }
func (t *FuncType) Pos() Pos    { return t.At }

func (*NamedType) typeExpr()   {}
func (*StructType) typeExpr()  {}
func (*EnumType) typeExpr()    {}
func (*PointerType) typeExpr() {}
func (*ArrayType) typeExpr()   {}
func (*FuncType) typeExpr()    {}
