package isa

import "bytes"

// amd64UprobeOpcodes are the opcodes with which an instruction can be probed
// in a user program, as a bit set: good_insns_64 in arch/x86/kernel/uprobes.c.
// The others are invalid, privileged or traps.
var amd64UprobeOpcodes = [16]uint16{
	0x0: 0xbf3f, 0x1: 0x3f3f, 0x2: 0x7f7f, 0x3: 0x7f7f,
	0x4: 0xffff, 0x5: 0xffff, 0x6: 0x0ff8, 0x7: 0xffff,
	0x8: 0xfffb, 0x9: 0xfbff, 0xa: 0xffff, 0xb: 0xffff,
	0xc: 0x0fff, 0xd: 0xff8f, 0xe: 0x0b0f, 0xf: 0xf3ed,
}

const (
	uprobeRefused  = "the kernel takes no probe on this instruction: it traps, or is not for user programs"
	uprobeSegment  = "the kernel takes no probe on an instruction with a segment prefix, notrack among them"
	uprobeLock     = "the kernel takes no probe on a locked instruction"
	uprobeStack    = "the kernel takes no probe on an instruction that loads the stack segment"
	uprobeBranch16 = "the kernel takes no probe on a branch with an operand-size prefix"
	uprobeVector   = "the kernel takes no probe on this vector instruction"

	uprobeMistaken = "the kernel would take the probe, but mistake this instruction for another one with the same opcode, and harm the program"
	uprobeRepeated = "the kernel executes a probed instruction step by step, and the probe would fire at each repetition"
	uprobeSyscall  = "the kernel executes a copy of a probed instruction, in which the children that a system call makes would get lost"
	uprobePushf    = "the kernel executes a probed instruction in single-step mode, which the program would find in the flags that it stores"
)

// amd64NoUprobe says what uprobe_init_insn in arch/x86/kernel/uprobes.c
// refuses, and what it ought to.
func amd64NoUprobe(in Inst) string {
	i := 0
	for i < len(in.Bytes)-1 && amd64IsPrefix[in.Bytes[i]] {
		i++
	}
	prefixes, b := in.Bytes[:i], in.Bytes[i:]
	has := func(prefix byte) bool { return bytes.IndexByte(prefixes, prefix) >= 0 }
	switch {
	case has(0x26), has(0x2e), has(0x36), has(0x3e):
		return uprobeSegment
	case has(0xf0):
		return uprobeLock
	case in.Kind.Is(RepeatedString):
		return uprobeRepeated
	case has(0x66) && in.Kind&(Jump|Call) != 0 && !in.Kind.Is(Indirect):
		return uprobeBranch16
	}
	if n := amd64VectorPrefix[b[0]]; n > 0 && n < len(b) {
		return amd64NoVectorUprobe(b[n])
	}
	rex := byte(0)
	if b[0]&0xf0 == 0x40 && len(b) > 1 {
		rex, b = b[0], b[1:]
	}
	return amd64NoPlainUprobe(rex, b)
}

var amd64IsPrefix = [256]bool{
	0x26: true, 0x2e: true, 0x36: true, 0x3e: true, 0x64: true, 0x65: true,
	0x66: true, 0x67: true, 0xf0: true, 0xf2: true, 0xf3: true,
}

// amd64VectorPrefix is the length of the prefixes VEX and EVEX, by the first
// byte.
var amd64VectorPrefix = [256]int{0xc5: 2, 0xc4: 3, 0x62: 4}

// amd64NoVectorUprobe: the opcode behind VEX and EVEX is of another map, but
// the kernel treats it as if it were of the first: as conditional jumps,
// jumps, calls and nops, which it emulates, and as returns, popf and the like
// (branch_setup_xol_ops, arch_uprobe_analyze_insn).
func amd64NoVectorUprobe(opcode byte) string {
	switch {
	case !amd64UprobeOpcode(opcode):
		return uprobeVector
	case opcode&0xf0 == 0x70:
		return uprobeMistaken
	}
	switch opcode {
	case 0x90, 0xe8, 0xe9, 0xeb, 0x9d, 0xc2, 0xc3, 0xca, 0xff:
		return uprobeMistaken
	}
	return ""
}

func amd64UprobeOpcode(opcode byte) bool {
	return amd64UprobeOpcodes[opcode>>4]>>(opcode&0xf)&1 == 1
}

// amd64NoPlainUprobe is about an instruction from its opcode on.
func amd64NoPlainUprobe(rex byte, b []byte) string {
	const rexB = 1
	modrm := byte(0)
	if len(b) > 1 {
		modrm = b[1]
	}
	switch {
	case !amd64UprobeOpcode(b[0]):
		return uprobeRefused
	case b[0] == 0x8e && modrm>>3&7 == 2: // mov to %ss
		return uprobeStack
	case b[0] == 0x90 && rex&rexB != 0: // xchg %r8,%rax, taken for a nop
		return uprobeMistaken
	case b[0] == 0x9c:
		return uprobePushf
	case b[0] == 0x0f && (modrm == 0x05 || modrm == 0x34): // syscall, sysenter
		return uprobeSyscall
	case b[0] == 0x8f && modrm&0x38 != 0: // XOP
		return uprobeVector
	}
	return ""
}
