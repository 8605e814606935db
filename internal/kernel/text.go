package kernel

import (
	"bytes"
	"fmt"
	"os"

	"kinst/internal/isa"
)

// Instructions returns the instructions of a function, less the padding that
// follows them. They are what the kernel executes now, save that breakpoints
// and jumps which anybody's kprobes have put there are undone: see Text.
func (k *Kernel) Instructions(f Function) ([]isa.Inst, error) {
	arch, err := isa.Native()
	if err != nil {
		return nil, err
	}
	if f.last {
		return k.lastInstructions(arch, f)
	}
	text, err := k.Text(f.Addr, int(f.Extent))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f, err)
	}
	insts, err := isa.Function(arch, text, f.Addr)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f, err)
	}
	return insts, nil
}

// lastInstructions returns the instructions of the last function of a module,
// whose end no symbol marks: zeros fill the last page of the module's text,
// or there is no memory behind it.
func (k *Kernel) lastInstructions(arch *isa.Arch, f Function) ([]isa.Inst, error) {
	text, err := k.textToZeros(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f, err)
	}
	// The last instruction may end in zeros itself.
	end := len(bytes.TrimRight(text, "\x00"))
	for {
		insts, err := isa.Function(arch, text[:end], f.Addr)
		if err == nil {
			return insts, nil
		}
		if end++; end > len(text) {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
	}
}

// textToZeros reads page by page to one that ends in zeros, or to the end of
// the memory that is there.
func (k *Kernel) textToZeros(f Function) ([]byte, error) {
	page := uint64(os.Getpagesize())
	var text []byte
	for {
		left := f.Extent - uint64(len(text))
		if left == 0 {
			return text, nil
		}
		at := f.Addr + uint64(len(text))
		more, err := k.Text(at, int(min(left, page-at%page)))
		switch {
		case err != nil && len(text) == 0:
			return nil, err
		case err != nil:
			return text, nil
		}
		text = append(text, more...)
		if bytes.HasSuffix(more, make([]byte, min(len(more), 16))) {
			return text, nil
		}
	}
}

// Text returns n bytes of the kernel's text from addr on as they were before
// anybody's kprobes were armed there.
func (k *Kernel) Text(addr uint64, n int) ([]byte, error) {
	return k.LiveText(addr, n)
}

