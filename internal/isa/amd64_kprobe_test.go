package isa

import "testing"

func TestCallEmulator(t *testing.T) {
	for _, test := range []struct {
		text []byte
		want string
	}{
		{[]byte{0xe8, 0, 0, 0, 0}, ""},
		{[]byte{0x2e, 0xe8, 0, 0, 0, 0}, "kprobe_emulate_call"},
		{[]byte{0xff, 0xd0}, "kprobe_emulate_call_indirect"},
		{[]byte{0x41, 0xff, 0xd5}, "kprobe_emulate_call_indirect"},
		{[]byte{0xff, 0x50, 0x08}, ""},
		{[]byte{0x89, 0xc5}, ""},
	} {
		in, err := amd64Arch.Decode(test.text, 0x1000)
		if err != nil {
			t.Fatalf("% x: %v", test.text, err)
		}
		if got := amd64Arch.CallEmulator(in); got != test.want {
			t.Errorf("% x: got %q, want %q", test.text, got, test.want)
		}
	}
}

func TestUnemulated(t *testing.T) {
	for _, test := range []struct {
		text string
		want bool
	}{
		{"\xcf", true},              // iret
		{"\x48\xcf", true},          // iretq
		{"\xff\x18", true},          // lcall *(%rax)
		{"\x48\xff\x28", true},      // rex.W ljmp *(%rax)
		{"\x0f\x01\xc1", true},      // vmcall
		{"\x0f\x01\xc4", true},      // vmxoff
		{"\x0f\x01\xd9", false},     // vmmcall
		{"\x0f\x01\xf8", false},     // swapgs
		{"\x0f\x01\x38", false},     // invlpg (%rax)
		{"\x0f\x01\x00", false},     // sgdt (%rax)
		{"\xff\xd0", false},         // call *%rax
		{"\xff\x50\x08", false},     // call *0x8(%rax)
		{"\xc3", false},             // ret
		{"\x0f\xcf", false},         // bswap %edi
		{"\x89\xcf", false},         // mov %ecx,%edi
		{"\xb0\xcf", false},         // mov $0xcf,%al
		{"\x65\x48\xff\x00", false}, // incq %gs:(%rax)
	} {
		in, err := amd64Arch.Decode([]byte(test.text), 0x1000)
		if err != nil || in.Len != len(test.text) {
			t.Fatalf("% x: %d bytes, %v", test.text, in.Len, err)
		}
		if got := amd64Arch.Unemulated(in); got != test.want {
			t.Errorf("% x: %v", test.text, got)
		}
	}
}

func TestAssumesLen(t *testing.T) {
	for _, test := range []struct {
		name string
		text []byte
		want bool
	}{
		// Linux 6.12's kprobe_emulate_call: add $0x4,%rax.
		{"constant", []byte{0x48, 0x8d, 0x4c, 0x10, 0xff, 0x48, 0x83, 0xc0, 0x04, 0xc3}, true},
		{"constant by lea", []byte{0x48, 0x8d, 0x50, 0x04, 0xc3}, true},
		// Its kprobe_emulate_call_indirect: lea -0x1(%rcx,%rdx,1),%rcx.
		{"the probe's length", []byte{0x48, 0x8d, 0x4c, 0x11, 0xff, 0x48, 0x8d, 0x7a, 0xf8, 0xc3}, false},
	} {
		insts, err := Function(&amd64Arch, test.text, 0x1000)
		if err != nil {
			t.Fatal(err)
		}
		if got := amd64Arch.AssumesLen(insts); got != test.want {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}
