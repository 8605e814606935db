package consume

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"strings"
	"testing"
	"time"

	"kinst/internal/aggregate"
	"kinst/internal/record"
)

var (
	typeChar    = &record.Type{Kind: record.Int, Size: 1, Signed: true, Name: "char"}
	typeUint8   = &record.Type{Kind: record.Int, Size: 1, Name: "uint8_t"}
	typeShort   = &record.Type{Kind: record.Int, Size: 2, Signed: true, Name: "short"}
	typeUint16  = &record.Type{Kind: record.Int, Size: 2, Name: "uint16_t"}
	typeInt     = &record.Type{Kind: record.Int, Size: 4, Signed: true, Name: "int"}
	typeUint32  = &record.Type{Kind: record.Int, Size: 4, Name: "uint32_t"}
	typeInt64   = &record.Type{Kind: record.Int, Size: 8, Signed: true, Name: "int64_t"}
	typeUint64  = &record.Type{Kind: record.Int, Size: 8, Name: "uint64_t"}
	typePointer = &record.Type{Kind: record.Pointer, Size: 8, Name: "struct file *"}
	typeDouble  = &record.Type{Kind: record.Float, Size: 8, Signed: true, Name: "double"}
	typeString  = &record.Type{Kind: record.String, Size: 32, Name: "string"}
	typeComm    = &record.Type{Kind: record.Array, Size: 16, Name: "char [16]", Elem: typeChar, Len: 16}
	typeWide    = &record.Type{Kind: record.Array, Size: 16, Name: "int [4]", Elem: typeInt, Len: 4}
	typeStack   = &record.Type{Kind: record.KernelStack, Size: 5 * 8, Name: "stack"}
	typeUStack  = &record.Type{Kind: record.UserStack, Size: 6 * 8, Name: "ustack"}
	typeState   = &record.Type{Kind: record.Enum, Size: 4, Name: "enum state", Enumerators: []record.Enumerator{
		{Name: "IDLE", Value: 0}, {Name: "BUSY", Value: 1},
	}}
)

func bytesType(n int) *record.Type { return &record.Type{Kind: record.Bytes, Size: n, Name: "bytes"} }

func kindType(kind record.Kind) *record.Type {
	size := 8
	if kind >= record.UserSymbol && kind <= record.UserAddress {
		size = 16
	}
	return &record.Type{Kind: kind, Size: size, Name: "symbol"}
}

// The probes of the tests, by their index.
var testProbes = []record.Probe{
	{ID: 81500, Provider: "kinst", Module: "vmlinux", Function: "vfs_read", Name: "9"},
	{ID: 81501, Provider: "kinst", Module: "vmlinux", Function: "vfs_read", Name: "13"},
	{ID: 7, Provider: "syscall", Module: "vmlinux", Function: "read", Name: "entry"},
	{ID: 8, Provider: "syscall", Module: "vmlinux", Function: "read", Name: "return"},
	{ID: 20, Provider: "fbt", Module: "vmlinux", Function: "vfs_read", Name: "entry"},
	{ID: 21, Provider: "fbt", Module: "vmlinux", Function: "vfs_read", Name: "return"},
	{ID: 1, Provider: "dtrace", Name: "BEGIN"},
}

// values of fields, as bytes.

func num(v int64) []byte { return binary.NativeEndian.AppendUint64(nil, uint64(v)) }
func words(vs ...uint64) (b []byte) {
	for _, v := range vs {
		b = binary.NativeEndian.AppendUint64(b, v)
	}
	return b
}

// A builder builds a clause together with one record of it.
type builder struct {
	clause record.Clause
	data   []byte
}

func newBuilder(index int) *builder {
	return &builder{clause: record.Clause{Index: index, Source: index, Records: true}, data: make([]byte, record.HeaderSize)}
}

