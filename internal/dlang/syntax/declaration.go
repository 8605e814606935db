package syntax

import "strings"

// A specifier is what a declaration says before its declarators.
type specifier struct {
	at    Pos
	class string // storage class, or ""
	typ   TypeExpr
}

func (s *specifier) scope() Scope {
	switch s.class {
	case "self":
		return Thread
	case "this":
		return Local
	}
	return Global
}

// use returns the type that a declarator makes of the specified one. Only the
// first declarator of a declaration gets the definition of a struct, union or
// enum; the others refer to it by its tag, or share it if it has none.
func (s *specifier) use(d *declarator) TypeExpr {
	t := d.typeOf(s.typ)
	switch def := s.typ.(type) {
	case *StructType:
		if def.Def && def.Tag != "" {
			s.typ = &StructType{At: def.At, Union: def.Union, Tag: def.Tag}
		}
	case *EnumType:
		if def.Def && def.Tag != "" {
			s.typ = &EnumType{At: def.At, Tag: def.Tag}
		}
	}
	return t
}

// startsDeclaration reports whether the current lexeme begins a declaration.
func (p *parser) startsDeclaration() bool {
	return p.tok == IDENT && !p.outer || startsSpecifier(&p.lexeme)
}

// startsSpecifier reports whether a reserved word begins a declaration.
func startsSpecifier(l *lexeme) bool {
	return l.tok == KEYWORD && (storageClasses[l.str] || startsTypeWord(l))
}

// startsTypeWord reports whether a reserved word begins a type's name.
func startsTypeWord(l *lexeme) bool {
	return l.tok == KEYWORD && (typeWords[l.str] || typeQualifiers[l.str] || tagWords[l.str])
}

// declaration parses
//
//	declaration: declaration_specifiers [ declarator { ',' declarator } ] ';'
func (p *parser) declaration() []Decl {
	spec := p.specifiers()
	var list []Decl
	if p.tok == SEMI {
		list = append(list, p.typeOnly(spec))
	} else {
		for {
			list = append(list, p.declared(spec, p.declarator()))
			if !p.got(COMMA) {
				break
			}
		}
	}
	p.semiEnd()
	return list
}

// typeOnly returns a declaration without a declarator: a struct, union or enum.
func (p *parser) typeOnly(spec *specifier) Decl {
	switch spec.typ.(type) {
	case *StructType, *EnumType:
		if spec.class == "" {
			return &TypeDecl{At: spec.at, Type: spec.typ}
		}
	}
	p.fail(spec.at, "D_DECL_USELESS", "useless declaration")
	return nil
}

// declared returns what one declarator declares: a typedef or a variable.
func (p *parser) declared(spec *specifier, d *declarator) Decl {
	if spec.class != "typedef" {
		return p.variable(spec, d)
	}
	p.checkDeclName(d)
	p.typedefs[d.name] = true
	delete(p.names, d.name)
	return &TypeDecl{At: d.at, Name: d.name, Type: spec.use(d)}
}

func (p *parser) variable(spec *specifier, d *declarator) *VarDecl {
	p.checkDeclName(d)
	extern := spec.class == "extern" || d.is(function)
	switch {
	case spec.class == "auto", spec.class == "register", spec.class == "static" && !extern:
		p.fail(spec.at, "D_DECL_BADCLASS", "specified storage class not appropriate in D")
	case d.is(arrayOf) && d.mods[0].size == nil && !extern:
		p.fail(d.at, "D_DECL_ARRNULL", "array declaration requires array dimension or tuple signature: %s", d.name)
	}
	p.checkTuples(d, 1)
	if spec.scope() == Global {
		p.names[d.name] = true
	}
	return &VarDecl{At: d.at, Scope: spec.scope(), Extern: extern, Name: d.name, Type: spec.use(d)}
}

func (p *parser) checkDeclName(d *declarator) {
	if strings.Contains(d.name, "`") {
		p.fail(d.at, "D_DECL_SCOPE", "D scoping operator may not be used in a declaration name (%s)", d.name)
	}
}

