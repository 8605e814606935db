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
)

// StopAt has the kernel send SIGSTOP to a thread of a process that executes one
// of the sites, until the group is closed. The signal arrives behind that
// instruction. It is for a tracer, which sees it before the process does: a
// thread that has none is not sent it.
func StopAt(pid int, sites []Site) (*Group, error) {
	traced, err := tracedOffset()
	if err != nil {
		return nil, fmt.Errorf("finding out where the kernel says whether a thread is traced: %w", err)
	}
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name:       "kinst_stop",
		Type:       ebpf.Kprobe,
		AttachType: AttachType(),
		License:    "Dual BSD/GPL",
		Instructions: asm.Instructions{
			asm.StoreImm(asm.RFP, -8, 0, asm.Word),
			asm.FnGetCurrentTask.Call(),
			asm.Mov.Reg(asm.R3, asm.R0),
			asm.Add.Imm(asm.R3, int32(traced)),
			asm.Mov.Imm(asm.R2, 4),
			asm.Mov.Reg(asm.R1, asm.RFP),
			asm.Add.Imm(asm.R1, -8),
			asm.FnProbeReadKernel.Call(),
			asm.LoadMem(asm.R1, asm.RFP, -8, asm.Word),
			asm.JEq.Imm(asm.R1, 0, "out"),
			asm.Mov.Imm(asm.R1, int32(unix.SIGSTOP)),
			asm.FnSendSignalThread.Call(),
			asm.Mov.Imm(asm.R0, 0).WithSymbol("out"),
			asm.Return(),
		},
	})
	if errors.Is(err, unix.EPERM) {
		err = fmt.Errorf("%w; it takes root, or CAP_BPF and CAP_PERFMON", unix.EPERM)
	}
	if err != nil {
		return nil, fmt.Errorf("loading the program that stops process %d: %w", pid, err)
	}
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

// tracedOffset is where struct task_struct says whether a thread is traced.
var tracedOffset = sync.OnceValues(func() (uint32, error) {
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		return 0, err
	}
	var task *btf.Struct
	if err := spec.TypeByName("task_struct", &task); err != nil {
		return 0, err
	}
	for _, m := range task.Members {
		if m.Name == "ptrace" {
			return m.Offset.Bytes(), nil
		}
	}
	return 0, errors.New("struct task_struct has no member ptrace")
})
