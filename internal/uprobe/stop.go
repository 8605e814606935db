package uprobe

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"

	"kinst/internal/kernel"
)

// StopAt has the kernel send SIGSTOP to a thread of a process that executes one
// of the sites, until the group is closed. The signal arrives behind that
// instruction. It is for a tracer, which sees it before the process does: if the
// tracer dies, the thread that has none is not sent it.
func StopAt(pid int, sites []Site) (*Group, error) {
	offset, err := ebpf.NewMap(&ebpf.MapSpec{Name: "kinst_traced", Type: ebpf.Array, KeySize: 4, ValueSize: 4, MaxEntries: 1})
	if err != nil {
		return nil, stopError(pid, err)
	}
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name:         "kinst_stop",
		Type:         ebpf.Kprobe,
		AttachType:   AttachType(),
		License:      "Dual BSD/GPL",
		Instructions: stopProgram(offset),
	})
	if err != nil {
		return nil, errors.Join(stopError(pid, err), offset.Close())
	}
	go func() {
		defer offset.Close() // the program keeps it
		if n := tracedOffset(); n > 0 {
			_ = offset.Put(uint32(0), n) // it only matters if this process dies
		}
	}()
	g, refused, err := Arm(context.Background(), prog, pid, sites, func(int) {})
	if err != nil {
		return nil, errors.Join(err, prog.Close())
	}
	g.closers = append(g.closers, prog.Close)
	if len(refused) > 0 {
		return nil, errors.Join(refused[0].Err, g.Close())
	}
	return g, nil
}

func stopError(pid int, err error) error {
	if errors.Is(err, unix.EPERM) {
		err = kernel.Refused(unix.EPERM, unix.CAP_BPF, unix.CAP_PERFMON)
	}
	return fmt.Errorf("loading the program that stops process %d: %w", pid, err)
}

// stopProgram sends the signal, if the map knows where a thread's struct
// task_struct has whether it is traced, only to one that is.
func stopProgram(offset *ebpf.Map) asm.Instructions {
	const traced = -8 // on the stack
	return asm.Instructions{
		asm.LoadMapValue(asm.R6, offset.FD(), 0),
		asm.LoadMem(asm.R6, asm.R6, 0, asm.Word),
		asm.JEq.Imm(asm.R6, 0, "send"),
		asm.FnGetCurrentTask.Call(),
		asm.Mov.Reg(asm.R3, asm.R0),
		asm.Add.Reg(asm.R3, asm.R6),
		asm.Mov.Imm(asm.R2, 4),
		asm.Mov.Reg(asm.R1, asm.RFP),
		asm.Add.Imm(asm.R1, traced),
		asm.FnProbeReadKernel.Call(),
		asm.LoadMem(asm.R1, asm.RFP, traced, asm.Word),
		asm.JEq.Imm(asm.R1, 0, "out"),
		asm.Mov.Imm(asm.R1, int32(unix.SIGSTOP)).WithSymbol("send"),
		asm.FnSendSignalThread.Call(),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("out"),
		asm.Return(),
	}
}

// tracedOffset is where struct task_struct says whether a thread is traced, or 0
// where that is not known. To read the kernel's types takes some time.
var tracedOffset = sync.OnceValue(func() uint32 {
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		return 0
	}
	var task *btf.Struct
	if err := spec.TypeByName("task_struct", &task); err != nil {
		return 0
	}
	return memberOffset(task.Members, "ptrace")
})

// memberOffset looks for a member, also in members without a name.
func memberOffset(members []btf.Member, name string) uint32 {
	for _, m := range members {
		if m.Name == name {
			return m.Offset.Bytes()
		}
		if s, ok := m.Type.(*btf.Struct); ok && m.Name == "" {
			if at := memberOffset(s.Members, name); at > 0 {
				return m.Offset.Bytes() + at
			}
		}
	}
	return 0
}
