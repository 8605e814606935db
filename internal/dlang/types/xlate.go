package types

import "kinst/internal/dlang/syntax"

// An xlated is xlate <type>(x), the output of a translator: its members can be
// used one by one.
type xlated struct {
	node
	translator *translator
	value      Expr
}

// xlate checks xlate <type>(x): type is the output type of a translator, or a
// pointer to it.
func (c *checker) xlate(x *syntax.Xlate) Expr {
	t := c.typeExpr(x.Type)
	v := c.value(x.X)
	c.typed(v)
	out := t
	if t.Base().Kind == Pointer {
		out = t.pointee()
	}
	found := c.translatorFor(out, v)
	if found == nil {
		c.fail(x.At, "D_XLATE_NONE", "cannot translate from \"%s\" to \"%s\"", v.Type(), t)
	}
	return &xlated{node{x.At, t}, found, c.convertTo(v, found.in)}
}

// translatorFor finds the translator of a value: the one that is declared for its
// type, or else the first that takes it, if possible without making an integer a
// pointer or the other way round.
func (c *checker) translatorFor(out *Type, v Expr) *translator {
	if x := c.exactTranslator(out, v.Type()); x != nil {
		return x
	}
	var second *translator
	for _, x := range c.xlators {
		switch {
		case !Compatible(x.out, out) || !c.assignable(x.in, v):
		case x.in.IsInteger() == v.Type().IsInteger():
			return x
		case second == nil:
			second = x
		}
	}
	return second
}

// xlatedMember is xlate <type>(x)->name.
func (c *checker) xlatedMember(x *syntax.Member, xl *xlated) Expr {
	tr, ok := xl.translator.members[x.Name]
	if !ok {
		if _, ok := xl.translator.out.Member(x.Name); !ok {
			c.fail(x.At, "D_TYPE_MEMBER", "%s is not a member of %s", x.Name, xl.translator.out.Base())
		}
		c.fail(x.At, "D_XLATE_NOCONV", "translator does not define conversion for member: %s", x.Name)
	}
	body := c.translate(x.At, xl.translator, tr)
	return &Let{node{x.At, body.Type()}, xl.translator.binding, xl.value, body}
}

// structure turns the output of a translator that is a struct into a value.
func (c *checker) structure(x Expr) Expr {
	xl, ok := x.(*xlated)
	if !ok || !xl.T.IsStruct() {
		return x
	}
	s := &StructExpr{node: xl.node}
	for _, m := range xl.T.Members() {
		if tr := xl.translator.members[m.Name]; tr != nil {
			s.Members = append(s.Members, m)
			s.Values = append(s.Values, c.translate(xl.At, xl.translator, tr))
		}
	}
	return &Let{xl.node, xl.translator.binding, xl.value, s}
}
