package provider

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kinst/internal/isa"
)

// ParseOffset reads the name of an instruction's probe: its offset from the
// function's first byte, in decimal or with 0x in hexadecimal. Nothing and a
// glob name every offset.
func ParseOffset(name string) (offset uint64, named bool, err error) {
	if name == "" || IsGlob(name) {
		return 0, false, nil
	}
	base, digits := 10, name
	if strings.HasPrefix(digits, "0x") || strings.HasPrefix(digits, "0X") {
		base, digits = 16, digits[2:]
	}
	offset, err = strconv.ParseUint(digits, base, 64)
	if err != nil {
		return 0, false, NoMatch("%q is not an offset, a number of bytes such as 9 or 0x9", name)
	}
	return offset, true, nil
}

// FindInst returns the index of the instruction at addr, or of the first
// behind.
func FindInst(insts []isa.Inst, addr uint64) (int, bool) {
	return slices.BinarySearchFunc(insts, addr, func(in isa.Inst, addr uint64) int {
		switch {
		case in.Addr < addr:
			return -1
		case in.Addr > addr:
			return 1
		}
		return 0
	})
}

// BoundaryError says that no instruction of a function starts at an address,
// and where the nearest do. The probe is written as the user would, and so are
// addresses by name; OffsetFrom gives one.
func BoundaryError(probe string, insts []isa.Inst, addr uint64, name func(addr uint64) string) error {
	first, last := insts[0].Addr, insts[len(insts)-1]
	if addr < first || addr >= last.End() {
		return fmt.Errorf("%s: the function has %d bytes; its last instruction starts at %s", probe, last.End()-first, name(last.Addr))
	}
	i, _ := FindInst(insts, addr)
	before := name(insts[i-1].Addr)
	if i == len(insts) {
		return fmt.Errorf("%s: no instruction starts there; the nearest is at %s", probe, before)
	}
	return fmt.Errorf("%s: no instruction starts there; the nearest are at %s and %s", probe, before, name(insts[i].Addr))
}

// OffsetFrom names addresses by their distance from a function's first byte.
func OffsetFrom(function uint64) func(addr uint64) string {
	return func(addr uint64) string { return strconv.FormatUint(addr-function, 10) }
}

// LeftOut counts the instructions that are left out, by the reason.
type LeftOut map[string]int

// Add counts one.
func (l *LeftOut) Add(reason string) {
	if *l == nil {
		*l = make(LeftOut)
	}
	(*l)[reason]++
}

// Note says how many are left out of what a description asks for, and why; ""
// if there are none.
func (l LeftOut) Note(d Desc) string {
	total := 0
	var reasons []string
	for reason, n := range l {
		total += n
		reasons = append(reasons, fmt.Sprintf("%d: %s", n, reason))
	}
	if total == 0 {
		return ""
	}
	slices.Sort(reasons)
	instructions := "1 instruction is"
	if total > 1 {
		instructions = fmt.Sprintf("%d instructions are", total)
	}
	return fmt.Sprintf("%s: %s left out (%s)", d, instructions, strings.Join(reasons, "; "))
}
