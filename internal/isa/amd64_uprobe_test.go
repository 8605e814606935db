package isa

import (
	"encoding/hex"
	"strings"
	"testing"
)

func TestNoUprobe(t *testing.T) {
	for _, test := range []struct{ text, code, want string }{
		{"push %rbp", "55", ""},
		{"push %r12", "4154", ""},
		{"endbr64", "f30f1efa", ""},
		{"call", "e800000000", ""},
		{"call *(%rip)", "ff1500000000", ""},
		{"jmp", "eb00", ""},
		{"jne", "0f8500000000", ""},
		{"ret", "c3", ""},
		{"repz ret", "f3c3", ""},
		{"nop", "90", ""},
		{"pause", "f390", ""},
		{"nopw", "660f1f440000", ""},
		{"mov %fs:0x28,%rax", "64488b042528000000", ""},
		{"addsd", "f20f58c1", ""},
		{"movdqa", "660f6f00", ""},
		{"popf", "9d", ""},
		{"mfence", "0faef0", ""},
		{"rdtscp", "0f01f9", ""},
		{"ud2", "0f0b", ""},
		{"movsb", "a4", ""},
		{"xchg %rax,%rbx", "4893", ""},
		{"vzeroupper map", "c5f058c2", ""},

		{"lock xadd", "f0480fc10f", uprobeLock},
		{"notrack jmp *%rax", "3effe0", uprobeSegment},
		{"cs nopw", "662e0f1f840000000000", uprobeSegment},
		{"rep movsb", "f3a4", uprobeRepeated},
		{"syscall", "0f05", uprobeSyscall},
		{"pushf", "9c", uprobePushf},
		{"xchg %r8,%rax", "4990", uprobeMistaken},
		{"int3", "cc", uprobeRefused},
		{"hlt", "f4", uprobeRefused},
		{"int $0x80", "cd80", uprobeRefused},
		{"mov %eax,%ss", "8ed0", uprobeStack},
		{"vpxor", "c5f1efc0", uprobeVector},
		{"vmovdqa", "c5fd6f00", uprobeVector},
		{"vpor, taken for jmp", "c5f1ebc2", uprobeMistaken},
		{"vpbroadcastb %esi,%ymm16, taken for jp", "62e27d287ac6", uprobeMistaken},
		{"vpcmpeqb, taken for je", "c5f174c2", uprobeMistaken},
		{"vmovdqa store, taken for jg", "c5fd7f07", uprobeMistaken},
		{"vcmpps, taken for ret", "c5f0c2c200", uprobeMistaken},
		{"vfnmadd132ss, taken for popf", "c4e2719dc2", uprobeMistaken},
		{"kmovb, taken for nop", "c5f99000", uprobeMistaken},
		{"vpsubsb, taken for call", "c5f1e8c2", uprobeMistaken},
	} {
		code, err := hex.DecodeString(test.code)
		if err != nil {
			t.Fatal(err)
		}
		in, err := amd64Decode(code, 0x1000)
		if err != nil || in.Len != len(code) {
			t.Errorf("%s: %v, %d bytes of %d", test.text, err, in.Len, len(code))
			continue
		}
		if got := amd64NoUprobe(in); got != test.want {
			t.Errorf("%s (%s): got %q, want %q", test.text, strings.TrimSpace(amd64Format(in, ATT, nil)), got, test.want)
		}
	}
}
