package syntax

import (
	"slices"
	"strings"
)

// A declarator is a name and what is around it: pointers, arrays, functions.
type declarator struct {
	at   Pos
	name string
	mods []modifier // from the name outwards
}

// A modifier is one step of a declarator.
type modifier struct {
	kind     modKind
	at       Pos
	size     Expr     // of an array; nil for []
	params   []*Param // of a function or an associative array
	variadic bool
}

type modKind int

const (
	pointerTo modKind = iota
	arrayOf
	tupleOf // associative array
	function
)

// typeOf returns the type that the declarator gives its name, base being what
// the specifiers say.
func (d *declarator) typeOf(base TypeExpr) TypeExpr {
	t := base
	for _, m := range slices.Backward(d.mods) {
		switch m.kind {
		case pointerTo:
			t = &PointerType{At: m.at, Elem: t}
		case arrayOf:
			t = &ArrayType{At: m.at, Elem: t, Len: m.size}
		case tupleOf:
			keys := make([]TypeExpr, len(m.params))
			for i, param := range m.params {
				keys[i] = param.Type
			}
			t = &ArrayType{At: m.at, Elem: t, Keys: keys}
		case function:
			t = &FuncType{At: m.at, Result: t, Params: m.params, Variadic: m.variadic}
		}
	}
	return t
}

// is reports whether what the declarator declares is of the kind.
func (d *declarator) is(kind modKind) bool { return len(d.mods) > 0 && d.mods[0].kind == kind }

// checkTuples gives up a declarator with an associative array behind its first
// n modifiers: only a variable itself can be one.
func (p *parser) checkTuples(d *declarator, n int) {
	for _, m := range d.mods[min(n, len(d.mods)):] {
		if m.kind == tupleOf {
			p.fail(m.at, "D_DECL_DYNOBJ", "an associative array may only be a variable, no part of another type")
		}
	}
}

// naming says whether a declarator has a name.
type naming int

const (
	mustName naming = iota // declarator
	mayName                // of a parameter
	noName                 // abstract_declarator
)

// declarator parses a declarator with a name.
func (p *parser) declarator() *declarator {
	d := new(declarator)
	p.declare(d, mustName)
	return d
}

// declare parses
//
//	declarator: { '*' { type_qualifier } } direct_declarator
//	abstract_declarator: { '*' { type_qualifier } } [ direct_abstract_declarator ]
func (p *parser) declare(d *declarator, naming naming) {
	var stars []modifier
	for p.tok == MUL {
		p.chain(len(stars))
		stars = append(stars, modifier{kind: pointerTo, at: p.pos})
		p.next()
		for p.tok == KEYWORD && typeQualifiers[p.str] {
			p.next()
		}
	}
	p.nested(func() { p.directDeclarator(d, naming) })
	slices.Reverse(stars)
	d.mods = append(d.mods, stars...)
}

// directDeclarator parses
//
//	direct_declarator: IDENT | '(' declarator ')' | direct_declarator array
//	    | direct_declarator function
//	direct_abstract_declarator: [ '(' abstract_declarator ')' ] { array | function }
func (p *parser) directDeclarator(d *declarator, naming naming) {
	switch {
	case naming != noName && (p.tok == IDENT || p.tok == KEYWORD && memberKeywords[p.str] && p.str != "string"):
		d.at = p.pos
		d.name = p.memberName()
	case p.tok == LPAREN && (naming == mustName || p.parenthesizedDeclarator(naming)):
		p.next()
		p.declare(d, naming)
		p.expect(RPAREN)
	case naming == mustName:
		p.unexpected()
	}
	for n := 0; p.tok == LBRACK || p.tok == LPAREN; n++ {
		p.chain(n)
		if p.tok == LBRACK {
			d.mods = append(d.mods, p.array())
		} else {
			d.mods = append(d.mods, p.function())
		}
	}
}

// parenthesizedDeclarator reports whether the parenthesis after a type begins a
// declarator, as in int (*)(void), and not parameters, as in int (void).
func (p *parser) parenthesizedDeclarator(naming naming) bool {
	switch l := p.ahead(); l.tok {
	case MUL, LPAREN, LBRACK:
		return true
	case IDENT:
		return naming == mayName && !p.isType(l.str)
	}
	return false
}

// array parses
//
//	array: '[' [ constant_expression | parameter_type_list ] ']'
func (p *parser) array() modifier {
	m := modifier{kind: arrayOf, at: p.pos}
	p.next()
	switch {
	case p.got(RBRACK):
	case p.startsTuple():
		m.kind = tupleOf
		m.params, m.variadic = p.parameters(RBRACK)
		p.checkTuple(&m)
	default:
		m.size = p.conditional()
		p.expect(RBRACK)
	}
	return m
}

// startsTuple reports whether what is in brackets are an associative array's key
// types, not an array's length.
func (p *parser) startsTuple() bool {
	if startsSpecifier(&p.lexeme) || p.tok == ELLIPSIS {
		return p.str != "self" && p.str != "this"
	}
	if p.tok != IDENT {
		return false
	}
	look := p.lookahead()
	switch l := look.pastStars(); l.tok {
	case COMMA, IDENT:
		return look.stars == 0 || l.tok == COMMA || p.isType(p.str)
	case KEYWORD:
		return startsSpecifier(&l)
	case RBRACK:
		return look.stars > 0 || p.isType(p.str)
	}
	return false
}

