package consume

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kinst/internal/aggregate"
	"kinst/internal/record"
)

var update = flag.Bool("update", false, "rewrite the golden files; check them by hand against the DTrace Guide")

// goldens print what the files of testdata hold, name.golden each.
var goldens = map[string]func(t *testing.T) string{
	"trace":        goldenTrace,
	"trace-quiet":  func(t *testing.T) string { return traceAll(t, Options{Quiet: true}) },
	"rawbytes":     goldenRawBytes,
	"tracemem":     goldenTracemem,
	"stack":        goldenStack,
	"symbols":      goldenSymbols,
	"print":        goldenPrint,
	"flowindent":   goldenFlow,
	"speculation":  goldenSpeculation,
	"messages":     goldenMessages,
	"droptags":     goldenDropTags,
	"count":        goldenCount,
	"aggsort":      goldenSort,
	"functions":    goldenFunctions,
	"printa":       goldenPrinta,
	"joined":       goldenJoined,
	"normalize":    goldenNormalize,
	"trunc":        goldenTrunc,
	"quantize":     goldenQuantize,
	"lquantize":    goldenLquantize,
	"llquantize":   goldenLlquantize,
	"aggzoom":      goldenZoom,
	"agghist":      goldenHist,
	"aggpack":      goldenPack,
	"grouped-keys": goldenGrouped,
	"json":         goldenJSON,
}

func TestGolden(t *testing.T) {
	for name, golden := range goldens {
		t.Run(name, func(t *testing.T) {
			got := golden(t)
			file := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("differs from %s (-want +got):\n%s", file, diff)
			}
		})
	}
}

// traceAll traces a value of each type in a record of its own.
func traceAll(t *testing.T, opts Options) string {
	opts.Kernel, opts.User = fakeSymbols{}, fakeSymbols{}
	s := newSession(t, opts)
	var clauses []*builder
	add := func(typ *record.Type, values ...[]byte) {
		b := newBuilder(len(clauses))
		for _, v := range values {
			b.trace(typ, v)
		}
		clauses = append(clauses, b)
	}
	add(typeChar, num(-1), num(65))
	add(typeUint8, num(255))
	add(typeShort, num(-1), num(12345))
	add(typeUint16, num(65535))
	add(typeInt, num(-1), num(1234567890))
	add(typeUint32, num(-1))
	add(typeInt64, num(-1), num(1234567890123456789))
	add(typeUint64, num(-1))
	add(typePointer, num(0x1000))
	add(typeState, num(1))
	add(typeDouble, num(0x3ff8000000000000))
	add(typeString, []byte("hello"), []byte("world"))
	add(typeString, nil)
	add(typeString, []byte("Grüße"))
	add(typeComm, []byte("systemd-journal"))
	add(bytesType(4), []byte("abcd"))
	add(bytesType(20), []byte("\x00\x01\x02\x03ABC~\x7f\x80\xff"))
	add(&record.Type{Kind: record.ProbeFunction, Size: 32}, []byte{0, 0, 0, 0})
	clauses = append(clauses, newBuilder(len(clauses)))
	s.open(clauses...)
	for i, b := range clauses {
		s.fire(i%2, i%2, b)
	}
	return s.output()
}

func goldenTrace(t *testing.T) string { return traceAll(t, Options{}) }

func goldenRawBytes(t *testing.T) string {
	b := newBuilder(0)
	b.trace(typeString, []byte("hello")).trace(typeComm, []byte("systemd"))
	return print(t, Options{RawBytes: true}, b)
}

func goldenTracemem(t *testing.T) string {
	b := newBuilder(0)
	var data []byte
	for i := range 40 {
		data = append(data, byte(i*7))
	}
	b.action(record.Tracemem, b.field(bytesType(40), data))
	b.action(record.Tracemem, b.field(bytesType(40), data), b.field(typeInt, num(16)))
	b.action(record.Tracemem, b.field(bytesType(16), data), b.field(typeInt, num(99)))
	return print(t, Options{}, b)
}

