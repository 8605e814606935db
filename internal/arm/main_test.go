package arm

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/rlimit"

	"kinst/internal/isa"
	"kinst/internal/kernel"
	"kinst/internal/vm/vmtest"
)

func TestMain(m *testing.M) {
	if os.Getenv(victimVariable) != "" {
		victim()
		return
	}
	flag.Parse()
	if flag.Lookup("test.fuzz").Value.String() != "" {
		os.Exit(m.Run())
	}
	// Before 5.11 the memory of maps counted as locked memory.
	if err := rlimit.RemoveMemlock(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	vmtest.Modules = []string{"dummy", "raid6_pq"}
	vmtest.Main(m)
}

// openKernel returns the kernel, on which the test must leave nothing.
func openKernel(t testing.TB) *kernel.Kernel {
	t.Helper()
	t.Cleanup(func() {
		if left := definitions(t) + armed(t); left != "" {
			t.Errorf("left behind:\n%.1000s", left)
		}
	})
	k, err := kernel.Open()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func openSession(t testing.TB, k *kernel.Kernel) *Session {
	t.Helper()
	s, err := Open(k)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// listing returns the instructions of the only function of that name.
func listing(t testing.TB, k *kernel.Kernel, name string) *kernel.Listing {
	t.Helper()
	functions, err := k.Select(name)
	if err != nil {
		t.Fatal(err)
	}
	l, err := k.Listing(native(t), functions[0])
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func native(t testing.TB) *isa.Arch {
	t.Helper()
	arch, err := isa.Native()
	if err != nil {
		t.Fatal(err)
	}
	return arch
}

// sitesOf returns every instruction of a function that can be probed.
func sitesOf(t testing.TB, k *kernel.Kernel, name string) (sites []Site) {
	t.Helper()
	l := listing(t, k, name)
	f := l.Function
	for i := range l.Insts {
		if l.Unprobeable(i) == "" {
			sites = append(sites, Site{Module: f.Module, Symbol: f.Name, Base: f.Addr, Offset: l.Landing(i) - f.Addr})
		}
	}
	return distinct(sites)
}

func mustArm(t testing.TB, s *Session, sites []Site, progs ...*ebpf.Program) (*Group, []Refusal) {
	t.Helper()
	g, refused, err := s.Arm(context.Background(), progs, sites, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g, refused
}

func definitions(t testing.TB) string { return readFile(t, "/sys/kernel/tracing/kprobe_events") }

// armed returns the lines of the kernel's list of kprobes.
func armed(t testing.TB) string { return readFile(t, "/sys/kernel/debug/kprobes/list") }

func readFile(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// counter counts the executions of each address by one process.
type counter struct {
	prog *ebpf.Program
	hits *ebpf.Map
}

// newCounter makes a counter of any program type whose context begins with
// the registers. Bias is what the kernel adds to the address.
func newCounter(t testing.TB, kind ebpf.ProgramType, bias, pid int) *counter {
	t.Helper()
	arch := native(t)
	pc, _ := arch.Register(arch.PC)
	hits, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Hash, KeySize: 8, ValueSize: 8, MaxEntries: 100000})
	if err != nil {
		t.Fatal(err)
	}
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Type: kind, License: "GPL",
		Instructions: asm.Instructions{
			asm.LoadMem(asm.R6, asm.R1, int16(pc.Offset), asm.DWord),
			asm.FnGetCurrentPidTgid.Call(),
			asm.RSh.Imm(asm.R0, 32),
			asm.JNE.Imm(asm.R0, int32(pid), "out"),
			asm.Sub.Imm(asm.R6, int32(bias)),
			asm.StoreMem(asm.RFP, -8, asm.R6, asm.DWord),
			asm.LoadMapPtr(asm.R1, hits.FD()),
			asm.Mov.Reg(asm.R2, asm.RFP),
			asm.Add.Imm(asm.R2, -8),
			asm.FnMapLookupElem.Call(),
			asm.JNE.Imm(asm.R0, 0, "add"),
			asm.Mov.Imm(asm.R1, 1),
			asm.StoreMem(asm.RFP, -16, asm.R1, asm.DWord),
			asm.LoadMapPtr(asm.R1, hits.FD()),
			asm.Mov.Reg(asm.R2, asm.RFP),
			asm.Add.Imm(asm.R2, -8),
			asm.Mov.Reg(asm.R3, asm.RFP),
			asm.Add.Imm(asm.R3, -16),
			asm.Mov.Imm(asm.R4, 0),
			asm.FnMapUpdateElem.Call(),
			asm.Ja.Label("out"),
			asm.Mov.Imm(asm.R1, 1).WithSymbol("add"),
			asm.StoreXAdd(asm.R0, asm.R1, asm.DWord),
			asm.Mov.Imm(asm.R0, 0).WithSymbol("out"),
			asm.Return(),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { prog.Close(); hits.Close() })
	return &counter{prog, hits}
}

func kprobeCounter(t testing.TB) *counter {
	return newCounter(t, ebpf.Kprobe, native(t).ProbePC, os.Getpid())
}

// at is how often the site was executed.
func (c *counter) at(t testing.TB, addr uint64) (n uint64) {
	t.Helper()
	err := c.hits.Lookup(addr, &n)
	if err != nil && !strings.Contains(err.Error(), "not exist") {
		t.Fatal(err)
	}
	return n
}

// total is how often all sites were executed.
func (c *counter) total(t testing.TB) (sum uint64) {
	t.Helper()
	var addr, n uint64
	all := c.hits.Iterate()
	for all.Next(&addr, &n) {
		sum += n
	}
	if err := all.Err(); err != nil {
		t.Fatal(err)
	}
	return sum
}

// readZeros reads n times from /dev/zero.
func readZeros(t testing.TB, n int) {
	t.Helper()
	f, err := os.Open("/dev/zero")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	buf := make([]byte, 100)
	for range n {
		if _, err := f.Read(buf); err != nil {
			t.Fatal(err)
		}
	}
}

func describe(refused []Refusal) string {
	var b strings.Builder
	for _, r := range refused {
		fmt.Fprintln(&b, r)
	}
	return b.String()
}