// specifiers parses
//
//	declaration_specifiers: { storage_class_specifier | type_specifier | type_qualifier }
//
// of which there must be one.
func (p *parser) specifiers() *specifier {
	s := &specifier{at: p.pos}
	var words typeWordList
	start := p.off
	for {
		switch {
		case p.tok == KEYWORD && storageClasses[p.str]:
			if s.class != "" {
				p.fail(p.pos, "D_DECL_CLASS", "only one storage class allowed in a declaration")
			}
			s.class = p.str
			p.next()
		case p.tok == KEYWORD && typeQualifiers[p.str]:
			p.next()
		case p.tok == KEYWORD && typeWords[p.str]:
			words.add(p)
			p.next()
		case p.tok == KEYWORD && tagWords[p.str]:
			words.need(p)
			s.typ = p.tagged()
			words.tagged = true
		case p.tok == IDENT && words.empty() && !(s.class != "" && p.implicitInt()):
			s.typ = p.typedefName()
			words.named = true
		default:
			if p.off == start {
				p.unexpected()
			}
			words.check(p, s.at)
			if s.typ == nil {
				s.typ = &NamedType{At: s.at, Words: words.words()}
			}
			return s
		}
	}
}

// implicitInt reports whether the identifier after a storage class is what is
// declared, an int, and no type: `self x;`.
func (p *parser) implicitInt() bool {
	switch p.ahead().tok {
	case SEMI, COMMA, LBRACK, ASSIGN:
		return true
	}
	return false
}

func (p *parser) typedefName() *NamedType {
	t := &NamedType{At: p.pos}
	module, name := splitModule(p.str)
	t.Module, t.Words = module, []string{name}
	p.next()
	return t
}

// splitModule splits module`name.
func splitModule(s string) (module, name string) {
	i := strings.LastIndexByte(s, '`')
	if i < 0 {
		return "", s
	}
	return s[:i], s[i+1:]
}

// A typeWordList collects and checks the reserved words of a type.
type typeWordList struct {
	list          []string
	base          string // void, char, int, float, double, string or ""
	tagged, named bool
}

func (w *typeWordList) empty() bool { return len(w.list) == 0 && !w.tagged && !w.named }

// need gives up if a base type is there already.
func (w *typeWordList) need(p *parser) {
	if w.base != "" || w.tagged || w.named {
		p.fail(p.pos, "D_DECL_COMBO", "invalid type combination")
	}
}

func (w *typeWordList) add(p *parser) {
	switch p.str {
	case "short", "long", "signed", "unsigned":
		limit, times := 1, "once"
		if p.str == "long" {
			limit, times = 2, "twice"
		}
		if w.count(p.str) == limit {
			p.fail(p.pos, "D_DECL_COMBO", "the attribute '%s' may only be used at most %s in a declaration", p.str, times)
		}
	default:
		w.need(p)
		w.base = p.str
	}
	w.list = append(w.list, p.str)
}

func (w *typeWordList) count(word string) (n int) {
	for _, s := range w.list {
		if s == word {
			n++
		}
	}
	return n
}

// check gives up if the words do not make a type.
func (w *typeWordList) check(p *parser, at Pos) {
	short, long := w.count("short") > 0, w.count("long") > 0
	signed, unsigned := w.count("signed") > 0, w.count("unsigned") > 0
	isFloat := w.base == "float" || w.base == "double"
	isOther := w.base == "string" || w.tagged || w.named
	switch {
	case w.base == "char" && (short || long):
		p.fail(at, "D_DECL_CHARATTR", "invalid type declaration: short and long may not be used with char type")
	case w.base == "void" && len(w.list) > 1:
		p.fail(at, "D_DECL_VOIDATTR", "invalid type declaration: attributes may not be used with void type")
	case (isFloat || isOther) && (signed || unsigned):
		p.fail(at, "D_DECL_SIGNINT", "invalid type declaration: signed and unsigned may only be used with integer type")
	case isOther && long:
		p.fail(at, "D_DECL_LONGINT", "invalid type declaration: long and long long may only be used with integer or floating-point type")
	case short && long, signed && unsigned, short && (isFloat || isOther):
		p.fail(at, "D_DECL_COMBO", "invalid type combination")
	}
}

// words returns the type's words; a type without any is int, as in old C.
func (w *typeWordList) words() []string {
	if len(w.list) == 0 {
		return []string{"int"}
	}
	return w.list
}

