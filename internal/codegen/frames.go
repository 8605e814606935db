package codegen

import (
	"slices"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/rlimit"
)

// ownFrames is how many frames of itself a program gets where it has no registers
// of the kernel's: one, or on 5.10 two.
var ownFrames = sync.OnceValue(func() uint64 {
	const most, usual = 4, 1
	_ = rlimit.RemoveMemlock() // as Load does, later
	stack, err := ebpf.NewMap(&ebpf.MapSpec{Name: "kinst_frames", Type: ebpf.Array, KeySize: 4, ValueSize: 8 * most, MaxEntries: 1})
	if err != nil {
		return usual
	}
	defer stack.Close()
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: "kinst_frames", Type: ebpf.RawTracepoint, License: "Dual BSD/GPL",
		Instructions: asm.Instructions{
			asm.LoadMapValue(asm.R2, stack.FD(), 0),
			asm.Mov.Imm(asm.R3, 8*most),
			asm.Mov.Imm(asm.R4, 0),
			asm.FnGetStack.Call(),
			asm.Mov.Imm(asm.R0, 0),
			asm.Return(),
		},
	})
	if err != nil {
		return usual
	}
	defer prog.Close()
	var frames [most]uint64
	if _, err := prog.Run(&ebpf.RunOptions{}); err != nil || stack.Lookup(uint32(0), &frames) != nil {
		return usual
	}
	info, err := prog.Info()
	if err != nil {
		return usual
	}
	begins, ok1 := info.JitedKsymAddrs()
	sizes, ok2 := info.JitedFuncLens()
	if !ok1 || !ok2 || len(begins) == 0 || len(sizes) == 0 {
		return usual
	}
	other := slices.IndexFunc(frames[:], func(addr uint64) bool { return addr-uint64(begins[0]) >= uint64(sizes[0]) })
	return uint64(max(other, usual))
})
