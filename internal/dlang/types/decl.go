package types

import (
	"strings"

	"kinst/internal/dlang/syntax"
)

// decl checks an external declaration.
func (c *checker) decl(d syntax.Decl) {
	switch d := d.(type) {
	case *syntax.Clause:
		c.checkClause(d)
	case *syntax.VarDecl:
		c.try(func() { c.varDecl(d) })
	case *syntax.TypeDecl:
		c.try(func() { c.typeDecl(d) })
	case *syntax.InlineDecl:
		c.try(func() { c.inlineDecl(d) })
	case *syntax.TranslatorDecl:
		c.try(func() { c.translatorDecl(d) })
	case *syntax.ProviderDecl:
		// It describes probes to other tools.
	}
}

// varDecl declares a variable with its type.
func (c *checker) varDecl(d *syntax.VarDecl) {
	v := &Var{Scope: d.Scope, Name: d.Name, known: true, assigned: true}
	if a, ok := d.Type.(*syntax.ArrayType); ok && a.Keys != nil {
		if d.Scope == syntax.Local {
			c.fail(d.At, "D_DECL_LOCASSC", "cannot declare associative array as local variable: %s", d.Name)
		}
		v.Array = true
		for _, k := range a.Keys {
			t := c.typeExpr(k)
			c.checkObject(d.At, t, d.Name)
			v.Keys = append(v.Keys, t)
		}
		v.Type = c.typeExpr(a.Elem)
	} else {
		v.Type = c.typeExpr(d.Type)
	}
	c.checkObject(d.At, v.Type, d.Name)
	if b := v.Type.Base(); b.Kind == Func {
		return // a prototype
	}
	c.checkFree(d.At, v)
	old := c.vars[d.Scope][d.Name]
	switch {
	case old == nil:
		c.addVar(v)
	case old.known:
		c.redeclare(d.At, old, v)
	default: // an assignment that failed has made it
		v.Index = old.Index
		*old = *v
	}
}

// checkObject says that a variable or member can have the type.
func (c *checker) checkObject(at syntax.Pos, t *Type, name string) {
	switch b := t.Base(); {
	case b.Kind == Void:
		c.fail(at, "D_DECL_VOIDOBJ", "cannot declare void object: %s", name)
	case b.Kind == Dynamic:
		c.fail(at, "D_DECL_DYNOBJ", "cannot declare dynamic object: %s", name)
	case b.Incomplete:
		c.fail(at, "D_DECL_INCOMPLETE", "incomplete struct/union/enum %s: %s", t, name)
	case b.IsStruct() && b.Size == 0:
		c.fail(at, "D_DECL_VOIDOBJ", "cannot declare an object without members: %s", name)
	case b.Kind == Array && (b.Elem.Base().Incomplete || b.Elem.IsStruct() && b.Elem.Base().Size == 0):
		c.checkObject(at, b.Elem, name)
	case b.Kind == Array && b.Size == 0:
		c.fail(at, "D_DECL_ARRNULL", "array declaration requires array dimension or tuple signature: %s", name)
	}
}

// checkFree says that the name of a global variable is not taken by something
// else.
func (c *checker) checkFree(at syntax.Pos, v *Var) {
	if v.Scope != syntax.Global {
		return
	}
	if what := c.whatIs(v.Name); what != "" && what != "variable" {
		c.fail(at, "D_DECL_IDRED", "identifier redeclared: %s is %s", v.Name, article(what))
	}
}

// whatIs says what a global name stands for.
func (c *checker) whatIs(name string) string {
	switch {
	case c.inlines[name] != nil:
		return "inline"
	case c.enums[name] != nil:
		return "enumerator"
	case c.typedefs[name] != nil:
		return "type"
	case builtinByName[name] != nil || name == "args" || name == "regs" || name == "uregs":
		return "built-in variable"
	case actions[name] != nil:
		return "action"
	case subroutines[name] != nil:
		return "subroutine"
	case isAggFunc(name):
		return "aggregating function"
	case c.vars[syntax.Global][name] != nil:
		return "variable"
	case c.inLibrary > 0:
		return ""
	case IsLibraryType(name):
		return "type"
	case definitions()[name] != "":
		return "inline"
	}
	return ""
}

