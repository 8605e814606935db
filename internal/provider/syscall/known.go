package syscall

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"kinst/internal/kernel"
)

// eventPrefix is what the names of the events of system calls begin with.
const eventPrefix = "sys_enter_"

// known returns what tells whether the kernel has a system call: an event of
// it in tracefs, or, in a kernel without those, its function.
func (p *Provider) known() (func(function string) bool, error) {
	dir, err := eventsDir()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return p.knownSymbols()
	}
	if err != nil {
		return nil, fmt.Errorf("listing the system calls: %w", err)
	}
	names := make(map[string]bool, len(entries))
	for _, e := range entries {
		if name, ok := strings.CutPrefix(e.Name(), eventPrefix); ok {
			names[name] = true
		}
	}
	return func(function string) bool { return names[function] }, nil
}

func eventsDir() (string, error) {
	tracefs, err := kernel.TraceFS()
	if err != nil {
		return "", err
	}
	return filepath.Join(tracefs, "events", "syscalls"), nil
}

func (p *Provider) knownSymbols() (func(function string) bool, error) {
	syms, err := p.kernel.Symbols()
	if err != nil {
		return nil, fmt.Errorf("listing the system calls: %w", err)
	}
	names := make(map[string]bool)
	for sym := range syms.All() {
		if name, ok := strings.CutPrefix(sym.Name, p.arch.SyscallPrefix); ok && sym.IsText() {
			names[name] = true
		}
	}
	return func(function string) bool { return names[function] }, nil
}
