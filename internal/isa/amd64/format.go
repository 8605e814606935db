package amd64

import (
	"strconv"
	"strings"
)

// Syntax is a way to write assembly language.
type Syntax uint8

const (
	ATT   Syntax = iota // mov 0x8(%rdi),%rax
	Intel               // mov rax,QWORD PTR [rdi+0x8]
)

// A Symbolizer names addresses. A nil one leaves them bare.
type Symbolizer interface {
	// Symbol gives the symbol that addr belongs to and its distance from it.
	Symbol(addr uint64) (name string, offset uint64, ok bool)
}

// A PerCPUSymbolizer is a Symbolizer that can also name absolute %gs:
// operands, which address per-CPU variables in the kernel and of which objdump
// says nothing.
type PerCPUSymbolizer interface {
	Symbolizer
	PerCPU(offset uint64) (name string, rest uint64, ok bool)
}

// Bad is the text of bytes that are no instruction.
const Bad = "(bad)"

// Format writes the instruction at the beginning of text, which stands at
// addr, as GNU objdump does: mnemonic, spaces, operands, and behind "#" the
// address of a %rip-relative operand. A vector instruction that the table
// lacks is written as the bytes that it is made of, with .byte.
func Format(text []byte, addr uint64, syntax Syntax, sym Symbolizer) string {
	w := writer{addr: addr, syntax: syntax, sym: sym}
	if err := w.p.decode(text); err != nil {
		return Bad
	}
	if w.p.row == nil {
		return w.raw()
	}
	return w.instruction()
}

// writer turns one instruction into text. While operands are written, it
// notes which prefixes they account for: the others are shown as prefixes.
type writer struct {
	p      parts
	addr   uint64
	syntax Syntax
	sym    Symbolizer

	usedRex  byte // bits of REX that something depended on; rexAny for its mere presence
	used66   bool
	used67   bool
	usedSeg  bool
	usedHint bool
	usedRep  bool
	mem      bool   // there is a memory operand
	note     string // what stands behind "#"
}

const rexAny = 0x40

func (w *writer) intel() bool { return w.syntax == Intel }

// raw is an instruction that only its length is known of.
func (w *writer) raw() string {
	var b strings.Builder
	b.WriteString(".byte ")
	for i, c := range w.p.text[:w.p.pos] {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(hexNumber(uint64(c)))
	}
	return b.String()
}

func (w *writer) instruction() string {
	r := w.p.row
	args := w.operands()
	name := w.mnemonic()
	if r.mark&usesPrefix != 0 {
		w.useMandatory()
	}
	if r.mark&usesOpsize != 0 {
		w.opsize()
	}
	if r.mark&usesRexW != 0 {
		w.usedRex |= rexW
	}
	if r.mark&usesRexB != 0 {
		w.usedRex |= rexB
	}
	if r.mark&usesAddrSize != 0 {
		w.used67 = true
	}
	name = w.prefixes() + name
	if len(args) == 0 {
		return name
	}
	for len(name) < 6 {
		name += " "
	}
	text := name + " " + strings.Join(args, ",")
	if w.note != "" {
		text += "        # " + w.note
	}
	return text
}

// useMandatory marks the prefix that selects the row as used.
func (w *writer) useMandatory() {
	if w.p.rep != 0 {
		w.usedRep = true
	} else {
		w.used66 = true
	}
}

// mnemonic fills in the table's mnemonic.
func (w *writer) mnemonic() string {
	r := w.p.row
	name := r.att
	if w.intel() {
		name = r.intel
	}
	name = w.encodingPrefix(name)
	if strings.IndexByte(name, '%') >= 0 {
		predicate, _ := w.predicate()
		name = strings.Replace(name, "%", predicate, 1)
	}
	if w.p.row.moffs && w.p.has67 {
		name = "mov"
	}
	switch name[len(name)-1] {
	case '~':
		name = name[:len(name)-1]
		if !w.intel() && w.mem {
			name += w.memorySuffix()
		}
	case '@':
		name = name[:len(name)-1]
		if !w.intel() && w.p.has67 {
			w.used67 = true
			name += "l"
		}
	case '^':
		name = name[:len(name)-1]
		if w.stackSize() == 2 && w.showsStackSize() {
			name += "w"
		}
	}
	return name + w.branchHint()
}

