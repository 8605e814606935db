package codegen

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"kinst/internal/aggregate"
	"kinst/internal/dlang/syntax"
	"kinst/internal/dlang/types"
	"kinst/internal/isa"
	"kinst/internal/provider"
	"kinst/internal/record"
	"kinst/internal/vm/vmtest"
)

// A run is a program whose clauses all are of BEGIN, loaded.
type run struct {
	*Loaded
	t       *testing.T
	program *Program
	rings   []*ringbuf.Reader
}

// beginProbe is the probe that tests fire.
var beginProbe = &provider.Probe{
	Desc:    provider.Desc{Provider: "dtrace", Name: "BEGIN"},
	Context: &provider.Context{Hook: provider.HookRun},
}

// check parses and checks a program.
func check(t *testing.T, src string) *types.Program {
	t.Helper()
	file, err := syntax.Parse(&syntax.Source{Text: src}, &syntax.Config{})
	if err != nil {
		t.Fatalf("%s\n%v", src, err)
	}
	arch, err := isa.Native()
	if err != nil {
		t.Fatal(err)
	}
	context := &types.Context{Registers: true}
	p, err := types.Check([]*syntax.File{file}, &types.Env{
		Arch:        arch,
		Contexts:    func(*syntax.Clause) []*types.Context { return []*types.Context{context} },
		BTF:         kernelTypes,
		Destructive: true,
	})
	if err != nil {
		for _, e := range err.(syntax.ErrorList) {
			t.Errorf("%v [%s]", e, e.Tag)
		}
		t.Fatal(src)
	}
	return p
}

// load compiles and loads a program.
func load(t *testing.T, src string) *run { return loadWith(t, src, Options{}, 0) }

// loadWith compiles and loads a program, cut as budgets[cut] says.
func loadWith(t *testing.T, src string, opts Options, cut int) *run {
	t.Helper()
	checked := check(t, src)
	return loadUnits(t, src, []*Unit{{Context: beginProbe.Context, Clauses: checked.Clauses, Probes: []*provider.Probe{beginProbe}}}, opts, cut)
}

// loadRaw is loadWith for a program that one on another tracepoint may
// interrupt.
func loadRaw(t *testing.T, src string, opts Options, cut int) *run {
	t.Helper()
	raw := &provider.Probe{Desc: beginProbe.Desc, Context: &provider.Context{Hook: provider.HookRawTracepoint}}
	for n := range arguments {
		raw.Context.Places = append(raw.Context.Places, provider.Word(n))
	}
	var units []*Unit
	for n, text := range []string{src, "BEGIN { }"} {
		units = append(units, &Unit{Context: raw.Context, Clauses: check(t, text).Clauses, Probes: []*provider.Probe{raw}, First: uint32(n)})
	}
	r := loadUnits(t, src, units, opts, cut)
	r.Control.Activate()
	return r
}

func loadUnits(t *testing.T, src string, units []*Unit, opts Options, cut int) *run {
	t.Helper()
	opts.Arch, _ = isa.Native()
	opts.Bufsize = 1 << 20
	p, err := Compile(units, opts)
	if err != nil {
		t.Fatalf("%s\n%v", src, err)
	}
	if cut > 0 {
		p.cuts[0] = cut
		if err := p.compile(); err != nil {
			t.Fatalf("%s\n%v", src, err)
		}
	}
	l, err := p.Load(nil)
	if err != nil {
		t.Fatalf("%s\n%s", src, verdict(p, err))
	}
	r := &run{Loaded: l, t: t, program: p}
	for _, m := range l.Rings {
		reader, err := ringbuf.NewReader(m)
		if err != nil {
			t.Fatal(err)
		}
		reader.SetDeadline(time.Unix(1, 0))
		r.rings = append(r.rings, reader)
	}
	t.Cleanup(r.close)
	return r
}

func (r *run) close() {
	for _, reader := range r.rings {
		reader.Close()
	}
	if err := r.Close(); err != nil {
		r.t.Error(err)
	}
}

// fire runs the program with arguments.
func (r *run) fire(args ...uint64) {
	r.t.Helper()
	var ctx [10]uint64
	copy(ctx[:], args)
	if _, err := r.Programs[0].Run(&ebpf.RunOptions{Context: ctx}); err != nil {
		r.t.Fatal(err)
	}
}

