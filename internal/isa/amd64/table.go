package amd64

import (
	_ "embed"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"sync"
)

//go:embed opcodes.txt
var opcodesText string

//go:embed vex.txt
var vexText string

// conds is a set of circumstances in which a row of the table may be meant.
// An instruction has one bit of each group that applies to it; a row matches
// when it allows all of them.
type conds uint32

const (
	prefixNone conds = 1 << iota // mandatory prefix
	prefix66
	prefixF3
	prefixF2
	opsize16 // operand size
	opsize32
	opsize64
	modMem // ModRM.mod
	modReg
	rexBClear // REX.B
	rexBSet
	addr64 // address size
	addr32
	length128 // VEX.L, EVEX.L'L
	length256
	length512
	length1024 // EVEX.L'L of 3
	bcstClear  // EVEX.b
	bcstSet
	regZero // ModRM.reg; regZero<<n is n

	anyPrefix = prefixNone | prefix66 | prefixF3 | prefixF2
	anyOpsize = opsize16 | opsize32 | opsize64
	anyMod    = modMem | modReg
	anyLength = length128 | length256 | length512 | length1024
	anyReg    = 0xff * regZero
	anyConds  = regZero<<8 - 1
)

// condNames are the words of the table's second column. Each narrows the
// group that it belongs to.
var condNames = map[string]struct{ group, allowed conds }{
	"np":   {anyPrefix, prefixNone},
	"66":   {anyPrefix, prefix66},
	"f3":   {anyPrefix, prefixF3},
	"f2":   {anyPrefix, prefixF2},
	"o16":  {anyOpsize, opsize16},
	"o32":  {anyOpsize, opsize32},
	"o64":  {anyOpsize, opsize64},
	"w0":   {anyOpsize, opsize16 | opsize32},
	"w1":   {anyOpsize, opsize64},
	"mem":  {anyMod, modMem},
	"reg":  {anyMod, modReg},
	"rexb": {rexBClear | rexBSet, rexBSet},
	"a32":  {addr64 | addr32, addr32},
	"l0":   {anyLength, length128},
	"l1":   {anyLength, length256},
	"l2":   {anyLength, length512},
	"l01":  {anyLength, length128 | length256},
	"l12":  {anyLength, length256 | length512},
	"b0":   {bcstClear | bcstSet, bcstClear},
	"b1":   {bcstClear | bcstSet, bcstSet},
}

// row is one form of an instruction.
type row struct {
	allowed conds
	modrm   int16 // the whole ModRM byte, or -1 for any
	mark    marks
	immLen  uint8 // bytes of immediates, those that follow the operand size aside
	immZ    bool  // an immediate or displacement of 2 or 4 bytes by operand size
	immV    bool  // an immediate of 2, 4 or 8 bytes by operand size
	moffs   bool  // an absolute address of the address size
	class   Class // what it always is
	access  Class // what it does to its memory operand
	implied bool  // that operand needs no ModRM
	repeats bool  // a string instruction, repeated by a prefix
	dataSeg bool  // it has an implied operand in ds, which only fs and gs override
	att     string
	intel   string
	args    []operand
}

// marks are the particulars of a row that its text depends on.
type marks uint8

const (
	usesPrefix marks = 1 << iota // the mandatory prefix is part of the opcode
	usesOpsize                   // there is a row of its own for the operand size
	usesRexW                     // there is one for REX.W
	usesAddrSize
	usesRexB
)

// operand is a class letter and the sizes of the register and of the memory,
// as explained at the top of opcodes.txt; class 0 is a register by name.
type operand struct {
	class     byte
	reg, mem  byte
	bcst      byte // size letter of the elements that EVEX.b broadcasts
	bcstShown bool // Intel syntax too says how many
	round     byte // 'r' for a rounding mode, 's' for {sae}
	tuple     byte // size letter of EVEX's compressed displacement if not that of the memory
	indexed   bool // the index register is a vector of size reg
	name      string
}

