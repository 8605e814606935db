package amd64

import (
	_ "embed"
	"errors"
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
		return errors.New("no colon")
	}
	encoding, m, words, err := cutMap(strings.Fields(key))
	if err != nil {
		return err
	}
	ops, err := parseOpcodes(place(encoding, m), words[0])
	if err != nil {
		return err
	}
	rows, err := parseRows(words[1:], strings.Split(forms, " | "))
	if err != nil {
		return err
	}
	for _, r := range rows {
		for n := range ops {
			ops[n].add(r, n)
		}
	}
	return nil
}

// add gives the opcode, which is the nth of its range, one more row.
func (op *opcode) add(r row, n int) {
	if strings.IndexByte(r.att, '?') >= 0 {
		r.att = strings.Replace(r.att, "?", conditions[n], 1)
		r.intel = r.att
	}
	op.modrm = op.modrm || r.needsModRM()
	op.noMod = op.noMod || r.ignoresMod()
	op.rows = append(op.rows, r)
}

// parseRows makes the rows of a line: one for each form, with its prefix if
// there are several.
func parseRows(words, forms []string) ([]row, error) {
	template := row{allowed: anyConds, modrm: -1}
	prefixes := make([]string, 1)
	for _, w := range words {
		if strings.Contains(w, "|") {
			prefixes = strings.Split(w, "|")
		} else if err := template.require(w); err != nil {
			return nil, err
		}
	}
	if len(forms) != len(prefixes) {
		return nil, fmt.Errorf("%d prefixes, %d instructions", len(prefixes), len(forms))
	}
	rows := make([]row, len(forms))
	for i, form := range forms {
		r := template
		if prefixes[i] != "" {
			if err := r.require(prefixes[i]); err != nil {
				return nil, err
			}
		}
		r.parse(form)
		rows[i] = r
	}
	return rows, nil
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

// spans are the numbers of opcodes that the suffixes of an opcode byte mean.
var spans = map[string]int{"": 1, "r": 8, "c": 16}

// parseOpcodes gives the part of the map that an opcode byte means, with "+r"
// or "+c" eight or sixteen.
func parseOpcodes(m *opcodeMap, word string) ([]opcode, error) {
	hex, suffix, _ := strings.Cut(word, "+")
	span, ok := spans[suffix]
	first, err := strconv.ParseUint(hex, 16, 8)
	if err != nil || !ok || int(first)+span > len(m) {
		return nil, fmt.Errorf("what opcode is %q?", word)
	}
	return m[first:][:span], nil
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
	sizes, extras := s[1:], ""
	if i := strings.IndexAny(s, "/{*"); i >= 0 {
		sizes, extras = s[1:i], s[i:]
	}
	if len(sizes) > 0 {
		o.reg, o.mem = sizes[0], sizes[0]
	}
	if len(sizes) > 1 {
		o.mem = sizes[1]
	}
	for i := 0; i+1 < len(extras); i++ {
		o.addExtra(extras[i], extras[i+1])
	}
	o.bcstShown = strings.Contains(extras, "+")
	return o
}

// addExtra reads "/d", "*d" or the beginning of "{r}".
func (o *operand) addExtra(kind, letter byte) {
	switch {
	case kind == '/':
		o.bcst = letter
	case kind == '*':
		o.tuple = letter
	case kind == '{' && letter == 'i':
		o.indexed = true
	case kind == '{':
		o.round = letter
	}
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

// classesModRM are the operand classes that ModRM tells the register of.
const classesModRM = "ABCDEFGKMNPQRSTUVW"

func (r *row) needsModRM() bool {
	if r.modrm >= 0 || bits.OnesCount32(uint32(r.allowed&anyReg)) != 8 || r.allowed&anyMod != anyMod {
		return true
	}
	for _, o := range r.args {
		if strings.IndexByte(classesModRM, o.class) >= 0 {
			return true
		}
	}
	return false
}

func (r *row) ignoresMod() bool {
	return len(r.args) > 0 && (r.args[0].class == 'A' || r.args[len(r.args)-1].class == 'A')
}
