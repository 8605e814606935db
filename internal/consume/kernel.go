package consume

import (
	"strings"

	"kinst/internal/kernel"
)

// Kernel names addresses by the kernel's symbols, which are read when the first
// address is asked for. Where they cannot be read, addresses stay numbers.
func Kernel(k *kernel.Kernel) KernelSymbols { return kernelSymbols{k} }

type kernelSymbols struct{ *kernel.Kernel }

// KernelSymbol implements KernelSymbols. Of several symbols at one address a
// function's own comes before what compilers put there.
func (k kernelSymbols) KernelSymbol(addr uint64) (module, name string, offset uint64) {
	syms, err := k.SymbolsAround(addr)
	if err != nil {
		return "", "", 0
	}
	nearest := syms.Nearest(addr)
	if len(nearest) == 0 || nearest[0].Addr == 0 {
		return "", "", 0
	}
	best := nearest[0]
	for _, s := range nearest[1:] {
		if (!best.IsText() || strings.HasPrefix(best.Name, "__")) && s.IsText() && !strings.HasPrefix(s.Name, "__") {
			best = s
		}
	}
	return best.Module, best.Name, addr - best.Addr
}
