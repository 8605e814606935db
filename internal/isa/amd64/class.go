package amd64

import "strings"

// Class says what an instruction does, as a set.
type Class uint32

const (
	Call              Class = 1 << iota // to Target, or Indirect
	Jump                                // to Target, or Indirect
	Conditional                         // a Jump that may fall through
	Indirect                            // the target is in a register or in memory
	Return                              // ret, iret, sysret and the like
	Trap                                // int3, int, ud2: into an exception handler
	Nop                                 // whatever its length
	LandingPad                          // endbr64, endbr32
	EnablesInterrupts                   // may set RFLAGS.IF
	RepeatedString                      // rep, repe, repne before a string instruction
	ReadsMemory                         // by its operand: stack traffic of push, pop, call and ret not counted
	WritesMemory
	Privileged // faults outside ring 0, or without I/O privilege
	Waits      // for an interrupt, a write or a time, or while a virtual machine or what is below it runs
)

// mnemonicClass gives the classes that a mnemonic implies, without the
// suffixes of the table.
var mnemonicClass = map[string]Class{
	"call": Call, "lcall": Call,
	"jmp": Jump, "ljmp": Jump,
	"loop": Jump | Conditional, "loope": Jump | Conditional, "loopne": Jump | Conditional,
	"jrcxz": Jump | Conditional, "jecxz": Jump | Conditional,
	"xbegin": Jump | Conditional,

	"ret": Return, "lret": Return, "lretw": Return, "lretq": Return,
	"iret":    Return | EnablesInterrupts,
	"iretw":   Return | EnablesInterrupts,
	"iretq":   Return | EnablesInterrupts,
	"sysretl": Return | EnablesInterrupts | Privileged,
	"sysretq": Return | EnablesInterrupts | Privileged,
	"sysexit": Return | EnablesInterrupts | Privileged,
	"erets":   Return | EnablesInterrupts | Privileged,
	"eretu":   Return | EnablesInterrupts | Privileged,
	"rsm":     Return | EnablesInterrupts | Privileged,
	"uiret":   Return,

	"int3": Trap, "int": Trap, "int1": Trap,
	"ud0": Trap, "ud1": Trap, "ud2": Trap,

	"nop": Nop, "fnop": Nop,
	"endbr64": LandingPad, "endbr32": LandingPad,

	"sti":  EnablesInterrupts | Privileged,
	"popf": EnablesInterrupts,
	"stgi": EnablesInterrupts | Privileged,
	"cli":  Privileged,

	"in": Privileged, "out": Privileged,
	"insb": Privileged, "insw": Privileged, "insl": Privileged,
	"outsb": Privileged, "outsw": Privileged, "outsl": Privileged,

	"hlt": Privileged | Waits, "clts": Privileged, "lmsw": Privileged,
	"lgdt": Privileged, "lidt": Privileged, "lldt": Privileged, "ltr": Privileged,
	"invd": Privileged, "wbinvd": Privileged, "wbnoinvd": Privileged,
	"invlpg": Privileged, "invlpga": Privileged, "invlpgb": Privileged, "tlbsync": Privileged,
	"invpcid": Privileged, "invept": Privileged, "invvpid": Privileged,
	"rdmsr": Privileged, "wrmsr": Privileged, "wrmsrns": Privileged,
	"rdmsrlist": Privileged, "wrmsrlist": Privileged,
	"swapgs": Privileged, "xsetbv": Privileged, "clac": Privileged, "stac": Privileged,
	"monitor": Privileged, "mwait": Privileged | Waits, "mwaitx": Waits, "tpause": Waits, "umwait": Waits, "hreset": Privileged,
	"xsaves": Privileged, "xsaves64": Privileged, "xrstors": Privileged, "xrstors64": Privileged,
	"vmlaunch": Privileged | Waits, "vmresume": Privileged | Waits, "vmcall": Waits, "vmmcall": Waits, "vmxoff": Privileged, "vmxon": Privileged,
	"vmread": Privileged, "vmwrite": Privileged, "vmptrld": Privileged, "vmptrst": Privileged, "vmclear": Privileged,
	"vmrun": Privileged | Waits, "vmload": Privileged, "vmsave": Privileged, "clgi": Privileged, "skinit": Privileged,
	"pvalidate": Privileged, "rmpadjust": Privileged, "rmpupdate": Privileged, "psmash": Privileged,
	"encls": Privileged, "enclv": Privileged, "pconfig": Privileged, "loadiwkey": Privileged,
	"tdcall": Privileged | Waits, "seamcall": Privileged | Waits, "seamret": Privileged, "seamops": Privileged,
	"wrussd": Privileged, "wrussq": Privileged, "setssbsy": Privileged, "clrssbsy": Privileged,
	"enqcmds": Privileged, "lkgs": Privileged,
}

// classify derives what the row does from its mnemonic, its operands and the
// table's "=access".
func (r *row) classify(access string) {
	name := strings.TrimRight(r.att, "~^@")
	r.class = mnemonicClass[name]
	if strings.HasPrefix(name, "j?") {
		r.class = Jump | Conditional
	}
	memory := -1
	r.implied = true
	r.dataSeg = name == "xlat"
	for i, o := range r.args {
		switch o.class {
		case 'X', 'Y':
			r.repeats = true
			r.dataSeg = r.dataSeg || o.class == 'X'
			memory = i
		case 'O':
			memory = i
		case 'E', 'M', 'W', 'Q', 'F', 'K':
			if o.class == 'K' && o.reg != 'e' {
				continue
			}
			memory = i
			r.implied = false
			if r.class&(Call|Jump) != 0 {
				r.class |= Indirect
			}
		case 'C', 'D':
			if name == "mov" {
				r.class |= Privileged
			}
		}
	}
	switch {
	case access == "-":
	case access == "nop":
		r.class |= Nop
	case access != "":
		if strings.Contains(access, "r") {
			r.access |= ReadsMemory
		}
		if strings.Contains(access, "w") {
			r.access |= WritesMemory
		}
	case memory < 0:
	case memory > 0 || len(r.args) == 0:
		r.access = ReadsMemory
	case r.args[0].class == 'E' && !r.stores():
		r.access = ReadsMemory | WritesMemory
	default:
		r.access = WritesMemory
	}
}

// stores says that the row moves a vector register to its destination.
func (r *row) stores() bool {
	return len(r.args) > 1 && (r.args[1].class == 'V' || r.args[1].class == 'P')
}
