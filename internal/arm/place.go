package arm

import (
	"fmt"

	"kinst/internal/kernel"
)

// anchor is a symbol of a module that the kernel finds by its name, and that
// sites are counted from.
type anchor struct {
	name string // as kprobe_events takes it
	addr uint64
}

// place returns the site as kprobe_events takes it: _text+1234 or
// module:symbol+1234.
//
// The offset counts from one symbol for the whole module rather than from the
// function's own, because that name may belong to several functions: older
// kernels take the first of them, newer ones none.
func (s *Session) place(site Site) (string, error) {
	a, known := s.anchors[site.Module]
	if !known {
		var err error
		if a, err = findAnchor(s.kernel, site.Module); err != nil {
			return "", err
		}
		s.anchors[site.Module] = a
	}
	if site.Addr() < a.addr {
		return "", fmt.Errorf("%s: %#x is not in the text of %s, which begins at %#x", site, site.Addr(), site.Module, a.addr)
	}
	return fmt.Sprintf("%s+%d", a.name, site.Addr()-a.addr), nil
}

func findAnchor(k *kernel.Kernel, module string) (anchor, error) {
	syms, err := k.Symbols()
	if err != nil {
		return anchor{}, err
	}
	if module == "" || module == kernel.VMLinux {
		for _, name := range []string{"_text", "_stext"} {
			if found := syms.Lookup(name); len(found) == 1 {
				return anchor{name, found[0].Addr}, nil
			}
		}
		return anchor{}, fmt.Errorf("the kernel's symbols lack _text, which sites are counted from")
	}
	count := map[string]int{}
	var text []kernel.Symbol
	for sym := range syms.All() {
		if sym.Module == module {
			count[sym.Name]++
			if sym.IsText() {
				text = append(text, sym)
			}
		}
	}
	for _, sym := range text {
		if count[sym.Name] == 1 {
			return anchor{module + ":" + sym.Name, sym.Addr}, nil
		}
	}
	return anchor{}, fmt.Errorf("module %s %w", module, kernel.ErrNotLoaded)
}