// opcode is all rows that share the bytes up to the last opcode byte.
type opcode struct {
	modrm bool
	noMod bool // ModRM.mod is ignored: mov to and from control and debug registers
	rows  []row
}

// The opcode maps. VEX and EVEX number their maps; the legacy ones are those
// reached by no escape, 0f, 0f 38 and 0f 3a.
type opcodeMap [256]opcode

const (
	map0F   = 1
	map0F38 = 2
	map0F3A = 3
	mapMax  = 11 // XOP's last is 10
)

var legacy = sync.OnceValue(func() *[4]opcodeMap {
	maps := new([4]opcodeMap)
	compile(opcodesText, func(_ string, m int) *opcodeMap { return &maps[m] })
	return maps
})

type vectorMaps struct{ vex, evex, xop [mapMax]opcodeMap }

var vector = sync.OnceValue(func() *vectorMaps {
	maps := new(vectorMaps)
	compile(vexText, func(encoding string, m int) *opcodeMap {
		switch encoding {
		case "evex":
			return &maps.evex[m]
		case "xop":
			return &maps.xop[m]
		}
		return &maps.vex[m]
	})
	return maps
})

// compile reads a table. The tables are part of the program, so that a
// mistake in one is a panic; a test compiles them both.
func compile(text string, place func(encoding string, m int) *opcodeMap) {
	for n, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		if err := compileLine(line, place); err != nil {
			panic(fmt.Sprintf("line %d: %q: %v", n+1, line, err))
		}
	}
}

func compileLine(line string, place func(encoding string, m int) *opcodeMap) error {
	key, forms, ok := strings.Cut(line, ": ")
	if !ok {
		return fmt.Errorf("no colon")
	}
	encoding, m, words, err := cutMap(strings.Fields(key))
	if err != nil {
		return err
	}
	table := place(encoding, m)
	first, span, cond, err := opcodeRange(words[0])
	if err != nil {
		return err
	}
	template := row{allowed: anyConds, modrm: -1}
	var prefixes []string
	for _, w := range words[1:] {
		switch {
		case strings.Contains(w, "|"):
			prefixes = strings.Split(w, "|")
		default:
			if err := template.require(w); err != nil {
				return err
			}
		}
	}
	if prefixes == nil {
		prefixes = []string{""}
	}
	alternatives := strings.Split(forms, " | ")
	if len(alternatives) != len(prefixes) {
		return fmt.Errorf("%d prefixes, %d instructions", len(prefixes), len(alternatives))
	}
	for i, form := range alternatives {
		r := template
		if prefixes[i] != "" {
			if err := r.require(prefixes[i]); err != nil {
				return err
			}
		}
		r.parse(form)
		for n := range span {
			op := &table[first+n]
			nth := r
			if cond {
				nth.att = strings.Replace(r.att, "?", conditions[n], 1)
				nth.intel = strings.Replace(r.intel, "?", conditions[n], 1)
			}
			op.modrm = op.modrm || nth.needsModRM()
			op.noMod = op.noMod || nth.ignoresMod()
			op.rows = append(op.rows, nth)
		}
	}
	return nil
}

var conditions = [16]string{"o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g"}

// cutMap takes the encoding and the opcode map off the words of a key.
func cutMap(words []string) (encoding string, m int, rest []string, err error) {
	switch words[0] {
	case "vex", "evex", "xop":
		m, err = strconv.Atoi(words[1])
		return words[0], m, words[2:], err
	}
	if len(words) > 1 && words[0] == "0f" {
		switch {
		case words[1] == "38" && len(words) > 2:
			return "", map0F38, words[2:], nil
		case words[1] == "3a" && len(words) > 2:
			return "", map0F3A, words[2:], nil
		}
		return "", map0F, words[1:], nil
	}
	return "", 0, words, nil
}

func opcodeRange(word string) (first, span int, cond bool, err error) {
	span = 1
	hex, suffix, ok := strings.Cut(word, "+")
	if ok {
		span = map[string]int{"r": 8, "c": 16}[suffix]
		cond = suffix == "c"
	}
	b, err := strconv.ParseUint(hex, 16, 8)
	return int(b), span, cond, err
}

