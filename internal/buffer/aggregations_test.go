package buffer

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"kinst/internal/record"
)

// An aggregator is a program that aggregates the number of its run, counted per
// CPU, as sum or min or max would, under a key that is that number modulo keys.
type aggregator struct {
	*ebpf.Program
	agg *record.Agg
	m   *ebpf.Map
}

func newAggregator(t testing.TB, agg *record.Agg, keys uint32) *aggregator {
	t.Helper()
	kind := ebpf.PerCPUHash
	flags := uint32(1) // BPF_F_NO_PREALLOC
	if agg.BySite {
		kind, flags = ebpf.PerCPUArray, 0
	}
	a := &aggregator{agg: agg, m: newMap(t, &ebpf.MapSpec{
		Type: kind, KeySize: uint32(agg.KeySize), ValueSize: uint32(8 * agg.Words), MaxEntries: keys, Flags: flags,
	})}
	runs := newMap(t, &ebpf.MapSpec{Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 8, MaxEntries: 1})

	const key, zero = -8, -32
	lookup := func(m *ebpf.Map) asm.Instructions {
		return asm.Instructions{
			asm.LoadMapPtr(asm.R1, m.FD()),
			asm.Mov.Reg(asm.R2, asm.RFP),
			asm.Add.Imm(asm.R2, key),
			asm.FnMapLookupElem.Call(),
		}
	}
	store := func(src asm.Register) asm.Instruction {
		if agg.KeySize == 4 {
			return asm.StoreMem(asm.RFP, key, src, asm.Word)
		}
		return asm.StoreMem(asm.RFP, key, src, asm.DWord)
	}
	code := asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.StoreMem(asm.RFP, key, asm.R0, asm.DWord)}
	code = append(code, lookup(runs)...)
	code = append(code,
		asm.JEq.Imm(asm.R0, 0, "exit"),
		asm.LoadMem(asm.R6, asm.R0, 0, asm.DWord),
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.Add.Imm(asm.R1, 1),
		asm.StoreMem(asm.R0, 0, asm.R1, asm.DWord),
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.Mod.Imm(asm.R1, int32(keys)),
		store(asm.R1),
	)
	code = append(code, lookup(a.m)...)
	code = append(code, asm.JNE.Imm(asm.R0, 0, "have"), asm.Mov.Imm(asm.R1, 0))
	for i := range agg.Words {
		code = append(code, asm.StoreMem(asm.RFP, int16(zero+8*i), asm.R1, asm.DWord))
	}
	code = append(code,
		asm.LoadMapPtr(asm.R1, a.m.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, key),
		asm.Mov.Reg(asm.R3, asm.RFP),
		asm.Add.Imm(asm.R3, zero),
		asm.Mov.Imm(asm.R4, 1), // BPF_NOEXIST
		asm.FnMapUpdateElem.Call(),
	)
	code = append(code, lookup(a.m)...)
	code = append(code,
		asm.JEq.Imm(asm.R0, 0, "exit"),
		asm.LoadMem(asm.R1, asm.R0, 0, asm.DWord).WithSymbol("have"),
	)
	switch agg.Func {
	case record.Count:
		code = append(code, asm.Add.Imm(asm.R1, 1), asm.StoreMem(asm.R0, 0, asm.R1, asm.DWord))
	case record.Sum:
		code = append(code, asm.Add.Reg(asm.R1, asm.R6), asm.StoreMem(asm.R0, 0, asm.R1, asm.DWord))
	case record.Max:
		code = append(code,
			asm.JGE.Reg(asm.R1, asm.R6, "keep"),
			asm.StoreMem(asm.R0, 0, asm.R6, asm.DWord),
			asm.Mov.Imm(asm.R2, 0).WithSymbol("keep"),
		)
	default:
		t.Fatalf("%v is not tested here", agg.Func)
	}
	if agg.Func != record.Count {
		code = append(code,
			asm.LoadMem(asm.R1, asm.R0, 8, asm.DWord),
			asm.Add.Imm(asm.R1, 1),
			asm.StoreMem(asm.R0, 8, asm.R1, asm.DWord),
		)
	}
	code = append(code, asm.Mov.Imm(asm.R0, 0).WithSymbol("exit"), asm.Return())
	var err error
	a.Program, err = ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.SocketFilter, Instructions: code, License: "GPL"})
	if err != nil {
		t.Fatalf("%+v", err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

func (a *aggregator) run(t testing.TB, n int) {
	t.Helper()
	runExactly(t, a.Program, n)
}

func (a *aggregator) open(t testing.TB) *Aggregations {
	t.Helper()
	s, err := NewAggregations([]*record.Agg{a.agg}, []*ebpf.Map{a.m})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rows prints an aggregation as "key=words", sorted by key.
func rows(t *testing.T, s *Aggregations) string {
	t.Helper()
	table, err := s.Snapshot(0)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for row := range table.Len() {
		key := make([]byte, 8)
		copy(key, table.Key(row))
		lines = append(lines, fmt.Sprintf("%03d=%v", binary.NativeEndian.Uint64(key), table.Value(row)))
	}
	slices.Sort(lines)
	return strings.Join(lines, " ")
}

func expect(t *testing.T, s *Aggregations, what, want string) {
	t.Helper()
	if got := rows(t, s); got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func key(n uint64) []byte { return binary.NativeEndian.AppendUint64(nil, n) }
func site(n uint32) []byte {
	return binary.NativeEndian.AppendUint32(nil, n)
}

// onOneCPU runs the test on one CPU: the programs count their runs per CPU.
func onOneCPU(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	done := false
	onEachCPU(t, func() {
		if !done {
			done = true
			f(t)
		}
	})
}

func TestAggregationsCount(t *testing.T) {
	a := newAggregator(t, &record.Agg{Name: "n", Func: record.Count, KeySize: 8, Words: 1}, 3)
	s := a.open(t)
	expect(t, s, "empty", "")
	a.pinned(t, func() {
		a.run(t, 7)
		expect(t, s, "counted", "000=[3] 001=[2] 002=[2]")
		do(t, s.Clear(0))
		expect(t, s, "cleared", "000=[0] 001=[0] 002=[0]")
		a.run(t, 1)
		expect(t, s, "counted after clear()", "000=[0] 001=[1] 002=[0]")
		do(t, s.Remove(0, [][]byte{key(0)}))
		expect(t, s, "one removed", "001=[1] 002=[0]")
		a.run(t, 2)
		expect(t, s, "counted after it was removed", "000=[1] 001=[1] 002=[1]")
		do(t, s.Remove(0, nil))
		expect(t, s, "all removed", "")
		a.run(t, 1)
		expect(t, s, "counted after all were removed", "001=[1]")
	})
}

// pinned runs f on one CPU, so that the runs are numbered without a break.
func (a *aggregator) pinned(t *testing.T, f func()) {
	t.Helper()
	onOneCPU(t, func(*testing.T) { f() })
}

func TestAggregationsMax(t *testing.T) {
	a := newAggregator(t, &record.Agg{Name: "m", Func: record.Max, KeySize: 8, Words: 2}, 2)
	s := a.open(t)
	a.pinned(t, func() {
		a.run(t, 6)
		expect(t, s, "seen", "000=[4 3] 001=[5 3]")
		do(t, s.Clear(0))
		expect(t, s, "cleared", "000=[0 0] 001=[0 0]")
		a.run(t, 1)
		expect(t, s, "seen after clear()", "000=[6 1] 001=[0 0]")
		do(t, s.Remove(0, [][]byte{key(1)}))
		expect(t, s, "removed", "000=[6 1]")
	})
}

func TestAggregationsBySite(t *testing.T) {
	for _, f := range []record.AggFunc{record.Sum, record.Max} {
		t.Run(f.String(), func(t *testing.T) {
			a := newAggregator(t, &record.Agg{Name: "s", Func: f, KeySize: 4, Words: 2, BySite: true, FirstProbe: 10}, 2)
			s := a.open(t)
			expect(t, s, "untouched", "")
			a.pinned(t, func() {
				a.run(t, 1)
				expect(t, s, "one site", "010=[0 1]")
				a.run(t, 1)
				do(t, s.Clear(0))
				expect(t, s, "cleared", "010=[0 0] 011=[0 0]")
				a.run(t, 1)
				expect(t, s, "seen after clear()", "010=[2 1] 011=[0 0]")
				do(t, s.Remove(0, [][]byte{site(10)}))
				expect(t, s, "one removed", "011=[0 0]")
				a.run(t, 2)
				expect(t, s, "seen again", "010=[4 1] 011=[3 1]")
				do(t, s.Remove(0, nil))
				expect(t, s, "all removed", "")
				a.run(t, 1)
				expect(t, s, "seen after all were removed", "011=[5 1]")
			})
		})
	}
}

// TestAggregationsOfStandIns has a site that is hit as often as two others, and one
// that is as often as the first.
func TestAggregationsOfStandIns(t *testing.T) {
	a := newAggregator(t, &record.Agg{Name: "s", Func: record.Sum, KeySize: 4, Words: 2, BySite: true, FirstProbe: 10,
		StandIns: [][]uint32{{0}, {1}, {0, 1}, {0}}}, 2)
	s := a.open(t)
	expect(t, s, "untouched", "")
	a.pinned(t, func() {
		a.run(t, 1)
		expect(t, s, "one site", "010=[0 1] 012=[0 1] 013=[0 1]")
		a.run(t, 2)
		expect(t, s, "both sites", "010=[2 2] 011=[1 1] 012=[3 3] 013=[2 2]")
		do(t, s.Clear(0))
		a.run(t, 1)
		expect(t, s, "seen after clear()", "010=[0 0] 011=[3 1] 012=[3 1] 013=[0 0]")
		do(t, s.Remove(0, [][]byte{site(11)}))
		expect(t, s, "one removed", "010=[0 0] 012=[3 1] 013=[0 0]")
		a.run(t, 1)
		expect(t, s, "the other one seen", "010=[4 1] 012=[7 2] 013=[4 1]")
	})
}

// TestAggregationsMergeCPUs counts on all CPUs, clears in the middle of it, and
// must not lose one.
func TestAggregationsMergeCPUs(t *testing.T) {
	const perCPU = 300_000
	a := newAggregator(t, &record.Agg{Name: "n", Func: record.Count, KeySize: 8, Words: 1}, 1)
	s := a.open(t)
	cpus := make(chan int, 1024)
	counted := make(chan struct{})
	go func() {
		onEachCPU(t, func() {
			for range perCPU / 1000 {
				a.run(t, 1000)
			}
			cpus <- 1
		})
		close(counted)
	}()
	total, clears := int64(0), 0
	last := func() int64 {
		table, err := s.Snapshot(0)
		do(t, err)
		if table.Len() == 0 {
			return 0
		}
		return table.Value(0)[0]
	}
	for done := false; !done; clears++ {
		select {
		case <-counted:
			done = true
		default:
		}
		before := s.stores[0].past
		do(t, s.Clear(0))
		if now := s.stores[0].past; now.rows.Len() > 0 {
			total = now.rows.Value(0)[0]
			if before.rows != nil && before.rows.Len() > 0 && total < before.rows.Value(0)[0] {
				t.Error("the count went down")
			}
		}
	}
	total += last()
	if want := int64(perCPU * len(cpus)); total != want {
		t.Errorf("counted %d of %d over %d clears", total, want, clears)
	}
}

// TestAggregationsSingly reads as on kernels without batches.
func TestAggregationsSingly(t *testing.T) {
	a := newAggregator(t, &record.Agg{Name: "n", Func: record.Sum, KeySize: 8, Words: 2}, 1000)
	a.run(t, 5000)
	s := a.open(t).stores[0]
	read := func(each func(func([]byte, []int64)) error) map[string]string {
		got := make(map[string]string)
		do(t, each(func(key []byte, values []int64) { got[string(key)] = fmt.Sprint(values) }))
		return got
	}
	batch, single := read(s.eachBatch), read(s.eachSingle)
	if len(batch) != 1000 || len(single) != 1000 {
		t.Fatalf("%d keys in batches, %d one by one", len(batch), len(single))
	}
	for key, values := range batch {
		if single[key] != values {
			t.Errorf("key %x: %s in a batch, %s alone", key, values, single[key])
		}
	}
}

// BenchmarkMillionKeys takes a snapshot of a million keys.
func BenchmarkMillionKeys(b *testing.B) {
	const n = 1_000_000
	a := newAggregator(b, &record.Agg{Name: "n", Func: record.Count, KeySize: 8, Words: 1}, n)
	done := time.Now()
	a.run(b, 2*n) // the runs are numbered per CPU, and may be on two of them
	b.Logf("filled in %v", time.Since(done))
	s := a.open(b)
	for b.Loop() {
		table, err := s.Snapshot(0)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(table.Len()), "keys")
	}
}
