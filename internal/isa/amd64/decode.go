package amd64

import (
	"encoding/binary"
	"errors"
)

// MaxLen is the length of the longest instruction, in bytes.
const MaxLen = 15

// ErrTruncated says that the text ends inside the instruction.
var ErrTruncated = errors.New("the text ends inside an instruction")

// ErrInvalid says that the bytes are no instruction.
var ErrInvalid = errors.New("no instruction has this encoding")

// Inst is what a tracer wants to know of an instruction.
type Inst struct {
	Len    int
	Class  Class
	Target uint64 // of a direct call or jump
}

// Decode reads the instruction at the beginning of text, which stands at addr.
// It never looks beyond text or past 15 bytes. The error is ErrTruncated or
// ErrInvalid.
//
// A near branch with an operand-size prefix is taken to have a displacement
// of 16 bits, which is objdump's and AMD's reading; Intel's processors ignore
// the prefix. No compiler and no assembler makes one.
func Decode(text []byte, addr uint64) (Inst, error) {
	var p parts
	if err := p.decode(text); err != nil {
		return Inst{}, err
	}
	in := Inst{Len: p.pos, Class: p.class()}
	if in.Class&(Call|Jump) != 0 && in.Class&Indirect == 0 {
		in.Target = p.target(addr)
	}
	return in, nil
}

// encoding is how the opcode is introduced.
type encoding uint8

const (
	plain encoding = iota
	vex
	evex
	xop
)

// parts is an instruction taken apart.
type parts struct {
	text []byte // from the first byte, at most MaxLen
	pos  int    // bytes consumed

	enc      encoding
	nprefix  int  // legacy and REX prefixes, at the beginning of text
	rex      byte // the REX prefix in force; for VEX and EVEX, the bits of one
	rep      byte // the last of f2 and f3, or 0
	has66    bool
	has67    bool
	hasLock  bool
	seg      byte // the last of fs and gs, or 0
	hint     byte // the last of cs and ds, which mean something before branches only
	opmap    int
	opcode   byte
	hasModRM bool
	modrm    byte
	sib      byte
	dispLen  int
	disp     int64
	immPos   int // where immediates start
	row      *row

	// VEX and EVEX
	vvvv   byte // with EVEX.V' as bit 4, not inverted
	vl     byte // VEX.L, EVEX.L'L
	aaa    byte
	zeroed bool // EVEX.z
	bcst   bool // EVEX.b
	regHi  bool // EVEX.R': bit 4 of ModRM.reg
}

const (
	rexW = 8
	rexR = 4
	rexX = 2
	rexB = 1
)

// decode takes apart the instruction at the beginning of text.
func (p *parts) decode(text []byte) error {
	if len(text) > MaxLen {
		text = text[:MaxLen]
	}
	p.text = text
	err := p.decodeAll()
	if err == ErrTruncated && len(text) == MaxLen {
		return ErrInvalid
	}
	return err
}

func (p *parts) decodeAll() error {
	if err := p.prefixes(); err != nil {
		return err
	}
	if err := p.escape(); err != nil {
		return err
	}
	op := p.lookup()
	if op == nil {
		return ErrInvalid
	}
	if op.modrm || p.enc != plain && !p.noModRM() {
		if err := p.memory(op); err != nil {
			return err
		}
	}
	p.row = p.match(op)
	if p.row == nil && p.enc == plain {
		return ErrInvalid
	}
	return p.immediates()
}

// next consumes one byte.
func (p *parts) next() (byte, error) {
	if p.pos >= len(p.text) {
		return 0, ErrTruncated
	}
	b := p.text[p.pos]
	p.pos++
	return b, nil
}

// prefixes consumes legacy and REX prefixes. A REX prefix counts only if the
// opcode follows it.
func (p *parts) prefixes() error {
	for {
		if p.pos >= len(p.text) {
			return ErrTruncated
		}
		switch b := p.text[p.pos]; {
		case b&0xf0 == 0x40:
			p.rex = b
			p.pos++
			p.nprefix = p.pos
			continue
		case b == 0x66:
			p.has66 = true
		case b == 0x67:
			p.has67 = true
		case b == 0xf2, b == 0xf3:
			p.rep = b
		case b == 0xf0:
			p.hasLock = true
		case b == 0x64, b == 0x65:
			p.seg = b
		case b == 0x2e, b == 0x3e:
			p.hint = b
		case b == 0x26, b == 0x36:
		default:
			return nil
		}
		p.rex = 0
		p.pos++
		p.nprefix = p.pos
	}
}

