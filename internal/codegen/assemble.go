package codegen

import (
	"fmt"

	"github.com/cilium/ebpf/asm"

	"kinst/internal/dlang/syntax"
)

// assemble turns code into instructions of the machine, its virtual registers
// where the allocation says. Labels' names begin with prefix.
func assemble(list []ins, a *allocation, prefix string) asm.Instructions {
	w := &assembler{allocation: a, prefix: prefix, same: make(map[string]string)}
	for n := range list {
		w.pos = list[n].pos
		w.ins(&list[n])
	}
	return w.resolved()
}

type assembler struct {
	*allocation
	prefix string
	out    asm.Instructions
	here   string            // the label that the next instruction bears
	same   map[string]string // labels at one place: to the one that is borne
	pos    syntax.Pos
}

// positionKey is the key of the metadata that tells which D an instruction is
// for: a syntax.Pos. (Instruction.Source would be handed to the kernel, with
// BTF, which costs more time than it takes to load most programs.)
type positionKey struct{}

func (w *assembler) emit(i asm.Instruction) {
	if w.here != "" {
		i = i.WithSymbol(w.here)
		w.here = ""
	}
	if w.pos.IsValid() {
		i.Metadata.Set(positionKey{}, w.pos)
	}
	w.out = append(w.out, i)
}

// label names a label.
func (w *assembler) label(l label) string { return fmt.Sprintf("%sL%d", w.prefix, l) }

// put puts a label before the next instruction. Those at one place share the
// name of the first, also where what stands between them, such as a move from
// a register to itself, takes no instruction.
func (w *assembler) put(l label) {
	if w.here == "" {
		w.here = w.label(l)
		return
	}
	w.same[w.label(l)] = w.here
}

// resolved returns the instructions with the names of labels that they bear.
func (w *assembler) resolved() asm.Instructions {
	for n, i := range w.out {
		if name, ok := w.same[i.Reference()]; ok {
			w.out[n] = i.WithReference(name)
		}
	}
	return w.out
}

// read returns the machine's register that holds r, loading it into temp if it
// is in memory.
func (w *assembler) read(r reg, temp asm.Register) asm.Register {
	if r == fp {
		return asm.RFP
	}
	iv := &w.intervals[r]
	if iv.spill == 0 {
		return iv.at
	}
	w.emit(asm.LoadMem(temp, asm.RFP, int16(iv.spill), asm.DWord))
	return temp
}

// target returns the register in which to compute r.
func (w *assembler) target(r reg) asm.Register {
	if iv := &w.intervals[r]; iv.spill == 0 {
		return iv.at
	}
	return temp0
}

// wrote stores r, which was computed in its target, if it lives in memory.
func (w *assembler) wrote(r reg) { w.keep(r, temp0) }

// keep stores r, which is in a temporary register, if it lives in memory.
func (w *assembler) keep(r reg, temp asm.Register) {
	if iv := &w.intervals[r]; iv.spill != 0 {
		w.emit(asm.StoreMem(asm.RFP, int16(iv.spill), temp, asm.DWord))
	}
}

func (w *assembler) ins(i *ins) {
	switch i.kind {
	case plain:
		w.plain(i)
	case jump:
		w.jump(i)
	case place:
		w.put(i.to)
	case call:
		w.call(i)
	case loadImm:
		w.emit(asm.LoadImm(w.target(i.dst), i.imm, asm.DWord))
		w.wrote(i.dst)
	case loadMap:
		w.emit(asm.LoadMapPtr(w.target(i.dst), 0).WithReference(i.sym))
		w.wrote(i.dst)
	case loadValue:
		w.emit(asm.LoadMapValue(w.target(i.dst), 0, uint32(i.imm)).WithReference(i.sym))
		w.wrote(i.dst)
	case param:
		w.moveRaw(w.target(i.dst), asm.R1+asm.Register(i.imm))
		w.wrote(i.dst)
	case exit:
		if i.src == noReg {
			w.emit(asm.Mov.Imm(asm.R0, 0))
		} else {
			w.moveRaw(asm.R0, w.read(i.src, temp0))
		}
		w.emit(asm.Return())
	}
}

func (w *assembler) moveRaw(dst, src asm.Register) {
	if dst != src {
		w.emit(asm.Mov.Reg(dst, src))
	}
}

func (w *assembler) plain(i *ins) {
	out := asm.Instruction{OpCode: i.op, Offset: i.off, Constant: i.imm}
	switch i.op.Class() {
	case asm.ALUClass, asm.ALU64Class:
		w.alu(i, out)
	case asm.LdXClass:
		out.Src = w.read(i.src, temp1)
		out.Dst = w.target(i.dst)
		w.emit(out)
		w.wrote(i.dst)
	case asm.StXClass:
		out.Dst = w.read(i.dst, temp0)
		out.Src = w.read(i.src, temp1)
		w.emit(out)
		if i.exchanges() {
			w.keep(i.src, out.Src)
		}
	case asm.StClass:
		out.Dst = w.read(i.dst, temp0)
		w.emit(out)
	}
}

func (w *assembler) alu(i *ins, out asm.Instruction) {
	if i.op.ALUOp() != asm.Swap && i.op.Source() == asm.RegSource {
		out.Src = w.read(i.src, temp1)
	}
	if i.op.ALUOp() == asm.Mov {
		out.Dst = w.target(i.dst)
	} else {
		out.Dst = w.read(i.dst, temp0)
	}
	if i.isMove() && out.Dst == out.Src {
		return
	}
	w.emit(out)
	w.wrote(i.dst)
}

func (w *assembler) jump(i *ins) {
	out := asm.Instruction{OpCode: i.op, Offset: -1, Constant: i.imm}
	if i.compares() {
		out.Dst = w.read(i.dst, temp0)
		if i.op.Source() == asm.RegSource {
			out.Src = w.read(i.src, temp1)
		}
	}
	w.emit(out.WithReference(w.label(i.to)))
}

// call moves the arguments into their registers, calls, and takes the result.
func (w *assembler) call(i *ins) {
	var moves []move
	for n, r := range i.args {
		if r == fp || w.intervals[r].spill == 0 {
			moves = append(moves, move{asm.R1 + asm.Register(n), w.read(r, temp0)})
		}
	}
	w.moves(moves)
	for n, r := range i.args {
		if r != fp && w.intervals[r].spill != 0 {
			w.read(r, asm.R1+asm.Register(n))
		}
	}
	if i.sub != nil {
		w.emit(asm.Call.Label(i.sub.name))
	} else {
		w.emit(i.fn.Call())
	}
	if i.dst == noReg || w.intervals[i.dst].uses < 2 {
		return // nobody looks at the result
	}
	w.moveRaw(w.target(i.dst), asm.R0) // which is where wrote looks for it
	w.wrote(i.dst)
}

// A move is a register that takes another one's value.
type move struct{ dst, src asm.Register }

// moves makes moves as if all happened at once.
func (w *assembler) moves(pending []move) {
	for len(pending) > 0 {
		n := ready(pending)
		if n < 0 { // only cycles are left
			w.moveRaw(temp0, pending[0].src)
			pending[0].src = temp0
			continue
		}
		w.moveRaw(pending[n].dst, pending[n].src)
		pending = append(pending[:n], pending[n+1:]...)
	}
}

// ready finds a move whose destination no other move still reads.
func ready(pending []move) int {
	for n, m := range pending {
		blocked := false
		for k, other := range pending {
			blocked = blocked || k != n && other.src == m.dst
		}
		if !blocked {
			return n
		}
	}
	return -1
}
