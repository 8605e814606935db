package codegen

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"kinst/internal/dlang/types"
	"kinst/internal/isa"
	"kinst/internal/provider"
)

var update = flag.Bool("update", false, "write the listings in testdata/listing anew")

// kprobes is a unit of so many instructions of one function.
func kprobes(p *types.Program, n int) *Unit {
	context := &provider.Context{Hook: provider.HookKprobe, Lookup: provider.LookupIP, IPBias: 1}
	u := &Unit{Context: context, Clauses: p.Clauses, First: 3}
	for i := range n {
		u.Probes = append(u.Probes, &provider.Probe{
			Desc:    provider.Desc{Provider: "kinst", Module: "vmlinux", Function: "vfs_read", Name: fmt.Sprint(4 * i)},
			Context: context,
			Addr:    0xffffffff81000000 + uint64(4*i),
		})
	}
	return u
}

// TestListings compares the code of one-liners with what it was when somebody
// last looked at it. The kernel must take it too.
func TestListings(t *testing.T) {
	for name, src := range map[string]string{
		"count":     `BEGIN { @[probename] = count(); }`,
		"register":  `BEGIN { printf("%#x", regs[R_RSI]); }`,
		"predicate": `BEGIN /execname == "dd"/ { @[regs[R_RDX]] = count(); }`,
		"thread":    "BEGIN { self->t = timestamp; }\nBEGIN /self->t/ { @ = sum(timestamp - self->t); self->t = 0; }",
		"array":     `BEGIN { a[pid, probefunc]++; }`,
		"member":    `BEGIN { trace(((struct { int a; int b; } *)regs[R_RDI])->b); }`,
	} {
		t.Run(name, func(t *testing.T) {
			arch, err := isa.Lookup("amd64")
			if err != nil {
				t.Fatal(err)
			}
			p, err := Compile([]*Unit{kprobes(check(t, src), 3)}, Options{Arch: arch, CPUs: 2})
			if err != nil {
				t.Fatal(err)
			}
			l, err := p.Load(nil)
			if err != nil {
				t.Fatal(verdict(p, err))
			}
			l.Close()
			got := listing(p)
			path := filepath.Join("testdata/listing", name+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// processorTime is how long this process has run.
func processorTime(t *testing.T) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestManyClauses says how long a script of 100 clauses takes from its text to
// programs in the kernel.
func TestManyClauses(t *testing.T) {
	var src strings.Builder
	for i := range 100 {
		fmt.Fprintf(&src, `BEGIN /pid != %d && execname != "dd%d"/
{
	self->start%d = timestamp;
	this->n = arg0 * %d + self->start%d;
	@by[execname, %d] = quantize(this->n);
	printf("%%d %%s %%d\n", pid, execname, this->n);
	self->start%d = 0;
}
`, i, i, i%5, i, i%5, i, i%5)
	}
	var r *run
	took := time.Hour
	for range 3 { // the machine has other things to do too
		begin := processorTime(t)
		r = load(t, src.String())
		took = min(took, processorTime(t)-begin)
	}
	r.fire(5)
	if got := len(r.records()); got != 100 {
		t.Errorf("%d records of 100 clauses", got)
	}
	t.Logf("%v, %d instructions", took, len(r.program.Programs[0][0].Instructions))
	if limit := 300 * time.Millisecond; took > limit {
		t.Errorf("%v from the text to the kernel; it should be less than %v", took, limit)
	}
}
