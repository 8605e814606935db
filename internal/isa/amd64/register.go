package amd64

import "strconv"

// This file writes registers, and knows the sizes of the table.

const (
	ATT   Syntax = iota // mov 0x8(%rdi),%rax
	Intel               // mov rax,QWORD PTR [rdi+0x8]
)

// register writes a register's name.
func (w *writer) register(name string) string {
	if w.intel() {
		return name
	}
	return "%" + name
}

// rexBit uses a bit of REX that extends a register's number.
func (w *writer) rexBit(bit byte) byte {
	if w.p.rex&bit == 0 {
		return 0
	}
	w.usedRex |= bit
	return 8
}

// useRex notes that byte register n is another one without a REX prefix.
func (w *writer) useRex(size, n byte) {
	if size == 'b' && n >= 4 {
		w.usedRex |= rexAny
	}
}

// named writes a register that the table names.
func (w *writer) named(name string) string {
	switch name {
	case "1":
		if w.intel() {
			return "1"
		}
		return ""
	case "rAX":
		return w.register(generalNames(0, w.opsize()))
	case "zAX":
		return w.register(generalNames(0, min(w.opsize32(), 4)))
	case "maX":
		w.used67 = true
		return w.register(generalNames(0, w.p.addrSize()))
	case "dx":
		if !w.intel() {
			return "(%dx)"
		}
	case "xlat":
		return w.stringMemory(&operand{mem: 'b'}, "ds", "bx")
	}
	return w.register(name)
}

// opsize is the operand size in bytes, with note taken of what it came from.
func (w *writer) opsize() int {
	if w.p.rex&rexW != 0 {
		w.usedRex |= rexW
	} else if w.p.has66 {
		w.used66 = true
	}
	return w.p.opsize()
}

// opsize32 is the operand size of what ignores REX.W.
func (w *writer) opsize32() int {
	if w.p.has66 {
		w.used66 = true
		return 2
	}
	return 4
}

// stackSize is the size of a stack operation: 8, or 2 with a prefix.
func (w *writer) stackSize() int {
	if w.p.has66 && w.p.rex&rexW == 0 {
		w.used66 = true
		return 2
	}
	return 8
}

// fixedSizes are the letters of the table that mean one size, in bytes.
var fixedSizes = [256]uint8{'b': 1, 'w': 2, 'd': 4, 'q': 8, 't': 10, 'x': 16, 'y': 32, 'z': 64}

// bytes gives the size that a letter of the table stands for, 0 for none.
func (w *writer) bytes(size byte) int {
	switch size {
	case 'e':
		w.usedRex |= w.p.rex & rexW
		return 4 << (w.p.rex & rexW / rexW)
	case 'a':
		return w.stackSize()
	case 'm':
		w.used67 = true
		return w.p.addrSize()
	case 'v':
		if w.p.enc == plain {
			return w.opsize()
		}
		return 16 << w.length()
	case 'h':
		return 8 << w.length()
	case 'u':
		return 4 << w.length()
	case 'o':
		return 2 << w.length()
	}
	return int(fixedSizes[size])
}

// length is the vector length as a power of two times 16 bytes.
func (w *writer) length() int {
	if w.p.enc == evex && (w.p.vl == 3 || w.p.bcst && w.p.modrm>>6 == 3) {
		return 2
	}
	return int(w.p.vl)
}

// rmRegister is the register that ModRM.rm means.
func (w *writer) rmRegister(o *operand) string {
	rm := w.p.modrm & 7
	switch o.class {
	case 'Q', 'N':
		return w.register("mm" + strconv.Itoa(int(rm)))
	case 'F':
		return w.register("bnd" + strconv.Itoa(int(rm|w.rexBit(rexB))))
	case 'W', 'U':
		n := rm | w.rexBit(rexB)
		if w.p.enc == evex && w.p.rex&rexX != 0 {
			n |= 16
		}
		return w.vector(o.reg, n)
	}
	w.useRex(o.reg, rm)
	return w.general(o.reg, rm|w.rexBit(rexB))
}

// vectorReg is the number of the vector register in ModRM.reg.
func (w *writer) vectorReg() byte {
	n := w.p.modrm>>3&7 | w.rexBit(rexR)
	if w.p.regHi {
		n |= 16
	}
	return n
}

func (w *writer) vvvvRegister(o *operand) string {
	switch o.reg {
	case 'b', 'w', 'd', 'q', 'e':
		return w.general(o.reg, w.p.vvvv)
	}
	return w.vector(o.reg, w.p.vvvv)
}

// maskRegister writes an opmask operand. Its first letter says where the
// number is: g reg, h VEX.vvvv, r rm, e rm or memory.
func (w *writer) maskRegister(o *operand) string {
	n := w.p.modrm & 7
	switch o.reg {
	case 'g':
		n = w.p.modrm >> 3 & 7
	case 'h':
		n = w.p.vvvv & 7
	case 'e':
		if w.p.modrm>>6 != 3 {
			return w.memory(o)
		}
	}
	return w.register("k" + strconv.Itoa(int(n)))
}

func (w *writer) vector(size, n byte) string {
	kind := "xmm"
	if size == 't' {
		kind = "tmm"
	} else if b := w.bytes(size); b == 32 {
		kind = "ymm"
	} else if b == 64 {
		kind = "zmm"
	}
	return w.register(kind + strconv.Itoa(int(n)))
}

// general writes a general register.
func (w *writer) general(size, n byte) string {
	b := w.bytes(size)
	if b == 1 && w.p.enc == plain && w.p.rex == 0 && n >= 4 {
		return w.register([4]string{"ah", "ch", "dh", "bh"}[n-4])
	}
	return w.register(generalNames(int(n), b))
}

var (
	names8  = [8]string{"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil"}
	names16 = [8]string{"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"}
)

func generalNames(n, size int) string {
	if n >= 8 {
		return "r" + strconv.Itoa(n) + [...]string{1: "b", 2: "w", 4: "d", 8: ""}[size]
	}
	switch size {
	case 1:
		return names8[n]
	case 2:
		return names16[n]
	case 4:
		return "e" + names16[n]
	}
	return "r" + names16[n]
}