// encodingPrefix deals with the {vex} and {evex} that the table's mnemonics
// begin with.
func (w *writer) encodingPrefix(name string) string {
	if rest, ok := strings.CutPrefix(name, "{vex}"); ok {
		return "{vex} " + rest
	}
	rest, ok := strings.CutPrefix(name, "{evex}")
	if !ok {
		return name
	}
	p := &w.p
	highRM := p.modrm>>6 == 3 && p.rex&rexX != 0
	if p.bcst || p.vl >= 2 || p.aaa != 0 || p.regHi || p.vvvv >= 16 || highRM {
		return rest
	}
	return "{evex} " + rest
}

// memorySuffix is AT&T's letter for the size of the memory operand.
func (w *writer) memorySuffix() string {
	for _, o := range w.p.row.args {
		if o.class == 'E' || o.class == 'M' {
			switch w.bytes(o.mem) {
			case 1:
				return "b"
			case 2:
				return "w"
			case 4:
				return "l"
			case 8:
				return "q"
			}
		}
	}
	return ""
}

// showsStackSize says whether a 16-bit stack operation has to be told by its
// mnemonic, because no operand does.
func (w *writer) showsStackSize() bool {
	for _, o := range w.p.row.args {
		switch o.class {
		case 'Z':
			return false
		case 'E':
			return !w.intel() && w.mem
		}
	}
	return true
}

// prefixes are those that neither mnemonic nor operands account for, in the
// order in which they stand.
func (w *writer) prefixes() string {
	p := &w.p
	if p.nprefix == 0 {
		return ""
	}
	var names []string
	seen := map[byte]int{}
	for i := range p.nprefix {
		seen[p.text[i]] = i
	}
	for i, b := range p.text[:p.nprefix] {
		last := seen[b] == i
		if name := w.prefixName(b, i, last); name != "" {
			names = append(names, name)
		}
	}
	if names == nil {
		return ""
	}
	return strings.Join(names, " ") + " "
}

// prefixName names the prefix b at position i, or returns nothing if it shows
// elsewhere. Only the last of several equal ones can.
func (w *writer) prefixName(b byte, i int, last bool) string {
	p := &w.p
	switch {
	case b&0xf0 == 0x40:
		if i == p.nprefix-1 && p.rex == b && w.rexUsed(b) {
			return ""
		}
		return rexName(b)
	case b == 0x66:
		if last && w.used66 {
			return ""
		}
		return "data16"
	case b == 0x67:
		if last && w.used67 {
			return ""
		}
		return "addr32"
	case b == 0xf0:
		return "lock"
	case b == 0xf2, b == 0xf3:
		return w.repName(b, last)
	}
	return w.segName(b, last)
}

// rexUsed says whether everything in the REX prefix mattered.
func (w *writer) rexUsed(b byte) bool {
	if w.usedRex == 0 {
		return false
	}
	return b&0xf&^w.usedRex == 0
}

func rexName(b byte) string {
	if b == 0x40 {
		return "rex"
	}
	name := "rex."
	for i, c := range "WRXB" {
		if b&(8>>i) != 0 {
			name += string(c)
		}
	}
	return name
}

func (w *writer) repName(b byte, last bool) string {
	p := &w.p
	if last && w.usedRep && b == p.rep {
		return ""
	}
	r := p.row
	switch {
	case r.repeats && b == 0xf3 && !strings.HasPrefix(r.att, "cmps") && !strings.HasPrefix(r.att, "scas"):
		return "rep"
	case b == 0xf2 && takesBound(r):
		return "bnd"
	case b == 0xf2:
		return w.elided("xacquire", "repnz")
	}
	return w.elided("xrelease", "repz")
}

// elided picks the name of f2 or f3 before a locked instruction on memory,
// or xchg, or a store to be elided.
func (w *writer) elided(hle, rep string) string {
	p := &w.p
	if !w.mem || p.row.access&WritesMemory == 0 {
		return rep
	}
	name := strings.TrimRight(p.row.att, "~")
	switch {
	case p.enc != plain:
	case name == "xchg", p.hasLock && elidable[name]:
		return hle
	case name == "mov" && hle == "xrelease" && p.opmap == 0 && p.opcode != 0x8c:
		return hle
	}
	return rep
}

