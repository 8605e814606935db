package syntax

import "strings"

// Parse parses a D program. Its error is an ErrorList, and the File then holds
// what could be parsed. A nil cfg is the zero Config.
//
// A clause may end after its probe descriptions only in a program given on the
// command line, one whose src.Name is empty.
func Parse(src *Source, cfg *Config) (*File, error) {
	if cfg == nil {
		cfg = new(Config)
	}
	p := &parser{
		scanner:  newScanner(src, cfg),
		names:    map[string]bool{},
		typedefs: map[string]bool{},
	}
	p.scanner.isType = p.isType
	p.next()
	f := p.parseFile()
	f.Pragmas = p.pragmas
	if len(p.errs) == 0 {
		p.checkPragmas(f)
		p.checkArgs()
	}
	return f, p.errs.Err()
}

// ParseProbeSpec parses the argument of dtrace(1)'s -n, -f, -m, -P or -i: probe
// descriptions with an optional predicate and body. A description names what
// spec says.
func ParseProbeSpec(src *Source, spec Spec, cfg *Config) (*File, error) {
	c := Config{}
	if cfg != nil {
		c = *cfg
	}
	c.Spec = spec
	return Parse(src, &c)
}

// maxDepth bounds how deep expressions, declarators, types and statements nest,
// where a parenthesis is two levels, and maxChain how many operators may follow
// one another.
const (
	maxDepth = 500
	maxChain = 10000
)

// A parser reads D by recursive descent, one lexeme ahead. A function that
// meets an error reports it and panics with a bailout, which the nearest
// statement or declaration catches, to go on after it.
type parser struct {
	*scanner
	lexeme // the current one

	braces   int // open { in the current declaration
	depth    int
	names    map[string]bool // variables and inlines of the program
	typedefs map[string]bool
}

type bailout struct{}

// next moves to the next lexeme.
func (p *parser) next() {
	switch p.tok {
	case LBRACE:
		p.braces++
	case RBRACE:
		p.braces--
	}
	p.lexeme = p.scan()
}

// fail reports an error at pos and gives up the current statement.
func (p *parser) fail(pos Pos, tag, format string, args ...any) {
	p.errorf(pos, tag, format, args...)
	panic(bailout{})
}

// unexpected gives up at a lexeme that does not fit.
func (p *parser) unexpected() {
	p.reported()
	p.fail(p.pos, "D_SYNTAX", "syntax error near %s", p.near())
}

// reported gives up if the scanner has said why the current lexeme is bad.
func (p *parser) reported() {
	if p.tok == ILLEGAL || p.tok == EOF && p.unclosed {
		panic(bailout{})
	}
}

// near describes the current lexeme as libdtrace does.
func (p *parser) near() string {
	if p.tok == EOF {
		return "end of input"
	}
	text, _, _ := strings.Cut(p.text, "\n")
	return `"` + text + `"`
}

// expect passes the token tok and returns its position.
func (p *parser) expect(tok Token) Pos {
	pos := p.pos
	if p.tok != tok {
		p.reported()
		p.fail(pos, "D_SYNTAX", `syntax error near %s: "%s" expected`, p.near(), tok)
	}
	p.next()
	return pos
}

// got passes the token tok if it is the current one.
func (p *parser) got(tok Token) bool {
	if p.tok == tok {
		p.next()
		return true
	}
	return false
}

// ident passes an identifier and returns it.
func (p *parser) ident() string {
	if p.tok != IDENT {
		p.unexpected()
	}
	name := p.str
	p.next()
	return name
}

// memberName passes a name that stands where no D word can, after a dot for
// example, so that atomic_t's member counter can be named.
func (p *parser) memberName() string {
	if p.tok == KEYWORD {
		name := p.str
		p.next()
		return name
	}
	return p.ident()
}

// nested runs f one level deeper.
func (p *parser) nested(f func()) {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.pos, "D_SYNTAX", "nesting is too deep")
	}
	f()
	p.depth--
}

// try runs f and reports whether it came to its end.
func (p *parser) try(f func()) (ok bool) {
	depth := p.depth
	defer func() {
		switch r := recover(); r.(type) {
		case nil:
		case bailout:
			ok = false
			p.depth = depth
		default:
			panic(r)
		}
	}()
	f()
	return true
}

// parseFile parses
//
//	d_program: { external_declaration }
func (p *parser) parseFile() *File {
	f := new(File)
	for p.tok != EOF {
		if !p.try(func() { p.externalDeclaration(f) }) {
			p.skipDeclaration()
		}
	}
	if len(f.Decls) == 0 && len(p.errs) == 0 && !p.cfg.Empty {
		p.errorf(p.pos, "D_EMPTY", "empty D program translation unit")
	}
	return f
}

