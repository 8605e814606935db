package kernel

import (
	"errors"
	"fmt"
	"io"
)

// memory reads the kernel's memory.
type memory interface {
	// read fills p from addr on. It fails where any of it is not mapped or
	// not readable in this way.
	read(addr uint64, p []byte) error
	// source names where the bytes come from, for messages.
	source() string
	io.Closer
}

// openMemory takes /proc/kcore, or where that is missing or refused, BPF.
func (k *Kernel) openMemory() (memory, error) {
	core, coreErr := openKcore(kcorePath)
	if coreErr == nil {
		return core, nil
	}
	prog, progErr := openProbeReader()
	if progErr == nil {
		return prog, nil
	}
	return nil, fmt.Errorf("the kernel's memory cannot be read: %w",
		errors.Join(coreErr, progErr))
}

// LiveText returns n bytes of memory from addr on, as they stand there:
// breakpoints and jumps of whoever has probes armed included.
func (k *Kernel) LiveText(addr uint64, n int) ([]byte, error) {
	mem, err := k.memory()
	if err != nil {
		return nil, err
	}
	text := make([]byte, n)
	if err := mem.read(addr, text); err != nil {
		return nil, err
	}
	return text, nil
}