var elidable = map[string]bool{
	"add": true, "adc": true, "and": true, "btc": true, "btr": true, "bts": true,
	"cmpxchg": true, "cmpxchg8b": true, "dec": true, "inc": true, "neg": true, "not": true,
	"or": true, "sbb": true, "sub": true, "xor": true, "xadd": true, "xchg": true,
}

// takesBound says whether f2 before the instruction is MPX's bnd prefix.
func takesBound(r *row) bool {
	switch strings.TrimRight(r.att, "^") {
	case "call", "jmp", "ret":
		return true
	}
	return r.class&Conditional != 0 && r.att[0] == 'j' && r.att != "jrcxz" && r.att != "jecxz"
}

var segNames = map[byte]string{0x26: "es", 0x2e: "cs", 0x36: "ss", 0x3e: "ds", 0x64: "fs", 0x65: "gs"}

func (w *writer) segName(b byte, last bool) string {
	switch {
	case last && w.usedSeg && b == w.p.seg,
		last && w.usedHint && b == w.p.hint,
		w.p.row.dataSeg && b < 0x64:
		return ""
	}
	r := w.p.row
	if b == 0x3e && r.class&Indirect != 0 && r.class&(Call|Jump) != 0 {
		return "notrack"
	}
	return segNames[b]
}

// branchHint is the 2e or 3e before a conditional jump, as AT&T's suffix.
func (w *writer) branchHint() string {
	if w.intel() || w.p.row.class&Conditional == 0 || w.p.row.att == "xbegin" {
		return ""
	}
	switch w.p.hint {
	case 0x2e:
		w.usedHint = true
		return ",pn"
	case 0x3e:
		w.usedHint = true
		return ",pt"
	}
	return ""
}

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
		for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
			out[i], out[j] = out[j], out[i]
		}
	}
	return out
}

// forward says that AT&T keeps Intel's order.
func (r *row) forward() bool {
	switch strings.TrimRight(r.att, "^") {
	case "enter":
		return true
	}
	return r.impliedOperands()
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

// register writes a register's name.
func (w *writer) register(name string) string {
	if w.intel() {
		return name
	}
	return "%" + name
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

// bytes gives the size that a letter of the table stands for, 0 for none.
func (w *writer) bytes(size byte) int {
	switch size {
	case 'b':
		return 1
	case 'w':
		return 2
	case 'd':
		return 4
	case 'q':
		return 8
	case 't':
		return 10
	case 'x':
		return 16
	case 'y':
		return 32
	case 'z':
		return 64
	case 'e':
		if w.p.rex&rexW != 0 {
			w.usedRex |= rexW
			return 8
		}
		return 4
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
	return 0
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
	if b == 1 && w.p.enc == plain {
		if w.p.rex == 0 && n >= 4 {
			return w.register([4]string{"ah", "ch", "dh", "bh"}[n-4])
		}
	}
	return w.register(generalNames(int(n), b))
}

var (
	names8  = [8]string{"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil"}
	names16 = [8]string{"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"}
)

func generalNames(n, size int) string {
	if n >= 8 {
		return "r" + strconv.Itoa(n) + map[int]string{1: "b", 2: "w", 4: "d"}[size]
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

// hexNumber writes a number as objdump does.
func hexNumber(n uint64) string { return "0x" + strconv.FormatUint(n, 16) }

func signedHex(n int64) string {
	if n < 0 {
		return "-" + hexNumber(uint64(-n))
	}
	return hexNumber(uint64(n))
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

// address writes an address and the symbol that it belongs to.
func (w *writer) address(a uint64) string {
	if w.sym != nil {
		if s := w.symbol(w.sym.Symbol(a)); s != "" {
			return strconv.FormatUint(a, 16) + " " + s
		}
	}
	return hexNumber(a)
}

func (w *writer) symbol(name string, offset uint64, ok bool) string {
	switch {
	case !ok:
		return ""
	case offset == 0:
		return "<" + name + ">"
	}
	return "<" + name + "+" + hexNumber(offset) + ">"
}
