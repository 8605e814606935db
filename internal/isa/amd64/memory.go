package amd64

import "strconv"

// This file writes memory operands.

// segment is the override of a memory operand that takes effect in 64-bit
// mode, fs or gs, with its colon.
func (w *writer) segment() string {
	if w.p.seg != 0x64 && w.p.seg != 0x65 {
		return ""
	}
	w.usedSeg = true
	return w.register(segNames[w.p.seg]) + ":"
}

// pointer is Intel's name for the size of a memory operand.
func (w *writer) pointer(o *operand) string {
	if !w.intel() {
		w.bytes(o.mem)
		return ""
	}
	switch o.mem {
	case 'f':
		return "FWORD PTR "
	case 'c':
		return "OWORD PTR "
	}
	if w.p.bcst && o.bcst != 0 {
		return sizeNames[w.bytes(o.bcst)] + " BCST "
	}
	if name := sizeNames[w.bytes(o.mem)]; name != "" {
		return name + " PTR "
	}
	return ""
}

var sizeNames = [...]string{
	1: "BYTE", 2: "WORD", 4: "DWORD", 8: "QWORD", 10: "TBYTE",
	16: "XMMWORD", 32: "YMMWORD", 64: "ZMMWORD",
}

// memory writes the operand that ModRM and SIB describe.
func (w *writer) memory(o *operand) string {
	w.mem = true
	p := &w.p
	s := w.pointer(o)
	m := addressing{disp: p.disp * int64(w.dispScale(o)), size: p.addrSize()}
	w.baseAndIndex(&m, o)
	if m.base != "" || m.index != "" {
		w.used67 = true
	}
	s += w.segmentOf(&m)
	if w.intel() {
		s += m.intel()
	} else {
		s += m.att()
	}
	w.noteAddress(&m)
	if p.bcst && o.bcst != 0 {
		s += w.broadcast(o)
	}
	return s
}

// segmentOf is the segment override, or Intel's "ds:" of a bare address.
func (w *writer) segmentOf(m *addressing) string {
	s := w.segment()
	if s == "" && w.intel() && !m.bracketed() {
		return "ds:"
	}
	return s
}

// dispScale is the factor of EVEX's compressed 8-bit displacement.
func (w *writer) dispScale(o *operand) int {
	if w.p.enc != evex || w.p.dispLen != 1 {
		return 1
	}
	if w.p.bcst && o.bcst != 0 {
		return w.bytes(o.bcst)
	}
	if o.tuple != 0 {
		return w.bytes(o.tuple)
	}
	return max(w.bytes(o.mem), 1)
}

// broadcast is EVEX's {1to8}.
func (w *writer) broadcast(o *operand) string {
	if w.intel() && !o.bcstShown {
		return ""
	}
	return "{1to" + strconv.Itoa(w.bytes(o.mem)/w.bytes(o.bcst)) + "}"
}

// addressing is the sum that a memory operand's address is.
type addressing struct {
	base, index string // with AT&T's percent sign, or empty
	scale       int    // 1, 2, 4, 8; 0 for no index
	disp        int64
	hasDisp     bool // it is written even if it is 0
	rip         bool
	zeroIndex   bool // the index is eiz or riz
	size        int  // of the address, in bytes
}

// bracketed says that the operand is more than a bare address.
func (m *addressing) bracketed() bool { return m.base != "" || m.index != "" }

func (w *writer) baseAndIndex(m *addressing, o *operand) {
	p := &w.p
	mod, rm, high := p.modrm>>6, p.modrm&7, w.rexBit(rexB)
	m.hasDisp = p.dispLen != 0
	if rm != 4 {
		if mod == 0 && rm == 5 {
			m.rip = true
			m.base = w.register([...]string{4: "eip", 8: "rip"}[m.size])
			return
		}
		m.base = w.register(generalNames(int(rm|high), m.size))
		return
	}
	base, index, scale := p.sib&7, p.sib>>3&7|w.rexBit(rexX), p.sib>>6
	hasBase := base != 5 || mod != 0
	if hasBase {
		m.base = w.register(generalNames(int(base|high), m.size))
	}
	switch {
	case o.indexed:
		m.index = w.vectorIndex(o, index)
	case index != 4:
		m.index = w.register(generalNames(int(index), m.size))
	case scale != 0, hasBase && base != 4, !hasBase && m.size == 4:
		m.index = w.register([...]string{4: "eiz", 8: "riz"}[m.size])
		m.zeroIndex = true
	default:
		return
	}
	m.scale = 1 << scale
}

