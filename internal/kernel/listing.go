package kernel

import (
	"kinst/internal/isa"
)

// A Listing is the instructions of a function, as the kernel runs them.
type Listing struct {
	Function Function
	Insts    []isa.Inst
}

// Listing reads the instructions of a function from the kernel's live text.
func (k *Kernel) Listing(arch *isa.Arch, f Function) (*Listing, error) {
	text, err := k.LiveText(f.Addr, int(f.Extent))
	if err != nil {
		return nil, err
	}
	insts, err := isa.Function(arch, text, f.Addr)
	if len(insts) == 0 {
		return nil, err
	}
	return &Listing{Function: f, Insts: insts}, nil
}

// Unprobeable returns why the kernel would not take a probe at the i-th
// instruction, as far as that can be known beforehand; "" if nothing speaks
// against it.
func (l *Listing) Unprobeable(i int) string { return "" }
