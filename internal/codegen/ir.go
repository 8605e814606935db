package codegen

import (
	"github.com/cilium/ebpf/asm"

	"kinst/internal/dlang/syntax"
)

// A reg is a virtual register, counted from 1. Code is written with as many as
// it likes; allocate gives them the machine's.
type reg int

const (
	noReg reg = 0
	// fp is the frame pointer, the only register of the machine that code
	// names itself.
	fp reg = -1
)

// A label is a place in the code that jumps go to.
type label int

// insKind says which fields of an ins count.
type insKind int

const (
	plain     insKind = iota // op, dst, src, off, imm
	jump                     // op, dst, src, imm, to
	place                    // to: the label is here
	call                     // fn or sub, args, dst: the result, or noReg
	loadImm                  // dst = imm, 64 bits
	loadMap                  // dst = the map called sym
	loadValue                // dst = address of byte imm of the only value of map sym
	param                    // dst = argument imm; at the start only
	exit                     // return src, or 0
	partOf                   // dst = the part at which clause imm begins
	start                    // where expand puts what several clauses need
	finish                   // where expand gives back what was taken
	need                     // dst = res, a resource that expand may move to the start
)

// An ins is an instruction on virtual registers.
type ins struct {
	kind     insKind
	op       asm.OpCode
	dst, src reg
	off      int16
	imm      int64
	to       label
	fn       asm.BuiltinFunc
	sub      *subprogram
	args     []reg
	sym      string
	res      resource
	clause   int        // of a need
	pos      syntax.Pos // of the D that it is for
}

// code is a list of instructions under construction.
type code struct {
	list   []ins
	regs   int // how many virtual registers there are
	labels int
	pos    syntax.Pos

	mayGoto bool // loops may use may_goto

	frame, maxFrame int        // bytes of stack in use now, and at most
	deepest         syntax.Pos // of the D for which it is the most
}

// stack takes so many bytes of the stack, aligned to 8, and returns their
// offset from fp. They are free again when the caller puts frame back.
func (c *code) stack(size int) int {
	c.frame += (size + 7) &^ 7
	if c.frame > c.maxFrame {
		c.maxFrame, c.deepest = c.frame, c.pos
	}
	return -c.frame
}

func (c *code) newReg() reg {
	c.regs++
	return reg(c.regs)
}

func (c *code) newLabel() label {
	c.labels++
	return label(c.labels)
}

func (c *code) emit(i ins) {
	i.pos = c.pos
	c.list = append(c.list, i)
}

// width is the size of the numbers that an operation works on.
type width bool

const (
	w64 width = false
	w32 width = true
)

func (w width) alu() asm.Class {
	if w == w32 {
		return asm.ALUClass
	}
	return asm.ALU64Class
}

func (w width) jump() asm.Class {
	if w == w32 {
		return asm.Jump32Class
	}
	return asm.JumpClass
}

func aluOp(op asm.ALUOp, w width, s asm.Source) asm.OpCode {
	return asm.OpCode(w.alu()).SetALUOp(op).SetSource(s)
}

func jumpOp(op asm.JumpOp, w width, s asm.Source) asm.OpCode {
	return asm.OpCode(w.jump()).SetJumpOp(op).SetSource(s)
}

// alu emits dst = dst op src.
func (c *code) alu(op asm.ALUOp, w width, dst, src reg) {
	c.emit(ins{op: aluOp(op, w, asm.RegSource), dst: dst, src: src})
}

// aluImm emits dst = dst op imm; imm must fit 32 bits.
func (c *code) aluImm(op asm.ALUOp, w width, dst reg, imm int64) {
	c.emit(ins{op: aluOp(op, w, asm.ImmSource), dst: dst, imm: imm})
}

// copyOf returns a new register with the value of src.
func (c *code) copyOf(src reg, w width) reg {
	dst := c.newReg()
	c.move(dst, src, w)
	return dst
}

func (c *code) move(dst, src reg, w width) { c.alu(asm.Mov, w, dst, src) }

// constant returns a new register that holds v.
func (c *code) constant(v uint64, w width) reg {
	dst := c.newReg()
	c.set(dst, v, w)
	return dst
}

// set emits dst = v.
func (c *code) set(dst reg, v uint64, w width) {
	switch {
	case w == w32:
		c.aluImm(asm.Mov, w32, dst, int64(int32(v)))
	case int64(v) == int64(int32(v)):
		c.aluImm(asm.Mov, w64, dst, int64(v))
	case v>>32 == 0: // a 32-bit move clears the upper half
		c.aluImm(asm.Mov, w32, dst, int64(int32(v)))
	default:
		c.emit(ins{kind: loadImm, dst: dst, imm: int64(v)})
	}
}

// sizeOf is the size field of an access of so many bytes.
func sizeOf(bytes int) asm.Size {
	switch bytes {
	case 1:
		return asm.Byte
	case 2:
		return asm.Half
	case 4:
		return asm.Word
	}
	return asm.DWord
}

// reach returns a register and an offset that an instruction can have: it has 16
// bits for it.
func (c *code) reach(base reg, off int) (reg, int16) {
	if off == int(int16(off)) {
		return base, int16(off)
	}
	at := c.copyOf(base, w64)
	c.aluImm(asm.Add, w64, at, int64(off))
	return at, 0
}

// load emits dst = *(base + off), zero-extended.
func (c *code) load(dst, base reg, off, bytes int) {
	base, at := c.reach(base, off)
	c.emit(ins{op: asm.LoadMemOp(sizeOf(bytes)), dst: dst, src: base, off: at})
}

