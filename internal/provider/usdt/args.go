package usdt

import (
	"fmt"
	"strconv"
	"strings"

	"kinst/internal/isa"
	"kinst/internal/provider"
	"kinst/internal/userland"
)

// places finds out where a probe's arguments are.
func (p *Provider) places(o *userland.Object, s userland.StaticProbe) ([]provider.Place, error) {
	places := []provider.Place{} // not nil: there are no others
	for i, arg := range strings.Fields(s.Args) {
		place, err := p.place(o, s.Addr, arg)
		if err != nil {
			return nil, fmt.Errorf("its arg%d: %w", i, err)
		}
		places = append(places, place)
	}
	return places, nil
}

// place reads an argument such as -4@%eax or 8@-16(%rbp): its size in bytes,
// below 0 if it is signed, and an operand. The size may be left out.
func (p *Provider) place(o *userland.Object, pc uint64, arg string) (provider.Place, error) {
	size, operand, ok := strings.Cut(arg, "@")
	if !ok {
		size, operand = "-8", arg
	}
	n, err := strconv.Atoi(size)
	if err != nil {
		return provider.Place{}, fmt.Errorf("%q: it is not an integer", arg)
	}
	place := provider.Place{Size: max(n, -n), Signed: n < 0}
	switch place.Size {
	case 1, 2, 4, 8:
	default:
		return provider.Place{}, fmt.Errorf("%q: it has %d bytes", arg, place.Size)
	}
	where, err := p.arch.ParseOperand(operand)
	if err != nil {
		return provider.Place{}, err
	}
	return place, p.locate(&place, o, pc, where)
}

func (p *Provider) locate(place *provider.Place, o *userland.Object, pc uint64, where isa.Operand) error {
	switch {
	case where.Symbol != "":
		// The program counter is the probe's own address.
		addr, ok := o.Data(where.Symbol)
		if !ok {
			return fmt.Errorf("the file does not tell where %s is", where.Symbol)
		}
		place.Indirect = true
		place.Base = p.offset(where.Register)
		place.Offset = int(int64(addr) + where.Disp - int64(pc))
	case where.Memory:
		place.Indirect = true
		place.Offset = int(where.Disp)
		p.address(place, where)
	case where.Register != "":
		place.Offset = p.offset(where.Register) + where.Byte
	default:
		n := uint64(where.Disp)
		place.Constant = &n
	}
	return nil
}

// address fills in the registers of a memory operand, at least one.
func (p *Provider) address(place *provider.Place, where isa.Operand) {
	switch {
	case where.Register == "":
		place.Base = p.offset(where.Index)
		place.Index, place.Scale = place.Base, where.Scale-1
	case where.Index == "":
		place.Base = p.offset(where.Register)
	default:
		place.Base = p.offset(where.Register)
		place.Index, place.Scale = p.offset(where.Index), where.Scale
	}
}

// offset is where struct pt_regs has a register that ParseOperand knows.
func (p *Provider) offset(register string) int {
	r, _ := p.arch.Register(register)
	return r.Offset
}