// escape consumes what selects the opcode map, and the opcode.
func (p *parts) escape() error {
	b, err := p.next()
	if err != nil {
		return err
	}
	switch b {
	case 0x0f:
		p.opmap = map0F
		if b, err = p.next(); err != nil {
			return err
		}
		switch b {
		case 0x38:
			p.opmap = map0F38
			b, err = p.next()
		case 0x3a:
			p.opmap = map0F3A
			b, err = p.next()
		}
	case 0xc5:
		b, err = p.vex2()
	case 0xc4:
		b, err = p.vex3(vex)
	case 0x62:
		b, err = p.evexPrefix()
	case 0x8f:
		if p.pos < len(p.text) && p.text[p.pos]&0x1f >= 8 {
			b, err = p.vex3(xop)
		}
	}
	p.opcode = b
	return err
}

// setPP notes the mandatory prefix that VEX.pp stands for.
func (p *parts) setPP(pp byte) {
	p.has66 = pp == 1
	p.rep = [4]byte{0, 0, 0xf3, 0xf2}[pp]
}

func (p *parts) vex2() (byte, error) {
	b, err := p.next()
	if err != nil {
		return 0, err
	}
	p.enc, p.opmap = vex, map0F
	p.rex = ^b >> 5 & rexR
	p.vvvv = ^b >> 3 & 15
	p.vl = b >> 2 & 1
	p.setPP(b & 3)
	return p.next()
}

func (p *parts) vex3(e encoding) (byte, error) {
	b, err := p.next()
	if err != nil {
		return 0, err
	}
	c, err := p.next()
	if err != nil {
		return 0, err
	}
	p.enc, p.opmap = e, int(b&0x1f)
	p.rex = ^b>>5&7 | c>>4&rexW
	p.vvvv = ^c >> 3 & 15
	p.vl = c >> 2 & 1
	p.setPP(c & 3)
	return p.next()
}

func (p *parts) evexPrefix() (byte, error) {
	if p.pos+3 > len(p.text) {
		return 0, ErrTruncated
	}
	b, c, d := p.text[p.pos], p.text[p.pos+1], p.text[p.pos+2]
	p.pos += 3
	if c&4 == 0 {
		return 0, ErrInvalid
	}
	p.enc, p.opmap = evex, int(b&7)
	p.rex = ^b>>5&7 | c>>4&rexW
	p.regHi = b&0x10 == 0
	p.vvvv = ^c>>3&15 | ^d<<1&0x10
	p.vl = d >> 5 & 3
	p.bcst = d&0x10 != 0
	p.zeroed = d&0x80 != 0
	p.aaa = d & 7
	p.setPP(c & 3)
	return p.next()
}

func (p *parts) lookup() *opcode {
	if p.enc == plain {
		return &legacy()[p.opmap][p.opcode]
	}
	if p.opmap >= mapMax {
		return nil
	}
	switch p.enc {
	case evex:
		return &vector().evex[p.opmap][p.opcode]
	case xop:
		return &vector().xop[p.opmap][p.opcode]
	}
	return &vector().vex[p.opmap][p.opcode]
}

// noModRM says that a VEX opcode stands alone: vzeroupper and vzeroall.
func (p *parts) noModRM() bool {
	return p.enc == vex && p.opmap == map0F && p.opcode == 0x77
}

// memory consumes ModRM, SIB and the displacement.
func (p *parts) memory(op *opcode) error {
	m, err := p.next()
	if err != nil {
		return err
	}
	if op.noMod {
		m |= 0xc0
	}
	p.hasModRM, p.modrm = true, m
	mod, rm := m>>6, m&7
	if mod == 3 {
		return nil
	}
	if rm == 4 {
		if p.sib, err = p.next(); err != nil {
			return err
		}
	}
	switch {
	case mod == 1:
		p.dispLen = 1
	case mod == 2, rm == 5, rm == 4 && p.sib&7 == 5:
		p.dispLen = 4
	default:
		return nil
	}
	p.disp, err = p.signed(p.dispLen)
	return err
}

