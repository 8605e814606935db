package syntax

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Fprint writes a program as D in one canonical layout: pragmas first, a line
// per statement, every branch in braces, macro variables by their values. Its
// output parses to the same tree.
func Fprint(w io.Writer, f *File) error {
	p := new(printer)
	p.file(f)
	_, err := io.WriteString(w, p.String())
	return err
}

// String returns a node as D.
func String(n Node) string {
	p := new(printer)
	switch n := n.(type) {
	case Decl:
		p.decls([]Decl{n})
		return strings.TrimSuffix(p.String(), "\n")
	case Stmt:
		p.stmts([]Stmt{n})
		return strings.TrimSuffix(p.String(), "\n")
	case Expr:
		return p.expr(n, precComma)
	case TypeExpr:
		return p.typed(n, "")
	case *ProbeSpec:
		return n.description()
	case *Pragma:
		return n.line()
	}
	return fmt.Sprintf("%T", n)
}

// description returns the probe description as a script has it: as written, if
// that means the same there.
func (s *ProbeSpec) description() string {
	full := strings.Join([]string{s.Provider, s.Module, s.Function, s.Name}, ":")
	short, ok := strings.CutSuffix(full, s.Text)
	switch {
	case s.ID > 0:
		return s.Text
	case !ok || s.Text == "" || strings.Trim(short, ":") != "", declKeywords[s.Text], isDigit(s.Text[0]):
		return full
	}
	return s.Text
}

func (p *Pragma) line() string {
	words := append([]string{"#pragma D", p.Kind}, p.Args...)
	if p.Kind == "binding" {
		words[2] = quote(words[2])
	}
	return strings.Join(words, " ")
}

type printer struct {
	strings.Builder
	indent int
}