func goldenStack(t *testing.T) string {
	b := newBuilder(0)
	b.action(record.Stack, b.field(typeStack, words(0x1234, 0x8000, 0xf123, 0x12345)))
	b.action(record.UStack, b.field(typeUStack, words(7, 0x1234, 0xe010, 0xf123, 0x12345, 0)))
	opts := Options{Kernel: fakeSymbols{}, User: fakeSymbols{}}
	text := print(t, opts, b)
	opts.Quiet, opts.StackIndent, opts.NoDemangle = true, 2, true
	return text + print(t, opts, b) + print(t, Options{}, b)
}

func goldenSymbols(t *testing.T) string {
	b := newBuilder(0)
	for kind := record.KernelSymbol; kind <= record.KernelModule; kind++ {
		b.action(record.Symbol, b.field(kindType(kind), num(0x8877)))
	}
	for kind := record.UserSymbol; kind <= record.UserAddress; kind++ {
		b.action(record.Symbol, b.field(kindType(kind), words(7, 0xe010)))
	}
	b.action(record.Symbol, b.field(kindType(record.KernelModule), num(0x12345)))
	return print(t, Options{Kernel: fakeSymbols{}, User: fakeSymbols{}}, b)
}

func goldenPrint(t *testing.T) string {
	list := &record.Type{Kind: record.Struct, Size: 8, Name: "struct item", Members: []record.Member{
		{Name: "kind", Type: typeState},
		{Name: "low", BitOffset: 32, Bits: 3, Type: typeUint32},
		{Name: "high", BitOffset: 35, Bits: 13, Type: typeUint32},
	}}
	choice := &record.Type{Kind: record.Struct, Size: 8, Name: "union {...}", Union: true, Members: []record.Member{
		{Name: "word", Type: typeUint64},
		{Name: "half", Type: typeUint32},
	}}
	whole := &record.Type{Kind: record.Struct, Size: 80, Name: "struct whole", Members: []record.Member{
		{Name: "first", Type: typeInt},
		{Name: "letter", BitOffset: 32, Type: typeChar},
		{Name: "file", BitOffset: 64, Type: typePointer},
		{Name: "comm", BitOffset: 128, Type: typeComm},
		{Name: "numbers", BitOffset: 256, Type: typeWide},
		{Name: "", BitOffset: 384, Type: choice},
		{Name: "items", BitOffset: 448, Type: &record.Type{Kind: record.Array, Size: 16, Len: 2, Elem: list, Name: "struct item [2]"}},
		{Name: "wide", BitOffset: 512, Type: &record.Type{Kind: record.Int, Size: 16, Name: "__int128"}},
	}}
	data := words(0x0000_0041_0000_1497, 0xffff888000001000)
	data = append(data, "kworker/0:1\x00\x00\x00\x00\x00"...)
	data = append(data, words(0x0000_0002_0000_0001, 0x0000_0004_0000_0003)...)
	data = append(data, words(0x1122334455667788, 0x0000_aaaa_0000_0001, 0x0000_0013_0000_0007, 0x10)...)
	b := newBuilder(0)
	b.action(record.Print, b.field(whole, data))
	b.action(record.Print, b.field(typeInt, num(0x510)))
	b.action(record.Print, b.field(typeString, []byte("foo")))
	b.action(record.Print, b.field(typeComm, []byte("bar")))
	b.action(record.Print, b.field(typeState, num(5)))
	return print(t, Options{Quiet: true}, b)
}

func goldenFlow(t *testing.T) string {
	s := newSession(t, Options{FlowIndent: true})
	plain, second := newBuilder(0), newBuilder(1)
	second.trace(typeInt, num(42))
	s.open(plain, second)
	const insn, sysEntry, sysReturn, entry, ret = 0, 2, 3, 4, 5
	s.fire(0, sysEntry, plain)
	s.fire(0, entry, plain)
	s.fire(0, entry, second) // of the same firing: does not indent again
	s.fire(0, insn, plain)
	s.fire(0, ret, plain) // not the last clause of this firing
	s.fire(0, ret, second)
	s.fire(0, entry, plain)
	s.fire(0, ret, plain)
	s.fire(0, sysReturn, second)
	s.fire(1, sysReturn, plain)
	return s.output()
}