// field adds a field whose value begins with these bytes.
func (r *builder) field(t *record.Type, value []byte) record.Field {
	for len(r.data)%8 != 0 {
		r.data = append(r.data, 0)
	}
	f := record.Field{Offset: len(r.data), Type: t}
	r.data = append(r.data, make([]byte, width(t))...)
	copy(r.data[f.Offset:], value)
	return f
}

func (r *builder) action(kind record.ActionKind, fields ...record.Field) *record.Action {
	a := &record.Action{Kind: kind, Number: len(r.clause.Actions) + 1, Fields: fields}
	r.clause.Actions = append(r.clause.Actions, a)
	return a
}

func (r *builder) trace(t *record.Type, value []byte) *builder {
	r.action(record.Trace, r.field(t, value))
	return r
}

func (r *builder) printf(format string, fields ...record.Field) *builder {
	a := r.action(record.Printf, fields...)
	a.Format, a.HasFormat = format, true
	return r
}

func (r *builder) printa(format string, aggs ...int) *builder {
	a := r.action(record.Printa)
	a.Format, a.HasFormat, a.Aggs = format, format != "", aggs
	return r
}

// A session is a Consumer with what it consumes from.
type session struct {
	t      testing.TB
	out    bytes.Buffer
	layout record.Layout
	opts   Options
	store  fakeStore
	c      *Consumer
	time   uint64
}

func newSession(t testing.TB, opts Options) *session {
	s := &session{t: t, opts: opts}
	s.layout.Strsize = 32
	return s
}

// aggregation adds an aggregation. Its values are added by add.
func (s *session) aggregation(agg *record.Agg) int {
	agg.Index, agg.Used = len(s.layout.Aggs), true
	agg.Words = aggregate.Words(agg)
	for i := range agg.Keys {
		f := &agg.Keys[i]
		if !agg.BySite {
			f.Offset = agg.KeySize
			agg.KeySize += (width(f.Type) + 7) &^ 7
		}
	}
	if agg.BySite {
		agg.KeySize = 4
	}
	s.layout.Aggs = append(s.layout.Aggs, agg)
	s.store.tables = append(s.store.tables, aggregate.NewTable(agg, 0))
	return agg.Index
}

func keys(types ...*record.Type) []record.Field {
	fields := make([]record.Field, len(types))
	for i, t := range types {
		fields[i].Type = t
	}
	return fields
}

// add sets the value of a key: the words of its row.
func (s *session) add(agg int, words []int64, key ...[]byte) {
	a := s.layout.Aggs[agg]
	b := make([]byte, a.KeySize)
	for i, f := range a.Keys {
		copy(b[f.Offset:f.Offset+width(f.Type)], key[i])
	}
	copy(s.store.tables[agg].Append(b), words)
}

// open makes the Consumer of clauses.
func (s *session) open(clauses ...*builder) {
	s.t.Helper()
	for _, b := range clauses {
		b.clause.Size = len(b.data)
		s.layout.Clauses = append(s.layout.Clauses, &b.clause)
	}
	s.opts.Aggregations = &s.store
	if s.opts.Message == nil {
		s.opts.Message = func(text string) {
			if err := s.c.Flush(); err != nil {
				s.t.Error(err)
			}
			fmt.Fprintf(&s.out, "kinst: %s\n", text)
		}
	}
	var err error
	if s.c, err = New(&s.out, &s.layout, testProbes, &s.opts); err != nil {
		s.t.Fatal(err)
	}
}

// fire gives the Consumer the record of a clause.
func (s *session) fire(cpu, probe int, b *builder) {
	s.t.Helper()
	s.time += 1000
	data := bytes.Clone(b.data)
	binary.NativeEndian.PutUint64(data[record.TimeOffset:], s.time)
	binary.NativeEndian.PutUint32(data[record.ClauseOffset:], uint32(b.clause.Index))
	binary.NativeEndian.PutUint32(data[record.ProbeOffset:], uint32(probe))
	if err := s.c.Record(cpu, data); err != nil {
		s.t.Fatal(err)
	}
}

