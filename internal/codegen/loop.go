package codegen

import (
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// Loops of BPF programs. Before 6.9 the verifier goes through every turn of a
// loop, and there may be some 8,000 branches that it has put off
// (BPF_COMPLEXITY_LIMIT_JMP_SEQ): it puts off the way that a conditional jump
// takes. So the ways out of a loop are written as what follows a jump, not as
// its target. From 6.9 on the instruction may_goto lets it stop at the second
// turn, as soon as that begins in the state in which the first one began; the
// counter then must be in memory, whose contents the verifier does not follow.

// A loop is a loop whose body is being written.
type loop struct {
	*code
	done label // behind it
}

// leave goes out of the loop if a op b.
func (l loop) leave(op asm.JumpOp, a, b reg) {
	stay := l.newLabel()
	l.jumpIf(inverse[op], w64, a, b, stay)
	l.jump(l.done)
	l.place(stay)
}

// leaveImm goes out of the loop if a op n.
func (l loop) leaveImm(op asm.JumpOp, a reg, n int64) {
	stay := l.newLabel()
	l.jumpIfImm(inverse[op], w64, a, n, stay)
	l.jump(l.done)
	l.place(stay)
}

// inverse is the jump that is taken where another one is not.
var inverse = map[asm.JumpOp]asm.JumpOp{
	asm.JEq: asm.JNE, asm.JNE: asm.JEq,
	asm.JGT: asm.JLE, asm.JLE: asm.JGT, asm.JGE: asm.JLT, asm.JLT: asm.JGE,
	asm.JSGT: asm.JSLE, asm.JSLE: asm.JSGT, asm.JSGE: asm.JSLT, asm.JSLT: asm.JSGE,
}

// loop writes a loop of so many turns at most; turn is the address of 8 bytes
// of a map's value.
func (c *code) loop(turn reg, turns int, body func(i reg, l loop)) {
	l := loop{c, c.newLabel()}
	again := c.newLabel()
	if !c.mayGoto {
		i := c.constant(0, w64)
		c.place(again)
		body(i, l)
		c.aluImm(asm.Add, w64, i, 1)
		c.jumpIfImm(asm.JLT, w64, i, int64(turns), again)
		c.place(l.done)
		return
	}
	c.storeImm(turn, 0, 0, 8)
	c.place(again)
	c.emit(ins{kind: jump, op: asm.OpCode(asm.JumpClass).SetJumpOp(asm.JCOND), to: l.done})
	i := c.newReg()
	c.load(i, turn, 0, 8)
	l.leaveImm(asm.JGE, i, int64(turns))
	body(i, l)
	next := c.newReg()
	c.load(next, turn, 0, 8)
	c.aluImm(asm.Add, w64, next, 1)
	c.store(turn, 0, next, 8)
	c.jump(again)
	c.place(l.done)
}

// eachByte loops over the bytes of memory.
func (c *code) eachByte(turn, base reg, n int, body func(i, b reg, l loop)) {
	c.loop(turn, n, func(i reg, l loop) { body(i, c.byteAt(base, i), l) })
}

// turn is the address of a loop's counter.
func (g *generator) turn() reg { return g.addr(g.scratchTemp(8)) }

// haveMayGoto reports whether the kernel knows the instruction may_goto.
var haveMayGoto = sync.OnceValue(func() bool {
	c := &code{mayGoto: true}
	again, done := c.newLabel(), c.newLabel()
	c.place(again)
	c.emit(ins{kind: jump, op: asm.OpCode(asm.JumpClass).SetJumpOp(asm.JCOND), to: done})
	c.jump(again)
	c.place(done)
	c.exit(noReg)
	list, err := c.assembled("")
	if err != nil {
		return false
	}
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: "kinst_probe", Type: ebpf.RawTracepoint, Instructions: list, License: "Dual BSD/GPL"})
	if err != nil {
		return false
	}
	p.Close()
	return true
})
