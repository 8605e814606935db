package amd64

import "testing"

// namer knows one symbol, perCPUNamer a per-CPU variable as well.
type namer struct{}

func (namer) Symbol(addr uint64) (string, uint64, bool) {
	if addr < 0x2000 || addr >= 0x3000 {
		return "", 0, false
	}
	return "vfs_read", addr - 0x2000, true
}

type perCPUNamer struct{ namer }

func (perCPUNamer) PerCPU(offset uint64) (string, uint64, bool) {
	if offset < 0x1fc00 || offset >= 0x1fc08 {
		return "", 0, false
	}
	return "current_task", offset - 0x1fc00, true
}

func TestSymbols(t *testing.T) {
	tests := []struct {
		name   string
		text   string
		sym    Symbolizer
		syntax Syntax
		want   string
	}{
		{"no symbolizer", "\xe8\xfb\x0f\x00\x00", nil, ATT, "call   0x2000"},
		{"symbol", "\xe8\xfb\x0f\x00\x00", namer{}, ATT, "call   2000 <vfs_read>"},
		{"symbol and offset", "\x0f\x84\x0c\x10\x00\x00", namer{}, Intel, "je     2012 <vfs_read+0x12>"},
		{"no symbol there", "\xe8\xfb\x1f\x00\x00", namer{}, ATT, "call   0x3000"},
		{"rip-relative", "\x48\x8b\x05\x01\x10\x00\x00", namer{}, ATT,
			"mov    0x1001(%rip),%rax        # 2008 <vfs_read+0x8>"},
		{"rip-relative, Intel", "\x48\x8b\x05\x01\x10\x00\x00", namer{}, Intel,
			"mov    rax,QWORD PTR [rip+0x1001]        # 2008 <vfs_read+0x8>"},
		{"rip-relative without symbol", "\x48\x8b\x05\x01\x20\x00\x00", namer{}, ATT,
			"mov    0x2001(%rip),%rax        # 0x3008"},
		{"per-CPU, as objdump", "\x65\x48\x8b\x04\x25\x00\xfc\x01\x00", namer{}, ATT, "mov    %gs:0x1fc00,%rax"},
		{"per-CPU", "\x65\x48\x8b\x04\x25\x00\xfc\x01\x00", perCPUNamer{}, ATT,
			"mov    %gs:0x1fc00,%rax        # 1fc00 <current_task>"},
		{"per-CPU, Intel", "\x65\x48\x8b\x04\x25\x04\xfc\x01\x00", perCPUNamer{}, Intel,
			"mov    rax,QWORD PTR gs:0x1fc04        # 1fc04 <current_task+0x4>"},
		{"per-CPU, rip-relative", "\x65\x48\x8b\x05\xf8\xeb\x01\x00", perCPUNamer{}, ATT,
			"mov    %gs:0x1ebf8(%rip),%rax        # 1fc00 <current_task>"},
		{"per-CPU, rip-relative, with an address", "\x65\x48\x8b\x05\x00\x10\x00\x00", perCPUNamer{}, ATT,
			"mov    %gs:0x1000(%rip),%rax        # 2008 <vfs_read+0x8>"},
		{"not %gs", "\x48\x8b\x04\x25\x00\xfc\x01\x00", perCPUNamer{}, ATT, "mov    0x1fc00,%rax"},
		{"unknown per-CPU variable", "\x65\x48\x8b\x04\x25\x00\x00\x01\x00", perCPUNamer{}, ATT, "mov    %gs:0x10000,%rax"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Format([]byte(tt.text), 0x1000, tt.syntax, tt.sym); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestUnknownVectorInstruction(t *testing.T) {
	const text = "\xc4\xe2\x79\xff\x07"
	for _, syntax := range []Syntax{ATT, Intel} {
		if got := Format([]byte(text+"\x90"), 0, syntax, nil); got != ".byte 0xc4,0xe2,0x79,0xff,0x7" {
			t.Error(got)
		}
	}
}