func goldenSpeculation(t *testing.T) string {
	s := newSession(t, Options{SpecSize: 99})
	speculate := func(index int, id int64, text string) *builder {
		b := newBuilder(index)
		b.action(record.Speculate, b.field(typeInt, num(id)))
		b.printf(text)
		return b
	}
	one, two, none := speculate(0, 1, "of one"), speculate(1, 2, "of two"), speculate(2, 0, "of none")
	commit, discard, plain := newBuilder(3), newBuilder(4), newBuilder(5)
	commit.action(record.Commit, commit.field(typeInt, num(1)))
	discard.action(record.Discard, discard.field(typeInt, num(2)))
	plain.printf("at once")
	s.open(one, two, none, commit, discard, plain)
	s.fire(0, 0, one)
	s.fire(0, 0, two)
	s.fire(0, 0, none)
	s.fire(1, 0, plain)
	for range 5 {
		s.fire(1, 1, one) // the last two find no room
	}
	s.c.Overflown()
	s.c.Overflown()
	s.fire(0, 1, discard)
	s.fire(0, 1, commit)
	s.fire(0, 1, commit)
	return s.output()
}

func goldenDropTags(t *testing.T) string {
	s := newSession(t, Options{DropTags: true})
	s.open(newBuilder(0))
	for loss := range record.Losses {
		s.c.Lost(2, loss, 1)
	}
	s.c.Missed(2)
	return s.output()
}

