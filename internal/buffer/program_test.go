package buffer

import (
	"errors"
	"math"
	"runtime"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"kinst/internal/record"
)

// programRecord is the size of the records that the test program writes: the
// header, and the record's number on its CPU.
const programRecord = record.HeaderSize + 8

// A program fills rings as compiled clauses do, driven by Program.Run.
type program struct {
	*ebpf.Program
	rings  []*ebpf.Map
	losses *ebpf.Map
}

// newProgram loads a program that writes a record to the ring of its CPU, and
// counts a loss where there is no room.
func newProgram(t testing.TB, ringSize uint32) *program {
	t.Helper()
	cpus, err := ebpf.PossibleCPU()
	if err != nil {
		t.Fatal(err)
	}
	p := &program{}
	inner := &ebpf.MapSpec{Type: ebpf.RingBuf, MaxEntries: ringSize}
	outer := newMap(t, &ebpf.MapSpec{
		Type: ebpf.ArrayOfMaps, KeySize: 4, ValueSize: 4, MaxEntries: uint32(cpus), InnerMap: inner,
	})
	for cpu := range cpus {
		ring := newMap(t, inner)
		if err := outer.Put(uint32(cpu), ring); err != nil {
			t.Fatal(err)
		}
		p.rings = append(p.rings, ring)
	}
	p.losses = newMap(t, &ebpf.MapSpec{Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 8, MaxEntries: uint32(record.Losses)})
	numbers := newMap(t, &ebpf.MapSpec{Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 8, MaxEntries: 1})

	const at = -programRecord // the record on the stack
	const key = at - 8
	code := asm.Instructions{
		asm.FnKtimeGetNs.Call(),
		asm.StoreMem(asm.RFP, at+record.TimeOffset, asm.R0, asm.DWord),
		asm.Mov.Imm(asm.R0, 0),
		asm.StoreMem(asm.RFP, at+record.ClauseOffset, asm.R0, asm.DWord),
		asm.StoreMem(asm.RFP, key, asm.R0, asm.Word),
		// number = ++numbers[0]
		asm.LoadMapPtr(asm.R1, numbers.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, key),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "exit"),
		asm.LoadMem(asm.R1, asm.R0, 0, asm.DWord),
		asm.Add.Imm(asm.R1, 1),
		asm.StoreMem(asm.R0, 0, asm.R1, asm.DWord),
		asm.StoreMem(asm.RFP, at+record.HeaderSize, asm.R1, asm.DWord),
		// the ring of this CPU
		asm.FnGetSmpProcessorId.Call(),
		asm.StoreMem(asm.RFP, key, asm.R0, asm.Word),
		asm.LoadMapPtr(asm.R1, outer.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, key),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "exit"),
		asm.Mov.Reg(asm.R1, asm.R0),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, at),
		asm.Mov.Imm(asm.R3, programRecord),
		asm.Mov.Imm(asm.R4, 0),
		asm.FnRingbufOutput.Call(),
		asm.JEq.Imm(asm.R0, 0, "exit"),
		// losses[LossRecords]++
		asm.Mov.Imm(asm.R0, int32(record.LossRecords)),
		asm.StoreMem(asm.RFP, key, asm.R0, asm.Word),
		asm.LoadMapPtr(asm.R1, p.losses.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, key),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "exit"),
		asm.LoadMem(asm.R1, asm.R0, 0, asm.DWord),
		asm.Add.Imm(asm.R1, 1),
		asm.StoreMem(asm.R0, 0, asm.R1, asm.DWord),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("exit"),
		asm.Return(),
	}
	p.Program, err = ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.SocketFilter, Instructions: code, License: "GPL"})
	if err != nil {
		t.Fatalf("%+v", err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func newMap(t testing.TB, spec *ebpf.MapSpec) *ebpf.Map {
	t.Helper()
	m, err := ebpf.NewMap(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// run runs the program n times on this CPU.
func (p *program) run(t testing.TB, n int) {
	t.Helper()
	runExactly(t, p.Program, n)
}

// runExactly runs a program n times. Signals must not interrupt it: the system
// call would then begin again with all n.
func runExactly(t testing.TB, p *ebpf.Program, n int) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, before unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = math.MaxUint64
	}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, &before); err != nil {
		t.Error(err)
		return
	}
	opts := ebpf.RunOptions{Data: make([]byte, 14), Repeat: uint32(n)}
	_, err := p.Run(&opts)
	if err := errors.Join(err, unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil)); err != nil {
		t.Error(err)
	}
}
