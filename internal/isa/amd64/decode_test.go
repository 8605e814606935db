package amd64

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"testing"

	"golang.org/x/arch/x86/x86asm"
)

func TestDecode(t *testing.T) {
	const addr = 0xffffffff81000000
	tests := []struct {
		name   string
		text   string
		class  Class
		target uint64
	}{
		{"call", "\xe8\x0b\x00\x00\x00", Call, addr + 16},
		{"call backwards", "\xe8\xfb\xff\xff\xff", Call, addr},
		{"call (%rax)", "\xff\x10", Call | Indirect | ReadsMemory, 0},
		{"call *%rax", "\xff\xd0", Call | Indirect, 0},
		{"lcall *(%rax)", "\xff\x18", Call | Indirect | ReadsMemory, 0},
		{"jmp near", "\xe9\x0b\x00\x00\x00", Jump, addr + 16},
		{"jmp short", "\xeb\xfe", Jump, addr},
		{"jmp *%r11", "\x41\xff\xe3", Jump | Indirect, 0},
		{"notrack jmp *%rax", "\x3e\xff\xe0", Jump | Indirect, 0},
		{"je short", "\x74\x0e", Jump | Conditional, addr + 16},
		{"jne near", "\x0f\x85\x0a\x00\x00\x00", Jump | Conditional, addr + 16},
		{"jrcxz", "\xe3\x00", Jump | Conditional, addr + 2},
		{"loop", "\xe2\xfe", Jump | Conditional, addr},
		{"xbegin", "\xc7\xf8\x00\x00\x00\x00", Jump | Conditional, addr + 6},
		{"ret", "\xc3", Return, 0},
		{"ret $8", "\xc2\x08\x00", Return, 0},
		{"repz ret", "\xf3\xc3", Return, 0},
		{"lretq", "\x48\xcb", Return, 0},
		{"iretq", "\x48\xcf", Return | EnablesInterrupts, 0},
		{"sysretq", "\x48\x0f\x07", Return | EnablesInterrupts | Privileged, 0},
		{"int3", "\xcc", Trap, 0},
		{"int $0x80", "\xcd\x80", Trap, 0},
		{"ud2", "\x0f\x0b", Trap, 0},
		{"ud1", "\x0f\xb9\xc8", Trap, 0},
		{"ud1 of a sanitizer", "\x67\x0f\xb9\x40\x03", Trap, 0},
		{"nop", "\x90", Nop, 0},
		{"xchg %ax,%ax", "\x66\x90", Nop, 0},
		{"xchg %r8d,%eax", "\x41\x90", 0, 0},
		{"pause", "\xf3\x90", 0, 0},
		{"ftrace's nop", "\x0f\x1f\x44\x00\x00", Nop, 0},
		{"long nop", "\x66\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", Nop, 0},
		{"endbr64", "\xf3\x0f\x1e\xfa", LandingPad, 0},
		{"sealed endbr64", "\x66\x0f\x1f\x00", Nop, 0},
		{"sealed endbr64, newer", "\x0f\x1f\x40\xd6", Nop, 0},
		{"sti", "\xfb", EnablesInterrupts | Privileged, 0},
		{"popf", "\x9d", EnablesInterrupts, 0},
		{"cli", "\xfa", Privileged, 0},
		{"hlt", "\xf4", Privileged | Waits, 0},
		{"mwait", "\x0f\x01\xc9", Privileged | Waits, 0},
		{"mwaitx", "\x0f\x01\xfb", Waits, 0},
		{"tpause %ecx", "\x66\x0f\xae\xf1", Waits, 0},
		{"umwait %ecx", "\xf2\x0f\xae\xf1", Waits, 0},
		{"vmresume", "\x0f\x01\xc3", Privileged | Waits, 0},
		{"vmcall", "\x0f\x01\xc1", Waits, 0},
		{"stac", "\x0f\x01\xcb", Privileged, 0},
		{"mov %cr3,%rax", "\x0f\x20\xd8", Privileged, 0},
		{"mov %cr3 whose mod looks like memory", "\x0f\x20\x1c", Privileged, 0},
		{"out %al,(%dx)", "\xee", Privileged, 0},
		{"rep movsq", "\xf3\x48\xa5", RepeatedString | ReadsMemory | WritesMemory, 0},
		{"movsb", "\xa4", ReadsMemory | WritesMemory, 0},
		{"rep stosb", "\xf3\xaa", RepeatedString | WritesMemory, 0},
		{"repnz scasb", "\xf2\xae", RepeatedString | ReadsMemory, 0},
		{"mov to memory", "\x48\x89\x03", WritesMemory, 0},
		{"mov from memory", "\x48\x8b\x03", ReadsMemory, 0},
		{"mov between registers", "\x48\x89\xc3", 0, 0},
		{"mov from %gs", "\x65\x48\x8b\x04\x25\x00\xfc\x01\x00", ReadsMemory, 0},
		{"movabs", "\x48\xa1\x01\x02\x03\x04\x05\x06\x07\x08", ReadsMemory, 0},
		{"movabs to memory", "\xa2\x01\x02\x03\x04\x05\x06\x07\x08", WritesMemory, 0},
		{"lea", "\x48\x8d\x43\x08", 0, 0},
		{"add to memory", "\x01\x03", ReadsMemory | WritesMemory, 0},
		{"cmp with memory", "\x39\x03", ReadsMemory, 0},
		{"test with memory", "\x85\x03", ReadsMemory, 0},
		{"lock cmpxchg", "\xf0\x48\x0f\xb1\x17", ReadsMemory | WritesMemory, 0},
		{"sete (%rax)", "\x0f\x94\x00", WritesMemory, 0},
		{"prefetcht0", "\x0f\x18\x08", 0, 0},
		{"push (%rax)", "\xff\x30", ReadsMemory, 0},
		{"push %rax", "\x50", 0, 0},
		{"fstpt (%rdi)", "\xdb\x3f", WritesMemory, 0},
		{"movups to memory", "\x0f\x11\x07", WritesMemory, 0},
		{"vmovdqu from memory", "\xc5\xfa\x6f\x07", ReadsMemory, 0},
		{"vmovdqu to memory", "\xc5\xfa\x7f\x07", WritesMemory, 0},
		{"vmovd to memory", "\xc5\xf9\x7e\x07", WritesMemory, 0},
		{"vpgatherdd", "\xc4\xe2\x69\x90\x04\x0a", ReadsMemory, 0},
		{"vpscatterdd", "\x62\xf2\x7d\x49\xa0\x04\x0a", WritesMemory, 0},
		{"kmovq to memory", "\xc4\xe1\xf8\x91\x07", WritesMemory, 0},
		{"vpternlogd of registers", "\x62\xf3\x75\x48\x25\xc2\xff", 0, 0},
		{"unheard-of VEX", "\xc4\xe2\x79\xff\x07", ReadsMemory | WritesMemory, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Decode(append([]byte(tt.text), "\x90\x90"...), addr)
			want := Inst{Len: len(tt.text), Class: tt.class, Target: tt.target}
			if err != nil || got != want {
				t.Errorf("% x: got %+v, %v; want %+v", tt.text, got, err, want)
			}
		})
	}
}

