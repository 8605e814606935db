package amd64

import (
	"strconv"
	"strings"
)

// Syntax is a way to write assembly language.
type Syntax uint8

// A Symbolizer names addresses. A nil one leaves them bare.
type Symbolizer interface {
	// Symbol gives the symbol that addr belongs to and its distance from it.
	Symbol(addr uint64) (name string, offset uint64, ok bool)
}

// A PerCPUSymbolizer is a Symbolizer that can also name %gs: operands that are
// absolute or %rip-relative, which address per-CPU variables in the kernel.
// Of the absolute ones objdump says nothing.
type PerCPUSymbolizer interface {
	Symbolizer
	// PerCPU gives the variable at an offset in the per-CPU area.
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
	args := w.operands()
	name := w.mnemonic()
	w.useMarks()
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

// useMarks notes the prefixes that the row was chosen by.
func (w *writer) useMarks() {
	mark := w.p.row.mark
	if mark&usesPrefix != 0 {
		w.useMandatory()
	}
	if mark&usesOpsize != 0 {
		w.opsize()
	}
	if mark&usesRexW != 0 {
		w.usedRex |= rexW
	}
	if mark&usesRexB != 0 {
		w.usedRex |= rexB
	}
	if mark&usesAddrSize != 0 {
		w.used67 = true
	}
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
			return [...]string{1: "b", 2: "w", 4: "l", 8: "q"}[w.bytes(o.mem)]
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

// hexNumber writes a number as objdump does.
func hexNumber(n uint64) string { return "0x" + strconv.FormatUint(n, 16) }

func signedHex(n int64) string {
	if n < 0 {
		return "-" + hexNumber(uint64(-n))
	}
	return hexNumber(uint64(n))
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