// require narrows the circumstances in which the row is meant.
func (r *row) require(word string) error {
	if c, ok := condNames[word]; ok {
		r.allowed &= ^c.group | c.allowed
		switch {
		case c.group == anyPrefix && c.allowed != prefixNone:
			r.mark |= usesPrefix
		case c.group == anyOpsize:
			r.mark |= map[byte]marks{'o': usesOpsize, 'w': usesRexW}[word[0]]
		case c.allowed == addr32:
			r.mark |= usesAddrSize
		case c.allowed == rexBSet:
			r.mark |= usesRexB
		}
		return nil
	}
	if len(word) < 2 || word[0] != '/' && word[0] != ':' {
		return fmt.Errorf("what is %q?", word)
	}
	n, err := strconv.ParseUint(word[1:], 16, 8)
	if err != nil {
		return err
	}
	if word[0] == '/' {
		r.allowed &= ^anyReg | regZero<<n
		return nil
	}
	r.modrm = int16(n)
	return nil
}

// parse reads "mnemonic operands =access".
func (r *row) parse(form string) {
	words := strings.Fields(form)
	r.att, r.intel = words[0], words[0]
	if a, b, ok := strings.Cut(words[0], "|"); ok {
		r.att, r.intel = a, b
	}
	access := ""
	for _, w := range words[1:] {
		if w[0] == '=' {
			access = w[1:]
			continue
		}
		for a := range strings.SplitSeq(w, ",") {
			r.args = append(r.args, parseOperand(a))
		}
	}
	r.classify(access)
	for i := range r.args {
		r.addOperand(&r.args[i])
	}
}

func parseOperand(s string) operand {
	if s[0] < 'A' || s[0] > 'Z' {
		return operand{name: s}
	}
	o := operand{class: s[0]}
	s = s[1:]
	sizes, rest := s, ""
	if i := strings.IndexAny(s, "/{*"); i >= 0 {
		sizes, rest = s[:i], s[i:]
	}
	if len(sizes) > 0 {
		o.reg, o.mem = sizes[0], sizes[0]
	}
	if len(sizes) > 1 {
		o.mem = sizes[1]
	}
	for rest != "" {
		switch rest[0] {
		case '/':
			o.bcst, rest = rest[1], rest[2:]
			if o.bcstShown = strings.HasPrefix(rest, "+"); o.bcstShown {
				rest = rest[1:]
			}
		case '*':
			o.tuple, rest = rest[1], rest[2:]
		case '{':
			word, after, _ := strings.Cut(rest[1:], "}")
			switch word {
			case "r", "s":
				o.round = word[0]
			case "i":
				o.indexed = true
			}
			rest = after
		}
	}
	return o
}

// addOperand notes what the decoder must know of an operand.
func (r *row) addOperand(o *operand) {
	switch o.class {
	case 'M':
		r.allowed &= ^anyMod | modMem
	case 'R', 'U', 'N', 'T':
		r.allowed &= ^anyMod | modReg
	case 'I', 'J':
		switch o.reg {
		case 'w':
			r.immLen += 2
		case 'z', 'p':
			r.immZ = true
		case 'v':
			r.immV = true
		default:
			r.immLen++
		}
	case 'L':
		r.immLen++
	case 'O':
		r.moffs = true
	}
}

func (r *row) needsModRM() bool {
	if r.modrm >= 0 || bits.OnesCount32(uint32(r.allowed&anyReg)) != 8 || r.allowed&anyMod != anyMod {
		return true
	}
	for _, o := range r.args {
		if strings.IndexByte("EGMRVWUPQNSCDBFKTA", o.class) >= 0 && o.class != 0 {
			return true
		}
	}
	return false
}

func (r *row) ignoresMod() bool {
	return len(r.args) > 0 && (r.args[0].class == 'A' || r.args[len(r.args)-1].class == 'A')
}
