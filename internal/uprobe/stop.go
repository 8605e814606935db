package uprobe

import (
	"context"
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// StopAt has the kernel send SIGSTOP to a process when a thread of it executes
// one of the sites, until the group is closed. The signal arrives behind that
// instruction. A tracer sees it before the process does.
func StopAt(pid int, sites []Site) (*Group, error) {
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name:       "kinst_stop",
		Type:       ebpf.Kprobe,
		AttachType: AttachType(),
		License:    "Dual BSD/GPL",
		Instructions: asm.Instructions{
			asm.Mov.Imm(asm.R1, int32(unix.SIGSTOP)),
			asm.FnSendSignal.Call(),
			asm.Mov.Imm(asm.R0, 0),
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
