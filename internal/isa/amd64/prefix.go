package amd64

import "strings"

// This file writes the prefixes that an instruction has besides those that its
// mnemonic and operands account for.

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