// checkTuple gives up the keys that no associative array can have.
func (p *parser) checkTuple(m *modifier) {
	if m.variadic {
		p.fail(m.at, "D_DECL_PROTO_VARARGS", "array prototype may not use a variable-length argument list")
	}
	for i, param := range m.params {
		if isVoid(param.Type) {
			name := param.Name
			if name == "" {
				name = "(anonymous)"
			}
			p.fail(param.At, "D_DECL_PROTO_TYPE", "array prototype may not use parameter of type void: %s, parameter #%d",
				name, i+1)
		}
	}
}

// function parses
//
//	function: '(' [ parameter_type_list ] ')'
func (p *parser) function() modifier {
	m := modifier{kind: function, at: p.pos}
	p.next()
	m.params, m.variadic = p.parameters(RPAREN)
	if len(m.params) == 1 && isVoid(m.params[0].Type) && m.params[0].Name == "" {
		m.params = nil
	}
	p.checkFunction(m.params)
	return m
}

// checkFunction gives up the parameters that no function can have.
func (p *parser) checkFunction(params []*Param) {
	seen := map[string]bool{}
	for i, param := range params {
		switch {
		case isVoid(param.Type) && param.Name != "":
			p.fail(param.At, "D_DECL_PROTO_NAME", "void parameter may not have a name: %s", param.Name)
		case isVoid(param.Type):
			p.fail(param.At, "D_DECL_PROTO_VOID", "void must be sole parameter")
		case param.Name != "" && seen[param.Name]:
			p.fail(param.At, "D_DECL_PROTO_FORM", "parameter is already declared in function prototype: %s, parameter #%d",
				param.Name, i+1)
		}
		seen[param.Name] = true
	}
}

func isVoid(t TypeExpr) bool {
	n, ok := t.(*NamedType)
	return ok && len(n.Words) == 1 && n.Words[0] == "void"
}

// parameters parses the rest, up to the token end, of
//
//	parameter_type_list: parameter { ',' parameter } [ ',' '...' ] | '...'
//	parameter: declaration_specifiers [ declarator | abstract_declarator ]
func (p *parser) parameters(end Token) (list []*Param, variadic bool) {
	if p.got(end) {
		return nil, false
	}
	for {
		if variadic = p.got(ELLIPSIS); variadic {
			break
		}
		list = append(list, p.parameter())
		if !p.got(COMMA) {
			break
		}
	}
	p.expect(end)
	return list, variadic
}

func (p *parser) parameter() *Param {
	param := &Param{At: p.pos}
	spec := p.specifiers()
	if spec.class != "" && spec.class != "register" {
		p.fail(spec.at, "D_DECL_PARMCLASS", "inappropriate storage class for function or associative array parameter")
	}
	d := new(declarator)
	p.declare(d, mayName)
	p.checkTuples(d, 0)
	param.Name, param.Type = d.name, d.typeOf(spec.typ)
	return param
}

// A lookahead reads lexemes beyond the current one.
type lookahead struct {
	scanner
	stars int // passed by pastStars
}

func (p *parser) lookahead() *lookahead {
	l := &lookahead{scanner: *p.scanner}
	l.quiet = true
	return l
}

// ahead returns the lexeme after the current one.
func (p *parser) ahead() lexeme {
	look := p.lookahead()
	return look.scan()
}

// pastStars returns the next lexeme that is no asterisk.
func (l *lookahead) pastStars() lexeme {
	for {
		next := l.scan()
		if next.tok != MUL {
			return next
		}
		l.stars++
	}
}

// parenthesizedType reports whether the parenthesis here encloses a type: that
// of a cast or, after sizeof, an operand.
func (p *parser) parenthesizedType(sizeof bool) bool {
	look := p.lookahead()
	first := look.scan()
	if first.tok != IDENT {
		return startsTypeWord(&first)
	}
	l := look.pastStars()
	switch {
	case l.tok == RPAREN && look.stars > 0:
		return true // (name *)
	case l.tok == RPAREN && sizeof:
		return p.isType(first.str)
	case l.tok == RPAREN:
		return p.castOperand(look.scan(), first.str)
	case l.tok == KEYWORD:
		return look.stars > 0 && typeQualifiers[l.str] || look.stars == 0 && startsTypeWord(&l)
	case l.tok == LPAREN:
		stars := look.stars
		return look.pastStars().tok == RPAREN && look.stars > stars // (name (*)(...))
	case l.tok == LBRACK && sizeof && look.stars == 0:
		return p.isType(first.str)
	}
	return false
}

// castOperand reports whether next, after (name), is what a cast applies to.
// Where it may as well be an operator, it matters what the name is.
func (p *parser) castOperand(next lexeme, name string) bool {
	switch next.tok {
	case IDENT, INT, CHAR, STRING, AGG, NOT, BITNOT, LPAREN:
		return true
	case KEYWORD:
		return next.str != "if" && next.str != "else"
	case ADD, SUB, MUL, AND, INC, DEC:
		return p.isType(name)
	}
	return false
}

// isType reports whether name is a type's, asking the configuration last.
func (p *parser) isType(name string) bool {
	switch {
	case p.names[name], builtins[name]:
		return false
	case p.typedefs[name], baseTypes[name]:
		return true
	case p.cfg.IsType != nil:
		return p.cfg.IsType(name)
	}
	return strings.HasSuffix(name, "_t")
}
