package amd64

import (
	"slices"
	"strconv"
	"strings"
)

// This file writes operands other than those in memory.

// operands writes the operands in the order of the syntax.
func (w *writer) operands() []string {
	var out []string
	if w.intel() && w.p.row.impliedOperands() {
		return nil
	}
	for i := range w.p.row.args {
		o := &w.p.row.args[i]
		s := w.operand(o)
		if s == "" {
			continue
		}
		if i == 0 {
			s += w.masking()
		}
		out = append(out, w.withRounding(o, s)...)
	}
	if !w.intel() && !w.p.row.forward() {
		slices.Reverse(out)
	}
	return out
}

// forward says that AT&T keeps Intel's order.
func (r *row) forward() bool {
	return r.att == "enter^" || r.impliedOperands()
}

// impliedOperands says that the operands are fixed registers, which Intel
// syntax leaves out.
func (r *row) impliedOperands() bool {
	switch r.att {
	case "monitor", "mwait", "monitorx", "mwaitx":
		return true
	}
	return false
}

// masking is EVEX's {%k1}{z}.
func (w *writer) masking() string {
	s := ""
	if w.p.enc != evex {
		return s
	}
	if w.p.aaa != 0 {
		s = "{" + w.register("k"+strconv.Itoa(int(w.p.aaa))) + "}"
	}
	if w.p.zeroed {
		s += "{z}"
	}
	return s
}

// withRounding adds the rounding mode to an operand that has one: Intel
// attaches it, AT&T makes it an operand, behind a general register and before
// a vector register.
func (w *writer) withRounding(o *operand, s string) []string {
	if o.round == 0 || !w.p.bcst || w.p.modrm>>6 != 3 {
		return []string{s}
	}
	r := w.rounding(o.round)
	switch {
	case w.intel():
		return []string{s + r}
	case o.class == 'E':
		return []string{r, s}
	}
	return []string{s, r}
}

func (w *writer) rounding(kind byte) string {
	if kind == 's' {
		return "{sae}"
	}
	return [4]string{"{rn-sae}", "{rd-sae}", "{ru-sae}", "{rz-sae}"}[w.p.vl]
}

func (w *writer) operand(o *operand) string {
	p := &w.p
	reg := p.modrm >> 3 & 7
	switch o.class {
	case 0:
		return w.named(o.name)
	case 'E', 'W', 'Q', 'F':
		if p.modrm>>6 != 3 {
			return w.star() + w.memory(o)
		}
		return w.star() + w.rmRegister(o)
	case 'M':
		return w.star() + w.memory(o)
	case 'R', 'U', 'N', 'A':
		return w.rmRegister(o)
	case 'G':
		w.useRex(o.reg, reg)
		return w.general(o.reg, reg|w.rexBit(rexR))
	case 'Z':
		w.useRex(o.reg, p.opcode&7)
		return w.general(o.reg, p.opcode&7|w.rexBit(rexB))
	case 'V':
		return w.vector(o.reg, w.vectorReg())
	case 'H':
		return w.vvvvRegister(o)
	case 'L':
		return w.vector(o.reg, p.text[p.pos-1]>>4)
	case 'K':
		return w.maskRegister(o)
	case 'P':
		return w.register("mm" + strconv.Itoa(int(reg)))
	case 'B':
		return w.register("bnd" + strconv.Itoa(int(reg|w.rexBit(rexR))))
	case 'S':
		return w.register([8]string{"es", "cs", "ss", "ds", "fs", "gs", "?", "?"}[reg])
	case 'C':
		return w.register("cr" + strconv.Itoa(int(reg|w.rexBit(rexR))))
	case 'D':
		if w.intel() {
			return "dr" + strconv.Itoa(int(reg|w.rexBit(rexR)))
		}
		return "%db" + strconv.Itoa(int(reg|w.rexBit(rexR)))
	case 'T':
		return w.register("st(" + strconv.Itoa(int(p.modrm&7)) + ")")
	case 'I':
		return w.immediate(o)
	case 'J':
		return w.branchTarget()
	case 'O':
		return w.absolute(o)
	case 'X':
		return w.stringMemory(o, "ds", "si")
	case 'Y':
		return w.stringMemory(o, "es", "di")
	}
	return "?"
}

// star is AT&T's mark of an indirect branch.
func (w *writer) star() string {
	if !w.intel() && w.p.row.class&Indirect != 0 {
		return "*"
	}
	return ""
}

// immediate writes the next immediate of the instruction.
func (w *writer) immediate(o *operand) string {
	var v uint64
	switch o.reg {
	case 'b':
		v = uint64(w.takeImmediate(1)) & 0xff
	case '4':
		v = uint64(w.p.text[w.p.pos-1]) & 0xf
	case 'w':
		v = uint64(w.takeImmediate(2)) & 0xffff
	case 'd':
		v = uint64(w.takeImmediate(4)) & 0xffffffff
	case 's':
		v = truncate(w.takeImmediate(1), w.immediateSize())
	case 'z', 'p':
		v = truncate(w.takeImmediate(min(w.p.opsize(), 4)), w.immediateSize())
	case 'v':
		v = truncate(w.takeImmediate(w.p.opsize()), w.opsize())
	case '%':
		if _, named := w.predicate(); named {
			return ""
		}
		v = uint64(w.takeImmediate(1)) & 0xff
	}
	if w.intel() {
		return hexNumber(v)
	}
	return "$" + hexNumber(v)
}

// immediateSize is the size that an immediate is extended to.
func (w *writer) immediateSize() int {
	if strings.HasSuffix(w.p.row.att, "^") {
		return w.stackSize()
	}
	return w.opsize()
}

func truncate(v int64, size int) uint64 {
	if size >= 8 {
		return uint64(v)
	}
	return uint64(v) & (1<<(8*size) - 1)
}

// takeImmediate reads n bytes at the immediate position and moves it on.
func (w *writer) takeImmediate(n int) int64 {
	at := w.p
	at.pos = w.p.immPos
	v, _ := at.signed(n)
	w.p.immPos = at.pos
	return v
}

func (w *writer) branchTarget() string {
	if w.p.pos-w.p.immPos == 2 {
		w.used66 = true
	}
	return w.address(w.p.target(w.addr))
}