func (p *printer) line(format string, args ...any) {
	p.WriteString(p.margin())
	fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

func (p *printer) margin() string { return strings.Repeat("\t", p.indent) }

// block writes what f writes, one level deeper.
func (p *printer) block(f func()) {
	p.indent++
	f()
	p.indent--
}

func (p *printer) file(f *File) {
	for _, pragma := range f.Pragmas {
		p.line("%s", pragma.line())
	}
	if len(f.Pragmas) > 0 && len(f.Decls) > 0 {
		p.WriteByte('\n')
	}
	p.decls(f.Decls)
}

func (p *printer) decls(list []Decl) {
	for i := 0; i < len(list); {
		group := declGroup(list[i:])
		if i > 0 && !(isLine(list[i-1]) && isLine(list[i])) {
			p.WriteByte('\n')
		}
		p.decl(list[i : i+group])
		i += group
	}
}

// isLine reports whether a declaration takes a line of its own only.
func isLine(d Decl) bool {
	switch d := d.(type) {
	case *VarDecl:
		return definition(d.Type) == nil
	case *TypeDecl:
		return definition(d.Type) == nil
	case *InlineDecl:
		return true
	}
	return false
}

// definition returns the struct, union or enum that a type defines, or nil.
func definition(t TypeExpr) TypeExpr {
	for {
		switch x := t.(type) {
		case *PointerType:
			t = x.Elem
		case *ArrayType:
			t = x.Elem
		case *FuncType:
			t = x.Result
		case *StructType:
			if x.Def {
				return x
			}
			return nil
		case *EnumType:
			if x.Def {
				return x
			}
			return nil
		default:
			return nil
		}
	}
}

// declGroup returns how many declarations share the type that the first one
// defines: they were, and must be, written as one.
func declGroup(list []Decl) int {
	n := 1
	for n < len(list) && sameDefinition(list[0], list[n]) {
		n++
	}
	return n
}

func sameDefinition(a, b Decl) bool {
	switch a := a.(type) {
	case *VarDecl:
		b, ok := b.(*VarDecl)
		return ok && a.Scope == b.Scope && a.Extern == b.Extern && definition(a.Type) != nil && definition(a.Type) == definition(b.Type)
	case *TypeDecl:
		b, ok := b.(*TypeDecl)
		return ok && a.Name != "" && b.Name != "" && definition(a.Type) != nil && definition(a.Type) == definition(b.Type)
	}
	return false
}

// decl writes declarations that belong together.
func (p *printer) decl(group []Decl) {
	switch d := group[0].(type) {
	case *Clause:
		p.clause(d)
	case *VarDecl:
		p.line("%s;", p.variables(group))
	case *TypeDecl:
		p.typeDecls(group)
	case *InlineDecl:
		name := d.Name
		if d.Params != nil {
			name += "[" + p.params(d.Params, false) + "]"
		}
		p.line("inline %s = %s;", p.typed(d.Type, name), p.expr(d.Value, precAssign))
	case *TranslatorDecl:
		p.translator(d)
	case *ProviderDecl:
		p.line("provider %s {", d.Name)
		p.line("};")
	}
}

func (p *printer) clause(c *Clause) {
	for i, spec := range c.Probes {
		comma := ","
		if i == len(c.Probes)-1 {
			comma = ""
		}
		p.line("%s%s", spec.description(), comma)
	}
	if c.Predicate != nil {
		p.line("/%s/", p.expr(c.Predicate, precComma))
	}
	if c.HasBody {
		p.line("{")
		p.block(func() { p.stmts(c.Body) })
		p.line("}")
	}
}

// variables returns a declaration of variables, without the semicolon.
func (p *printer) variables(group []Decl) string {
	first := group[0].(*VarDecl)
	names := []string{p.typed(first.Type, first.Name)}
	for _, d := range group[1:] {
		names = append(names, p.declarator(d.(*VarDecl).Type, d.(*VarDecl).Name))
	}
	text := strings.Join(names, ", ")
	switch {
	case first.Scope != Global:
		return first.Scope.String() + " " + text
	case first.Extern:
		return "extern " + text
	}
	return text
}

func (p *printer) typeDecls(group []Decl) {
	first := group[0].(*TypeDecl)
	if first.Name == "" {
		p.line("%s;", p.typed(first.Type, ""))
		return
	}
	names := []string{p.typed(first.Type, first.Name)}
	for _, d := range group[1:] {
		names = append(names, p.declarator(d.(*TypeDecl).Type, d.(*TypeDecl).Name))
	}
	p.line("typedef %s;", strings.Join(names, ", "))
}

func (p *printer) translator(d *TranslatorDecl) {
	p.line("translator %s < %s > {", p.typed(d.Out, ""), p.typed(d.In, d.Param))
	p.block(func() {
		for _, m := range d.Members {
			p.line("%s = %s;", m.Name, p.expr(m.Value, precAssign))
		}
	})
	p.line("};")
}

func (p *printer) stmts(list []Stmt) {
	for i := 0; i < len(list); i++ {
		switch s := list[i].(type) {
		case *ExprStmt:
			p.line("%s;", p.expr(s.X, precComma))
		case *DeclStmt:
			group := []Decl{s.Decl}
			for i+1 < len(list) {
				next, ok := list[i+1].(*DeclStmt)
				if !ok || !sameDefinition(s.Decl, next.Decl) {
					break
				}
				group = append(group, next.Decl)
				i++
			}
			p.line("%s;", p.variables(group))
		case *IfStmt:
			p.WriteString(p.margin())
			p.ifStmt(s)
		}
	}
}

// ifStmt writes an if and the chain of else ifs behind it.
func (p *printer) ifStmt(s *IfStmt) {
	for {
		fmt.Fprintf(p, "if (%s) {\n", p.expr(s.Cond, precComma))
		p.block(func() { p.stmts(s.Then) })
		p.WriteString(p.margin() + "}")
		if s.Else == nil {
			break
		}
		p.WriteString(" else ")
		if len(s.Else) == 1 {
			if next, ok := s.Else[0].(*IfStmt); ok {
				s = next
				continue
			}
		}
		p.WriteString("{\n")
		p.block(func() { p.stmts(s.Else) })
		p.WriteString(p.margin() + "}")
		break
	}
	p.WriteByte('\n')
}

// How tightly expressions bind: between precCond and precCast are the binary
// operators, by their Token.precedence.
const (
	precComma   = -2
	precAssign  = -1
	precCond    = 0
	precCast    = 12
	precUnary   = 13
	precPostfix = 14
	precPrimary = 15
)

func precedenceOf(x Expr) int {
	switch x := x.(type) {
	case *Binary:
		if x.Op == COMMA {
			return precComma
		}
		return x.Op.precedence()
	case *Assign:
		return precAssign
	case *Cond:
		return precCond
	case *Cast:
		return precCast
	case *Unary, *Sizeof, *Stringof:
		return precUnary
	case *Postfix, *Index, *Member, *Call:
		return precPostfix
	}
	return precPrimary
}

// expr returns an expression as D, in parentheses if it binds less tightly
// than prec and has none of its own.
func (p *printer) expr(x Expr, prec int) string {
	if precedenceOf(x) < prec {
		return "(" + p.bare(x) + ")"
	}
	return p.bare(x)
}

func (p *printer) bare(x Expr) string {
	switch x := x.(type) {
	case *IntLit:
		return x.source()
	case *StringLit:
		return quote(x.Value)
	case *Ident:
		return x.Name
	case *ScopedIdent:
		return x.Scope.String() + "->" + x.Name
	case *SymbolRef:
		return x.Module + "`" + x.Name
	case *AggRef:
		if x.Keys == nil {
			return "@" + x.Name
		}
		return "@" + x.Name + "[" + p.list(x.Keys) + "]"
	case *Unary:
		return p.unary(x)
	case *Postfix:
		return p.expr(x.X, precPostfix) + x.Op.String()
	case *Binary:
		return p.binary(x)
	case *Assign:
		return p.expr(x.X, precUnary) + " " + x.Op.String() + " " + p.expr(x.Y, precAssign)
	case *Cond:
		return p.expr(x.C, 1) + " ? " + p.expr(x.X, precComma) + " : " + p.expr(x.Y, precCond)
	case *Call:
		return x.Name + "(" + p.list(x.Args) + ")"
	case *Index:
		return p.expr(x.X, precPostfix) + "[" + p.list(x.Args) + "]"
	case *Member:
		if x.Arrow {
			return p.expr(x.X, precPostfix) + "->" + x.Name
		}
		return p.expr(x.X, precPostfix) + "." + x.Name
	case *Paren:
		return "(" + p.expr(x.X, precComma) + ")"
	}
	return p.typedExpr(x)
}

// typedExpr returns an expression that a type is part of.
func (p *printer) typedExpr(x Expr) string {
	switch x := x.(type) {
	case *Cast:
		return "(" + p.typed(x.Type, "") + ")" + p.expr(x.X, precCast)
	case *Sizeof:
		if x.Type != nil {
			return "sizeof (" + p.typed(x.Type, "") + ")"
		}
		return "sizeof " + p.expr(x.X, precUnary)
	case *Stringof:
		return "stringof " + p.expr(x.X, precUnary)
	case *Offsetof:
		return "offsetof(" + p.typed(x.Type, "") + ", " + x.Member + ")"
	case *Xlate:
		return "xlate <" + p.typed(x.Type, "") + ">(" + p.expr(x.X, precComma) + ")"
	}
	return fmt.Sprintf("%T", x)
}

// unary keeps - -x from becoming --x.
func (p *printer) unary(x *Unary) string {
	op, prec := x.Op.String(), precCast
	if x.Op == INC || x.Op == DEC {
		prec = precUnary
	}
	operand := p.expr(x.X, prec)
	if strings.ContainsAny(op, "+-&") && strings.HasPrefix(operand, op[:1]) {
		op += " "
	}
	return op + operand
}

// binary writes a chain of operators of one precedence from its end: there may
// be thousands.
func (p *printer) binary(x *Binary) string {
	prec := precedenceOf(x)
	var parts []string
	var left Expr = x
	for {
		b, ok := left.(*Binary)
		if !ok || precedenceOf(b) != prec {
			break
		}
		op := " " + b.Op.String() + " "
		if b.Op == COMMA {
			op = ", "
		}
		parts = append(parts, p.expr(b.Y, prec+1), op)
		left = b.X
	}
	parts = append(parts, p.expr(left, prec))
	slices.Reverse(parts)
	return strings.Join(parts, "")
}

// list returns arguments, separated by commas.
func (p *printer) list(args []Expr) string {
	texts := make([]string, len(args))
	for i, x := range args {
		texts[i] = p.expr(x, precAssign)
	}
	return strings.Join(texts, ", ")
}

// source returns an integer as D. What a macro variable stood for is given by
// its value.
func (x *IntLit) source() string {
	if x.Text != "" && (isDigit(x.Text[0]) || x.Text[0] == '\'') {
		return x.Text
	}
	format := "%#x"
	if x.Decimal {
		format = "%d"
	}
	text := fmt.Sprintf(format, x.Value)
	if x.Unsigned {
		text += "u"
	}
	if x.Long {
		text += "l"
	}
	return text
}

// quote returns s as a string constant of D.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c == 0x7f || r == utf8.RuneError && n <= 1:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	b.WriteByte('"')
	return b.String()
}

