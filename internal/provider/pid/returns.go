package pid

import (
	"slices"

	"kinst/internal/isa"
	"kinst/internal/userland"
)

// returns is where a function is left.
type returns struct {
	addrs []uint64
	// unseen says that it has jumps which may leave it although they are no
	// places of return: to who knows where, the table of a switch or another
	// function, and to another function on a condition.
	unseen bool
}

// findReturns finds the instructions that leave a function: returns and, as in
// DTrace, jumps to other functions, which are calls whose return is this
// function's too. Compilers move the unlikely parts of a function into another
// one, named FUNCTION.cold: jumps between the two leave neither, and the
// returns of that part are returns of the function.
func findReturns(o *userland.Object, l *userland.Listing) returns {
	var r returns
	r.add(o, l)
	for _, f := range o.Cold(l.Function.Name) {
		if !jumpsInto(l, f) {
			continue // of another function of that name
		}
		if part, err := o.Listing(f); err == nil {
			r.add(o, part)
		}
	}
	return r
}

func jumpsInto(l *userland.Listing, f userland.Function) bool {
	return slices.ContainsFunc(l.Insts, func(in isa.Inst) bool {
		return in.Kind.Is(isa.Jump) && in.HasTarget() && in.Target-f.Addr < f.Size
	})
}

func (r *returns) add(o *userland.Object, l *userland.Listing) {
	for _, in := range l.Insts {
		switch {
		case in.Kind.Is(isa.Return):
		case !in.Kind.Is(isa.Jump), in.HasTarget() && o.SameFunction(l.Function, in.Target):
			continue
		case in.Kind&(isa.Conditional|isa.Indirect) != 0:
			r.unseen = true
			continue
		}
		if o.Unprobeable(in) == "" {
			r.addrs = append(r.addrs, in.Addr)
		}
	}
}