// records returns what the program wrote so far.
func (r *run) records() [][]byte {
	r.t.Helper()
	var all [][]byte
	for _, reader := range r.rings {
		for {
			rec, err := reader.Read()
			if err != nil {
				break
			}
			all = append(all, rec.RawSample)
		}
	}
	return all
}

// verdict is what the verifier said, its last lines, and with -v the code.
func verdict(p *Program, err error) string {
	var v *ebpf.VerifierError
	if !errors.As(err, &v) {
		return err.Error()
	}
	text := fmt.Sprintf("%v\n%s", err, strings.Join(v.Log[max(len(v.Log)-30, 0):], "\n"))
	if testing.Verbose() {
		text = listing(p) + text
	}
	return text
}

func listing(p *Program) string {
	var b strings.Builder
	p.Listing(&b)
	return b.String()
}

// TestPrograms runs the programs of testdata/run: each file is a list of
// programs, a blank line between them, and behind each program lines that
// begin with "= ": what it records, one action's fields after the other, and
// what it aggregates.
func TestPrograms(t *testing.T) {
	pattern := "testdata/run/*.d"
	if vmtest.InGuest() {
		pattern = "testdata/[rg]u*/*.d" // in guest are those that no locked-down kernel takes
	}
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for n, p := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
			name := fmt.Sprintf("%s/%d", strings.TrimSuffix(filepath.Base(file), ".d"), n+1)
			t.Run(name, func(t *testing.T) { runProgram(t, p, loadWith, Options{}, 0) })
			if vmtest.InGuest() {
				continue // the other ways to write it make no difference to the kernel
			}
			t.Run(name+"/bounded", func(t *testing.T) { runProgram(t, p, loadWith, Options{BoundedLoops: true}, 0) })
			t.Run(name+"/cut", func(t *testing.T) { runProgram(t, p, loadWith, Options{}, len(budgets)-1) })
			t.Run(name+"/pooled", func(t *testing.T) { runProgram(t, p, loadRaw, Options{}, len(budgets)-1) })
		}
	}
}

func runProgram(t *testing.T, p string, load func(*testing.T, string, Options, int) *run, opts Options, cut int) {
	var src, want []string
	for _, line := range strings.Split(p, "\n") {
		switch {
		case strings.HasPrefix(line, "= "):
			want = append(want, strings.TrimPrefix(line, "= "))
		case strings.HasPrefix(line, "#"):
		default:
			src = append(src, line)
		}
	}
	r := load(t, strings.Join(src, "\n"), opts, cut)
	r.fire(arguments...)
	got := r.values()
	if got := strings.Join(got, " "); got != strings.Join(want, " ") {
		t.Errorf("%s\nrecords %s\nwant    %s", strings.Join(src, "\n"), got, strings.Join(want, " "))
	}
}

// arguments are arg0, arg1, ... of the programs in testdata/run.
var arguments = []uint64{100, 0xffffffffffffffff, 0x8000000000000000, 1 << 32, 0}

// values describes everything that was recorded and aggregated.
func (r *run) values() []string {
	r.t.Helper()
	var all []string
	for _, rec := range r.records() {
		n := binary.NativeEndian.Uint32(rec[record.ClauseOffset:])
		if n == record.ClauseError {
			word := func(i int) uint32 { return binary.NativeEndian.Uint32(rec[record.HeaderSize+4*i:]) }
			addr := fmt.Sprintf("%#x", binary.NativeEndian.Uint64(rec[record.HeaderSize+16:]))
			if strings.HasPrefix(addr, "0xffff") {
				addr = "kernel" // where exactly changes from run to run
			}
			all = append(all, fmt.Sprintf("fault:%d:%d:%s", word(1), word(2), addr))
			continue
		}
		for _, a := range r.Layout.Clauses[n].Actions {
			all = append(all, r.actionValue(a, rec))
		}
	}
	for _, agg := range r.Layout.Aggs {
		all = append(all, r.rows(agg)...)
	}
	return all
}

