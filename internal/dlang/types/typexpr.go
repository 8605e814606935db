package types

import (
	"math"
	"strings"

	"kinst/internal/dlang/syntax"
)

// typeExpr resolves a type as the source writes it.
func (c *checker) typeExpr(x syntax.TypeExpr) *Type {
	switch x := x.(type) {
	case *syntax.NamedType:
		return c.namedType(x)
	case *syntax.StructType:
		return c.structType(x)
	case *syntax.EnumType:
		return c.enumType(x)
	case *syntax.PointerType:
		return PointerTo(c.typeExpr(x.Elem))
	case *syntax.ArrayType:
		return c.arrayType(x)
	case *syntax.FuncType:
		return c.funcType(x)
	}
	panic("types: unknown type expression")
}

func (c *checker) namedType(x *syntax.NamedType) *Type {
	name := strings.Join(x.Words, " ")
	if t := arithmeticType(x.Words); t != nil {
		return t
	}
	if x.Module == "" {
		if name == "string" {
			return c.str
		}
		if t := c.typedefs[name]; t != nil {
			return t
		}
		if t := predefined[name]; t != nil {
			return t
		}
	}
	if x.Module == "" && c.fromLibrary(name) {
		return c.namedType(x)
	}
	t := c.kernelType(x.At, x.Module, Typedef, name)
	if t == nil {
		c.fail(x.At, "D_TYPE_ERR", "failed to resolve type %s: %s", scoped(x.Module, name), c.kernel.why("type"))
	}
	return t
}

// arithmeticType finds C's type of these words, in whatever order they stand.
func arithmeticType(words []string) *Type {
	longs, sign, base := 0, "", ""
	for _, w := range words {
		switch w {
		case "long":
			longs++
		case "signed", "unsigned":
			if sign != "" {
				return nil
			}
			sign = w
		default:
			if base != "" && !(base == "short" && w == "int" || base == "int" && w == "short") {
				return nil
			}
			if base != "short" {
				base = w
			}
		}
	}
	name := base
	if longs > 0 {
		if longs > 2 || base != "" && base != "int" && !(base == "double" && longs == 1) {
			return nil
		}
		name = strings.TrimSpace(strings.Repeat("long ", longs))
		if base == "double" {
			name = "long double"
		}
	}
	if name == "" {
		name = "int"
	}
	switch sign {
	case "unsigned":
		name = "unsigned " + name
	case "signed":
		if name == "char" {
			name = "signed char"
		} else if t := basic[name]; t == nil || t.Kind != Int {
			return nil
		}
	}
	return basic[name]
}

func scoped(module, name string) string {
	if module == "" {
		return name
	}
	return module + "`" + name
}

// tagged finds or creates the struct, union or enum of a tag: the program's
// own, the kernel's, or an incomplete one.
func (c *checker) tagged(at syntax.Pos, kind Kind, module, tag string) *Type {
	key := kindWord(kind) + " " + tag
	if module == "" {
		if t := c.tags[key]; t != nil && !(t.own && c.system()) {
			return t
		}
		if c.fromLibrary(key) {
			return c.tagged(at, kind, module, tag)
		}
	}
	if t := c.kernelType(at, module, kind, tag); t != nil {
		return t
	}
	t := &Type{Kind: kind, Name: tag, Incomplete: true}
	if module == "" && c.tags[key] == nil {
		c.tags[key] = t
	}
	return t
}

func kindWord(k Kind) string {
	switch k {
	case Struct:
		return "struct"
	case Union:
		return "union"
	}
	return "enum"
}

// define starts the definition of a struct, union or enum.
func (c *checker) define(at syntax.Pos, kind Kind, tag string) *Type {
	if tag == "" {
		return &Type{Kind: kind, own: !c.system()}
	}
	key := kindWord(kind) + " " + tag
	if c.inLibrary == 0 {
		c.fromLibrary(key)
	}
	t := c.tags[key]
	if t != nil && !t.Incomplete {
		c.fail(at, "D_DECL_TYPERED", "type redeclared: %s", key)
	}
	if t == nil {
		t = &Type{Kind: kind, Name: tag, Incomplete: true}
		c.tags[key] = t
	}
	t.own = !c.system()
	return t
}

func (c *checker) structType(x *syntax.StructType) *Type {
	kind := Struct
	if x.Union {
		kind = Union
	}
	if !x.Def && x.Fields == nil {
		return c.tagged(x.At, kind, x.Module, x.Tag)
	}
	if x.Module != "" {
		c.fail(x.At, "D_DECL_SCOPE", "scoping operator may not be used in a declaration: %s", scoped(x.Module, x.Tag))
	}
	t := c.define(x.At, kind, x.Tag)
	l := layout{union: x.Union}
	names := make(map[string]bool)
	for _, f := range x.Fields {
		m := c.field(f)
		c.distinct(f.At, t, names, m)
		l.add(m)
	}
	if l.size() > maxStruct {
		c.fail(x.At, "D_UNKNOWN", "%s is too big: it has %d bytes, and %d are the most", t, l.size(), maxStruct)
	}
	t.members, t.Size, t.align, t.Incomplete = l.members, l.size(), l.align, false
	return t
}

// distinct says that a member, or one inside it if it is anonymous, has a name
// that none before it has.
func (c *checker) distinct(at syntax.Pos, t *Type, names map[string]bool, m Member) {
	switch {
	case m.Name == "" && m.Type.IsStruct():
		for _, inner := range m.Type.Members() {
			c.distinct(at, t, names, inner)
		}
	case m.Name != "" && names[m.Name]:
		c.errors.Add(at, "D_UNKNOWN", "failed to define member '%s': %s has a member of this name already", m.Name, t)
	}
	names[m.Name] = true
}

