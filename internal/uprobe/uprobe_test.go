package uprobe

import (
	"bufio"
	"context"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"kinst/internal/kernel"
)

// backends are both ways, each of which this kernel must have.
var backends = map[string]*backend{"multi": &multi, "traced": &traced}

// target is a running testdata/target.c.
type target struct {
	t      *testing.T
	path   string
	cmd    *exec.Cmd
	stdin  io.Writer
	stdout *bufio.Scanner
	elf    *elf.File
}

func startTarget(t *testing.T) *target {
	t.Helper()
	tg := &target{t: t, path: filepath.Join(t.TempDir(), "target")}
	if out, err := exec.Command("gcc", "-O1", "-pthread", "-o", tg.path, "testdata/target.c").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	var err error
	if tg.elf, err = elf.Open(tg.path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.elf.Close() })
	tg.cmd = exec.Command(tg.path)
	stdin, err := tg.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := tg.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := tg.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tg.stdin, tg.stdout = stdin, bufio.NewScanner(stdout)
	t.Cleanup(func() {
		stdin.Close()
		if err := tg.cmd.Wait(); err != nil {
			t.Errorf("the target ended with %v", err)
		}
	})
	tg.line()
	return tg
}

func (tg *target) line() string {
	tg.t.Helper()
	if !tg.stdout.Scan() {
		tg.t.Fatal("the target has ended")
	}
	return tg.stdout.Text()
}

// do has the target do something, and waits for it.
func (tg *target) do(word string, n int) string {
	tg.t.Helper()
	fmt.Fprintln(tg.stdin, word, n)
	return tg.line()
}

// offset returns where the file has a symbol.
func (tg *target) offset(name string) uint64 {
	tg.t.Helper()
	syms, err := tg.elf.Symbols()
	if err != nil {
		tg.t.Fatal(err)
	}
	for _, s := range syms {
		if s.Name != name {
			continue
		}
		for _, p := range tg.elf.Progs {
			if p.Type == elf.PT_LOAD && s.Value >= p.Vaddr && s.Value < p.Vaddr+p.Filesz {
				return s.Value - p.Vaddr + p.Off
			}
		}
	}
	tg.t.Fatalf("no symbol %s", name)
	return 0
}

func (tg *target) site(name string, plus uint64) Site {
	return Site{File: tg.path, Offset: tg.offset(name) + plus}
}

// counter is a program that counts, and its count.
type counter struct {
	t     *testing.T
	prog  *ebpf.Program
	count *ebpf.Map
}

func newCounter(t *testing.T, attach ebpf.AttachType) *counter {
	t.Helper()
	count, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1})
	if err != nil {
		t.Fatal(err)
	}
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Type: ebpf.Kprobe, AttachType: attach, License: "GPL",
		Instructions: asm.Instructions{
			asm.LoadMapValue(asm.R1, count.FD(), 0),
			asm.Mov.Imm(asm.R2, 1),
			asm.StoreXAdd(asm.R1, asm.R2, asm.DWord),
			asm.Mov.Imm(asm.R0, 0),
			asm.Return(),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { prog.Close(); count.Close() })
	return &counter{t, prog, count}
}

// since returns the count and sets it back.
func (c *counter) since() (n uint64) {
	c.t.Helper()
	if err := c.count.Lookup(uint32(0), &n); err != nil {
		c.t.Fatal(err)
	}
	if err := c.count.Put(uint32(0), uint64(0)); err != nil {
		c.t.Fatal(err)
	}
	return n
}

// each runs a test with each backend.
func each(t *testing.T, f func(t *testing.T, tg *target, c *counter)) {
	old := chosen
	defer func() { chosen = old }()
	for name, b := range backends {
		chosen = func() *backend { return b }
		t.Run(name, func(t *testing.T) { f(t, startTarget(t), newCounter(t, b.attach)) })
	}
}

func armSites(t *testing.T, c *counter, tg *target, sites ...Site) (*Group, []Refusal) {
	t.Helper()
	g, refused, err := Arm(context.Background(), c.prog, tg.cmd.Process.Pid, sites, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g, refused
}

// TestCounts counts the calls of a function by all threads of the process, and
// by nobody else.
func TestCounts(t *testing.T) {
	each(t, func(t *testing.T, tg *target, c *counter) {
		other := startTarget(t)
		g, refused := armSites(t, c, tg, tg.site("work", 0))
		if len(refused) > 0 {
			t.Fatalf("refused: %v", refused)
		}
		for _, test := range []struct {
			word string
			n    int
			want uint64
		}{{"work", 1000, 1000}, {"threads", 2500, 10000}, {"fork", 100, 0}, {"work", 1, 1}} {
			tg.do(test.word, test.n)
			if got := c.since(); got != test.want {
				t.Errorf("%s %d: counted %d, want %d", test.word, test.n, got, test.want)
			}
		}
		other.do("work", 10)
		if got := c.since(); got != 0 {
			t.Errorf("counted %d of another process", got)
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		tg.do("work", 10)
		if got := c.since(); got != 0 {
			t.Errorf("counted %d after Close", got)
		}
	})
}

// TestRefused leaves out what the kernel refuses, and arms the rest.
func TestRefused(t *testing.T) {
	each(t, func(t *testing.T, tg *target, c *counter) {
		const xor, locked, prefixed, ret = 0, 2, 9, 16
		_, refused := armSites(t, c, tg, tg.site("work", 0),
			tg.site("refused", xor), tg.site("refused", locked), tg.site("refused", prefixed), tg.site("refused", ret))
		if len(refused) != 2 || refused[0].Index != 2 || refused[1].Index != 3 {
			t.Errorf("refused %v, want the sites 2 and 3", refused)
		}
		tg.do("refused", 100)
		if got := c.since(); got != 200 {
			t.Errorf("counted %d, want 200", got)
		}
	})
}

// TestSemaphore increments the counter that a program tests.
func TestSemaphore(t *testing.T) {
	each(t, func(t *testing.T, tg *target, c *counter) {
		if got := tg.do("semaphore", 0); got != "0" {
			t.Fatalf("%s before", got)
		}
		site := tg.site("work", 0)
		site.Semaphore = tg.offset("semaphore")
		g, _ := armSites(t, c, tg, site)
		if got := tg.do("semaphore", 0); got != "1" {
			t.Errorf("%s while armed", got)
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		if got := tg.do("semaphore", 0); got != "0" {
			t.Errorf("%s after", got)
		}
	})
}

// TestGone says so if the process has gone.
func TestGone(t *testing.T) {
	each(t, func(t *testing.T, tg *target, c *counter) {
		const nobody = 1<<22 - 1
		_, _, err := Arm(context.Background(), c.prog, nobody, []Site{tg.site("work", 0)}, func(int) {})
		if err == nil || !strings.Contains(err.Error(), "the process has exited") {
			t.Errorf("got %v", err)
		}
	})
}

// TestNothingIsLeft looks for what the traced backend defines.
func TestNothingIsLeft(t *testing.T) {
	dir, err := kernel.TraceFS()
	if err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, tg *target, c *counter) {
		g, _ := armSites(t, c, tg, tg.site("work", 0))
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "uprobe_events"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), tg.path) {
			t.Errorf("left behind:\n%s", text)
		}
	})
}

// TestThreadsAreSeen holds for every kernel from 6.10 on.
func TestThreadsAreSeen(t *testing.T) {
	if !multiSeesThreads() {
		t.Error("a link of uprobes runs its program in the first thread only")
	}
}