// skipDeclaration passes the rest of a declaration that has an error: up to its
// semicolon, or to its closing brace if the error stands before the opening one.
func (p *parser) skipDeclaration() {
	p.quiet = true
	inBraces := p.braces > 0
	for p.tok != EOF {
		if p.tok == RBRACE && p.braces <= 1 && !inBraces && p.ahead().tok == SEMI {
			p.next() // the semicolon of a declaration
		}
		if p.tok == SEMI && p.braces == 0 || p.tok == RBRACE && p.braces <= 1 && !inBraces {
			p.endDeclaration()
			return
		}
		if p.outer && p.tok == LBRACE {
			p.outer = false
		}
		p.next()
	}
	p.quiet = false
}

// endDeclaration passes the last token of a declaration.
func (p *parser) endDeclaration() {
	p.outer, p.predicate, p.quiet = true, false, false
	p.parens, p.brackets = 0, 0
	p.next()
	p.braces = 0
}

// externalDeclaration parses
//
//	external_declaration: inline_definition | translator_definition
//	    | provider_definition | probe_definition | declaration
func (p *parser) externalDeclaration(f *File) {
	switch {
	case p.tok == PSPEC, p.tok == INT && p.outer:
		f.Decls = append(f.Decls, p.clause())
	case p.is("inline"):
		f.Decls = append(f.Decls, p.inlineDefinition())
	case p.is("translator"):
		f.Decls = append(f.Decls, p.translatorDefinition())
	case p.is("provider"):
		f.Decls = append(f.Decls, p.providerDefinition())
	case p.startsDeclaration():
		f.Decls = append(f.Decls, p.declaration()...)
	default:
		p.unexpected()
	}
}

// clause parses
//
//	probe_definition: probe_specifiers [ '/' expression '/' ] [ '{' statement_list '}' ]
func (p *parser) clause() *Clause {
	c := &Clause{Probes: p.probeSpecifiers()}
	if p.tok == PRED {
		c.Predicate = p.predicateExpr()
		if p.tok != LBRACE {
			p.errorf(c.Pos(), "D_SYNTAX", "expected actions { } following probe description and predicate")
			return c
		}
	}
	if p.tok != LBRACE {
		if p.src.Name != "" {
			p.errorf(c.Pos(), "D_SYNTAX", "expected predicate and/or actions following probe description")
		}
		return c
	}
	c.HasBody = true
	p.outer = false
	p.next()
	c.Body = p.statementList()
	c.End = p.pos
	if p.tok != RBRACE {
		p.expect(RBRACE)
	}
	p.endDeclaration()
	return c
}

// probeSpecifiers parses
//
//	probe_specifiers: probe_specifier { ',' probe_specifier }
func (p *parser) probeSpecifiers() []*ProbeSpec {
	list := []*ProbeSpec{p.probeSpecifier()}
	for p.got(COMMA) {
		list = append(list, p.probeSpecifier())
	}
	return list
}

// predicateExpr parses `/ expression /`.
func (p *parser) predicateExpr() Expr {
	p.outer, p.predicate = false, true
	p.next()
	x := p.expr()
	if p.tok != PRED {
		p.expect(PRED)
	}
	p.outer, p.predicate = true, false
	p.next()
	return x
}

// statementList parses
//
//	statement_list: { statement } [ expression ]
//
// up to the closing brace, which it leaves.
func (p *parser) statementList() []Stmt {
	list := []Stmt{}
	for p.tok != RBRACE && p.tok != EOF {
		braces := p.braces
		if !p.try(func() { list = append(list, p.statement()...) }) {
			p.skipStatement(braces)
		}
	}
	return list
}

// skipStatement passes the rest of a statement that has an error, in a block
// where that many braces are open.
func (p *parser) skipStatement(braces int) {
	p.quiet = true
	for p.tok != EOF {
		if p.braces == braces && p.tok == RBRACE {
			break
		}
		end := p.braces == braces && p.tok == SEMI || p.braces == braces+1 && p.tok == RBRACE
		if end {
			p.quiet, p.parens, p.brackets = false, 0, 0
			p.next()
			return
		}
		p.next()
	}
	p.quiet, p.parens, p.brackets = false, 0, 0
}

// statement parses
//
//	statement: ';' | if_statement | local_declaration | expression ';'
//
// The semicolon may be missing before the closing brace. An empty statement
// yields none, a declaration may yield several.
func (p *parser) statement() []Stmt {
	switch {
	case p.got(SEMI):
		return nil
	case p.is("if"):
		return []Stmt{p.ifStatement()}
	case (p.is("this") || p.is("self")) && p.ahead().tok != ARROW && p.ahead().tok != DOT:
		return p.localDeclaration()
	}
	s := &ExprStmt{X: p.expr()}
	p.endStatement()
	return []Stmt{s}
}

func (p *parser) endStatement() {
	if p.tok != RBRACE {
		p.expect(SEMI)
	}
}

