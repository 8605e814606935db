// Package isa is what kinst knows of processors: where the instructions of a
// function begin and end, what each does, how control flows between them, how
// they are written, and which registers a probe can read.
//
// An architecture is one value, [Arch], made of tables and functions. The rest
// of the program asks it, and never asks which architecture it is: a port is a
// decoder package beside amd64 and one more value in a file beside amd64.go.
package isa

import (
	"fmt"
	"runtime"
)

// Kind says what an instruction does, as a set.
type Kind uint32

const (
	Call              Kind = 1 << iota // to Target, or Indirect
	Jump                               // to Target, or Indirect
	Conditional                        // a Jump that may not be taken
	Indirect                           // the target is in a register or in memory
	Return                             // to the caller, or from an exception
	Trap                               // into an exception handler: int3, ud2, int
	Nop                                // of whatever length
	LandingPad                         // marks a legal target of indirect branches: endbr64
	EnablesInterrupts                  // may turn interrupts on: sti, popf, iret
	RepeatedString                     // a string instruction with a repeat prefix
	ReadsMemory                        // by its operand; the stack traffic of push, pop, call and ret does not count
	WritesMemory                       // likewise
	Privileged                         // faults in user mode
	Waits                              // may take long: hlt, mwait, the entry to a virtual machine
)

var kindNames = []struct {
	kind Kind
	name string
}{
	{Call, "call"}, {Jump, "jump"}, {Conditional, "conditional"}, {Indirect, "indirect"},
	{Return, "return"}, {Trap, "trap"}, {Nop, "nop"}, {LandingPad, "landing-pad"},
	{EnablesInterrupts, "enables-interrupts"}, {RepeatedString, "repeated-string"},
	{ReadsMemory, "reads-memory"}, {WritesMemory, "writes-memory"}, {Privileged, "privileged"},
	{Waits, "waits"},
}

// Is says whether the set holds all of kinds.
func (k Kind) Is(kinds Kind) bool { return k&kinds == kinds }

// String lists the set's members, separated by "|".
func (k Kind) String() string {
	s := ""
	for _, n := range kindNames {
		if k.Is(n.kind) {
			s += "|" + n.name
		}
	}
	if s == "" {
		return "0"
	}
	return s[1:]
}

// Inst is one instruction.
type Inst struct {
	Addr   uint64
	Len    int    // in bytes
	Bytes  []byte // a view of the text it was decoded from, Len bytes
	Kind   Kind
	Target uint64 // of a direct call or jump; otherwise 0
}

// End is the address behind the instruction.
func (in *Inst) End() uint64 { return in.Addr + uint64(in.Len) }

// HasTarget says that the instruction is a call or jump to Target.
func (in *Inst) HasTarget() bool {
	return in.Kind&(Call|Jump) != 0 && !in.Kind.Is(Indirect)
}

// FallsThrough says whether control can reach the next instruction: from all
// but unconditional jumps, returns and traps. Of a trap it cannot be known
// (the kernel resumes behind the ud2 of a WARN, and not behind that of a BUG),
// nor of a call (to a function that does not return).
func (in *Inst) FallsThrough() bool {
	switch {
	case in.Kind&(Return|Trap) != 0:
		return false
	case in.Kind.Is(Jump):
		return in.Kind.Is(Conditional)
	}
	return true
}

// Syntax is a way to write assembly language.
type Syntax uint8

const (
	ATT   Syntax = iota // the GNU assembler's own; on processors other than x86 the only one
	Intel               // x86's other one
)

// A Symbolizer names addresses in a listing. A nil one leaves them bare.
type Symbolizer interface {
	// Symbol gives the symbol that addr belongs to and its distance from it.
	Symbol(addr uint64) (name string, offset uint64, ok bool)
}

// A PerCPUSymbolizer is a Symbolizer that can also name the operands which
// address per-CPU variables (on amd64, %gs: with an absolute or %rip-relative
// address).
type PerCPUSymbolizer interface {
	Symbolizer
	// PerCPU gives the variable that such an operand means. On amd64 that is
	// an offset in the per-CPU area up to 6.14, which kallsyms has for an
	// address, and the variable's own address from 6.15 on.
	PerCPU(offset uint64) (name string, rest uint64, ok bool)
}

// Register is a register by D's name, with its place in the struct pt_regs
// that a probe is given.
type Register struct {
	Name   string // as in D: R_RAX
	Index  int    // its value in D, the index into regs[] and uregs[]
	Offset int    // in struct pt_regs, in bytes
	Size   int    // in bytes; 0 if it cannot be read, for the reason in Absent
	Absent string // completes "R_GS: ..."
}

// Syscall is a system call.
type Syscall struct {
	Number   int
	Name     string // as its manual page has it: fstat
	Function string // as the kernel names it: newfstat
}

