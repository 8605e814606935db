package isa

import "testing"

func TestParseOperand(t *testing.T) {
	for text, want := range map[string]Operand{
		"$5":               {Disp: 5},
		"$-0x10":           {Disp: -16},
		"%rax":             {Register: "R_RAX"},
		"%eax":             {Register: "R_RAX"},
		"%ax":              {Register: "R_RAX"},
		"%al":              {Register: "R_RAX"},
		"%ah":              {Register: "R_RAX", Byte: 1},
		"%bpl":             {Register: "R_RBP"},
		"%sil":             {Register: "R_RSI"},
		"%di":              {Register: "R_RDI"},
		"%esp":             {Register: "R_RSP"},
		"%r8":              {Register: "R_R8"},
		"%r10d":            {Register: "R_R10"},
		"%r15w":            {Register: "R_R15"},
		"%r9b":             {Register: "R_R9"},
		"(%rdi)":           {Memory: true, Register: "R_RDI"},
		"-20(%rbp)":        {Memory: true, Register: "R_RBP", Disp: -20},
		"0x18(%r12)":       {Memory: true, Register: "R_R12", Disp: 24},
		"8(%rax,%rdx,4)":   {Memory: true, Register: "R_RAX", Index: "R_RDX", Scale: 4, Disp: 8},
		"(%rax,%rdx)":      {Memory: true, Register: "R_RAX", Index: "R_RDX", Scale: 1},
		"16(,%rcx,8)":      {Memory: true, Index: "R_RCX", Scale: 8, Disp: 16},
		"counter(%rip)":    {Memory: true, Register: "R_RIP", Symbol: "counter"},
		"table+24(%rip)":   {Memory: true, Register: "R_RIP", Symbol: "table", Disp: 24},
		"table-0x8(%rip)":  {Memory: true, Register: "R_RIP", Symbol: "table", Disp: -8},
		"_ZN1a1bE+4(%rip)": {Memory: true, Register: "R_RIP", Symbol: "_ZN1a1bE", Disp: 4},
	} {
		if got, err := amd64ParseOperand(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "$", "$x", "%", "%xmm0", "%h", "%rh", "()", "8(%xmm1)", "(%rax", "x(%rax)", "4(%rip)", "(%rax,%rbx,x)", "a+(%rip)", "%fs:(%rax)", "%rip8"} {
		if got, err := amd64ParseOperand(text); err == nil {
			t.Errorf("%s: %+v, want an error", text, got)
		}
	}
}

func FuzzParseOperand(f *testing.F) {
	f.Add("-20(%rbp,%rax,8)")
	f.Add("table+24(%rip)")
	f.Fuzz(func(_ *testing.T, text string) { _, _ = amd64ParseOperand(text) })
}
