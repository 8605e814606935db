package kernel

import (
	"errors"
	"fmt"
)

// anchor is a symbol of a module that the kernel finds by its name alone.
type anchor struct {
	name string
	addr uint64
}

// Place returns an address in the text of a module in the form in which
// tracefs's kprobe_events takes it: _text+1234 or module:symbol+1234.
//
// The offset counts from one symbol for the whole module rather than from the
// function's own, because that name may belong to several functions: older
// kernels take the first of them, newer ones none.
func (k *Kernel) Place(module string, addr uint64) (string, error) {
	a, err := k.anchor(module)
	if err != nil {
		return "", err
	}
	if addr < a.addr {
		return "", fmt.Errorf("%#x is not in the text of %s, which begins at %#x", addr, module, a.addr)
	}
	return fmt.Sprintf("%s+%d", a.name, addr-a.addr), nil
}

func (k *Kernel) anchor(module string) (anchor, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if a, ok := k.anchors[module]; ok {
		return a, nil
	}
	syms, err := k.Symbols()
	if err != nil {
		return anchor{}, err
	}
	a, err := syms.anchor(module)
	if err == nil {
		k.anchors[module] = a
	}
	return a, err
}

func (s *Symbols) anchor(module string) (anchor, error) {
	if module == VMLinux {
		for _, name := range []string{"_text", "_stext"} {
			if addr, ok := s.Data(name); ok {
				return anchor{name, addr}, nil
			}
		}
		return anchor{}, errors.New("the kernel's symbols lack _text, which probes are placed by")
	}
	count := map[string]int{}
	var text []Symbol
	for sym := range s.All() {
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
	return anchor{}, fmt.Errorf("module %s %w", module, ErrNotLoaded)
}