// field checks a member's declaration; its offset is not known yet.
func (c *checker) field(f *syntax.Field) Member {
	m := Member{Name: f.Name, Type: c.typeExpr(f.Type)}
	c.checkObject(f.At, m.Type, f.Name)
	if m.Type.Base().Kind == Func {
		c.fail(f.At, "D_DECL_BADCLASS", "member may not be a function: %s", f.Name)
	}
	if f.Bits == nil {
		return m
	}
	n, ok := c.expr(f.Bits).(*Const)
	if !ok || int64(n.Value) < 0 {
		c.fail(f.At, "D_DECL_BFCONST", "positive integral constant expression expected as bit-field size: %s", f.Name)
	}
	if !m.Type.IsInteger() {
		c.fail(f.At, "D_DECL_BFTYPE", "invalid type for bit-field: %s", f.Name)
	}
	if n.Value == 0 && f.Name != "" || n.Value > uint64(8*m.Type.Base().Size) {
		c.fail(f.At, "D_DECL_BFSIZE", "bit-field size too big for type: %s", f.Name)
	}
	m.Bits = int(n.Value)
	if m.Bits == 0 {
		m.Bits = -1 // an unnamed field of width 0 closes the unit
	}
	return m
}

// A layout places members as the System V ABI does.
type layout struct {
	union   bool
	members []Member
	bits    int // end of what is placed so far
	longest int // of a union, bits
	align   int // bytes
}

func (l *layout) add(m Member) {
	align := alignment(m.Type)
	unit := 8 * m.Type.Base().Size
	if l.union {
		l.bits = 0
	}
	switch {
	case m.Bits < 0:
		l.bits = roundUp(l.bits, unit)
		return
	case m.Bits > 0:
		if l.bits/unit != (l.bits+m.Bits-1)/unit {
			l.bits = roundUp(l.bits, unit)
		}
		m.Offset = l.bits
		l.bits += m.Bits
	default:
		l.bits = roundUp(l.bits, 8*align)
		m.Offset = l.bits
		l.bits += unit
	}
	l.longest = max(l.longest, l.bits)
	if m.Bits > 0 && m.Name == "" {
		return // padding neither is a member nor aligns
	}
	l.align = max(l.align, align)
	l.members = append(l.members, m)
}

// size is that of the whole, in bytes.
func (l *layout) size() int { return roundUp(roundUp(l.longest, 8)/8, max(l.align, 1)) }

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// alignment is a type's natural alignment in bytes.
func alignment(t *Type) int {
	b := t.Base()
	switch b.Kind {
	case Array:
		return alignment(b.Elem)
	case String:
		return 1
	case Struct, Union:
		if b.align > 0 {
			return b.align
		}
		align := 1
		for _, m := range b.Members() {
			align = max(align, alignment(m.Type))
		}
		return align
	}
	return max(b.Size, 1)
}

func (c *checker) enumType(x *syntax.EnumType) *Type {
	if !x.Def && x.Members == nil {
		return c.tagged(x.At, Enum, x.Module, x.Tag)
	}
	t := c.define(x.At, Enum, x.Tag)
	t.Size, t.Signed, t.Incomplete = 4, true, false
	next := int64(0)
	for _, m := range x.Members {
		if m.Value != nil {
			n, ok := c.expr(m.Value).(*Const)
			if !ok {
				c.fail(m.At, "D_DECL_ENCONST", "enumerator '%s' must be assigned to an integral constant expression", m.Name)
			}
			next = int64(n.Value)
		}
		if next < math.MinInt32 || next > math.MaxInt32 {
			c.fail(m.At, "D_DECL_ENOFLOW", "enumerator '%s' value overflows INT_MAX (%d)", m.Name, math.MaxInt32)
		}
		if what := c.whatIs(m.Name); what != "" {
			c.fail(m.At, "D_DECL_IDRED", "identifier redeclared: %s is %s", m.Name, article(what))
		}
		t.Enumerators = append(t.Enumerators, Enumerator{m.Name, next})
		c.enums[m.Name] = &Const{node{m.At, t}, uint64(next)}
		next++
	}
	return t
}

func (c *checker) arrayType(x *syntax.ArrayType) *Type {
	elem := c.typeExpr(x.Elem)
	if elem.IsVoid() {
		c.fail(x.At, "D_DECL_VOIDOBJ", "cannot declare array of void")
	}
	if x.Len == nil {
		return ArrayOf(elem, 0)
	}
	n, ok := c.expr(x.Len).(*Const)
	if !ok || !n.T.IsInteger() || n.T.signed() && int64(n.Value) < 0 {
		c.fail(x.At, "D_DECL_ARRSUB", "positive integral constant expression or tuple signature expected as array declaration subscript")
	}
	if n.Value > math.MaxUint32 || int(n.Value)*elem.Size > maxObject {
		c.fail(x.At, "D_DECL_ARRBIG", "array dimension too big")
	}
	return ArrayOf(elem, int(n.Value))
}

// maxObject bounds the size of a D variable.
const maxObject = 1 << 20

// maxStruct bounds the size of a struct or union, in bytes.
const maxStruct = 64 << 20

func (c *checker) funcType(x *syntax.FuncType) *Type {
	t := &Type{Kind: Func, Elem: c.typeExpr(x.Result), Variadic: x.Variadic}
	for _, p := range x.Params {
		if pt := c.typeExpr(p.Type); !pt.IsVoid() {
			t.Params = append(t.Params, Arg{Name: p.Name, Type: pt})
		}
	}
	return t
}
