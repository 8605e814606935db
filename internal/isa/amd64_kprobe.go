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
