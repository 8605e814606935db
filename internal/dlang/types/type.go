package types

import (
	"fmt"
	"strings"
)

// A Kind is the kind of a type.
type Kind int

const (
	Void Kind = iota
	Int
	Float
	Pointer
	Array
	Struct
	Union
	Enum
	Func
	Typedef
	String // D's string
	// Dynamic is what has no value that an expression could use: an
	// aggregation, an action, a whole associative array.
	Dynamic
	// Stack is a list of addresses: stack() and ustack().
	Stack
	// Symbol is an address to be printed as a symbol: sym(), ufunc(), ...
	Symbol
)

// A Type is a type of C or of D. Two types are the same if Compatible says so;
// pointers to Type cannot be compared.
type Type struct {
	Kind Kind
	// Name is the spelling of a basic type or typedef, the tag of a struct,
	// union or enum.
	Name string
	// Size is in bytes. It is 0 for void, functions and incomplete types.
	Size   int
	Signed bool  // of Int and Enum
	Bool   bool  // of Int: _Bool
	Elem   *Type // of Pointer, Array, Typedef, Func (the result)
	Len    int   // of Array

	Params   []Arg // of Func
	Variadic bool

	// Incomplete structs, unions and enums have been named only.
	Incomplete  bool
	own         bool // struct, union or enum that the program itself defines
	Enumerators []Enumerator

	// align is the alignment in bytes of a struct or union that the program
	// defines; 0 if it is to be found out from the members.
	align int

	// members of a struct or union; resolve reads those of a kernel's type
	// when they are first asked for.
	members []Member
	resolve func() []Member
}

// A Member is a member of a struct or union.
type Member struct {
	Name   string // "" for an anonymous struct or union
	Type   *Type
	Offset int // bits from the start
	Bits   int // of a bit-field; 0 otherwise
}

// An Enumerator is a named value of an enum.
type Enumerator struct {
	Name  string
	Value int64
}

// The types that need no kernel.
var (
	TypeVoid    = &Type{Kind: Void, Name: "void"}
	TypeChar    = &Type{Kind: Int, Name: "char", Size: 1, Signed: true}
	TypeInt     = &Type{Kind: Int, Name: "int", Size: 4, Signed: true}
	TypeUint    = &Type{Kind: Int, Name: "unsigned int", Size: 4}
	TypeLong    = &Type{Kind: Int, Name: "long", Size: 8, Signed: true}
	TypeUlong   = &Type{Kind: Int, Name: "unsigned long", Size: 8}
	TypeDynamic = &Type{Kind: Dynamic, Name: "dynamic variable"}

	typeInt64   = typedef("int64_t", TypeLong)
	typeUint32  = typedef("uint32_t", TypeUint)
	typeUint64  = typedef("uint64_t", TypeUlong)
	typeUintptr = typedef("uintptr_t", TypeUlong)
	typeSize    = typedef("size_t", TypeUlong)
	typePtrdiff = typedef("ptrdiff_t", TypeLong)
	typeUintT   = typedef("uint_t", TypeUint)
	typePid     = typedef("pid_t", TypeInt)
	typeID      = typedef("id_t", TypeInt)
	typeUid     = typedef("uid_t", TypeUint)
	typeGid     = typedef("gid_t", TypeUint)

	typeVoidPtr = PointerTo(TypeVoid)
	typeCharPtr = PointerTo(TypeChar)
)