func (s *session) output() string {
	s.t.Helper()
	if err := s.c.Flush(); err != nil {
		s.t.Fatal(err)
	}
	return s.out.String()
}

// print gives a consumer one record and returns what it prints.
func print(t testing.TB, opts Options, b *builder) string {
	t.Helper()
	s := newSession(t, opts)
	s.open(b)
	s.fire(1, 0, b)
	return s.output()
}

// fakeStore is an Aggregations whose tables never change by themselves.
type fakeStore struct{ tables []*aggregate.Table }

func (s *fakeStore) Snapshot(agg int) (*aggregate.Table, error) {
	t := aggregate.NewTable(s.tables[agg].Agg, s.tables[agg].Len())
	for row := range s.tables[agg].Len() {
		copy(t.Append(s.tables[agg].Key(row)), s.tables[agg].Value(row))
	}
	return t, nil
}

func (s *fakeStore) Clear(agg int) error {
	for row := range s.tables[agg].Len() {
		clear(s.tables[agg].Value(row))
	}
	return nil
}

func (s *fakeStore) Remove(agg int, keys [][]byte) error {
	s.tables[agg].Filter(func(key []byte, words []int64) bool {
		if keys == nil {
			return false
		}
		for _, k := range keys {
			if bytes.Equal(k, key) {
				return false
			}
		}
		return true
	})
	return nil
}

// fakeSymbols has a function of 256 bytes at each multiple of 256: the kernel's
// fn_10 is at 0x1000, the module ext4's begin at 0x8000, nothing is from 0x10000.
type fakeSymbols struct{}

func (fakeSymbols) KernelSymbol(addr uint64) (module, name string, offset uint64) {
	switch {
	case addr >= 0x10000:
		return "", "", 0
	case addr >= 0xf000:
		return "ext4", "", 0
	case addr >= 0x8000:
		module = "ext4"
	default:
		module = "vmlinux"
	}
	return module, fmt.Sprintf("fn_%x", addr>>8), addr & 0xff
}

func (fakeSymbols) UserSymbol(pid uint32, addr uint64) (module, name string, offset uint64) {
	switch {
	case addr >= 0x10000:
		return "", "", 0
	case addr >= 0xf000:
		return "/usr/lib/libc.so.6", "", 0
	case addr >= 0xe000:
		return "/usr/bin/rust", "_ZN4core3fmt5write17h0123456789abcdefE", addr & 0xff
	}
	return fmt.Sprintf("/usr/bin/p%d", pid), fmt.Sprintf("fn_%x", addr>>8), addr & 0xff
}

const heading = "CPU     ID                    FUNCTION:NAME\n"

