package types

import (
	"errors"
	"strings"

	"github.com/cilium/ebpf/btf"

	"kinst/internal/dlang/syntax"
)

// kernelTypes is the types of the running kernel, as far as the program has
// named them.
type kernelTypes struct {
	load    func(module string) (*btf.Spec, error)
	modules map[string]*btf.Spec
	failed  error
	known   map[btf.Type]*Type
}

// why says why a kernel type was not found.
func (k *kernelTypes) why(what string) string {
	if k.failed != nil {
		return k.failed.Error()
	}
	return "no such " + what
}

// spec loads the types of a module, once.
func (k *kernelTypes) spec(module string) (*btf.Spec, error) {
	if module == "vmlinux" {
		module = ""
	}
	if s := k.modules[module]; s != nil {
		return s, nil
	}
	if k.load == nil {
		return nil, errors.New("this kernel has no types (BTF)")
	}
	s, err := k.load(module)
	if err != nil {
		return nil, err
	}
	if k.modules == nil {
		k.modules = make(map[string]*btf.Spec)
		k.known = make(map[btf.Type]*Type)
	}
	k.modules[module] = s
	return s, nil
}

// kernelType finds the kernel's struct, union, enum or typedef of that name,
// or nil.
func (c *checker) kernelType(at syntax.Pos, module string, kind Kind, name string) *Type {
	spec, err := c.kernel.spec(module)
	if err != nil {
		c.kernel.failed = err
		if module != "" {
			c.fail(at, "D_TYPE_ERR", "failed to resolve type %s`%s: %v", module, name, err)
		}
		return nil
	}
	found, err := spec.AnyTypesByName(name)
	if err != nil {
		return nil
	}
	for _, t := range found {
		if btfKind(t) == kind {
			return c.kernel.convert(t)
		}
	}
	if kind == Typedef { // `int` of a module and the like
		for _, t := range found {
			if i, ok := t.(*btf.Int); ok {
				return c.kernel.convert(i)
			}
		}
	}
	return nil
}

func btfKind(t btf.Type) Kind {
	switch t.(type) {
	case *btf.Struct:
		return Struct
	case *btf.Union:
		return Union
	case *btf.Enum:
		return Enum
	case *btf.Typedef:
		return Typedef
	case *btf.Int:
		return Int
	}
	return Void
}

// convert gives the kernel's type as one of ours. Members are converted when
// somebody asks for them.
func (k *kernelTypes) convert(t btf.Type) *Type {
	if known := k.known[t]; known != nil {
		return known
	}
	switch b := t.(type) {
	case *btf.Int:
		return k.keep(t, intType(b))
	case *btf.Float:
		return k.keep(t, &Type{Kind: Float, Name: b.Name, Size: int(b.Size)})
	case *btf.Pointer:
		p := k.keep(t, &Type{Kind: Pointer, Size: 8})
		p.Elem = k.convert(b.Target)
		return p
	case *btf.Array:
		return k.keep(t, ArrayOf(k.convert(b.Type), int(b.Nelems)))
	case *btf.Struct:
		return k.structType(t, Struct, b.Name, b.Size, b.Members)
	case *btf.Union:
		return k.structType(t, Union, b.Name, b.Size, b.Members)
	case *btf.Enum:
		e := k.keep(t, &Type{Kind: Enum, Name: b.Name, Size: int(b.Size), Signed: b.Signed})
		for _, v := range b.Values {
			value := int64(v.Value)
			if !b.Signed && b.Size == 4 {
				value = int64(uint32(v.Value))
			}
			e.Enumerators = append(e.Enumerators, Enumerator{v.Name, value})
		}
		return e
	case *btf.Fwd:
		kind := Struct
		if b.Kind == btf.FwdUnion {
			kind = Union
		}
		return k.keep(t, &Type{Kind: kind, Name: b.Name, Incomplete: true})
	case *btf.Typedef:
		d := k.keep(t, &Type{Kind: Typedef, Name: b.Name})
		d.Elem = k.convert(b.Type)
		d.Size = d.Elem.Size
		return d
	case *btf.Const:
		return k.convert(b.Type)
	case *btf.Volatile:
		return k.convert(b.Type)
	case *btf.Restrict:
		return k.convert(b.Type)
	case *btf.TypeTag:
		return k.convert(b.Type)
	case *btf.FuncProto:
		return k.funcType(t, b)
	}
	return TypeVoid
}

