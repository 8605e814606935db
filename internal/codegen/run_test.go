package codegen

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/ringbuf"

	"kinst/internal/dlang/syntax"
	"kinst/internal/dlang/types"
	"kinst/internal/isa"
	"kinst/internal/provider"
	"kinst/internal/record"
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
func load(t *testing.T, src string) *run {
	t.Helper()
	checked := check(t, src)
	arch, _ := isa.Native()
	p, err := Compile([]*Unit{{Context: beginProbe.Context, Clauses: checked.Clauses, Probes: []*provider.Probe{beginProbe}}}, Options{Arch: arch, Bufsize: 1 << 20})
	if err != nil {
		t.Fatalf("%s\n%v", src, err)
	}
	l, err := p.Load()
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

// one returns the only record, and its clause.
func (r *run) one() ([]byte, *record.Clause) {
	r.t.Helper()
	all := r.records()
	if len(all) != 1 {
		r.t.Fatalf("%d records instead of one", len(all))
	}
	n := binary.NativeEndian.Uint32(all[0][record.ClauseOffset:])
	if n == record.ClauseError {
		r.t.Fatalf("fault: % x", all[0][record.HeaderSize:])
	}
	return all[0], r.Layout.Clauses[n]
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

func TestRun(t *testing.T) {
	for _, src := range []string{
		`BEGIN {exit(3)}`,
		`BEGIN {trace(1 + 2); trace("hello"); trace(execname); printf("%d %s", pid, execname);}`,
		`BEGIN /pid != 0 && execname != "dd"/ {x = 5; x++; this->y = x * 7 / 3; self->z = this->y; trace(self->z); self->z = 0}`,
		`BEGIN {@ = count(); @a[pid, execname] = sum(3); @b = quantize(pid); @c = lquantize(5, 0, 10, 2); @d = avg(pid); @e = stddev(pid); @f = llquantize(pid, 10, 0, 6, 20);}`,
		`BEGIN {a["x", 1] = 3; a["x", 1]++; trace(a["x", 1]); s[1] = execname; trace(s[1]); s[1] = 0;}`,
		`BEGIN {if (pid > 1) {trace(1)} else {trace(2)} trace(curthread->comm); trace(curthread->pid)}`,
		`BEGIN {trace(stack()); trace(ustack(5)); trace(sym((uintptr_t)curthread)); this->s = stringof(curthread->comm); trace(this->s == execname ? "yes" : "no")}`,
	} {
		r := load(t, src)
		r.fire()
		for _, rec := range r.records() {
			t.Logf("%q", rec)
		}
	}
}
