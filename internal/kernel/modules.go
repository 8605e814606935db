package kernel

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ErrNotLoaded is wrapped by the errors that say that a module is not loaded.
var ErrNotLoaded = errors.New("is not loaded")

// A Module is a line of /proc/modules.
type Module struct {
	Name  string
	Size  uint64 // bytes
	Addr  uint64 // of its text; 0 where the kernel hides it
	State string // Live, Loading or Unloading
}

// Modules returns the modules that are loaded now.
func (k *Kernel) Modules() ([]Module, error) {
	text, err := os.ReadFile("/proc/modules")
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // built without CONFIG_MODULES
	}
	if err != nil {
		return nil, fmt.Errorf("reading the list of modules: %w", err)
	}
	return parseModules(string(text))
}

// parseModules reads lines of
//
//	ext4 1130496 1 - Live 0xffffffffc0201000 (O)
func parseModules(text string) ([]Module, error) {
	var modules []Module
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 6 {
			return nil, fmt.Errorf("/proc/modules: not a module: %q", line)
		}
		size, err1 := strconv.ParseUint(f[1], 10, 64)
		addr, err2 := strconv.ParseUint(f[5], 0, 64)
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("/proc/modules: not a module: %q: %w", line, err)
		}
		modules = append(modules, Module{Name: f[0], Size: size, Addr: addr, State: f[4]})
	}
	return modules, nil
}
