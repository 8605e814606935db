package tracefs

import (
	"strings"

	"github.com/cilium/ebpf/btf"

	"kinst/internal/dlang/types"
)

// Type reads a type as the fields of events have it: the name of a basic type,
// of a typedef or of a struct, and stars behind it. Of a typedef that the
// kernel's types do not have it returns nil.
func Type(spec *btf.Spec, decl string) btf.Type {
	var words []string
	stars := 0
	for _, w := range strings.Fields(strings.ReplaceAll(decl, "*", " * ")) {
		switch w {
		case "*":
			stars++
		case "const", "volatile", "restrict", "__restrict", "__user", "__percpu", "__rcu", "__seg_gs", "__seg_fs":
		default:
			words = append(words, w)
		}
	}
	if len(words) == 0 {
		return nil
	}
	t := baseType(spec, words)
	if t == nil && stars > 0 {
		t = &btf.Void{}
	}
	for range stars {
		t = &btf.Pointer{Target: t}
	}
	return t
}

func baseType(spec *btf.Spec, words []string) btf.Type {
	name := words[len(words)-1]
	switch words[0] {
	case "void":
		return &btf.Void{}
	case "struct":
		if s := named[*btf.Struct](spec, name); s != nil {
			return s
		}
		return &btf.Fwd{Name: name, Kind: btf.FwdStruct}
	case "union":
		if u := named[*btf.Union](spec, name); u != nil {
			return u
		}
		return &btf.Fwd{Name: name, Kind: btf.FwdUnion}
	case "enum":
		if e := named[*btf.Enum](spec, name); e != nil {
			return e
		}
		return &btf.Int{Name: "unsigned int", Size: 4, Encoding: btf.Unsigned}
	}
	if i, ok := basicType(words); ok {
		return i
	}
	return named[*btf.Typedef](spec, name)
}

// named is the kernel's type of that kind and name, or nil. Of several, which
// differ in what they point to, any will do.
func named[T btf.Type](spec *btf.Spec, name string) btf.Type {
	found, err := spec.AnyTypesByName(name)
	if err != nil {
		return nil
	}
	for _, t := range found {
		if t, ok := t.(T); ok {
			return t
		}
	}
	return nil
}

// basicType is an integer type of C, with its words in any order.
func basicType(words []string) (*btf.Int, bool) {
	t := &btf.Int{Name: strings.Join(words, " "), Size: 4, Encoding: btf.Signed}
	for _, w := range words {
		switch w {
		case "char":
			t.Size = 1
		case "short":
			t.Size = 2
		case "long":
			t.Size = 8
		case "unsigned":
			t.Encoding = btf.Unsigned
		case "signed", "int":
		default:
			return nil, false
		}
	}
	return t, true
}

// In is the type of a field as an argument has it.
func (f Field) In(spec *btf.Spec) *types.Type {
	t := f.integer()
	if b := Type(spec, f.Type); b != nil {
		t = types.FromBTF(b)[0]
	}
	if f.ByAddress() {
		return types.PointerTo(t)
	}
	return t
}

// ByAddress says that the field is an array or a struct, of which an argument
// can be no more than the address.
func (f Field) ByAddress() bool {
	switch f.Size {
	case 1, 2, 4, 8:
		return f.Array
	}
	return true
}

// IsText says that the field is an array of characters.
func (f Field) IsText() bool { return f.Array && f.Type == "char" }

// integer is the type of a field whose own type the kernel's types do not
// have.
func (f Field) integer() *types.Type {
	switch {
	case f.Array:
		return types.TypeChar
	case f.Size == 8 && f.Signed:
		return types.TypeLong
	case f.Size == 8:
		return types.TypeUlong
	case f.Signed:
		return types.TypeInt
	}
	return types.TypeUint
}
