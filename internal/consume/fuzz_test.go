package consume

import (
	"encoding/binary"
	"io"
	"testing"

	"kinst/internal/record"
)

// everything is a clause with every kind of action and field.
func everything() *builder {
	b := newBuilder(0)
	types := []*record.Type{
		typeChar, typeUint8, typeShort, typeUint16, typeInt, typeUint32, typeInt64, typeUint64, typePointer,
		typeState, typeDouble, typeString, typeComm, typeWide, bytesType(7), typeStack, typeUStack,
	}
	for kind := record.ProbeProvider; kind <= record.ProbeName; kind++ {
		types = append(types, &record.Type{Kind: kind, Size: 32, Name: "string"})
	}
	for kind := record.KernelSymbol; kind <= record.UserAddress; kind++ {
		types = append(types, kindType(kind))
	}
	whole := &record.Type{Kind: record.Struct, Name: "struct whole"}
	for i, t := range types {
		whole.Members = append(whole.Members, record.Member{Name: "m", BitOffset: 8 * whole.Size, Type: t})
		whole.Members = append(whole.Members, record.Member{Name: "bits", BitOffset: 3 + 8*whole.Size, Bits: 1 + i*3, Type: typeInt})
		whole.Size += t.Size
	}
	types = append(types, whole, &record.Type{Kind: record.Array, Size: 2 * whole.Size, Len: 3, Elem: whole, Name: "struct whole [3]"})
	for _, t := range types {
		b.action(record.Trace, b.field(t, nil))
		b.action(record.Print, b.field(t, nil))
		b.action(record.Tracemem, b.field(t, nil), b.field(typeInt, nil))
	}
	i, l, s := b.field(typeInt, nil), b.field(typeInt64, nil), b.field(typeString, nil)
	b.printf("%*.*d%*.*x%c%C%i%Y%T%a%A%S%.*s%wc%ws%'d%P", i, i, i, i, i, l, i, i, i, l, l, l, l, s, i, s, i,
		b.field(typeWide, nil), l, b.field(typeUint16, nil))
	b.printf("%k%-9k", b.field(typeStack, nil), b.field(typeUStack, nil))
	b.action(record.Exit, i)
	return b
}

// FuzzRecord gives the Consumer whatever bytes: it may complain, and must not
// panic.
func FuzzRecord(f *testing.F) {
	b := everything()
	f.Add(b.data, uint8(0))
	f.Add(b.data[:record.HeaderSize], uint8(1))
	f.Add(b.data[:3], uint8(2))
	f.Add(faultRecord(1, 2, 3, 4), uint8(3))
	f.Add(faultRecord(1, 2, 3, 4)[:record.ErrorSize-1], uint8(4))
	odd := make([]byte, len(b.data))
	for i := range odd {
		odd[i] = 0xff
	}
	binary.NativeEndian.PutUint64(odd[record.ClauseOffset:], 0)
	f.Add(odd, uint8(5))
	f.Fuzz(func(t *testing.T, data []byte, flags uint8) {
		b := everything()
		b.clause.Size = len(b.data)
		opts := &Options{
			Quiet: flags&1 != 0, JSON: flags&2 != 0, FlowIndent: flags&4 != 0, RawBytes: flags&8 != 0,
			Kernel: fakeSymbols{}, User: fakeSymbols{}, Message: func(string) {},
		}
		c, err := New(io.Discard, &record.Layout{Clauses: []*record.Clause{&b.clause}}, testProbes, opts)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) >= record.HeaderSize && flags&16 != 0 { // get past the header
			binary.NativeEndian.PutUint32(data[record.ClauseOffset:], 0)
			binary.NativeEndian.PutUint32(data[record.ProbeOffset:], uint32(data[0])%uint32(len(testProbes)))
			data = append(data, make([]byte, max(0, len(b.data)-len(data)))...)
		}
		if err := c.Record(0, data); err == nil && len(data) < record.HeaderSize {
			t.Error("a record without a header was accepted")
		}
		if err := c.Flush(); err != nil {
			t.Error(err)
		}
	})
}

// FuzzAggregation prints aggregations with whatever keys and values.
func FuzzAggregation(f *testing.F) {
	f.Add([]byte("keys and values, in one"), uint8(0), uint8(0))
	f.Add([]byte{}, uint8(5), uint8(255))
	f.Fuzz(func(t *testing.T, data []byte, fn, flags uint8) {
		s := newSession(t, Options{
			JSON: flags&1 != 0, AggPack: flags&2 != 0, AggHist: flags&4 != 0, AggZoom: flags&8 != 0,
			AggSortKey: flags&16 != 0, AggSortRev: flags&32 != 0, Kernel: fakeSymbols{}, User: fakeSymbols{},
		})
		agg := &record.Agg{
			Func: record.AggFunc(fn % 9), Signed: flags&64 != 0, Base: 1, Limit: 3, Step: 20, Levels: 4, Factor: 10,
			Keys: keys(typeString, typeInt, typeComm, kindType(record.ProbeName), kindType(record.KernelFunc),
				kindType(record.UserModule), typeState, typeStack),
		}
		if agg.Func == record.Lquantize {
			agg.Step = 1
		}
		index := s.aggregation(agg)
		other := s.aggregation(&record.Agg{Func: record.Count, Keys: append([]record.Field(nil), agg.Keys...)})
		row := agg.KeySize + 8*agg.Words
		table := s.store.tables[index]
		for n := 0; n < 3; n++ {
			raw := make([]byte, row)
			data = data[copy(raw, data):]
			words := table.Append(raw)
			for i := range words {
				words[i] = int64(binary.NativeEndian.Uint64(raw[agg.KeySize+8*i:]))
			}
			copy(s.store.tables[other].Append(raw), []int64{int64(n)})
		}
		b := newBuilder(0)
		b.printa("", index)
		b.printa("%s %d %@d %@d\n", index, other)
		b.action(record.Trunc, b.field(typeInt64, num(int64(int8(fn))))).Aggs = []int{index}
		b.printa("", index, other)
		s.open(b)
		s.fire(0, 0, b)
		_ = s.output()
	})
}
