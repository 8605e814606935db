package isa

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func mustLookup(t *testing.T, name string) *Arch {
	t.Helper()
	a, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestLookup(t *testing.T) {
	if a := mustLookup(t, "amd64"); a.Name != "amd64" {
		t.Errorf("Lookup(amd64) is %s", a.Name)
	}
	if _, err := Lookup("vax"); err == nil || !strings.Contains(err.Error(), "vax") {
		t.Errorf("Lookup(vax): error %v", err)
	}
}

func TestFunction(t *testing.T) {
	amd64 := mustLookup(t, "amd64")
	tests := []struct {
		name string
		text string
		want []int // offsets
	}{
		{"empty", "", []int{}},
		{"ret", "\xc3", []int{0}},
		{"padded with int3", "\x90\xc3\xcc\xcc\xcc", []int{0, 1}},
		{"padded with nops", "\x31\xc0\xc3\x0f\x1f\x00\x66\x90\x90", []int{0, 2}},
		{"speculation trap behind ret", "\xc3\xcc\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", []int{0}},
		{"int3 inside", "\xcc\xc3", []int{0, 1}},
		{"lone nop", "\x90", []int{0}},
		{"lone trap", "\xcc\xcc\xcc", []int{0}},
		{"nops that are reached", "\x31\xc0\x0f\x1f\x00\x90\xcc", []int{0, 2, 5}},
		{"nops behind a call that does not return", "\xe8\x00\x00\x00\x00\x90\x90", []int{0}},
		{"ud2 at the end", "\x0f\x0b\x90\x90", []int{0}},
		{"endbr64 and ftrace call", "\xf3\x0f\x1e\xfa\xe8\x00\x00\x00\x00\xc3", []int{0, 4, 9}},
		{"sealed endbr64 and ftrace nop", "\x66\x0f\x1f\x00\x0f\x1f\x44\x00\x00\xc3", []int{0, 4, 9}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			insts, err := Function(amd64, []byte(tt.text), 0x1000)
			if err != nil {
				t.Fatal(err)
			}
			got := []int{}
			for _, in := range insts {
				at := int(in.Addr - 0x1000)
				got = append(got, at)
				if !bytes.Equal(in.Bytes, []byte(tt.text[at:at+in.Len])) {
					t.Errorf("at %d: bytes % x", at, in.Bytes)
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestFunctionStopsAtData(t *testing.T) {
	amd64 := mustLookup(t, "amd64")
	for _, text := range []string{"\x31\xc0\x06\xc3", "\x31\xc0\xe8\x00"} {
		insts, err := Function(amd64, []byte(text), 0)
		if len(insts) != 1 || err == nil || !strings.Contains(err.Error(), "+2") {
			t.Errorf("% x: %d instructions, error %v", text, len(insts), err)
		}
	}
}

func TestNeedsPad(t *testing.T) {
	amd64 := mustLookup(t, "amd64")
	for text, want := range map[string]bool{
		"\xff\xe0":                         true,  // jmp *%rax
		"\x41\xff\xe3":                     true,  // jmp *%r11
		"\xff\x60\x3e":                     true,  // jmp *0x3e(%rax)
		"\x3e\xff\xe0":                     false, // notrack jmp *%rax
		"\x3e\x41\xff\xe3":                 false, // notrack jmp *%r11
		"\x3e\xff\x24\xc5\x00\x10\x00\x82": false, // notrack jmp *-0x7dfff000(,%rax,8)
		"\xe9\x3e\x00\x00\x00":             true,  // jmp, to a thunk
		"\x2e\xe9\x3e\x00\x00\x00":         true,  // cs jmp, likewise
	} {
		in, err := amd64.Decode([]byte(text), 0x1000)
		if err != nil {
			t.Fatal(err)
		}
		if got := amd64.NeedsPad(in); got != want {
			t.Errorf("% x: %t, want %t", text, got, want)
		}
	}
}

func TestLandingPad(t *testing.T) {
	amd64 := mustLookup(t, "amd64")
	tests := map[string]int{
		"\xf3\x0f\x1e\xfa":     4,
		"\x66\x0f\x1f\x00\xc3": 4,
		"\x0f\x1f\x40\xd6":     4,
		"\x0f\x1f\x40\x00":     0,
		"\xf3\x0f":             0,
		"":                     0,
		"\x0f\x1f\x44\x00\x00": 0,
	}
	for text, want := range tests {
		if got := amd64.LandingPad([]byte(text)); got != want {
			t.Errorf("% x: %d, want %d", text, got, want)
		}
	}
}

func TestRegisters(t *testing.T) {
	for _, a := range arches {
		for _, name := range append(append([]string{a.CallResult, a.PC, a.SP, a.FP}, a.CallArgs...), a.SyscallArgs...) {
			if r, ok := a.Register(name); !ok || r.Size == 0 {
				t.Errorf("%s: %s is not readable", a.Name, name)
			}
		}
		seen := map[string]bool{}
		for _, r := range a.Registers {
			if seen[r.Name] {
				t.Errorf("%s: %s is there twice", a.Name, r.Name)
			}
			seen[r.Name] = true
			if (r.Size == 0) != (r.Absent != "") {
				t.Errorf("%s: %s has size %d and reason %q", a.Name, r.Name, r.Size, r.Absent)
			}
		}
	}
}

func TestBlocks(t *testing.T) {
	amd64 := mustLookup(t, "amd64")
	symbols := map[uint64]string{
		0x2000: "__x86_return_thunk",
		0x2010: "__x86_indirect_thunk_rax",
		0x2020: "panic",
		0x2030: "other",
	}
	flow := Flow{
		Symbol:   func(addr uint64) string { return symbols[addr] },
		NoReturn: func(name string) bool { return name == "panic" },
	}
	tests := []struct {
		name string
		text string // at 0x1000
		want string
	}{
		{"straight line", "\x90\xe8\x2a\x10\x00\x00\xc3", "0-7 leave"},
		{"conditional", "\x74\x01\x90\xc3", "0-2 next:1 taken:2; 2-3 next:2; 3-4 leave"},
		{"loop", "\x31\xc0\xff\xc8\x75\xfc\xc3", "0-2 next:1; 2-6 next:2 taken:1; 6-7 leave"},
		{"tail call", "\x90\xe9\x2a\x10\x00\x00", "0-6 tail=2030"},
		{"conditional tail call", "\x0f\x84\x2a\x10\x00\x00\xc3", "0-6 next:1 tail=2030; 6-7 leave"},
		{"return thunk", "\xe9\xfb\x0f\x00\x00", "0-5 leave"},
		{"conditional return", "\x0f\x84\xfa\x0f\x00\x00\xc3", "0-6 next:1 leave; 6-7 leave"},
		{"indirect thunk jump", "\xe9\x0b\x10\x00\x00", "0-5 unknown"},
		{"indirect thunk call", "\xe8\x0b\x10\x00\x00\xc3", "0-6 leave"},
		{"jump table", "\xff\xe0", "0-2 unknown"},
		{"call that does not return", "\xe8\x1b\x10\x00\x00\x90\xc3", "0-5; 5-7 leave"},
		{"call at the end", "\x90\xe8\x2a\x10\x00\x00", "0-6"},
		{"warning", "\x0f\x0b\xc3", "0-2 resume:1; 2-3 leave"},
		{"into the next function", "\x31\xc0", "0-2 beyond=1002"},
		{"over a lock prefix", "\x74\x01\xf0\x0f\xb1\x0f\xc3", "0-2 next:1 taken=1003; 2-7 leave"},
		{"trap at the end", "\x74\x01\xc3\x0f\x0b", "0-2 next:1 taken:2; 2-3 leave; 3-5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			insts, err := Function(amd64, []byte(tt.text), 0x1000)
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(Blocks(amd64, insts, flow)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func describe(blocks []Block) string {
	var all []string
	for _, b := range blocks {
		s := fmt.Sprintf("%x-%x", b.Insts[0].Addr-0x1000, b.Insts[len(b.Insts)-1].End()-0x1000)
		for _, e := range b.Edges {
			switch {
			case e.Block >= 0:
				s += fmt.Sprintf(" %v:%d", e.Kind, e.Block)
			case e.Target != 0:
				s += fmt.Sprintf(" %v=%x", e.Kind, e.Target)
			default:
				s += fmt.Sprintf(" %v", e.Kind)
			}
		}
		all = append(all, s)
	}
	return strings.Join(all, "; ")
}

func TestResolveKind(t *testing.T) {
	amd64 := mustLookup(t, "amd64")
	tests := []struct {
		text, symbol string
		want         Kind
	}{
		{"\xe8\x00\x00\x00\x00", "vfs_read", Call},
		{"\xe8\x00\x00\x00\x00", "__x86_indirect_thunk_r11", Call | Indirect},
		{"\xe9\x00\x00\x00\x00", "__x86_indirect_thunk_array", Jump | Indirect},
		{"\xe9\x00\x00\x00\x00", "__x86_return_thunk", Return},
		{"\xe9\x00\x00\x00\x00", "srso_alias_return_thunk", Return},
		{"\x0f\x84\x00\x00\x00\x00", "__x86_return_thunk", Return | Conditional},
	}
	for _, tt := range tests {
		in, err := amd64.Decode([]byte(tt.text), 0)
		if err != nil {
			t.Fatal(err)
		}
		got := amd64.ResolveKind(in, Flow{Symbol: func(uint64) string { return tt.symbol }})
		if got != tt.want {
			t.Errorf("% x to %s: %v, want %v", tt.text, tt.symbol, got, tt.want)
		}
	}
}

func TestKindString(t *testing.T) {
	if got := (Call | Indirect).String(); got != "call|indirect" {
		t.Error(got)
	}
	if got := Kind(0).String(); got != "0" {
		t.Error(got)
	}
}