// vectorIndex names the vector of indices of a gather or scatter.
func (w *writer) vectorIndex(o *operand, index byte) string {
	if w.p.enc == evex {
		index |= w.p.vvvv & 16
	}
	return w.vector(o.reg, index)
}

func (m *addressing) att() string {
	s := ""
	if m.hasDisp {
		switch {
		case m.size == 4 && m.base == "" && (m.index == "" || m.zeroIndex):
			s = hexNumber(uint64(uint32(m.disp)))
		case m.bracketed():
			s = signedHex(m.disp)
		default:
			s = hexNumber(uint64(m.disp))
		}
	}
	if !m.bracketed() {
		return s
	}
	s += "(" + m.base
	if m.index != "" {
		s += "," + m.index + "," + strconv.Itoa(m.scale)
	}
	return s + ")"
}

func (m *addressing) intel() string {
	if !m.bracketed() {
		if m.size == 4 {
			return hexNumber(uint64(uint32(m.disp)))
		}
		return hexNumber(uint64(m.disp))
	}
	s := "[" + m.base
	if m.index != "" {
		if m.base != "" {
			s += "+"
		}
		s += m.index + "*" + strconv.Itoa(m.scale)
	}
	switch {
	case m.rip:
		s += "+" + hexNumber(uint64(m.disp)) // even if it is negative
	case m.hasDisp && m.size == 4 && m.base == "" && m.zeroIndex:
		s += "+" + hexNumber(uint64(uint32(m.disp)))
	case m.hasDisp && m.disp >= 0:
		s += "+" + hexNumber(uint64(m.disp))
	case m.hasDisp:
		s += signedHex(m.disp)
	}
	return s + "]"
}

// noteAddress remembers what a %rip-relative operand or a per-CPU one is
// called. A %rip-relative one may be both: a kernel's per-CPU variables have
// addresses of their own from 6.15 on, and small offsets before.
func (w *writer) noteAddress(m *addressing) {
	switch {
	case m.rip:
		a := w.addr + uint64(w.p.pos) + uint64(m.disp)
		if m.size == 4 {
			a = uint64(uint32(a))
		}
		w.note = w.address(a)
		if w.note == hexNumber(a) {
			w.notePerCPU(a)
		}
	case !m.bracketed():
		w.notePerCPU(uint64(m.disp))
	}
}

// notePerCPU remembers the name of the per-CPU variable at an offset.
func (w *writer) notePerCPU(offset uint64) {
	sym, ok := w.sym.(PerCPUSymbolizer)
	if !ok || w.p.seg != 0x65 {
		return
	}
	if s := w.symbol(sym.PerCPU(offset)); s != "" {
		w.note = strconv.FormatUint(offset, 16) + " " + s
	}
}

// absolute writes the operand of movabs.
func (w *writer) absolute(o *operand) string {
	w.mem = true
	size := w.p.addrSize()
	a := truncate(w.takeImmediate(size), size)
	s := w.segment()
	if s == "" && w.intel() {
		s = "ds:"
	}
	w.bytes(o.mem)
	w.notePerCPU(a)
	return s + hexNumber(a)
}

// stringMemory writes the implied operand of a string instruction.
func (w *writer) stringMemory(o *operand, segment, reg string) string {
	w.mem = true
	w.used67 = true
	s := w.pointer(o)
	if segment == "ds" && w.p.seg != 0 {
		segment = segNames[w.p.seg]
		w.usedSeg = true
	}
	s += w.register(segment) + ":"
	r := w.register([...]string{4: "e", 8: "r"}[w.p.addrSize()] + reg)
	if w.intel() {
		return s + "[" + r + "]"
	}
	return s + "(" + r + ")"
}