// basic is C's arithmetic types, by their shortest spelling without "int"
// where another word is there.
var basic = map[string]*Type{
	"void":  TypeVoid,
	"char":  TypeChar,
	"int":   TypeInt,
	"long":  TypeLong,
	"_Bool": {Kind: Int, Name: "_Bool", Size: 1, Bool: true},

	"signed char":        {Kind: Int, Name: "signed char", Size: 1, Signed: true},
	"unsigned char":      {Kind: Int, Name: "unsigned char", Size: 1},
	"short":              {Kind: Int, Name: "short", Size: 2, Signed: true},
	"unsigned short":     {Kind: Int, Name: "unsigned short", Size: 2},
	"unsigned int":       TypeUint,
	"unsigned long":      TypeUlong,
	"long long":          {Kind: Int, Name: "long long", Size: 8, Signed: true},
	"unsigned long long": {Kind: Int, Name: "unsigned long long", Size: 8},
	"float":              {Kind: Float, Name: "float", Size: 4},
	"double":             {Kind: Float, Name: "double", Size: 8},
	"long double":        {Kind: Float, Name: "long double", Size: 16},
}

// predefined is the typedefs that every D program has, with and without a
// kernel's types: DTrace's own, and those of Linux's linux/types.h that name a
// width.
var predefined = func() map[string]*Type {
	m := make(map[string]*Type)
	for _, t := range []*Type{
		typeInt64, typeUint32, typeUint64, typeUintptr, typeSize, typePtrdiff,
		typeUintT, typePid, typeID, typeUid, typeGid,
	} {
		m[t.Name] = t
	}
	for names, of := range map[string]*Type{
		"int8_t s8 __s8":              TypeChar,
		"int16_t s16 __s16":           basic["short"],
		"int32_t s32 __s32":           TypeInt,
		"s64 __s64 longlong_t":        basic["long long"],
		"intptr_t ssize_t":            TypeLong,
		"uint8_t u8 __u8 uchar_t":     basic["unsigned char"],
		"uint16_t u16 __u16 ushort_t": basic["unsigned short"],
		"u32 __u32 ipaddr_t":          TypeUint,
		"u64 __u64 u_longlong_t":      basic["unsigned long long"],
		"ulong_t":                     TypeUlong,
		"zoneid_t taskid_t projid_t":  TypeInt,
		"bool":                        basic["_Bool"],
	} {
		for _, name := range strings.Fields(names) {
			m[name] = typedef(name, of)
		}
	}
	return m
}()

func typedef(name string, of *Type) *Type {
	return &Type{Kind: Typedef, Name: name, Elem: of, Size: of.Size}
}

// PointerTo returns the type `t *`.
func PointerTo(t *Type) *Type { return &Type{Kind: Pointer, Elem: t, Size: 8} }

// ArrayOf returns the type `t [n]`.
func ArrayOf(t *Type, n int) *Type {
	return &Type{Kind: Array, Elem: t, Len: n, Size: n * t.Size}
}

// Base returns the type with the typedefs around it removed.
func (t *Type) Base() *Type {
	for t.Kind == Typedef {
		t = t.Elem
	}
	return t
}

// Members returns the members of a struct or union in the order of their
// declaration, those of anonymous members not among them.
func (t *Type) Members() []Member {
	t = t.Base()
	if t.resolve != nil {
		t.members, t.resolve = t.resolve(), nil
	}
	return t.members
}

// Member finds a member by its name, also inside anonymous members; the offset
// is from the start of t.
func (t *Type) Member(name string) (Member, bool) {
	for _, m := range t.Members() {
		if m.Name == name && name != "" {
			return m, true
		}
		if m.Name != "" || !m.Type.IsStruct() {
			continue
		}
		if inner, ok := m.Type.Member(name); ok {
			inner.Offset += m.Offset
			return inner, true
		}
	}
	return Member{}, false
}

// Enumerator finds a value of an enum by its name.
func (t *Type) Enumerator(name string) (int64, bool) {
	for _, e := range t.Base().Enumerators {
		if e.Name == name {
			return e.Value, true
		}
	}
	return 0, false
}

// IsInteger reports whether t is an integer or an enum.
func (t *Type) IsInteger() bool {
	k := t.Base().Kind
	return k == Int || k == Enum
}

// IsArithmetic reports whether t is an integer, an enum or a floating type.
func (t *Type) IsArithmetic() bool { return t.IsInteger() || t.Base().Kind == Float }