// article puts the indefinite article before a noun.
func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// redeclare checks that a second declaration says what the first one did.
func (c *checker) redeclare(at syntax.Pos, old, v *Var) {
	same := old.Array == v.Array && len(old.Keys) == len(v.Keys) && Compatible(old.Type, v.Type)
	for i := 0; same && i < len(v.Keys); i++ {
		same = Compatible(old.Keys[i], v.Keys[i])
	}
	if !same {
		c.fail(at, "D_DECL_IDRED", "identifier redeclared: %s\n\t current: %s\n\tprevious: %s", v, v.Type, old.Type)
	}
}

func (c *checker) addVar(v *Var) {
	v.Index = len(c.prog.Vars)
	c.prog.Vars = append(c.prog.Vars, v)
	c.vars[v.Scope][v.Name] = v
}

// typeDecl declares a typedef, or a struct, union or enum.
func (c *checker) typeDecl(d *syntax.TypeDecl) {
	t := c.typeExpr(d.Type)
	if d.Name == "" {
		return
	}
	if c.inLibrary == 0 {
		c.fromLibrary(d.Name)
	}
	if what := c.whatIs(d.Name); what != "" && what != "type" {
		c.fail(d.At, "D_DECL_IDRED", "identifier redeclared: %s is %s", d.Name, article(what))
	}
	for _, old := range []*Type{c.typedefs[d.Name], predefined[d.Name]} {
		if old != nil && !Compatible(old, t) {
			c.fail(d.At, "D_DECL_TYPERED", "type redeclared: %s\n\t current: %s\n\tprevious: %s", d.Name, t, old.Elem)
		}
	}
	c.typedefs[d.Name] = typedef(d.Name, t)
}

// An inline is a named expression.
type inline struct {
	name   string
	typ    *Type
	params []inlineParam
	array  bool // has parameters: name[...]
	value  Expr // nil while it is checked, and if it is wrong

	checking bool
	own      bool // of the program: the library does not see it
}

type inlineParam struct {
	typ     *Type
	binding *Binding
}

func (c *checker) inlineDecl(d *syntax.InlineDecl) {
	in := &inline{name: d.Name, typ: c.typeExpr(d.Type), array: d.Params != nil, own: !c.system()}
	if in.typ.IsVoid() {
		c.fail(d.At, "D_DECL_VOIDOBJ", "cannot declare void inline: %s", d.Name)
	}
	c.checkObject(d.At, in.typ, d.Name)
	if what := c.whatIs(d.Name); what != "" {
		c.fail(d.At, "D_DECL_IDRED", "identifier redeclared: %s is %s", d.Name, article(what))
	}
	scope := make(map[string]Expr)
	for _, p := range d.Params {
		param := inlineParam{c.typeExpr(p.Type), &Binding{p.Name}}
		c.checkObject(p.At, param.typ, p.Name)
		in.params = append(in.params, param)
		if p.Name != "" {
			scope[p.Name] = &Bound{node{p.At, param.typ}, param.binding}
		}
	}
	c.inlines[d.Name] = in
	in.checking = true
	defer func() { in.checking = false }()
	var value Expr
	c.within(scope, func() { value = c.output(d.Value) })
	if !c.assignable(in.typ, value) {
		c.fail(d.At, "D_OP_INCOMPAT", "inline %s definition uses incompatible types: \"%s\" = \"%s\"",
			d.Name, in.typ, c.typeName(value))
	}
	in.value = c.convertTo(value, in.typ)
	if v, ok := in.value.(*VarRef); ok {
		in.value = retype(v, v.T) // which nobody can assign to
	}
}

// usable says that an inline has a value. Of one that has none because it is
// wrong nothing more is said.
func (c *checker) usable(at syntax.Pos, in *inline) {
	switch {
	case in.checking:
		c.fail(at, "D_IDENT_UNDEF", "failed to resolve %s: an inline may not use itself", in.name)
	case in.value == nil:
		panic(bailout{})
	}
}