// store emits *(base + off) = src.
func (c *code) store(base reg, off int, src reg, bytes int) {
	base, at := c.reach(base, off)
	c.emit(ins{op: asm.StoreMemOp(sizeOf(bytes)), dst: base, src: src, off: at})
}

// storeImm emits *(base + off) = imm; of 8 bytes, imm is sign-extended from 32
// bits.
func (c *code) storeImm(base reg, off int, imm int64, bytes int) {
	base, at := c.reach(base, off)
	c.emit(ins{op: asm.StoreImmOp(sizeOf(bytes)), dst: base, off: at, imm: imm})
}

// atomicAdd emits *(u64 *)(base + off) += src.
func (c *code) atomicAdd(base reg, off int, src reg) {
	base, at := c.reach(base, off)
	c.emit(ins{op: asm.StoreXAddOp(asm.DWord), dst: base, src: src, off: at})
}

// exchange emits swap(*(u64 *)(base + off), src).
func (c *code) exchange(base reg, off int, src reg) {
	base, at := c.reach(base, off)
	c.emit(ins{op: asm.Xchg.OpCode(asm.DWord), dst: base, src: src, off: at})
}

func (c *code) place(l label) { c.emit(ins{kind: place, to: l}) }

func (c *code) jump(l label) {
	c.emit(ins{kind: jump, op: asm.OpCode(asm.JumpClass).SetJumpOp(asm.Ja), to: l})
}

// jumpIf emits if dst op src goto l.
func (c *code) jumpIf(op asm.JumpOp, w width, dst, src reg, l label) {
	c.emit(ins{kind: jump, op: jumpOp(op, w, asm.RegSource), dst: dst, src: src, to: l})
}

// jumpIfImm emits if dst op imm goto l; imm must fit 32 bits.
func (c *code) jumpIfImm(op asm.JumpOp, w width, dst reg, imm int64, l label) {
	c.emit(ins{kind: jump, op: jumpOp(op, w, asm.ImmSource), dst: dst, imm: imm, to: l})
}

// call calls a helper of the kernel and returns its result.
func (c *code) call(fn asm.BuiltinFunc, args ...reg) reg {
	dst := c.newReg()
	c.callTo(dst, fn, args...)
	return dst
}

// callTo calls a helper of the kernel and puts its result into dst.
func (c *code) callTo(dst reg, fn asm.BuiltinFunc, args ...reg) {
	c.emit(ins{kind: call, fn: fn, args: args, dst: dst})
}

// callSub calls a subprogram and returns its result.
func (c *code) callSub(sub *subprogram, args ...reg) reg {
	dst := c.newReg()
	c.emit(ins{kind: call, sub: sub, args: args, dst: dst})
	return dst
}

// param returns argument n, counted from 0, of the program or subprogram. All
// of them are taken before anything else is done.
func (c *code) param(n int) reg {
	dst := c.newReg()
	c.emit(ins{kind: param, dst: dst, imm: int64(n)})
	return dst
}

// exit returns the value of r, or 0 for noReg.
func (c *code) exit(r reg) { c.emit(ins{kind: exit, src: r}) }

// mapPtr returns a new register with a map.
func (c *code) mapPtr(name string) reg {
	dst := c.newReg()
	c.emit(ins{kind: loadMap, dst: dst, sym: name})
	return dst
}

// mapValue returns a new register with the address of a byte of the only value
// of an array.
func (c *code) mapValue(name string, off int) reg {
	dst := c.newReg()
	c.emit(ins{kind: loadValue, dst: dst, sym: name, imm: int64(off)})
	return dst
}

// addressOf returns base + off in a register; base itself where off is 0.
func (c *code) addressOf(base reg, off int) reg {
	if off == 0 {
		return base
	}
	dst := c.copyOf(base, w64)
	c.aluImm(asm.Add, w64, dst, int64(off))
	return dst
}

// compares reports whether a jump depends on registers.
func (i *ins) compares() bool {
	op := i.op.JumpOp()
	return op != asm.Ja && op != asm.JCOND
}

// exchanges reports whether a store puts what it replaces into its source.
func (i *ins) exchanges() bool { return i.op.Mode() == asm.AtomicMode && i.op.AtomicOp() == asm.Xchg }

// uses calls f for each register that the instruction reads.
func (i *ins) uses(f func(*reg)) {
	switch i.kind {
	case plain:
		switch i.op.Class() {
		case asm.ALUClass, asm.ALU64Class:
			if i.op.ALUOp() != asm.Mov {
				f(&i.dst)
			}
			if i.op.ALUOp() != asm.Swap && i.op.Source() == asm.RegSource {
				f(&i.src)
			}
		case asm.LdXClass:
			f(&i.src)
		case asm.StXClass:
			f(&i.dst)
			f(&i.src)
		case asm.StClass:
			f(&i.dst)
		}
	case jump:
		if !i.compares() {
			return
		}
		f(&i.dst)
		if i.op.Source() == asm.RegSource {
			f(&i.src)
		}
	case call:
		for n := range i.args {
			f(&i.args[n])
		}
	case exit:
		if i.src != noReg {
			f(&i.src)
		}
	}
}

// defines calls f for the register that the instruction writes.
func (i *ins) defines(f func(*reg)) {
	switch i.kind {
	case plain:
		switch i.op.Class() {
		case asm.ALUClass, asm.ALU64Class, asm.LdXClass:
			f(&i.dst)
		case asm.StXClass:
			if i.exchanges() {
				f(&i.src)
			}
		}
	case call:
		if i.dst != noReg {
			f(&i.dst)
		}
	case loadImm, loadMap, loadValue, param, partOf, need:
		f(&i.dst)
	}
}