func (r *run) actionValue(a *record.Action, rec []byte) string {
	var fields []string
	for _, f := range a.Fields {
		fields = append(fields, fieldValue(f, rec))
	}
	text := strings.Join(fields, ",")
	if a.Kind == record.Trace || a.Kind == record.Printf {
		return text
	}
	name := map[record.ActionKind]string{
		record.Default: "default", record.Exit: "exit", record.Clear: "clear", record.Trunc: "trunc",
		record.Speculate: "speculate", record.Commit: "commit", record.Discard: "discard", record.Tracemem: "tracemem",
		record.Print: "print", record.System: "system", record.Setopt: "setopt", record.Printa: "printa",
		record.Normalize: "normalize", record.Denormalize: "denormalize", record.Freopen: "freopen", record.Ftruncate: "ftruncate",
		record.Stack: "stack", record.UStack: "ustack", record.Symbol: "symbol",
	}[a.Kind]
	return name + "(" + text + ")"
}

// fieldValue describes a field: numbers in decimal, strings in quotes, what
// changes from run to run not at all.
func fieldValue(f record.Field, rec []byte) string {
	b := rec[f.Offset:]
	switch f.Type.Kind {
	case record.Int, record.Enum:
		return number64(b[:f.Type.Size], f.Type.Signed)
	case record.Pointer:
		return fmt.Sprintf("%#x", binary.NativeEndian.Uint64(b))
	case record.String:
		n := bytes.IndexByte(b[:f.Type.Size], 0)
		if n < 0 {
			return "unterminated"
		}
		return strconv.Quote(string(b[:n]))
	case record.ProbeProvider, record.ProbeModule, record.ProbeFunction, record.ProbeName:
		return fmt.Sprintf("probe:%d", binary.NativeEndian.Uint32(b))
	case record.Struct:
		var members []string
		for _, m := range f.Type.Members {
			at := record.Field{Offset: f.Offset + m.BitOffset/8, Type: m.Type}
			if m.Bits != 0 {
				members = append(members, m.Name+"="+bitsValue(b, m))
				continue
			}
			members = append(members, m.Name+"="+fieldValue(at, rec))
		}
		return "{" + strings.Join(members, ",") + "}"
	case record.Array:
		var elems []string
		for i := range f.Type.Len {
			elems = append(elems, fieldValue(record.Field{Offset: f.Offset + i*f.Type.Elem.Size, Type: f.Type.Elem}, rec))
		}
		return "[" + strings.Join(elems, ",") + "]"
	case record.KernelStack, record.UserStack:
		return "stack"
	case record.Bytes:
		return fmt.Sprintf("%x", b[:f.Type.Size])
	}
	return fmt.Sprintf("kind%d", f.Type.Kind)
}

// bitsValue describes a member of a little-endian machine's structure.
func bitsValue(b []byte, m record.Member) string {
	var word [8]byte
	copy(word[:], b[m.BitOffset/8:])
	v := binary.LittleEndian.Uint64(word[:]) << (64 - m.Bits - m.BitOffset%8)
	if m.Type.Signed {
		return strconv.FormatInt(int64(v)>>(64-m.Bits), 10)
	}
	return strconv.FormatUint(v>>(64-m.Bits), 10)
}

func number64(b []byte, signed bool) string {
	var word [8]byte
	copy(word[:], b)
	v := binary.NativeEndian.Uint64(word[:])
	if signed {
		shift := 64 - 8*len(b)
		return strconv.FormatInt(int64(v<<shift)>>shift, 10)
	}
	return strconv.FormatUint(v, 10)
}

// rows describes an aggregation: its keys, sorted, and the words of their
// values that are not 0, summed over the CPUs.
func (r *run) rows(agg *record.Agg) []string {
	m := r.Aggs[agg.Index]
	if m == nil {
		return nil
	}
	var out []string
	key := make([]byte, agg.KeySize)
	var rows [][]byte
	var values any = &rows
	if m.Type() == ebpf.Hash {
		rows = make([][]byte, 1)
		values = &rows[0]
	}
	it := m.Iterate()
	for it.Next(&key, values) {
		sum, of := make([]int64, agg.Words), make([]int64, agg.Words)
		for row := range slices.Chunk(slices.Concat(rows...), 8*agg.Words) {
			for i := range of {
				of[i] = int64(binary.NativeEndian.Uint64(row[8*i:]))
			}
			aggregate.Merge(agg, sum, of)
		}
		if agg.Func == record.Min || agg.Func == record.Max {
			sum[0], _ = aggregate.Number(agg, sum, 1)
		}
		var words []string
		for i, w := range sum {
			if w != 0 {
				words = append(words, fmt.Sprintf("%d:%d", i, w))
			}
		}
		if words == nil {
			continue
		}
		var keys []string
		for _, k := range agg.Keys {
			if agg.BySite {
				keys = append(keys, "site")
				continue
			}
			keys = append(keys, fieldValue(k, key))
		}
		out = append(out, fmt.Sprintf("@%s[%s]=%s", agg.Name, strings.Join(keys, ","), strings.Join(words, ";")))
	}
	if err := it.Err(); err != nil {
		r.t.Error(err)
	}
	sort.Strings(out)
	return out
}