func TestDecodeErrors(t *testing.T) {
	tests := []struct {
		name string
		text string
		want error
	}{
		{"nothing", "", ErrTruncated},
		{"prefix alone", "\x66", ErrTruncated},
		{"escape alone", "\x0f", ErrTruncated},
		{"half of a call", "\xe8\x00\x00", ErrTruncated},
		{"half of VEX", "\xc4\xe2", ErrTruncated},
		{"half of EVEX", "\x62\xf1\x7c", ErrTruncated},
		{"push %es", "\x06\x90", ErrInvalid},
		{"32-bit add", "\x82\xc0\x00", ErrInvalid},
		{"ljmp with an immediate", "\xea\x00\x00\x00\x00\x00\x00", ErrInvalid},
		{"more prefixes than an instruction may have", "\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90", ErrInvalid},
		{"longer than 15 bytes", "\x2e\x2e\x2e\x2e\x2e\x2e\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08\x09", ErrInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if in, err := Decode([]byte(tt.text), 0); !errors.Is(err, tt.want) {
				t.Errorf("% x: got %+v, error %v; want error %v", tt.text, in, err, tt.want)
			}
			if got := Format([]byte(tt.text), 0, ATT, nil); got != Bad {
				t.Errorf("% x: text %s", tt.text, got)
			}
		})
	}
}

// TestSecondOpinion compares lengths with x86asm's over the code of this test
// program, but for vector instructions: x86asm takes vzeroupper for one byte
// longer than it is.
func TestSecondOpinion(t *testing.T) {
	text := ownText(t)
	compared := 0
	for at := 0; at < len(text); {
		ours, err := Decode(text[at:], uint64(at))
		if err != nil {
			t.Fatalf("at %#x: % x: %v", at, text[at:min(at+MaxLen, len(text))], err)
		}
		inst := text[at : at+ours.Len]
		at += ours.Len
		if inst[0] == 0xc4 || inst[0] == 0xc5 || inst[0] == 0x62 {
			continue
		}
		theirs, err := x86asm.Decode(inst, 64)
		if err != nil || theirs.Len != ours.Len {
			t.Errorf("% x: length %d, x86asm says %v, %d, error %v", inst, ours.Len, theirs, theirs.Len, err)
		}
		compared++
	}
	if compared < 100_000 {
		t.Errorf("only %d instructions in this program", compared)
	}
}

func ownText(t *testing.T) []byte {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := f.Section(".text").Data()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// FuzzDecode checks what must hold for any bytes.
func FuzzDecode(f *testing.F) {
	_, samples := readCorpus(f)
	for _, s := range samples {
		if s != nil {
			f.Add(s.text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		in, err := Decode(text, corpusAddr)
		att, intel := Format(text, corpusAddr, ATT, nil), Format(text, corpusAddr, Intel, nil)
		if err != nil {
			if att != Bad || intel != Bad {
				t.Errorf("% x: error %v, text %q, %q", text, err, att, intel)
			}
			return
		}
		if in.Len < 1 || in.Len > MaxLen || in.Len > len(text) {
			t.Fatalf("% x: length %d", text, in.Len)
		}
		if att == "" || intel == "" || att == Bad && !bytes.Contains(text, []byte("\x0f\x0f")) {
			t.Errorf("% x: text %q, %q", text, att, intel)
		}
		exact := text[:in.Len:in.Len]
		if again, err := Decode(exact, corpusAddr); err != nil || again != in {
			t.Errorf("% x: %+v, but without what follows %+v, error %v", text, in, again, err)
		}
		if _, err := Decode(exact[:in.Len-1], corpusAddr); err != ErrTruncated {
			t.Errorf("% x: without the last byte: error %v", exact, err)
		}
	})
}