// typed returns a declaration of name as t; with no name, the type's name.
func (p *printer) typed(t TypeExpr, name string) string {
	base, d := p.base(t), p.declarator(t, name)
	if d == "" {
		return base
	}
	return base + " " + d
}

// base returns what stands before the declarator in a type.
func (p *printer) base(t TypeExpr) string {
	for {
		switch x := t.(type) {
		case *PointerType:
			t = x.Elem
		case *ArrayType:
			t = x.Elem
		case *FuncType:
			t = x.Result
		case *NamedType:
			return scoped(x.Module, strings.Join(x.Words, " "))
		case *StructType:
			return p.structType(x)
		case *EnumType:
			return p.enumType(x)
		}
	}
}

// scoped returns a name with its module before it.
func scoped(module, name string) string {
	if module == "" {
		return name
	}
	return module + "`" + name
}

// declarator returns name with t's pointers, arrays and functions around it.
func (p *printer) declarator(t TypeExpr, name string) string {
	d := name
	for {
		switch x := t.(type) {
		case *PointerType:
			d, t = "*"+d, x.Elem
			switch t.(type) {
			case *ArrayType, *FuncType:
				d = "(" + d + ")"
			}
		case *ArrayType:
			d, t = d+"["+p.subscript(x)+"]", x.Elem
		case *FuncType:
			d, t = d+"("+p.params(x.Params, x.Variadic)+")", x.Result
		default:
			return d
		}
	}
}

