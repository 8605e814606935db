package pid

import (
	"strings"

	"kinst/internal/isa"
	"kinst/internal/userland"
)

// returns is where a function is left.
type returns struct {
	addrs []uint64
	// indirect says that it has jumps to who knows where: the table of a
	// switch, or another function.
	indirect bool
}

// findReturns finds the instructions that leave a function: returns and, as in
// DTrace, jumps to other functions, which are calls whose return is this
// function's too. Compilers move the unlikely parts of a function into another
// one, named FUNCTION.cold: jumps between the two leave neither, and the
// returns of that part are returns of the function.
func findReturns(o *userland.Object, l *userland.Listing) returns {
	var r returns
	r.add(o, l)
	cold, err := o.Functions(l.Function.Name + coldSuffix)
	if err != nil {
		return r
	}
	for _, f := range cold {
		if part, err := o.Listing(f); err == nil {
			r.add(o, part)
		}
	}
	return r
}

const coldSuffix = ".cold"

func (r *returns) add(o *userland.Object, l *userland.Listing) {
	f := l.Function
	for _, in := range l.Insts {
		switch {
		case in.Kind.Is(isa.Return):
		case !in.Kind.Is(isa.Jump) || in.Kind.Is(isa.Conditional):
			continue
		case in.Kind.Is(isa.Indirect):
			r.indirect = true
			continue
		case in.Target-f.Addr < f.Size || samePart(o, f, in.Target):
			continue
		}
		if o.Unprobeable(in) == "" {
			r.addrs = append(r.addrs, in.Addr)
		}
	}
}

// samePart reports whether an address is in another part of a function.
func samePart(o *userland.Object, f userland.Function, addr uint64) bool {
	other, err := o.FunctionAt(addr)
	return err == nil && strings.TrimSuffix(other.Name, coldSuffix) == strings.TrimSuffix(f.Name, coldSuffix)
}
