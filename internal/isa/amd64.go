package isa

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"strings"

	"kinst/internal/isa/amd64"
)

var amd64Arch = Arch{
	Name:          "amd64",
	MaxLen:        amd64.MaxLen,
	Decode:        amd64Decode,
	Format:        amd64Format,
	Registers:     amd64Registers,
	CallArgs:      []string{"R_RDI", "R_RSI", "R_RDX", "R_RCX", "R_R8", "R_R9"},
	SyscallArgs:   []string{"R_RDI", "R_RSI", "R_RDX", "R_R10", "R_R8", "R_R9"},
	CallResult:    "R_RAX",
	StackArgs:     8, // above the return address
	IRQRegister:   "R_RFL",
	IRQMask:       0x200, // IF
	Syscalls:      func() []Syscall { return parseSyscalls(amd64Syscalls) },
	SyscallPrefix: "__x64_sys_",
	SyscallNumber: Register{Name: "orig_ax", Offset: 120, Size: 8},
	Compat:        TaskBits{Member: "thread_info.status", Mask: 0x2}, // TS_COMPAT
	PC:            "R_RIP",
	SP:            "R_RSP",
	FP:            "R_RBP",
	Padding:       amd64Padding,
	LandingPad:    amd64LandingPad,
	NeedsPad:      amd64NeedsPad,
	Thunk:         amd64Thunk,
	Caller:        Operand{Memory: true, Register: "R_RSP"},
	ParseOperand:  amd64ParseOperand,
	NoUprobe:      amd64NoUprobe,
	CallEmulator:  amd64CallEmulator,
	AssumesLen:    amd64AssumesLen,
	Unemulated:    amd64Unemulated,
	Emulator:      "kprobe_emulate_ret",
	BreakpointLen: 1, // int3
	JumpLen:       5, // jmp rel32
	JumpTo:        amd64JumpTo,
	TracerNop:     []byte("\x0f\x1f\x44\x00\x00"), // x86_nops[5]
	ProbePC:       1,                              // behind the int3
}

//go:embed amd64_syscalls.txt
var amd64Syscalls string

func amd64Decode(text []byte, addr uint64) (Inst, error) {
	d, err := amd64.Decode(text, addr)
	if err != nil {
		return Inst{}, err
	}
	return Inst{
		Addr:   addr,
		Len:    d.Len,
		Bytes:  text[:d.Len:d.Len],
		Kind:   amd64Kind(d.Class),
		Target: d.Target,
	}, nil
}

var amd64Kinds = []struct {
	class amd64.Class
	kind  Kind
}{
	{amd64.Call, Call},
	{amd64.Jump, Jump},
	{amd64.Conditional, Conditional},
	{amd64.Indirect, Indirect},
	{amd64.Return, Return},
	{amd64.Trap, Trap},
	{amd64.Nop, Nop},
	{amd64.LandingPad, LandingPad},
	{amd64.EnablesInterrupts, EnablesInterrupts},
	{amd64.RepeatedString, RepeatedString},
	{amd64.ReadsMemory, ReadsMemory},
	{amd64.WritesMemory, WritesMemory},
	{amd64.Privileged, Privileged},
	{amd64.Waits, Waits},
}

func amd64Kind(c amd64.Class) Kind {
	if c == 0 {
		return 0
	}
	var k Kind
	for _, p := range amd64Kinds {
		if c&p.class != 0 {
			k |= p.kind
		}
	}
	return k
}

func amd64Format(in Inst, syntax Syntax, sym Symbolizer) string {
	s := amd64.ATT
	if syntax == Intel {
		s = amd64.Intel
	}
	return amd64.Format(in.Bytes, in.Addr, s, sym)
}

// amd64Padding: compilers fill with nops of all lengths, the kernel's linker
// script with int3.
func amd64Padding(in Inst) bool {
	return in.Kind.Is(Nop) || in.Bytes[0] == 0xcc
}

// amd64Landings are endbr64 and what kernels overwrite it with in functions
// that are never called indirectly (gen_endbr_poison in asm/ibt.h).
var amd64Landings = []string{
	"\xf3\x0f\x1e\xfa", // endbr64
	"\x66\x0f\x1f\x00", // nopw (%rax), from 5.18 on
	"\x0f\x1f\x40\xd6", // nopl -0x2a(%rax), from 6.15 on
}

func amd64LandingPad(text []byte) int {
	for _, l := range amd64Landings {
		if strings.HasPrefix(string(text[:min(len(text), len(l))]), l) {
			return len(l)
		}
	}
	return 0
}

// amd64NeedsPad: a notrack prefix frees an indirect jump, opcode 0xff, from it.
// Compilers use it for the tables of switches.
func amd64NeedsPad(in Inst) bool {
	const notrack, indirect = 0x3e, 0xff
	prefixes, _, _ := bytes.Cut(in.Bytes, []byte{indirect})
	return in.HasTarget() || !bytes.Contains(prefixes, []byte{notrack})
}

