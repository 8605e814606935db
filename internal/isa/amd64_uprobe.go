package isa

// amd64UprobeOpcodes are the opcodes with which an instruction can be probed
// in a user program, as a bit set: good_insns_64 in arch/x86/kernel/uprobes.c.
// The others are invalid, privileged, traps, or, of vector instructions, whose
// opcodes are of another map but are looked up here too, victims of chance.
var amd64UprobeOpcodes = [16]uint16{
	0x0: 0xbf3f, 0x1: 0x3f3f, 0x2: 0x7f7f, 0x3: 0x7f7f,
	0x4: 0xffff, 0x5: 0xffff, 0x6: 0x0ff8, 0x7: 0xffff,
	0x8: 0xfffb, 0x9: 0xfbff, 0xa: 0xffff, 0xb: 0xffff,
	0xc: 0x1fff, 0xd: 0xff8f, 0xe: 0x0b0f, 0xf: 0xf3ed,
}

// amd64NoUprobe follows uprobe_init_insn in arch/x86/kernel/uprobes.c.
func amd64NoUprobe(in Inst) string {
	b := in.Bytes
	for ; amd64IsPrefix[b[0]] && len(b) > 1; b = b[1:] {
		switch b[0] {
		case 0x26, 0x2e, 0x36, 0x3e:
			return "the kernel takes no probe on an instruction with a segment prefix, notrack among them"
		case 0xf0:
			return "the kernel takes no probe on a locked instruction"
		}
	}
	if b[0]&0xf0 == 0x40 && len(b) > 1 { // REX
		b = b[1:]
	}
	opcode, vector := amd64Opcode(b)
	switch {
	case amd64UprobeOpcodes[opcode>>4]>>(opcode&0xf)&1 == 1:
		return amd64MasksTraps(b)
	case vector:
		return "the kernel takes no probe on this vector instruction"
	}
	return "the kernel takes no probe on this instruction: it traps, or is not for user programs"
}

var amd64IsPrefix = [256]bool{
	0x26: true, 0x2e: true, 0x36: true, 0x3e: true, 0x64: true, 0x65: true,
	0x66: true, 0x67: true, 0xf0: true, 0xf2: true, 0xf3: true,
}

// amd64Opcode gives the byte that the kernel takes for the opcode: the first,
// or the first behind a VEX or EVEX prefix.
func amd64Opcode(b []byte) (opcode byte, vector bool) {
	prefix := map[byte]int{0xc5: 2, 0xc4: 3, 0x62: 4}[b[0]]
	if prefix < len(b) {
		return b[prefix], prefix > 0
	}
	return b[0], false
}

// amd64MasksTraps tells the instructions behind which the processor holds
// traps back: mov and pop to %ss.
func amd64MasksTraps(b []byte) string {
	if len(b) > 1 && b[0] == 0x8e && b[1]>>3&7 == 2 {
		return "the kernel takes no probe on an instruction that loads the stack segment"
	}
	return ""
}
