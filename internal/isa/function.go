package isa

import "fmt"

// Function gives the instructions of a function whose text stands at addr and
// reaches up to the next symbol, less the padding behind its last one.
//
// If the text holds something that is no instruction, or ends inside one, the
// instructions before it are returned with an error.
func Function(arch *Arch, text []byte, addr uint64) ([]Inst, error) {
	insts, err := Instructions(arch, text, addr)
	return trimPadding(arch, insts), err
}

// Instructions gives the instructions of text that stands at addr, whatever
// they are for. Errors are as Function's.
func Instructions(arch *Arch, text []byte, addr uint64) ([]Inst, error) {
	insts := make([]Inst, 0, len(text)/4+1)
	for at := 0; at < len(text); {
		in, err := arch.Decode(text[at:], addr+uint64(at))
		if err != nil {
			return insts, fmt.Errorf("instruction at +%d: %w", at, err)
		}
		insts = append(insts, in)
		at += in.Len
	}
	return insts, nil
}

// trimPadding takes off what the linker and the compiler put behind a
// function. Nops that control falls into are not padding: alternatives leave
// them at the end of assembly functions that continue in the next one. At
// least one instruction stays: a function may be a lone nop, or a trap.
func trimPadding(arch *Arch, insts []Inst) []Inst {
	n := len(insts)
	for n > 1 && arch.Padding(insts[n-1]) {
		n--
	}
	if n == 0 || insts[n-1].Kind.Is(Call) || !insts[n-1].FallsThrough() {
		return insts[:n]
	}
	for n < len(insts) && insts[n].Kind.Is(Nop) {
		n++
	}
	return insts[:n]
}
