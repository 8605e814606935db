package syntax

import "strings"

// expr parses
//
//	expression: assignment_expression { ',' assignment_expression }
func (p *parser) expr() Expr {
	x := p.assignment()
	for n := 0; p.tok == COMMA; n++ {
		p.chain(n)
		at := p.pos
		p.next()
		x = &Binary{At: at, Op: COMMA, X: x, Y: p.assignment()}
	}
	return x
}

// chain gives up an expression of too many operators in a row: the tree is as
// deep as they are many.
func (p *parser) chain(n int) {
	if n >= maxChain {
		p.fail(p.pos, "D_SYNTAX", "more than %d operators in a row", maxChain)
	}
}

// assignment parses
//
//	assignment_expression: conditional_expression
//	    | unary_expression assignment_operator assignment_expression
func (p *parser) assignment() (x Expr) {
	p.nested(func() {
		x = p.conditional()
		if p.tok < ASSIGN || p.tok > SHR_ASSIGN {
			return
		}
		switch x.(type) {
		case *Binary, *Cond, *Cast:
			p.unexpected()
		}
		if id, ok := x.(*Ident); ok {
			p.names[id.Name] = true
		}
		a := &Assign{At: p.pos, Op: p.tok, X: x}
		p.next()
		a.Y = p.assignment()
		x = a
	})
	return x
}

// conditional parses
//
//	conditional_expression: binary_expression
//	    | binary_expression '?' expression ':' conditional_expression
func (p *parser) conditional() (x Expr) {
	x = p.binary(1)
	if p.tok != QUESTION {
		return x
	}
	p.nested(func() {
		c := &Cond{At: p.pos, C: x}
		p.next()
		c.X = p.expr()
		p.expect(COLON)
		c.Y = p.conditional()
		x = c
	})
	return x
}

// precedence returns how tightly a binary operator binds, 1 for || to 11 for *,
// or 0 if t is none. All of them associate to the left.
func (t Token) precedence() int {
	switch t {
	case LOR:
		return 1
	case LXOR:
		return 2
	case LAND:
		return 3
	case OR:
		return 4
	case XOR:
		return 5
	case AND:
		return 6
	case EQL, NEQ:
		return 7
	case LSS, LEQ, GTR, GEQ:
		return 8
	case SHL, SHR:
		return 9
	case ADD, SUB:
		return 10
	case MUL, DIV, MOD:
		return 11
	}
	return 0
}

// binary parses the operators that bind at least as tightly as prec:
//
//	binary_expression: cast_expression { binary_operator cast_expression }
func (p *parser) binary(prec int) Expr {
	x := p.cast()
	for n := 0; p.tok.precedence() >= prec; n++ {
		p.chain(n)
		b := &Binary{At: p.pos, Op: p.tok, X: x}
		p.next()
		b.Y = p.binary(b.Op.precedence() + 1)
		x = b
	}
	return x
}

// cast parses
//
//	cast_expression: unary_expression | '(' type_name ')' cast_expression
func (p *parser) cast() (x Expr) {
	if p.tok != LPAREN || !p.parenthesizedType(false) {
		return p.unary()
	}
	p.nested(func() {
		c := &Cast{At: p.pos}
		p.next()
		c.Type = p.typeName()
		p.expect(RPAREN)
		c.X = p.cast()
		x = c
	})
	return x
}

// unary parses
//
//	unary_expression: postfix_expression | '++' unary_expression | '--' unary_expression
//	    | unary_operator cast_expression | 'sizeof' unary_expression
//	    | 'sizeof' '(' type_name ')' | 'stringof' unary_expression
func (p *parser) unary() (x Expr) {
	at := p.pos
	p.nested(func() {
		switch {
		case p.tok == INC, p.tok == DEC:
			u := &Unary{At: at, Op: p.tok}
			p.next()
			u.X = p.unary()
			x = u
		case isUnary(p.tok):
			u := &Unary{At: at, Op: p.tok}
			p.next()
			u.X = p.cast()
			x = u
		case p.is("sizeof"):
			p.next()
			x = p.sizeof(at)
		case p.is("stringof"):
			p.next()
			x = &Stringof{At: at, X: p.unary()}
		default:
			x = p.postfix()
		}
	})
	return x
}

func isUnary(t Token) bool {
	switch t {
	case ADD, SUB, MUL, AND, NOT, BITNOT:
		return true
	}
	return false
}

func (p *parser) sizeof(at Pos) Expr {
	if p.tok != LPAREN || !p.parenthesizedType(true) {
		return &Sizeof{At: at, X: p.unary()}
	}
	p.next()
	s := &Sizeof{At: at, Type: p.typeName()}
	p.expect(RPAREN)
	return s
}