// within checks something with more names in scope.
func (c *checker) within(names map[string]Expr, f func()) {
	c.scopes = append(c.scopes, names)
	defer func() { c.scopes = c.scopes[:len(c.scopes)-1] }()
	f()
}

// A translator makes a struct of one type out of a value of another.
type translator struct {
	out, in *Type
	binding *Binding
	members map[string]*translation
	library bool
}

// A translation is how a translator makes a member. Those of the library are
// checked when they are used: they may have several definitions for different
// kernels, the first that fits being used.
type translation struct {
	member Member
	inits  []*syntax.MemberInit
	value  Expr // nil as long as it is not checked
	failed bool // the program's definition is wrong
}

func (c *checker) translatorDecl(d *syntax.TranslatorDecl) {
	x := &translator{
		out: c.typeExpr(d.Out), in: c.typeExpr(d.In), binding: &Binding{d.Param},
		members: make(map[string]*translation), library: c.inLibrary > 0,
	}
	c.checkObject(d.At, x.in, d.Param)
	switch {
	case x.out.Base().Incomplete:
		c.fail(d.At, "D_XLATE_SOU", "incomplete struct/union/enum %s", x.out)
	case !x.out.IsStruct():
		c.fail(d.At, "D_XLATE_SOU", "translator output type must be a struct or union")
	}
	if c.exactTranslator(x.out, x.in) != nil {
		c.fail(d.At, "D_XLATE_REDECL", "translator from %s to %s has already been declared", x.in, x.out)
	}
	for _, m := range d.Members {
		c.try(func() { c.translatorMember(x, m) })
	}
	c.xlators = append(c.xlators, x)
}

func (c *checker) translatorMember(x *translator, m *syntax.MemberInit) {
	member, ok := x.out.Member(m.Name)
	if !ok {
		c.fail(m.At, "D_XLATE_MEMB", "translator member %s is not a member of %s", m.Name, x.out)
	}
	tr := x.members[m.Name]
	if tr != nil && !x.library {
		c.fail(m.At, "D_XLATE_MEMB", "translator member %s has already been defined", m.Name)
	}
	if tr == nil {
		tr = &translation{member: member}
		x.members[m.Name] = tr
	}
	tr.inits = append(tr.inits, m)
	if !x.library {
		tr.failed = true
		tr.value = c.initValue(x, tr, m)
		tr.failed = false
	}
}

// initValue checks one definition of a member.
func (c *checker) initValue(x *translator, tr *translation, m *syntax.MemberInit) (value Expr) {
	scope := map[string]Expr{x.binding.Name: &Bound{node{m.At, x.in}, x.binding}}
	c.within(scope, func() { value = c.memberValue(tr.member, m) })
	return value
}

// translate is how a member is made. What is wrong with one of the library is
// said of its use; of one that the program gets wrong nothing more is said.
func (c *checker) translate(at syntax.Pos, x *translator, tr *translation) Expr {
	if tr.failed {
		panic(bailout{})
	}
	if tr.value != nil {
		return tr.value
	}
	before := len(c.errors)
	c.inLibrary++
	defer func() { c.inLibrary-- }()
	for _, m := range tr.inits {
		if c.try(func() { tr.value = c.initValue(x, tr, m) }) {
			c.errors = c.errors[:before]
			return tr.value
		}
	}
	why := c.errors[before] // with the first definition
	c.errors = c.errors[:before]
	c.fail(at, why.Tag, "failed to resolve member %s of %s for this kernel: %s", tr.member.Name, x.out, why.Msg)
	return nil
}

func (c *checker) memberValue(member Member, m *syntax.MemberInit) Expr {
	value := c.expr(m.Value)
	c.typed(value)
	if !c.assignable(member.Type, value) {
		c.fail(m.At, "D_XLATE_INCOMPAT", "translator member %s definition uses incompatible types: \"%s\" = \"%s\"",
			m.Name, member.Type, c.typeName(value))
	}
	return c.convertTo(value, member.Type)
}

// exactTranslator finds the translator between two types.
func (c *checker) exactTranslator(out, in *Type) *translator {
	for _, x := range c.xlators {
		if Compatible(x.out, out) && Compatible(x.in, in) {
			return x
		}
	}
	return nil
}
