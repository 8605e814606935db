package isa

import (
	"fmt"
	"strconv"
	"strings"
)

// amd64ParseOperand reads an operand in AT&T syntax.
func amd64ParseOperand(text string) (Operand, error) {
	bad := fmt.Errorf("%q is no operand of an instruction that is known here", text)
	switch {
	case strings.HasPrefix(text, "$"):
		n, err := strconv.ParseInt(text[1:], 0, 64)
		if err != nil {
			return Operand{}, bad
		}
		return Operand{Disp: n}, nil
	case strings.HasPrefix(text, "%"):
		name, at, ok := amd64RegisterName(text)
		if !ok {
			return Operand{}, bad
		}
		return Operand{Register: name, Byte: at}, nil
	}
	disp, address, ok := strings.Cut(text, "(")
	if !ok || !strings.HasSuffix(address, ")") {
		return Operand{}, bad
	}
	o := Operand{Memory: true}
	if !o.amd64Address(strings.TrimSuffix(address, ")")) || !o.amd64Disp(disp) {
		return Operand{}, bad
	}
	return o, nil
}

// amd64Address reads what is in the parentheses of a memory operand: %base,
// %base,%index,scale or ,%index,scale.
func (o *Operand) amd64Address(text string) bool {
	parts := strings.Split(text, ",")
	for i, name := range parts[:min(len(parts), 2)] {
		if name == "" {
			continue
		}
		register, at, ok := amd64RegisterName(name)
		if !ok || at != 0 {
			return false
		}
		if i == 0 {
			o.Register = register
		} else {
			o.Index, o.Scale = register, 1
		}
	}
	if len(parts) < 3 {
		return o.Register != "" || o.Index != ""
	}
	scale, err := strconv.Atoi(parts[2])
	o.Scale = scale
	return err == nil && len(parts) == 3
}

// amd64Disp reads what is in front of the parentheses: a number, a symbol, or
// a symbol and a number.
func (o *Operand) amd64Disp(text string) bool {
	if text == "" {
		return true
	}
	if n, err := strconv.ParseInt(text, 0, 64); err == nil {
		o.Disp = n
		return o.Register != "R_RIP" // which gas would count from an instruction that is not there
	}
	if o.Register != "R_RIP" {
		return false
	}
	o.Symbol = text
	if i := strings.LastIndexAny(text, "+-"); i > 0 {
		n, err := strconv.ParseInt(text[i:], 0, 64)
		if err != nil {
			return false
		}
		o.Symbol, o.Disp = text[:i], n
	}
	return true
}

// amd64RegisterName gives D's name of the 64-bit register that a register of
// any width is part of, and the byte of it where that begins.
func amd64RegisterName(text string) (name string, at int, ok bool) {
	r := strings.ToUpper(strings.TrimPrefix(text, "%"))
	switch {
	case len(r) == 2 && r[1] == 'H' && strings.IndexByte("ABCD", r[0]) >= 0: // %ah
		return "R_R" + r[:1] + "X", 1, true
	case len(r) == 2 && r[1] == 'L' && strings.IndexByte("ABCD", r[0]) >= 0: // %al
		r = "R" + r[:1] + "X"
	case len(r) == 3 && r[2] == 'L' && r[0] != 'R': // %sil
		r = "R" + r[:2]
	case len(r) == 3 && r[0] == 'E': // %eax
		r = "R" + r[1:]
	case len(r) == 2 && r[0] != 'R': // %ax
		r = "R" + r
	case len(r) > 2 && r[0] == 'R' && r[1] >= '0' && r[1] <= '9': // %r8d, %r8w, %r8b
		r = strings.TrimRight(r, "DWB")
	}
	name = "R_" + r
	for _, known := range amd64Registers {
		if known.Name == name && known.Size == 8 {
			return name, 0, true
		}
	}
	return "", 0, false
}
