package types

import (
	"github.com/cilium/ebpf/btf"

	"kinst/internal/dlang/syntax"
	"kinst/internal/isa"
)

// An Env is what a program is checked against.
type Env struct {
	// Contexts returns the kinds of probe that a clause runs on, each once.
	// Where it returns none, the clause is checked and left out.
	Contexts func(*syntax.Clause) []*Context

	// Arch tells the names of the registers.
	Arch *isa.Arch

	// BTF returns the types of a module, or of the kernel itself for "". It is
	// called only when a program names one of them; nil stands for a kernel
	// without types.
	BTF func(module string) (*btf.Spec, error)

	// Symbol finds a symbol of a module, or of any for "".
	Symbol func(module, name string) (addr uint64, err error)

	// Strsize is the strsize option: the bytes of a string, its NUL included.
	// 0 stands for 256.
	Strsize int

	// Stackframes, Ustackframes, Jstackframes and Jstackstrsize are the
	// options of these names; 0 stands for DTrace's defaults, 20, 100, 50 and
	// 512.
	Stackframes, Ustackframes, Jstackframes, Jstackstrsize int

	// Destructive allows the destructive actions and subroutines.
	Destructive bool
}

// Check checks the files of a program, which form one program in their order.
// The error is a syntax.ErrorList.
func Check(files []*syntax.File, env *Env) (*Program, error) {
	c := newChecker(env)
	for _, f := range files {
		for _, d := range f.Decls {
			c.decl(d)
		}
	}
	c.finish()
	if err := c.errors.Err(); err != nil {
		return nil, err
	}
	return c.prog, nil
}
