package isa

import "bytes"

// A kprobe's instruction that is a call is not executed but emulated. Some
// kernels take every call for 5 bytes long when they push the return address
// (int3_emulate_call in arch/x86/include/asm/text-patching.h): behind a call
// with a prefix, or through a register, execution then goes on in the middle
// of an instruction.

// amd64CallEmulator names the kernel's function that emulates a call whose
// length is not 5; "" for anything else.
func amd64CallEmulator(in Inst) string {
	switch {
	case !in.Kind.Is(Call) || in.Len == 5:
		return ""
	case !in.Kind.Is(Indirect):
		return "kprobe_emulate_call"
	case in.Bytes[in.Len-1]>>6 == 3: // a register, not a place in memory
		return "kprobe_emulate_call_indirect"
	}
	return ""
}

// amd64AssumesLen says whether the text of such a function adds the constant
// 4, which together with the breakpoint's own byte makes the length of 5,
// instead of the length that the probe knows.
func amd64AssumesLen(insts []Inst) bool {
	for _, in := range insts {
		b, ok := bytes.CutPrefix(in.Bytes, []byte{0x48})
		if !ok || len(b) != 3 || b[2] != 4 {
			continue
		}
		isAdd := b[0] == 0x83 && b[1]&0xf8 == 0xc0
		isLea := b[0] == 0x8d && b[1]>>6 == 1
		if isAdd || isLea {
			return true
		}
	}
	return false
}

// amd64Unemulated follows prepare_emulation in arch/x86/kernel/kprobes/core.c:
// returns from interrupts, calls and jumps to other segments, and what enters
// and leaves virtual machines. Calls and jumps to an address in memory are not
// emulated either, but the kernel's text says that this is to change.
func amd64Unemulated(in Inst) bool {
	opcode := amd64Opcode(in.Bytes)
	switch {
	case len(opcode) == 1:
		return opcode[0] == 0xcf // iret
	case opcode[0] == 0xff:
		far := opcode[1] >> 3 & 7
		return far == 3 || far == 5 // lcall, ljmp
	case opcode[0] == 0x0f && opcode[1] == 0x01:
		return opcode[2]>>3 == 3<<3 // vmcall, vmlaunch, vmresume, vmxoff, …
	}
	return false
}

// amd64Opcode returns an instruction from its opcode on.
func amd64Opcode(text []byte) []byte {
	for i, b := range text {
		switch {
		case b&0xf0 == 0x40: // REX
		case bytes.IndexByte([]byte{0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3}, b) >= 0:
		default:
			return text[i:]
		}
	}
	return text
}