// ifStatement parses
//
//	if_statement: 'if' '(' expression ')' statement_or_block [ 'else' statement_or_block ]
func (p *parser) ifStatement() *IfStmt {
	s := &IfStmt{At: p.pos}
	p.next()
	p.expect(LPAREN)
	s.Cond = p.expr()
	p.expect(RPAREN)
	s.Then = p.statementOrBlock()
	if p.is("else") {
		p.next()
		s.Else = p.statementOrBlock()
	}
	return s
}

// statementOrBlock parses
//
//	statement_or_block: statement | '{' statement_list '}'
func (p *parser) statementOrBlock() (list []Stmt) {
	p.nested(func() {
		if p.got(LBRACE) {
			list = p.statementList()
			p.expect(RBRACE)
			return
		}
		if p.tok == RBRACE {
			p.unexpected()
		}
		list = append([]Stmt{}, p.statement()...)
	})
	return list
}

// localDeclaration parses a declaration of clause-local or thread-local
// variables inside a clause.
func (p *parser) localDeclaration() []Stmt {
	var list []Stmt
	spec := p.specifiers()
	for {
		list = append(list, &DeclStmt{p.variable(spec, p.declarator())})
		if !p.got(COMMA) {
			break
		}
	}
	p.endStatement()
	return list
}

// inlineDefinition parses
//
//	inline_definition: 'inline' declaration_specifiers declarator '=' assignment_expression ';'
func (p *parser) inlineDefinition() *InlineDecl {
	d := &InlineDecl{At: p.pos}
	p.next()
	spec := p.specifiers()
	decl := p.declarator()
	d.Name = decl.name
	if decl.is(tupleOf) {
		d.Params = decl.mods[0].params
		decl.mods = decl.mods[1:]
	}
	p.checkParams(d.Params)
	p.checkTuples(decl, 0)
	d.Type = decl.typeOf(spec.typ)
	p.checkDeclName(decl)
	if spec.class != "" {
		p.fail(spec.at, "D_DECL_BADCLASS", "specified storage class not appropriate in D")
	}
	p.expect(ASSIGN)
	d.Value = p.assignment()
	p.names[d.Name] = true
	p.semiEnd()
	return d
}

// semiEnd passes the semicolon that ends a declaration.
func (p *parser) semiEnd() {
	if p.tok != SEMI {
		p.expect(SEMI)
	}
	p.endDeclaration()
}

// checkParams demands names, each once, of an inline's parameters.
func (p *parser) checkParams(params []*Param) {
	seen := map[string]bool{}
	for i, param := range params {
		switch {
		case param.Name == "":
			p.fail(param.At, "D_DECL_PROTO_NAME", "parameter declaration requires a name: parameter #%d", i+1)
		case seen[param.Name]:
			p.fail(param.At, "D_DECL_PROTO_FORM", "parameter is already declared in inline prototype: %s, parameter #%d",
				param.Name, i+1)
		}
		seen[param.Name] = true
	}
}

// translatorDefinition parses
//
//	translator_definition: 'translator' type_name '<' type_name IDENT '>'
//	    '{' { IDENT '=' assignment_expression ';' } '}' ';'
func (p *parser) translatorDefinition() *TranslatorDecl {
	d := &TranslatorDecl{At: p.pos}
	p.next()
	d.Out = p.typeName()
	p.expect(LSS)
	spec := p.specifiers()
	decl := p.declarator()
	d.In, d.Param = decl.typeOf(spec.typ), decl.name
	p.expect(GTR)
	p.expect(LBRACE)
	for p.tok != RBRACE && p.tok != EOF {
		braces := p.braces
		if !p.try(func() { d.Members = append(d.Members, p.memberInit()) }) {
			p.skipStatement(braces)
		}
	}
	p.expect(RBRACE)
	p.semiEnd()
	return d
}

func (p *parser) memberInit() *MemberInit {
	m := &MemberInit{At: p.pos}
	m.Name = p.memberName()
	p.expect(ASSIGN)
	m.Value = p.assignment()
	p.expect(SEMI)
	return m
}

// providerDefinition parses
//
//	provider_definition: 'provider' IDENT '{' { provider_probe } '}' ';'
func (p *parser) providerDefinition() *ProviderDecl {
	d := &ProviderDecl{At: p.pos}
	p.next()
	d.Name = p.ident()
	p.expect(LBRACE)
	for p.is("probe") {
		p.providerProbe()
	}
	p.expect(RBRACE)
	p.semiEnd()
	return d
}

// providerProbe parses
//
//	provider_probe: 'probe' IDENT function [ ':' function ] ';'
func (p *parser) providerProbe() {
	p.next()
	p.memberName()
	p.expect(LPAREN)
	p.parameters(RPAREN)
	if p.got(COLON) {
		p.expect(LPAREN)
		p.parameters(RPAREN)
	}
	p.expect(SEMI)
}