// TestCuts is about programs that the verifier, or the reach of jumps, makes
// the compiler cut.
func TestCuts(t *testing.T) {
	for name, src := range map[string]string{
		"loops": "BEGIN {" + strings.Repeat(`trace(strtoll("0x1f", 16)); `, 20) + "}",
		"long":  strings.Repeat("BEGIN /arg0 == 100/ { @a[execname, pid, arg0 / 3] = sum(arg0 % 7); x = strjoin(execname, probename); trace(x); }\n", 300),
	} {
		t.Run(name, func(t *testing.T) {
			r := loadWith(t, src, Options{BoundedLoops: true}, 0)
			if parts := len(r.program.Programs[0]); parts < 2 {
				t.Errorf("%d parts", parts)
			}
			r.fire(100)
			want := 1
			if name == "long" {
				want = 300
			}
			if got := len(r.records()); got != want {
				t.Errorf("%d records instead of %d", got, want)
			}
		})
	}
}

// TestExtend adds a probe to a program that runs, with both of the clauses for
// which there was one to come, which takes more scratch memory than either alone.
func TestExtend(t *testing.T) {
	const src = `
		BEGIN { n = 40; trace(n); }
		BEGIN { this->a = strjoin(probefunc, "+"); n++; @[probefunc] = count(); trace(this->a); }
		BEGIN { this->b = strjoin("lat", "er"); this->c = strjoin(this->b, "!"); trace(this->c); trace(n); }`
	context := &provider.Context{Hook: provider.HookRawTracepoint}
	probe := func(function string) []*provider.Probe {
		return []*provider.Probe{{Desc: provider.Desc{Provider: "dtrace", Function: function, Name: "BEGIN"}, Context: context}}
	}
	clauses := check(t, src).Clauses
	r := loadUnits(t, src, []*Unit{
		{Context: context, Clauses: clauses[:1], Probes: probe("first")},
		{Context: context, Clauses: clauses[1:2], Probes: probe(""), Later: true},
		{Context: context, Clauses: clauses[2:], Probes: probe(""), Later: true},
	}, Options{}, 0)
	if n := len(r.Programs); n != 1 {
		t.Fatalf("%d programs, want 1", n)
	}
	pieces := r.maps[piecesMap].ValueSize()
	for n, function := range []string{"second", "third"} {
		if err := r.program.Extend(r.Loaded, []*Unit{{Context: context, Clauses: clauses[1:], Probes: probe(function), First: uint32(n + 1)}}); err != nil {
			t.Fatal(err)
		}
	}
	if size := r.maps[piecesMap].ValueSize(); size <= pieces {
		t.Errorf("%d bytes of scratch memory, %d before", size, pieces)
	}
	r.Control.Activate()
	for _, p := range r.Programs {
		// On one CPU, so that the records are in order.
		if _, err := p.Run(&ebpf.RunOptions{Context: [10]uint64{}, Flags: unix.BPF_F_TEST_RUN_ON_CPU}); err != nil {
			t.Fatal(err)
		}
	}
	const want = `40 "second+" "later!" 41 "third+" "later!" 42 @[probe:1]=0:1 @[probe:2]=0:1`
	if got := strings.Join(r.values(), " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestManyCPUs is about machines on which the rings are found through a map.
func TestManyCPUs(t *testing.T) {
	r := loadWith(t, `BEGIN { trace(7); @ = count(); }`, Options{CPUs: fewCPUs + 8}, 0)
	r.fire()
	if got := strings.Join(r.values(), " "); got != "7 @[]=0:1" {
		t.Error(got)
	}
}

// TestLongStrings is about programs that need more scratch memory than the
// kernel keeps for each CPU.
func TestLongStrings(t *testing.T) {
	const src = `BEGIN { s = strjoin(probename, "x"); trace(strjoin(s, strjoin(s, strjoin(s, "y")))); a[s] = 1; trace(a[s]); }`
	for cut := range 2 {
		r := loadWith(t, src, Options{Strsize: 16 << 10}, cut*(len(budgets)-1))
		if size := r.program.Maps[piecesMap].ValueSize; size <= perCPULimit {
			t.Errorf("%d bytes of scratch memory", size)
		}
		r.fire()
		if got := strings.Join(r.values(), " "); got != `"BEGINxBEGINxBEGINxy" 1` {
			t.Error(got)
		}
	}
}

// TestOutside is about the address that a fault tells of an index outside of an
// array.
func TestOutside(t *testing.T) {
	for _, src := range []string{
		`int a[4]; BEGIN { trace((uint64_t)&a[0]); } BEGIN { this->i = arg0; trace(a[this->i]); }`,
		`int a[3][4]; BEGIN { trace((uint64_t)&a[0][0]); } BEGIN { this->i = 2; this->j = arg0 - 8; a[this->i][this->j] = 1; }`,
		`struct s { long x; int a[4]; }; struct s v; BEGIN { trace((uint64_t)&v.x); } BEGIN { this->i = arg0 - 2; trace(v.a[this->i]); }`,
		`this struct { int a[4]; } v; BEGIN { trace((uint64_t)&this->v); } BEGIN { this->i = arg0; trace(this->v.a[this->i]); }`,
		`struct s { int a[4]; }; struct s v[int]; BEGIN { v[1].a[1] = 1; trace((uint64_t)0); } BEGIN { this->i = arg0; trace(v[2].a[this->i]); }`,
	} {
		r := load(t, src)
		r.fire(arguments...)
		var start, fault uint64
		for _, rec := range r.records() {
			if c := binary.NativeEndian.Uint32(rec[record.ClauseOffset:]); c == record.ClauseError {
				fault = binary.NativeEndian.Uint64(rec[record.HeaderSize+16:])
			} else {
				start = binary.NativeEndian.Uint64(rec[record.HeaderSize:])
			}
		}
		if fault != start+400 {
			t.Errorf("%s\nthe fault is at %#x, what is read at %#x", src, fault, start+400)
		}
	}
}

// TestLimits is about programs that are refused for what they need.
func TestLimits(t *testing.T) {
	for src, want := range map[string]string{
		`struct s { char a[1000000], b[1000000]; }; BEGIN { trace(*(struct s *)arg0); }`:                                                                       "set a larger bufsize",
		`struct s { char a[1000000], b[1000000]; }; BEGIN { this->p = *(struct s *)arg0; this->q = this->p; this->r = this->q; }`:                              "make its strings (strsize) or objects smaller",
		`BEGIN { trace(` + strings.Repeat("(arg0 + arg1 / (", 100) + "arg2" + strings.Repeat("))", 100) + `); }`:                                               "split its expressions with this-> variables",
		"struct s { char a[1000000], b[1000000]; };\nBEGIN { trace(1); }\nBEGIN {\ntrace(*(struct s *)arg0); }":                                                "line 3: a firing of the program records 2000",
		"struct s { char a[1000000], b[1000000]; };\nBEGIN {\nthis->p = *(struct s *)arg0; trace(this->p); trace(this->p); }":                                  "line 2: the program needs",
		"BEGIN { trace(1); }\nBEGIN\n{ trace(2);\n trace(" + strings.Repeat("(arg0 + arg1 / (", 100) + "arg2" + strings.Repeat("))", 100) + ");\n trace(3); }": "line 4: a clause needs",
	} {
		arch, _ := isa.Native()
		_, err := Compile([]*Unit{{Context: beginProbe.Context, Clauses: check(t, src).Clauses, Probes: []*provider.Probe{beginProbe}}}, Options{Arch: arch, Bufsize: 1 << 20})
		var limit *LimitError
		if !errors.As(err, &limit) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s\n%v", src, err)
		}
	}
}