// tagged parses a struct, union or enum.
func (p *parser) tagged() TypeExpr {
	at, word := p.pos, p.str
	p.next()
	var module, tag string
	if p.tok == IDENT || p.tok == KEYWORD && memberKeywords[p.str] {
		module, tag = splitModule(p.memberName())
	}
	if p.tok != LBRACE && tag == "" {
		p.unexpected()
	}
	if word == "enum" {
		t := &EnumType{At: at, Module: module, Tag: tag}
		p.nested(func() { p.enumerators(t) })
		return t
	}
	t := &StructType{At: at, Module: module, Tag: tag, Union: word == "union"}
	p.nested(func() { p.structMembers(t) })
	return t
}

// structMembers parses the rest of
//
//	struct_or_union_specifier: struct_or_union [ IDENT ] '{' { struct_declaration } '}'
//	    | struct_or_union IDENT
func (p *parser) structMembers(t *StructType) {
	if !p.got(LBRACE) {
		return
	}
	t.Def = true
	for p.tok != RBRACE && p.tok != EOF {
		t.Fields = append(t.Fields, p.structDeclaration()...)
	}
	p.expect(RBRACE)
}

// structDeclaration parses
//
//	struct_declaration: specifier_qualifier_list [ struct_declarator { ',' struct_declarator } ] ';'
//
// Without a declarator it is a member without a name, a struct or a union.
func (p *parser) structDeclaration() []*Field {
	spec := p.typeSpecifiers()
	var list []*Field
	if p.tok == SEMI {
		def, ok := spec.typ.(*StructType)
		if !ok || !def.Def {
			p.fail(p.pos, "D_DECL_MNAME", "member declaration requires a name")
		}
		list = append(list, &Field{At: spec.at, Type: def})
	} else {
		for {
			list = append(list, p.structDeclarator(spec))
			if !p.got(COMMA) {
				break
			}
		}
	}
	p.expect(SEMI)
	return list
}

// structDeclarator parses
//
//	struct_declarator: declarator | [ declarator ] ':' constant_expression
func (p *parser) structDeclarator(spec *specifier) *Field {
	d := &declarator{at: p.pos}
	if p.tok != COLON {
		d = p.declarator()
	}
	if strings.Contains(d.name, "`") {
		p.fail(d.at, "D_DECL_SCOPE", "D scoping operator may not be used in a member name (%s)", d.name)
	}
	p.checkTuples(d, 0)
	f := &Field{At: d.at, Name: d.name, Type: spec.use(d)}
	if p.got(COLON) {
		f.Bits = p.conditional()
	}
	return f
}

// typeSpecifiers parses
//
//	specifier_qualifier_list: { type_specifier | type_qualifier }
func (p *parser) typeSpecifiers() *specifier {
	if p.tok != IDENT && !startsTypeWord(&p.lexeme) {
		p.unexpected()
	}
	s := p.specifiers()
	if s.class != "" {
		p.fail(s.at, "D_SYNTAX", "syntax error near \"%s\"", s.class)
	}
	return s
}

// enumerators parses the rest of
//
//	enum_specifier: 'enum' [ IDENT ] '{' enumerator { ',' enumerator } [ ',' ] '}' | 'enum' IDENT
func (p *parser) enumerators(t *EnumType) {
	if !p.got(LBRACE) {
		return
	}
	t.Def = true
	for {
		t.Members = append(t.Members, p.enumerator())
		if !p.got(COMMA) || p.tok == RBRACE {
			break
		}
	}
	p.expect(RBRACE)
}

// enumerator parses
//
//	enumerator: IDENT [ '=' constant_expression ]
func (p *parser) enumerator() *Enumerator {
	e := &Enumerator{At: p.pos}
	e.Name = p.ident()
	p.names[e.Name] = true
	if p.got(ASSIGN) {
		e.Value = p.conditional()
	}
	return e
}

// typeName parses
//
//	type_name: specifier_qualifier_list [ abstract_declarator ]
func (p *parser) typeName() TypeExpr {
	spec := p.typeSpecifiers()
	d := new(declarator)
	p.declare(d, noName)
	p.checkTuples(d, 0)
	return d.typeOf(spec.typ)
}