// IsPointer reports whether t is a pointer, or an array, which decays to one.
func (t *Type) IsPointer() bool {
	k := t.Base().Kind
	return k == Pointer || k == Array
}

// IsScalar reports whether t can be a condition: an integer or a pointer.
func (t *Type) IsScalar() bool { return t.IsInteger() || t.Base().Kind == Pointer }

// IsStruct reports whether t is a struct or a union.
func (t *Type) IsStruct() bool {
	k := t.Base().Kind
	return k == Struct || k == Union
}

// IsString reports whether t is D's string.
func (t *Type) IsString() bool { return t.Base().Kind == String }

// IsVoid reports whether t is void.
func (t *Type) IsVoid() bool { return t.Base().Kind == Void }

// IsDynamic reports whether t is that of an aggregation or an action.
func (t *Type) IsDynamic() bool { return t.Base().Kind == Dynamic }

// IsStringLike reports whether t holds or points to characters: a string, an
// array of char or a pointer to char.
func (t *Type) IsStringLike() bool {
	b := t.Base()
	switch b.Kind {
	case String:
		return true
	case Pointer, Array:
		e := b.Elem.Base()
		return e.Kind == Int && e.Size == 1 && !e.Bool
	}
	return false
}

// pointee is what a pointer points to, or an array's elements are.
func (t *Type) pointee() *Type { return t.Base().Elem }

// signed reports whether values of t are sign-extended.
func (t *Type) signed() bool { return t.Base().Signed }

// sized reports whether pointers to t can be indexed.
func (t *Type) sized() bool { return t.Base().Size > 0 && !t.Base().Incomplete }

// Compatible reports whether two types are the same but for their names:
// structs, unions and enums with tags are compared by tag, since one type may
// be described by several modules.
func Compatible(a, b *Type) bool {
	a, b = a.Base(), b.Base()
	if a == b {
		return true
	}
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case Int:
		return a.Size == b.Size && a.Signed == b.Signed && a.Bool == b.Bool
	case Float:
		return a.Size == b.Size
	case Pointer:
		return Compatible(a.Elem, b.Elem)
	case Array:
		return a.Len == b.Len && Compatible(a.Elem, b.Elem)
	case Struct, Union, Enum:
		return a.Name != "" && a.Name == b.Name
	case Func:
		return compatibleFuncs(a, b)
	case Symbol, Stack:
		return a.Name == b.Name
	}
	return true
}

func compatibleFuncs(a, b *Type) bool {
	if len(a.Params) != len(b.Params) || a.Variadic != b.Variadic || !Compatible(a.Elem, b.Elem) {
		return false
	}
	for i := range a.Params {
		if !Compatible(a.Params[i].Type, b.Params[i].Type) {
			return false
		}
	}
	return true
}

// String is the type as C spells it.
func (t *Type) String() string { return t.declare("") }

// declare spells a declaration of inner with the type t, inside out as C does.
func (t *Type) declare(inner string) string {
	space := func(word string) string {
		if inner == "" {
			return word
		}
		return word + " " + inner
	}
	switch t.Kind {
	case Pointer:
		if k := t.Elem.Kind; k == Array || k == Func {
			return t.Elem.declare("(*" + inner + ")")
		}
		return t.Elem.declare("*" + inner)
	case Array:
		return t.Elem.declare(inner + fmt.Sprintf("[%d]", t.Len))
	case Func:
		return t.Elem.declare(inner + "(" + t.params() + ")")
	case Struct:
		return space("struct " + t.tag())
	case Union:
		return space("union " + t.tag())
	case Enum:
		return space("enum " + t.tag())
	}
	return space(t.Name)
}

func (t *Type) tag() string {
	if t.Name == "" {
		return "{...}"
	}
	return t.Name
}

func (t *Type) params() string {
	var words []string
	for _, p := range t.Params {
		words = append(words, p.Type.String())
	}
	if t.Variadic {
		words = append(words, "...")
	}
	return strings.Join(words, ", ")
}
