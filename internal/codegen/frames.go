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

// framesBetween is how many frames the stack has in front of the probed place's: the
// program's own and those of the functions of Context.Between.
func (g *generator) framesBetween() reg {
	own := ownFrames()
	skip := g.newReg()
	g.set(skip, own, w64)
	if g.unit.Context.Between == nil {
		return skip
	}
	spans := g.unit.Context.Between(g.unit.Probes)
	if len(spans) == 0 {
		return skip
	}
	const most = 3
	g.memory(func() {
		top := region{fp, g.stack(8 * most), 8 * most}
		g.zero(top)
		g.call(asm.FnGetStack, g.ctx, g.addr(top), g.constant(8*most, w64), g.constant(own, w64))
		other := g.newLabel()
		for i := range most {
			addr := g.newReg()
			g.load(addr, top.base, top.off+8*i, 8)
			inside := g.newLabel()
			for _, s := range spans {
				distance := g.copyOf(addr, w64)
				g.alu(asm.Sub, w64, distance, g.constant(s.Begin, w64))
				g.jumpIfImm(asm.JLT, w64, distance, int64(s.End-s.Begin), inside)
			}
			g.jump(other)
			g.place(inside)
			g.aluImm(asm.Add, w64, skip, 1)
		}
		g.place(other)
	})
	return skip
}