// amd64JumpTo is jmp rel32.
func amd64JumpTo(from, to uint64) []byte {
	return binary.LittleEndian.AppendUint32([]byte{0xe9}, uint32(to-from-5))
}

// amd64Thunk knows the functions that stand for an instruction which
// processors speculate on dangerously (arch/x86/lib/retpoline.S).
func amd64Thunk(symbol string) Kind {
	switch {
	case strings.HasPrefix(symbol, "__x86_indirect_"):
		// __x86_indirect_thunk_rax, _jump_thunk_, _call_thunk_, _its_thunk_
		return Jump | Indirect
	case symbol == "__x86_return_thunk", symbol == "__x86_return_skl", strings.HasSuffix(symbol, "_return_thunk"):
		// retbleed_, srso_, srso_alias_, its_, call_depth_
		return Return
	}
	return 0
}

// notInRegs completes "R_GS: ".
const (
	notInRegs = "Linux does not save it when a probe is hit"
	noTrap    = "a probe is hit by no trap that would set it"
)

// amd64Registers are numbered as in FreeBSD's and illumos' regs.d: up to R_SS
// the 32-bit names, which mean the whole registers in a 64-bit kernel, then
// the 64-bit ones. Offsets are those of struct pt_regs in
// arch/x86/include/asm/ptrace.h; cs and ss are 16 bits wide, what is above
// them belongs to FRED.
var amd64Registers = []Register{
	{Name: "R_RDI", Index: 27, Offset: 112, Size: 8},
	{Name: "R_RSI", Index: 28, Offset: 104, Size: 8},
	{Name: "R_RDX", Index: 31, Offset: 96, Size: 8},
	{Name: "R_RCX", Index: 32, Offset: 88, Size: 8},
	{Name: "R_R8", Index: 26, Offset: 72, Size: 8},
	{Name: "R_R9", Index: 25, Offset: 64, Size: 8},
	{Name: "R_RAX", Index: 33, Offset: 80, Size: 8},
	{Name: "R_RBX", Index: 30, Offset: 40, Size: 8},
	{Name: "R_RBP", Index: 29, Offset: 32, Size: 8},
	{Name: "R_R10", Index: 24, Offset: 56, Size: 8},
	{Name: "R_R11", Index: 23, Offset: 48, Size: 8},
	{Name: "R_R12", Index: 22, Offset: 24, Size: 8},
	{Name: "R_R13", Index: 21, Offset: 16, Size: 8},
	{Name: "R_R14", Index: 20, Offset: 8, Size: 8},
	{Name: "R_R15", Index: 19, Offset: 0, Size: 8},
	{Name: "R_RIP", Index: 36, Offset: 128, Size: 8},
	{Name: "R_RFL", Index: 38, Offset: 144, Size: 8},
	{Name: "R_RSP", Index: 39, Offset: 152, Size: 8},
	{Name: "R_CS", Index: 15, Offset: 136, Size: 2},
	{Name: "R_SS", Index: 18, Offset: 160, Size: 2},

	{Name: "R_GS", Index: 0, Absent: notInRegs},
	{Name: "R_FS", Index: 1, Absent: notInRegs},
	{Name: "R_ES", Index: 2, Absent: notInRegs},
	{Name: "R_DS", Index: 3, Absent: notInRegs},
	{Name: "R_TRAPNO", Index: 12, Absent: noTrap},
	{Name: "R_ERR", Index: 13, Absent: noTrap},

	{Name: "R_EDI", Index: 4, Offset: 112, Size: 8},
	{Name: "R_ESI", Index: 5, Offset: 104, Size: 8},
	{Name: "R_EBP", Index: 6, Offset: 32, Size: 8},
	{Name: "R_ESP", Index: 7, Offset: 152, Size: 8},
	{Name: "R_EBX", Index: 8, Offset: 40, Size: 8},
	{Name: "R_EDX", Index: 9, Offset: 96, Size: 8},
	{Name: "R_ECX", Index: 10, Offset: 88, Size: 8},
	{Name: "R_EAX", Index: 11, Offset: 80, Size: 8},
	{Name: "R_EIP", Index: 14, Offset: 128, Size: 8},
	{Name: "R_EFL", Index: 16, Offset: 144, Size: 8},
	{Name: "R_UESP", Index: 17, Offset: 152, Size: 8},

	{Name: "R_PC", Index: 14, Offset: 128, Size: 8},
	{Name: "R_SP", Index: 17, Offset: 152, Size: 8},
	{Name: "R_FP", Index: 6, Offset: 32, Size: 8},
	{Name: "R_PS", Index: 16, Offset: 144, Size: 8},
	{Name: "R_R0", Index: 11, Offset: 80, Size: 8},
	{Name: "R_R1", Index: 8, Offset: 40, Size: 8},
}