func (p *printer) subscript(t *ArrayType) string {
	if t.Len != nil {
		return p.expr(t.Len, precCond)
	}
	keys := make([]string, len(t.Keys))
	for i, key := range t.Keys {
		keys[i] = p.typed(key, "")
	}
	return strings.Join(keys, ", ")
}

func (p *printer) params(list []*Param, variadic bool) string {
	var texts []string
	for _, param := range list {
		texts = append(texts, p.typed(param.Type, param.Name))
	}
	if variadic {
		texts = append(texts, "...")
	}
	if texts == nil {
		return "void"
	}
	return strings.Join(texts, ", ")
}

func (p *printer) structType(t *StructType) string {
	text := "struct"
	if t.Union {
		text = "union"
	}
	if t.Tag != "" {
		text += " " + scoped(t.Module, t.Tag)
	}
	if !t.Def {
		return text
	}
	return text + p.braced(func(in *printer) { in.fields(t.Fields) })
}

// braced returns what f writes in braces, lines of its own.
func (p *printer) braced(f func(in *printer)) string {
	in := &printer{indent: p.indent + 1}
	f(in)
	return " {\n" + in.String() + p.margin() + "}"
}

func (p *printer) fields(list []*Field) {
	for i := 0; i < len(list); i++ {
		def := definition(list[i].Type)
		text := p.typed(list[i].Type, list[i].Name) + p.bits(list[i])
		for def != nil && i+1 < len(list) && definition(list[i+1].Type) == def {
			i++
			text += ", " + p.declarator(list[i].Type, list[i].Name) + p.bits(list[i])
		}
		p.line("%s;", text)
	}
}

func (p *printer) bits(f *Field) string {
	if f.Bits == nil {
		return ""
	}
	return " : " + p.expr(f.Bits, precCond)
}

func (p *printer) enumType(t *EnumType) string {
	text := "enum"
	if t.Tag != "" {
		text += " " + scoped(t.Module, t.Tag)
	}
	if !t.Def {
		return text
	}
	return text + p.braced(func(in *printer) {
		for i, e := range t.Members {
			text := e.Name
			if e.Value != nil {
				text += " = " + in.expr(e.Value, precCond)
			}
			if i < len(t.Members)-1 {
				text += ","
			}
			in.line("%s", text)
		}
	})
}