// postfix parses
//
//	postfix_expression: primary_expression | postfix_expression '[' argument_list ']'
//	    | postfix_expression '(' [ argument_list ] ')' | postfix_expression '.' IDENT
//	    | postfix_expression '->' IDENT | postfix_expression '++' | postfix_expression '--'
func (p *parser) postfix() Expr {
	x := p.primary()
	for n := 0; ; n++ {
		p.chain(n)
		at := p.pos
		switch p.tok {
		case LBRACK:
			p.next()
			x = p.index(at, x)
		case LPAREN:
			x = p.call(x)
		case DOT, ARROW:
			arrow := p.tok == ARROW
			p.next()
			x = &Member{At: at, X: x, Arrow: arrow, Name: p.memberName()}
		case INC, DEC:
			x = &Postfix{At: at, Op: p.tok, X: x}
			p.next()
		default:
			return x
		}
	}
}

// index parses the rest of an index. An aggregation takes the first for its key.
func (p *parser) index(at Pos, x Expr) Expr {
	args := p.argumentList(RBRACK)
	if agg, ok := x.(*AggRef); ok && agg.Keys == nil {
		agg.Keys = args
		return agg
	}
	return &Index{At: at, X: x, Args: args}
}

// call parses a call's arguments. Only an identifier can be called.
func (p *parser) call(x Expr) Expr {
	switch x := x.(type) {
	case *Ident:
		c := &Call{At: x.At, Name: x.Name}
		p.next()
		if !p.got(RPAREN) {
			c.Args = p.argumentList(RPAREN)
		}
		return c
	case *SymbolRef:
		p.fail(x.At, "D_FUNC_UNDEF", "undefined function name: %s", x.Module+"`"+x.Name)
	}
	p.fail(x.Pos(), "D_FUNC_IDENT", "function designator is not of function type")
	return nil
}

// argumentList parses
//
//	argument_list: assignment_expression { ',' assignment_expression }
//
// and the closing token.
func (p *parser) argumentList(end Token) []Expr {
	list := []Expr{p.assignment()}
	for p.got(COMMA) {
		list = append(list, p.assignment())
	}
	p.expect(end)
	return list
}

// primary parses
//
//	primary_expression: IDENT | AGG | INT | CHAR | STRING { STRING }
//	    | 'self' '->' IDENT | 'this' '->' IDENT | 'self' | 'this'
//	    | '(' expression ')' | 'offsetof' '(' type_name ',' IDENT ')'
//	    | 'xlate' '<' type_name '>' '(' expression ')'
func (p *parser) primary() Expr {
	at := p.pos
	switch p.tok {
	case IDENT:
		return p.name(at)
	case AGG:
		x := &AggRef{At: at, Name: p.str}
		p.next()
		return x
	case INT, CHAR:
		return p.intLit(at)
	case STRING:
		return p.stringLit(at)
	case LPAREN:
		p.next()
		x := &Paren{At: at, X: p.expr()}
		p.expect(RPAREN)
		return x
	case KEYWORD:
		return p.keywordExpr(at)
	}
	p.unexpected()
	return nil
}

// name parses an identifier or a symbol's name with its module.
func (p *parser) name(at Pos) Expr {
	name := p.str
	p.next()
	if !strings.Contains(name, "`") {
		return &Ident{At: at, Name: name}
	}
	x := &SymbolRef{At: at}
	x.Module, x.Name = splitModule(name)
	return x
}

func (p *parser) intLit(at Pos) Expr {
	x := &IntLit{
		At: at, Value: p.val, Text: p.text, Decimal: p.decimal, Char: p.tok == CHAR,
		Unsigned: strings.Contains(p.suffix, "u"),
		Long:     strings.Contains(p.suffix, "l"),
	}
	negative := p.negative
	p.next()
	if negative {
		return &Unary{At: at, Op: SUB, X: x}
	}
	return x
}

func (p *parser) stringLit(at Pos) Expr {
	var b strings.Builder
	for p.tok == STRING {
		b.WriteString(p.str)
		p.next()
	}
	return &StringLit{At: at, Value: b.String()}
}

// keywordExpr parses the primary expressions that begin with a reserved word.
func (p *parser) keywordExpr(at Pos) Expr {
	word := p.str
	switch word {
	case "self", "this":
		p.next()
		if p.tok != ARROW {
			return &Ident{At: at, Name: word}
		}
		p.next()
		scope := Thread
		if word == "this" {
			scope = Local
		}
		return &ScopedIdent{At: at, Scope: scope, Name: p.memberName()}
	case "offsetof":
		p.next()
		return p.offsetof(at)
	case "xlate":
		p.next()
		return p.xlate(at)
	}
	p.unexpected()
	return nil
}

func (p *parser) offsetof(at Pos) Expr {
	p.expect(LPAREN)
	x := &Offsetof{At: at, Type: p.typeName()}
	p.expect(COMMA)
	x.Member = p.memberName()
	p.expect(RPAREN)
	return x
}

func (p *parser) xlate(at Pos) Expr {
	p.expect(LSS)
	x := &Xlate{At: at, Type: p.typeName()}
	p.expect(GTR)
	p.expect(LPAREN)
	x.X = p.expr()
	p.expect(RPAREN)
	return x
}