func goldenMessages(t *testing.T) string {
	s := newSession(t, Options{SetOption: func(name, value string) error { return os.ErrInvalid }})
	b := newBuilder(0)
	b.action(record.Setopt, b.field(typeString, []byte("bufsize")), b.field(typeString, []byte("x")))
	a := b.action(record.Freopen)
	a.Format, a.HasFormat = "/nonexistent/directory/file", true
	s.open(b)
	s.fire(0, 0, b)
	for loss := range record.Losses {
		s.c.Lost(2, loss, 1)
		s.c.Lost(2, loss, 1024)
	}
	s.c.Lost(0, record.LossRecords, 0)
	s.c.Missed(1)
	s.c.Missed(77)
	for fault := record.FaultUnknown; fault <= record.FaultBadStack; fault++ {
		if err := s.c.Record(0, faultRecord(2, 3, fault, 0xdead)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.c.Record(0, faultRecord(0, 0, record.FaultDivideByZero, 0)); err != nil {
		t.Fatal(err)
	}
	return s.output()
}

// faultRecord is the record of a fault at the first probe.
func faultRecord(clause, action uint32, fault record.Fault, value uint64) []byte {
	return words(0, record.ClauseError, uint64(clause)|uint64(action)<<32, uint64(fault), value)
}

func goldenCount(t *testing.T) string {
	s := newSession(t, Options{})
	names := s.aggregation(&record.Agg{Name: "", Func: record.Count, Keys: keys(typeString, typeInt)})
	total := s.aggregation(&record.Agg{Name: "total", Func: record.Count})
	s.layout.Aggs = append(s.layout.Aggs, &record.Agg{Name: "unused"})
	s.add(names, []int64{3}, []byte("sshd"), num(2))
	s.add(names, []int64{3}, []byte("sshd"), num(1))
	s.add(names, []int64{1000000}, []byte("a rather long name, as names go"), num(-7))
	s.add(names, []int64{1}, []byte("dd"), num(5))
	s.add(total, []int64{42})
	b := newBuilder(0)
	s.open(b)
	s.fire(0, 0, b)
	if err := s.c.PrintAggregations(); err != nil {
		t.Fatal(err)
	}
	return s.output()
}

// printAll prints an aggregation with a printa() without format.
func printAll(s *session, aggs ...int) string {
	s.t.Helper()
	b := newBuilder(0)
	b.printa("", aggs...)
	s.open(b)
	s.fire(0, 0, b)
	return s.output()
}

func goldenSort(t *testing.T) string {
	text := ""
	for _, opts := range []Options{
		{}, {AggSortRev: true}, {AggSortKey: true}, {AggSortKey: true, AggSortKeyPos: 1},
		{AggSortKey: true, AggSortRev: true}, {AggSortKeyPos: 1}, {AggSortKeyPos: 9},
	} {
		opts.Quiet = true
		s := newSession(t, opts)
		agg := s.aggregation(&record.Agg{Func: record.Sum, Signed: true, Keys: keys(typeInt, typeString)})
		s.add(agg, []int64{5, 1}, num(2), []byte("b"))
		s.add(agg, []int64{-5, 1}, num(3), []byte("a"))
		s.add(agg, []int64{5, 1}, num(-1), []byte("c"))
		s.add(agg, []int64{5, 1}, num(3), []byte("b"))
		text += printAll(s, agg)
	}
	return text
}

func goldenFunctions(t *testing.T) string {
	s := newSession(t, Options{Quiet: true})
	aggs := []int{
		s.aggregation(&record.Agg{Name: "count", Func: record.Count}),
		s.aggregation(&record.Agg{Name: "sum", Func: record.Sum, Signed: true}),
		s.aggregation(&record.Agg{Name: "min", Func: record.Min, Signed: true}),
		s.aggregation(&record.Agg{Name: "max", Func: record.Max}),
		s.aggregation(&record.Agg{Name: "avg", Func: record.Avg, Signed: true}),
		s.aggregation(&record.Agg{Name: "stddev", Func: record.Stddev, Signed: true}),
	}
	s.add(aggs[0], []int64{10})
	s.add(aggs[1], []int64{-45, 10})
	s.add(aggs[2], extremeWords(&record.Agg{Func: record.Min, Signed: true}, -9, 10))
	s.add(aggs[3], extremeWords(&record.Agg{Func: record.Max}, -1, 10)) // unsigned
	s.add(aggs[4], []int64{-45, 10})
	// 5000000000, 5000000100, ... 5000000900: the deviation is 287.
	s.add(aggs[5], stddevWords(5000000000, 100, 10))
	if err := func() error { s.open(); return s.c.PrintAggregations() }(); err != nil {
		t.Fatal(err)
	}
	return s.output()
}

// stddevWords are the words of n values from first on, step apart.
func stddevWords(first, step int64, n int) []int64 {
	agg := &record.Agg{Func: record.Stddev, Signed: true}
	words := make([]int64, aggregate.Words(agg))
	for i := range n {
		v := first + step*int64(i)
		hi, lo := mul64(v, v)
		aggregate.Merge(agg, words, []int64{v, 1, int64(uint32(lo)), int64(uint64(lo) >> 32), hi})
	}
	return words
}

// extremeWords are the words of n values of which v is the one to keep.
func extremeWords(agg *record.Agg, v int64, n int) []int64 {
	return []int64{aggregate.Ranked(agg, v), int64(n)}
}

func goldenPrinta(t *testing.T) string {
	s := newSession(t, Options{})
	agg := s.aggregation(&record.Agg{Name: "a", Func: record.Sum, Signed: true, Keys: keys(typeString, typeInt)})
	other := s.aggregation(&record.Agg{Name: "b", Func: record.Count})
	s.add(agg, []int64{300, 1}, []byte("one"), num(1))
	s.add(agg, []int64{-4, 1}, []byte("two"), num(2))
	s.add(other, []int64{9})
	b := newBuilder(0)
	b.printa("%-10s %5d %@8d|%@x\n", agg)
	b.printa("", agg)
	b.printa("no conversion\n", agg)
	b.printa("%@d%% %@'d\n", other)
	s.open(b)
	s.fire(0, 0, b)
	if err := s.c.PrintAggregations(); err != nil { // nothing is left to print
		t.Fatal(err)
	}
	return s.output()
}

func goldenJoined(t *testing.T) string {
	text := ""
	for _, opts := range []Options{{}, {AggSortPos: 1}, {AggSortKey: true}, {AggSortRev: true}} {
		opts.Quiet = true
		s := newSession(t, opts)
		count := s.aggregation(&record.Agg{Name: "n", Func: record.Count, Keys: keys(typeString)})
		sum := s.aggregation(&record.Agg{Name: "s", Func: record.Sum, Signed: true, Keys: keys(typeString)})
		avg := s.aggregation(&record.Agg{Name: "v", Func: record.Avg, Signed: true, Keys: keys(typeString)})
		s.add(count, []int64{3}, []byte("read"))
		s.add(count, []int64{1}, []byte("write"))
		s.add(sum, []int64{512, 2}, []byte("write"))
		s.add(sum, []int64{-1, 2}, []byte("open"))
		s.add(avg, []int64{90, 9}, []byte("close"))
		s.add(avg, []int64{10, 5}, []byte("read"))
		b := newBuilder(0)
		b.printa("", count, sum, avg)
		b.printa("%8s %@4d %@4d %@4d %@4d\n", count, sum, avg)
		s.open(b)
		s.fire(0, 0, b)
		text += s.output()
	}
	return text
}

func goldenNormalize(t *testing.T) string {
	s := newSession(t, Options{Quiet: true})
	sum := s.aggregation(&record.Agg{Name: "s", Func: record.Sum, Signed: true})
	avg := s.aggregation(&record.Agg{Name: "v", Func: record.Avg, Signed: true})
	dev := s.aggregation(&record.Agg{Name: "d", Func: record.Stddev, Signed: true})
	dist := s.aggregation(&record.Agg{Name: "q", Func: record.Quantize, Signed: true})
	s.add(sum, []int64{-1999, 2})
	s.add(avg, []int64{10000, 4})
	s.add(dev, stddevWords(5000000000, 100, 10))
	s.add(dist, quantizeWords(map[int64]int64{1: 1000, 2: 500}))
	b, back := newBuilder(0), newBuilder(1)
	for _, agg := range []int{sum, avg, dev, dist} {
		b.action(record.Normalize, b.field(typeInt, num(10))).Aggs = []int{agg}
		b.printa("", agg)
	}
	back.action(record.Normalize, back.field(typeInt64, num(0))).Aggs = []int{sum}
	back.action(record.Normalize, back.field(typeInt64, num(-3))).Aggs = []int{sum}
	back.printa("", sum)
	back.action(record.Denormalize).Aggs = []int{sum}
	back.printa("", sum)
	back.action(record.Clear).Aggs = []int{sum}
	back.printa("", sum)
	s.open(b, back)
	s.fire(0, 0, b)
	s.fire(0, 0, back)
	return s.output()
}

func goldenTrunc(t *testing.T) string {
	text := ""
	for _, keep := range []int64{2, -2, 9, 0} {
		s := newSession(t, Options{Quiet: true})
		agg := s.aggregation(&record.Agg{Func: record.Count, Keys: keys(typeString)})
		for i, name := range []string{"a", "b", "c", "d", "e"} {
			s.add(agg, []int64{int64(i % 4)}, []byte(name))
		}
		b := newBuilder(0)
		b.action(record.Trunc, b.field(typeInt, num(keep))).Aggs = []int{agg}
		b.printa("", agg)
		s.open(b)
		s.fire(0, 0, b)
		text += s.output()
	}
	return text
}

// quantizeWords are the words of a quantize() of these values, so often each.
func quantizeWords(values map[int64]int64) []int64 {
	w := make([]int64, 1+aggregate.QuantizeBuckets)
	for v, count := range values {
		w[0] += count
		best := aggregate.QuantizeZero
		for i, b := range aggregate.Buckets(&record.Agg{Func: record.Quantize}) {
			if v > 0 && b.Value > 0 && b.Value <= v || v < 0 && b.Value < 0 && b.Value >= v && best == aggregate.QuantizeZero {
				best = i
			}
		}
		w[1+best] += count
	}
	return w
}

func goldenQuantize(t *testing.T) string {
	s := newSession(t, Options{Quiet: true})
	agg := s.aggregation(&record.Agg{Func: record.Quantize, Signed: true, Keys: keys(typeString)})
	s.add(agg, quantizeWords(map[int64]int64{0: 1, 1: 20, 3: 40, 100: 7, 1 << 40: 2}), []byte("positive"))
	s.add(agg, quantizeWords(map[int64]int64{-1: 3, -5: 2, 4: 5}), []byte("both sides"))
	s.add(agg, quantizeWords(nil), []byte("nothing"))
	s.add(agg, quantizeWords(map[int64]int64{0: 9}), []byte("zero"))
	s.add(agg, quantizeWords(map[int64]int64{8: -3, 9: -1, 64: -2}), []byte("negative counts"))
	s.add(agg, quantizeWords(map[int64]int64{8: 3, 64: -2, 16: 1}), []byte("mixed counts"))
	s.add(agg, quantizeWords(map[int64]int64{-1 << 62: 1, 1<<62 + 1: 1}), []byte("extremes"))
	return printAll(s, agg)
}

func goldenLquantize(t *testing.T) string {
	s := newSession(t, Options{Quiet: true})
	agg := s.aggregation(&record.Agg{Func: record.Lquantize, Signed: true, Base: -10, Limit: 30, Step: 10, Levels: 4, Keys: keys(typeInt)})
	s.add(agg, []int64{15, 1, 2, 3, 4, 0, 5}, num(1))
	s.add(agg, []int64{3, 0, 0, 3, 0, 0, 0}, num(2))
	s.add(agg, make([]int64, 7), num(3))
	return printAll(s, agg)
}

func goldenLlquantize(t *testing.T) string {
	s := newSession(t, Options{Quiet: true})
	agg := &record.Agg{Func: record.Llquantize, Signed: true, Factor: 10, Base: 0, Limit: 2, Step: 20}
	index := s.aggregation(agg)
	w := make([]int64, agg.Words)
	for i := range w {
		w[i] = int64(i % 5)
	}
	s.add(index, w)
	return printAll(s, index)
}

func goldenZoom(t *testing.T) string {
	s := newSession(t, Options{Quiet: true, AggZoom: true})
	agg := s.aggregation(&record.Agg{Func: record.Quantize, Signed: true})
	s.add(agg, quantizeWords(map[int64]int64{0: 1, 1: 20, 3: 40, 100: 7, 1 << 10: 2}))
	return printAll(s, agg)
}

func goldenHist(t *testing.T) string {
	text := ""
	for _, opts := range []Options{{}, {AggZoom: true}, {Encoding: "utf8"}} {
		opts.Quiet, opts.AggHist = true, true
		s := newSession(t, opts)
		agg := s.aggregation(&record.Agg{Func: record.Count, Keys: keys(typeString)})
		s.add(agg, []int64{30}, []byte("read"))
		s.add(agg, []int64{9}, []byte("write"))
		s.add(agg, []int64{1}, []byte("open"))
		text += printAll(s, agg)

		s = newSession(t, opts)
		sum := s.aggregation(&record.Agg{Func: record.Sum, Signed: true, Keys: keys(typeInt)})
		s.add(sum, []int64{30, 1}, num(1))
		s.add(sum, []int64{-10, 1}, num(2))
		text += printAll(s, sum)
	}
	return text
}

func goldenPack(t *testing.T) string {
	text := ""
	for _, opts := range []Options{{}, {AggZoom: true}, {Encoding: "ascii"}} {
		opts.Quiet, opts.AggPack = true, true
		s := newSession(t, opts)
		agg := s.aggregation(&record.Agg{Func: record.Quantize, Signed: true, Keys: keys(typeString)})
		s.add(agg, quantizeWords(map[int64]int64{1: 20, 3: 40, 100: 7}), []byte("read"))
		s.add(agg, quantizeWords(map[int64]int64{16: 3, 1024: 1}), []byte("write"))
		text += printAll(s, agg)

		s = newSession(t, opts)
		linear := s.aggregation(&record.Agg{Func: record.Lquantize, Signed: true, Base: 0, Limit: 5, Step: 1, Levels: 5, Keys: keys(typeInt)})
		s.add(linear, []int64{33, 0, 1, 2, 10, 0, 0, 20}, num(1))
		text += printAll(s, linear)
	}
	return text
}

// goldenGrouped has keys that differ only in what is not shown.
func goldenGrouped(t *testing.T) string {
	s := newSession(t, Options{Quiet: true, Kernel: fakeSymbols{}, User: fakeSymbols{}})
	symbols := s.aggregation(&record.Agg{Name: "f", Func: record.Count, Keys: keys(kindType(record.KernelFunc))})
	modules := s.aggregation(&record.Agg{Name: "m", Func: record.Count, Keys: keys(kindType(record.KernelModule))})
	users := s.aggregation(&record.Agg{Name: "u", Func: record.Max, Signed: true, Keys: keys(kindType(record.UserSymbol))})
	objects := s.aggregation(&record.Agg{Name: "o", Func: record.Count, Keys: keys(kindType(record.UserModule))})
	addresses := s.aggregation(&record.Agg{Name: "a", Func: record.Count, Keys: keys(kindType(record.UserAddress))})
	functions := s.aggregation(&record.Agg{Name: "p", Func: record.Count, Keys: keys(kindType(record.ProbeFunction), typeInt)})
	sites := s.aggregation(&record.Agg{Name: "s", Func: record.Count, BySite: true,
		Keys: keys(kindType(record.ProbeFunction), kindType(record.ProbeName))})
	for i, addr := range []uint64{0x1001, 0x1002, 0x1101, 0x8001, 0x8f01, 0x12345} {
		n := []int64{int64(1) << i, 1}
		s.add(symbols, n[:1], num(int64(addr)))
		s.add(modules, n[:1], num(int64(addr)))
		s.add(users, extremeWords(&record.Agg{Func: record.Max, Signed: true}, n[0], 1), words(1+uint64(i%2), addr))
		s.add(objects, n[:1], words(1+uint64(i%2), addr))
		s.add(addresses, n[:1], words(1, addr))
	}
	for i := range testProbes {
		s.add(functions, []int64{int64(1) << i}, []byte{byte(i), 0, 0, 0}, num(0))
		s.add(sites, []int64{int64(1) << i}, []byte{byte(i), 0, 0, 0}, []byte{byte(i), 0, 0, 0})
	}
	s.open()
	if err := s.c.PrintAggregations(); err != nil {
		t.Fatal(err)
	}
	return s.output()
}

func goldenJSON(t *testing.T) string {
	s := newSession(t, Options{JSON: true, Kernel: fakeSymbols{}, User: fakeSymbols{}})
	count := s.aggregation(&record.Agg{Name: "n", Func: record.Count, Keys: keys(typeString, typeInt)})
	dist := s.aggregation(&record.Agg{Name: "", Func: record.Lquantize, Signed: true, Base: 0, Limit: 30, Step: 10, Levels: 3})
	sum := s.aggregation(&record.Agg{Name: "s", Func: record.Sum, Signed: true, Keys: keys(typeString, typeInt)})
	s.add(count, []int64{3}, []byte("sshd"), num(-2))
	s.add(sum, []int64{-3, 1}, []byte("sshd"), num(-2))
	s.add(dist, []int64{9, 1, 2, 0, 4, 2})
	item := &record.Type{Kind: record.Struct, Size: 8, Name: "struct item", Members: []record.Member{
		{Name: "kind", Type: typeState},
		{Name: "low", BitOffset: 32, Bits: 3, Type: typeUint32},
	}}
	b := newBuilder(0)
	b.trace(typeInt, num(-1)).trace(typeUint64, num(-1)).trace(typePointer, num(0x1000)).trace(typeDouble, num(0x3ff8000000000000))
	b.trace(typeString, []byte("a\"b\n<ü>")).trace(typeComm, []byte("dd")).trace(bytesType(3), []byte{1, 2, 255}).trace(typeWide, words(1))
	b.action(record.Stack, b.field(typeStack, words(0x1234, 0x8000)))
	b.action(record.UStack, b.field(typeUStack, words(7, 0x1234)))
	b.action(record.Symbol, b.field(kindType(record.KernelFunc), num(0x1234)))
	b.action(record.Print, b.field(item, words(0x0000_0005_0000_0001)))
	b.action(record.Tracemem, b.field(bytesType(3), []byte{1, 2, 3}))
	b.printf("%d %s", b.field(typeInt, num(5)), b.field(typeString, []byte("x")))
	b.printa("", count)
	b.printa("", count, sum)
	a := b.action(record.System)
	a.Format, a.HasFormat = `echo '"one"'; echo two; exec printf three`, true
	b.action(record.Normalize, b.field(typeInt, num(2))).Aggs = []int{dist}
	b.action(record.Exit, b.field(typeInt, num(3)))
	empty := newBuilder(1)
	empty.action(record.Default)
	s.open(b, empty)
	s.fire(0, 0, b)
	s.fire(1, 6, empty)
	s.c.Lost(1, record.LossRecords, 17)
	s.c.Lost(1, record.LossVariables, 1)
	s.c.Missed(5)
	if err := s.c.Record(0, faultRecord(0, 1, record.FaultBadAddress, 16)); err != nil {
		t.Fatal(err)
	}
	if err := s.c.PrintAggregations(); err != nil {
		t.Fatal(err)
	}
	if status, ok := s.c.Exited(); status != 3 || !ok {
		t.Errorf("exit status %d, %v", status, ok)
	}
	return s.output()
}
