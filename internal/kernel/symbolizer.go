package kernel

import "kinst/internal/isa"

// A symbolizer names addresses in listings.
type symbolizer struct {
	kernel *Kernel
	syms   *Symbols
}

// Symbolizer returns what names addresses in a listing as objdump does: by
// the nearest symbol at or before the address.
func (k *Kernel) Symbolizer() (isa.PerCPUSymbolizer, error) {
	syms, err := k.Symbols()
	if err != nil {
		return nil, err
	}
	return symbolizer{k, syms}, nil
}

// firstKernelAddress is below every address of the kernel and above every
// offset of the per-CPU area.
const firstKernelAddress = 1 << 63

// Symbol implements isa.Symbolizer.
func (s symbolizer) Symbol(addr uint64) (string, uint64, bool) {
	if addr < firstKernelAddress {
		return "", 0, false
	}
	syms, err := s.kernel.SymbolsAround(addr)
	if err != nil {
		return "", 0, false
	}
	return syms.nearest(addr)
}

// PerCPU implements isa.PerCPUSymbolizer. The kernel lists per-CPU variables by
// what instructions address them with: before 6.15 their offset in the per-CPU
// area, since then an address like any other.
func (s symbolizer) PerCPU(offset uint64) (string, uint64, bool) {
	return s.syms.nearest(offset)
}

func (s *Symbols) nearest(addr uint64) (string, uint64, bool) {
	nearest := s.Nearest(addr)
	if len(nearest) == 0 {
		return "", 0, false
	}
	return nearest[0].Name, addr - nearest[0].Addr, true
}