// signed consumes an integer of n bytes.
func (p *parts) signed(n int) (int64, error) {
	if p.pos+n > len(p.text) {
		return 0, ErrTruncated
	}
	b := p.text[p.pos:]
	p.pos += n
	switch n {
	case 1:
		return int64(int8(b[0])), nil
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(b))), nil
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b))), nil
	}
	return int64(binary.LittleEndian.Uint64(b)), nil
}

// circumstances are the bits that the rows of the table are chosen by.
func (p *parts) circumstances() conds {
	var c conds
	switch {
	case p.rep == 0xf3:
		c = prefixF3
	case p.rep == 0xf2:
		c = prefixF2
	case p.has66:
		c = prefix66
	default:
		c = prefixNone
	}
	switch {
	case p.rex&rexW != 0:
		c |= opsize64
	case p.has66:
		c |= opsize16
	default:
		c |= opsize32
	}
	if p.rex&rexB != 0 {
		c |= rexBSet
	} else {
		c |= rexBClear
	}
	if p.has67 {
		c |= addr32
	} else {
		c |= addr64
	}
	if p.hasModRM {
		c |= regZero << (p.modrm >> 3 & 7)
		if p.modrm>>6 == 3 {
			c |= modReg
		} else {
			c |= modMem
		}
	}
	if p.enc != plain {
		c |= p.lengthCond()
		if p.bcst {
			c |= bcstSet
		} else {
			c |= bcstClear
		}
	}
	return c
}

// lengthCond is the vector length. Where its bits hold a rounding mode, it is
// 512 bits.
func (p *parts) lengthCond() conds {
	if p.enc == evex && p.bcst && p.modrm>>6 == 3 {
		return length512
	}
	return length128 << p.vl
}

// match finds the row that is meant, or nil.
func (p *parts) match(op *opcode) *row {
	c := p.circumstances()
	for i := range op.rows {
		r := &op.rows[i]
		if c&^r.allowed == 0 && (r.modrm < 0 || r.modrm == int16(p.modrm)) {
			return r
		}
	}
	return nil
}

// immediates consumes what follows ModRM and displacement.
func (p *parts) immediates() error {
	p.immPos = p.pos
	n := 0
	switch r := p.row; {
	case p.enc != plain:
		n = p.vectorImmediate()
	default:
		n = int(r.immLen)
		if r.immZ {
			n += min(p.opsize(), 4)
		}
		if r.immV {
			n += p.opsize()
		}
		if r.moffs {
			n += p.addrSize()
		}
	}
	p.pos += n
	if p.pos > len(p.text) {
		return ErrTruncated
	}
	return nil
}

// vectorImmediate is the number of immediate bytes of a VEX, EVEX or XOP
// instruction. Their maps settle it, so that the length of an instruction too
// young for the table is known all the same.
func (p *parts) vectorImmediate() int {
	switch {
	case p.opmap == map0F3A, p.opmap == 8:
		return 1
	case p.opmap == 10:
		return 4
	case p.opmap == map0F:
		switch p.opcode {
		case 0x70, 0x71, 0x72, 0x73, 0xc2, 0xc4, 0xc5, 0xc6:
			return 1
		}
	}
	return 0
}

// opsize is the operand size in bytes.
func (p *parts) opsize() int {
	switch {
	case p.rex&rexW != 0:
		return 8
	case p.has66:
		return 2
	}
	return 4
}

func (p *parts) addrSize() int {
	if p.has67 {
		return 4
	}
	return 8
}

// class is the row's class with what the prefixes and ModRM add.
func (p *parts) class() Class {
	if p.row == nil {
		return p.unknownClass()
	}
	c := p.row.class
	if p.row.implied || p.hasModRM && p.modrm>>6 != 3 {
		c |= p.row.access
	}
	if p.row.repeats && p.rep != 0 {
		c |= RepeatedString
	}
	return c
}

// unknownClass is that of a vector instruction which the table lacks: its
// memory operand, if any, may be read and written.
func (p *parts) unknownClass() Class {
	if p.hasModRM && p.modrm>>6 != 3 {
		return ReadsMemory | WritesMemory
	}
	return 0
}

// target is where a direct call or jump goes.
func (p *parts) target(addr uint64) uint64 {
	end := *p
	end.pos = p.immPos
	disp, _ := end.signed(p.pos - p.immPos)
	t := addr + uint64(p.pos) + uint64(disp)
	if p.pos-p.immPos == 2 {
		t &= 0xffff
	}
	return t
}