// TaskBits are bits of a member of struct task_struct.
type TaskBits struct {
	Member string // with the members that it is in: "thread_info.status"
	Mask   uint64
}

// Arch is all that kinst knows of a processor architecture.
type Arch struct {
	Name   string // as GOARCH has it
	MaxLen int    // of an instruction, in bytes

	// Decode reads the instruction at the beginning of text, which stands at
	// addr. It fails if text ends too early or is no instruction.
	Decode func(text []byte, addr uint64) (Inst, error)

	// Format writes an instruction as GNU objdump does.
	Format func(in Inst, syntax Syntax, sym Symbolizer) string

	// Registers are all that D can name, aliases behind what they stand for.
	Registers []Register

	// CallArgs and SyscallArgs hold the registers of the integer arguments
	// of C functions and of system calls, first to last, CallResult that of
	// what a C function returns, by D's names.
	CallArgs, SyscallArgs []string
	CallResult            string
	// StackArgs is how far above the stack pointer the arguments begin that a
	// C function is given in memory, at its entry, in bytes.
	StackArgs int

	// Syscalls reads the table of system calls, by number.
	Syscalls func() []Syscall
	// SyscallPrefix is what the kernel's functions of system calls begin
	// with, in front of Syscall.Function.
	SyscallPrefix string
	// SyscallNumber is where struct pt_regs has the number of the system call
	// that is under way. D has no name for it.
	SyscallNumber Register
	// Compat are bits that are set in a task while it executes a system call
	// of another table than Syscalls, that of 32-bit programs.
	Compat TaskBits

	// PC, SP and FP name the program counter, the stack pointer and the
	// frame pointer, by D's names.
	PC, SP, FP string

	// IRQRegister holds the flag, IRQMask, that is set while the processor takes
	// interrupts, or, with IRQOff, while it does not.
	IRQRegister string
	IRQMask     uint64
	IRQOff      bool

	// Padding says whether the instruction may be what fills the space
	// between functions, and is not code.
	Padding func(in Inst) bool

	// LandingPad is the length of the landing pad at the beginning of text,
	// live or sealed by the kernel: 0 for none.
	LandingPad func(text []byte) int

	// NeedsPad says whether an indirect jump or call, or one of a thunk, leads to
	// landing pads only, in code that is compiled with them.
	NeedsPad func(in Inst) bool

	// Thunk gives the kind of the jump that a jump to the named function
	// amounts to: Return, Jump|Indirect, or 0 for an ordinary function.
	Thunk func(symbol string) Kind

	// Caller is where a C function finds its return address at its entry.
	Caller Operand

	// ParseOperand reads an operand as the GNU assembler writes it.
	ParseOperand func(text string) (Operand, error)

	// CallEmulator names the function of the kernel that emulates a probed
	// call of unusual length, AssumesLen says whether that function's
	// instructions take it to be of the usual one. See amd64_kprobe.go.
	CallEmulator func(in Inst) string
	AssumesLen   func(insts []Inst) bool

	// Unemulated says whether an instruction is one that kprobes neither run a
	// copy of nor emulate, in kernels that emulate: those that have the
	// function Emulator.
	Unemulated func(in Inst) bool
	Emulator   string

	// NoUprobe says why Linux takes no uprobe on an instruction of a user
	// program: "" if it does.
	NoUprobe func(in Inst) string

	// BreakpointLen and JumpLen are the numbers of bytes that a kprobe
	// overwrites while it is armed, as a breakpoint and when optimized.
	BreakpointLen, JumpLen int

	// JumpTo encodes the jump that an optimized kprobe at from consists of,
	// JumpLen bytes long.
	JumpTo func(from, to uint64) []byte

	// TracerNop is what stands at the beginning of a function, behind the
	// landing pad, where the function tracer puts a call of the same length.
	TracerNop []byte

	// ProbePC is how far beyond the probed instruction's address the program
	// counter is in the registers that a kprobe's programs are given.
	ProbePC int
}

// arches are the architectures that kinst knows.
var arches = []*Arch{&amd64Arch}

// Lookup finds an architecture by GOARCH's name for it.
func Lookup(name string) (*Arch, error) {
	for _, a := range arches {
		if a.Name == name {
			return a, nil
		}
	}
	return nil, fmt.Errorf("architecture %s: its instructions are not known here", name)
}

// Native is the architecture of this program.
func Native() (*Arch, error) { return Lookup(runtime.GOARCH) }

// Register finds a register by D's name for it.
func (a *Arch) Register(name string) (Register, bool) {
	for _, r := range a.Registers {
		if r.Name == name {
			return r, true
		}
	}
	return Register{}, false
}