// TestManualPage prints the line that kinst(4) of FreeBSD shows.
func TestManualPage(t *testing.T) {
	b := newBuilder(0)
	b.printf("%#x", b.field(typeUint64, num(0x827c56000)))
	want := heading + "  1  81500                       vfs_read:9 0x827c56000\n"
	if got := print(t, Options{}, b); got != want {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}

func TestPrintf(t *testing.T) {
	type arg struct {
		t *record.Type
		v []byte
	}
	i := func(v int64) arg { return arg{typeInt, num(v)} }
	u64 := func(v uint64) arg { return arg{typeUint64, num(int64(v))} }
	s := func(v string) arg { return arg{typeString, []byte(v)} }
	f := func(v float64) arg { return arg{typeDouble, num(int64(math.Float64bits(v)))} }
	probe := func(kind record.Kind, index byte) arg {
		return arg{&record.Type{Kind: kind, Size: 32, Name: "string"}, []byte{index, 0, 0, 0}}
	}
	const day = uint64(1700000000) * 1e9 // 2023-11-14 22:13:20 UTC
	for _, test := range []struct {
		format string
		args   []arg
		want   string
	}{
		{"plain", nil, "plain"},
		{"100%%", nil, "100%"},
		{"%d %i %u", []arg{i(-5), i(-5), i(-5)}, "-5 -5 4294967291"},
		{"%d", []arg{u64(math.MaxUint64)}, "18446744073709551615"},
		{"%d", []arg{{typeUint8, num(200)}}, "200"},
		{"%i", []arg{{typeUint8, num(200)}}, "-56"},
		{"%x", []arg{{typeChar, num(-1)}}, "ff"},
		{"%#x %#X %#o", []arg{i(255), i(255), i(8)}, "0xff 0XFF 010"},
		{"%08x|%-8x|%8x|", []arg{i(0xbeef), i(0xbeef), i(0xbeef)}, "0000beef|beef    |    beef|"},
		{"%?x", []arg{u64(0xbeef)}, "            beef"},
		{"%0?x", []arg{u64(0xbeef)}, "000000000000beef"},
		{"%'d", []arg{i(-1234567)}, "-1,234,567"},
		{"%+d % d", []arg{i(5), i(5)}, "+5  5"},
		{"%*d|%-*d|%*d|", []arg{i(6), i(42), i(6), i(42), i(-6), i(42)}, "    42|42    |42    |"},
		{"%.*s|%*.*s|", []arg{i(2), s("abcdef"), i(4), i(2), s("abcdef")}, "ab|  ab|"},
		{"%hd %hu", []arg{{typeShort, num(-2)}, {typeUint16, num(-2)}}, "-2 65534"},
		{"%ld %lld %lx %llX", []arg{{typeInt64, num(-1)}, {typeInt64, num(-1)}, u64(10), u64(10)}, "-1 -1 a A"},
		{"%c%c", []arg{i('h'), {typeChar, []byte("i")}}, "hi"},
		{"%wc", []arg{i(0x20ac)}, "€"},
		{"%C%C%C", []arg{i('a'), i('\n'), i(1)}, `a\n\001`},
		{"%s|%8s|%-8s|%.2s", []arg{s("one"), s("two"), s("three"), s("four")}, "one|     two|three   |fo"},
		{"%s", []arg{{typeComm, []byte("systemd")}}, "systemd"},
		{"%S", []arg{s("a\tb\"c\\d\x80")}, `a\tb\"c\\d\200`},
		{"%ws", []arg{{typeWide, binary.NativeEndian.AppendUint32(binary.NativeEndian.AppendUint32(nil, 'Ä'), 'b')}}, "Äb"},
		{"%s:%s:%s:%s", []arg{probe(record.ProbeProvider, 0), probe(record.ProbeModule, 0), probe(record.ProbeFunction, 0), probe(record.ProbeName, 0)}, "kinst:vmlinux:vfs_read:9"},
		{"%p", []arg{{typePointer, num(0xbeef)}}, "beef"},
		{"%p", []arg{i(-1)}, "ffffffff"},
		{"%a", []arg{u64(0x1234)}, "vmlinux`fn_12+0x34"},
		{"%a %a %a", []arg{u64(0x1200), u64(0xf123), u64(0x12345)}, "vmlinux`fn_12 ext4`0xf123 0x12345"},
		{"%a %a", []arg{{kindType(record.KernelFunc), num(0x8877)}, {kindType(record.KernelModule), num(0x8877)}}, "ext4`fn_88 ext4"},
		{"%A", []arg{u64(0x1234)}, "p99`fn_12+0x34"},
		{"%A", []arg{{kindType(record.UserAddress), words(7, 0x1234)}}, "p7`fn_12+0x34"},
		{"%A", []arg{{kindType(record.UserSymbol), words(7, 0xe002)}}, "rust`core::fmt::write"},
		{"%k", []arg{{typeStack, words(0x1234, 0x8000, 0)}}, "\nvmlinux`fn_12+0x34\next4`fn_80\n"},
		{"%-4k", []arg{{typeStack, words(0x1234, 0x8000, 0)}}, "\n    vmlinux`fn_12+0x34\n    ext4`fn_80\n"},
		{"%20k", []arg{{typeStack, words(0x1234, 0)}}, "\n  vmlinux`fn_12+0x34\n"},
		{"%k", []arg{{typeUStack, words(7, 0x1234, 0xf123, 0x99999)}}, "\np7`fn_12+0x34\nlibc.so.6`0xf123\n0x99999\n"},
		{"%Y", []arg{u64(day)}, "2023 Nov 14 22:13:20"},
		{"%25Y|", []arg{u64(day)}, "     2023 Nov 14 22:13:20|"},
		{"%y", []arg{u64(1e9 * 86400 * 3)}, "1970 Jan  4 00:00:00"},
		{"%T", []arg{u64(day)}, "Tue, 14 Nov 2023 22:13:20 UTC"},
		{"%f %e %g %G %E", []arg{f(1.5), f(1234.5), f(1e-10), f(1e-10), f(0.5)}, "1.500000 1.234500e+03 1e-10 1E-10 5.000000E-01"},
		{"%8.2f|", []arg{f(3.14159)}, "    3.14|"},
		{"%P", []arg{{typeUint16, num(64999)}}, "64999"},
		{"%I", []arg{s("not an address")}, "not an address"},
	} {
		b := newBuilder(0)
		fields := make([]record.Field, len(test.args))
		for i, a := range test.args {
			fields[i] = b.field(a.t, a.v)
		}
		b.printf(test.format, fields...)
		opts := Options{Quiet: true, Target: 99, Kernel: fakeSymbols{}, User: fakeSymbols{}}
		if got := print(t, opts, b); got != test.want {
			t.Errorf("printf(%q): %q, want %q", test.format, got, test.want)
		}
	}
}

func TestPrintfMistakes(t *testing.T) {
	for _, test := range []struct {
		format string
		t      *record.Type
		want   string
	}{
		{"%d %d", typeInt, "format conversion #2 (%d) has no argument"},
		{"%s", typeInt, "format conversion #1 (%s) takes char [] or string (or use stringof), not int"},
		{"%x", typePointer, "format conversion #1 (%x) takes char, short, int, long, or long long, not struct file *"},
		{"%c", typeInt64, "format conversion #1 (%c) takes char, short, or int, not int64_t"},
		{"%Y", typeInt, "format conversion #1 (%Y) takes int64_t, not int"},
		{"%@d", typeInt, "format conversion #1 is %@, and there is no aggregation"},
		{"%z", typeInt, "format conversion #1 is undefined: %z"},
		{"%llq", typeInt, "format conversion #1 is undefined: %llq"},
		{"a%", typeInt, `format conversion #1 ends before its letter: "%"`},
		{"%5%", typeInt, "format conversion #1 combines %% with flags"},
		{"%1$d", typeInt, "format conversion #1 uses a positional argument (%n$), which D does not have"},
		{"%..d", typeInt, "format conversion #1 has more than one '.'"},
		{"%**d", typeInt, "format conversion #1 has more than one '*' for the width"},
		{"%99999999d", typeInt, "format conversion #1 has a width or precision above 65536"},
	} {
		b := newBuilder(0)
		b.printf(test.format, b.field(test.t, nil))
		b.clause.Size = len(b.data)
		_, err := New(nil, &record.Layout{Clauses: []*record.Clause{&b.clause}}, testProbes, nil)
		if err == nil || !strings.HasSuffix(err.Error(), test.want) {
			t.Errorf("printf(%q) of %s: %v, want %s", test.format, test.t.Name, err, test.want)
		}
	}
}

func TestMain(m *testing.M) {
	setUTC()
	m.Run()
}

// setUTC makes local time the same everywhere.
func setUTC() { time.Local = time.UTC }

// mul64 is the 128-bit product of two numbers that are not negative.
func mul64(a, b int64) (hi, lo int64) {
	h, l := bits.Mul64(uint64(a), uint64(b))
	return int64(h), int64(l)
}
