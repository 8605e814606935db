package arm

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"kinst/internal/kernel"
)

// counter counts the hits of each address by this process.
type counter struct {
	prog *ebpf.Program
	hits *ebpf.Map
}

func newCounter(t testing.TB) *counter {
	t.Helper()
	hits, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Hash, KeySize: 8, ValueSize: 8, MaxEntries: 100000})
	if err != nil {
		t.Fatal(err)
	}
	const ip = 16 * 8 // struct pt_regs
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Type: ebpf.Kprobe, License: "GPL",
		Instructions: asm.Instructions{
			asm.LoadMem(asm.R6, asm.R1, ip, asm.DWord),
			asm.FnGetCurrentPidTgid.Call(),
			asm.RSh.Imm(asm.R0, 32),
			asm.JNE.Imm(asm.R0, int32(os.Getpid()), "out"),
			asm.Sub.Imm(asm.R6, 1),
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

func (c *counter) at(t testing.TB, addr uint64) (n uint64) {
	if err := c.hits.Lookup(addr, &n); err != nil {
		return 0
	}
	return n
}

func TestArm(t *testing.T) {
	k, err := kernel.Open()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(k)
	if err != nil {
		t.Fatal(err)
	}
	fs, err := k.Select("vfs_read")
	if err != nil {
		t.Fatal(err)
	}
	f := fs[0]
	text, err := k.LiveText(f.Addr, int(f.Extent))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%x", text)
	c := newCounter(t)
	var sites []Site
	for i := range uint64(len(text)) {
		sites = append(sites, Site{f.Module, f.Name, f.Addr, i})
	}
	start := time.Now()
	g, refused, err := s.Arm(context.Background(), []*ebpf.Program{c.prog}, sites, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%v refused %d", time.Since(start), len(refused))
	r, _ := os.Open("/dev/zero")
	b := make([]byte, 100)
	for range 1000 {
		r.Read(b)
	}
	start = time.Now()
	if err := g.Disarm(); err != nil {
		t.Error(err)
	}
	t.Log(time.Since(start))
	for _, s := range sites {
		if n := c.at(t, s.Addr()); n > 0 {
			t.Log(s, n)
		}
	}
	for _, r := range refused[:10] {
		t.Log(r)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	x, _ := os.ReadFile("/sys/kernel/tracing/kprobe_events")
	if len(x) > 0 {
		t.Errorf("%s", x)
	}
}
