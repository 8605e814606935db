package fbt

import (
	"fmt"

	"kinst/internal/isa"
	"kinst/internal/kernel"
)

// exits is how a function is left.
type exits struct {
	addrs []uint64 // of its return instructions, if it is left by no others
	// elsewhere says how else it is left, if it is, or why no probe can be on
	// a return instruction.
	elsewhere string
}

// exits reads a function's instructions for how it is left.
func (p *Provider) exits(f kernel.Function) (exits, error) {
	l, err := p.kernel.Listing(p.arch, f)
	if err != nil {
		return exits{}, err
	}
	var e exits
	for i, in := range l.Insts {
		switch kind := p.arch.ResolveKind(in, p.flow()); {
		case kind.Is(isa.Return):
			if why := l.Unprobeable(i); why != "" {
				e.elsewhere = fmt.Sprintf("its return at %d can have no probe: %s", in.Addr-f.Addr, why)
			}
			e.addrs = append(e.addrs, in.Addr)
		case kind.Is(isa.Jump | isa.Indirect):
			e.elsewhere = fmt.Sprintf("it has a jump at %d to who knows where", in.Addr-f.Addr)
		case kind.Is(isa.Jump) && in.Target-f.Addr >= f.Extent && !p.comesBack(f, in.Target):
			e.elsewhere = fmt.Sprintf("at %d it goes on in another function, which returns for it", in.Addr-f.Addr)
		}
		if e.elsewhere != "" {
			return e, nil
		}
	}
	switch {
	case l.Rest != nil:
		e.elsewhere = l.Rest.Error()
	case len(e.addrs) == 0:
		e.elsewhere = "it has no return instruction"
	}
	return e, nil
}

// flow sees through the kernel's return thunks.
func (p *Provider) flow() isa.Flow { return isa.Flow{Symbol: p.symbol} }

func (p *Provider) symbol(addr uint64) string {
	syms, err := p.kernel.Symbols()
	if err != nil {
		return ""
	}
	if at := syms.Nearest(addr); len(at) > 0 && at[0].Addr == addr {
		return at[0].Name
	}
	return ""
}

// comesBack reports whether an address is in the part of a function that the
// compiler moved out of it, FUNCTION.cold, and that part leaves only by jumps
// back.
func (p *Provider) comesBack(f kernel.Function, addr uint64) bool {
	cold, err := p.kernel.FunctionAt(addr)
	if err != nil || cold.Name != f.Name+".cold" || cold.Module != f.Module {
		return false
	}
	l, err := p.kernel.Listing(p.arch, cold)
	if err != nil || l.Rest != nil {
		return false
	}
	for _, in := range l.Insts {
		kind := p.arch.ResolveKind(in, p.flow())
		inside := in.Target-f.Addr < f.Extent || in.Target-cold.Addr < cold.Extent
		if kind.Is(isa.Return) || kind.Is(isa.Jump|isa.Indirect) || kind.Is(isa.Jump) && !inside {
			return false
		}
	}
	return true
}
