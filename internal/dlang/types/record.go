package types

import "kinst/internal/record"

// Record describes the type to the consumer. Types that contain pointers to
// themselves end at the pointer.
func (t *Type) Record() *record.Type {
	b := t.Base()
	r := &record.Type{Kind: recordKind[b.Kind], Size: b.Size, Signed: b.Signed, Name: t.String()}
	switch b.Kind {
	case Pointer:
		// What it points to is not in the record.
	case Array:
		r.Elem, r.Len = b.Elem.Record(), b.Len
	case Struct, Union:
		r.Union = b.Kind == Union
		for _, m := range b.Members() {
			r.Members = append(r.Members, record.Member{
				Name: m.Name, BitOffset: m.Offset, Bits: m.Bits, Type: m.Type.Record(),
			})
		}
	case Enum:
		for _, e := range b.Enumerators {
			r.Enumerators = append(r.Enumerators, record.Enumerator{Name: e.Name, Value: e.Value})
		}
	case Stack:
		if b.Name == userStack {
			r.Kind = record.UserStack
		}
	case Symbol:
		r.Kind = symbolKinds[b.Name]
	}
	return r
}

var recordKind = [...]record.Kind{
	Void: record.Bytes, Int: record.Int, Float: record.Float, Pointer: record.Pointer,
	Array: record.Array, Struct: record.Struct, Union: record.Struct, Enum: record.Enum,
	Func: record.Pointer, String: record.String, Dynamic: record.Bytes,
	Stack: record.KernelStack, Symbol: record.KernelSymbol,
}

// symbolKinds is the functions that make a Symbol, which is also the name of
// its type, and what their address is.
var symbolKinds = map[string]record.Kind{
	"sym": record.KernelSymbol, "func": record.KernelFunc, "mod": record.KernelModule,
	"usym": record.UserSymbol, "ufunc": record.UserFunc, "umod": record.UserModule,
	"uaddr": record.UserAddress,
}