func (k *kernelTypes) keep(b btf.Type, t *Type) *Type {
	k.known[b] = t
	return t
}

func intType(b *btf.Int) *Type {
	if t := basic[b.Name]; t != nil && t.Size == int(b.Size) {
		return t
	}
	if t := arithmeticType(strings.Fields(b.Name)); t != nil && t.Size == int(b.Size) {
		return t
	}
	return &Type{
		Kind: Int, Name: b.Name, Size: int(b.Size),
		Signed: b.Encoding&btf.Signed != 0, Bool: b.Encoding&btf.Bool != 0,
	}
}

func (k *kernelTypes) structType(t btf.Type, kind Kind, name string, size uint32, members []btf.Member) *Type {
	return k.keep(t, &Type{
		Kind: kind, Name: name, Size: int(size),
		resolve: func() []Member {
			out := make([]Member, 0, len(members))
			for _, m := range members {
				out = append(out, Member{
					Name: m.Name, Type: k.convert(m.Type), Offset: int(m.Offset), Bits: int(m.BitfieldSize),
				})
			}
			return out
		},
	})
}

func (k *kernelTypes) funcType(t btf.Type, b *btf.FuncProto) *Type {
	f := k.keep(t, &Type{Kind: Func})
	f.Elem = k.convert(b.Return)
	for _, p := range b.Params {
		if _, void := p.Type.(*btf.Void); void {
			f.Variadic = true
			continue
		}
		f.Params = append(f.Params, Arg{Name: p.Name, Type: k.convert(p.Type)})
	}
	return f
}

// complete finds the definition of a struct or union that was only named where
// it was met.
func (c *checker) complete(at syntax.Pos, t *Type) *Type {
	b := t.Base()
	if !b.Incomplete {
		return b
	}
	if own := c.tags[kindWord(b.Kind)+" "+b.Name]; own != nil && !own.Incomplete {
		return own
	}
	if found := c.kernelType(at, "", b.Kind, b.Name); found != nil {
		return found
	}
	return b
}

// enumerator finds an enumerator of the kernel's own enums.
func (c *checker) enumerator(name string) (*Type, int64, bool) {
	spec, err := c.kernel.spec("")
	if err != nil {
		return nil, 0, false
	}
	for t, err := range spec.All() {
		if err != nil {
			break
		}
		e, ok := t.(*btf.Enum)
		if !ok {
			continue
		}
		for _, v := range e.Values {
			if v.Name == name {
				converted := c.kernel.convert(e)
				value, _ := converted.Enumerator(name)
				return converted, value, true
			}
		}
	}
	return nil, 0, false
}

// FromBTF converts types of a kernel's BTF, for the arguments of probes.
func FromBTF(list ...btf.Type) []*Type {
	k := kernelTypes{known: make(map[btf.Type]*Type)}
	out := make([]*Type, len(list))
	for i, t := range list {
		out[i] = k.convert(t)
	}
	return out
}

// symbolType is the type of a kernel symbol: of a function, or of a variable
// that BTF describes (per-CPU ones, on most kernels). It is nil if it is not
// known.
func (c *checker) symbolType(module, name string) *Type {
	spec, err := c.kernel.spec(module)
	if err != nil {
		return nil
	}
	found, err := spec.AnyTypesByName(name)
	if err != nil {
		return nil
	}
	for _, t := range found {
		switch t := t.(type) {
		case *btf.Func:
			return c.kernel.convert(t.Type)
		case *btf.Var:
			return c.kernel.convert(t.Type)
		}
	}
	return nil
}
