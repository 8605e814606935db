package kernel

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// CheckModule returns an error that wraps ErrNotLoaded where a module is not
// loaded, or not in the place where it was when the symbols were read.
func (k *Kernel) CheckModule(name string) error {
	if name == VMLinux {
		return nil
	}
	syms, err := k.Symbols()
	if err != nil {
		return err
	}
	modules, err := k.Modules()
	if err != nil {
		return err
	}
	for _, m := range modules {
		if m.Name != name || m.State == "Unloading" {
			continue
		}
		if then, known := syms.loaded[name]; known && then != m.Addr {
			return fmt.Errorf("module %s %w where it was: it has been unloaded and loaded again", name, ErrNotLoaded)
		}
		return nil
	}
	return fmt.Errorf("module %s %w", name, ErrNotLoaded)
}

// sections returns the addresses, in order, at which the sections of a module
// begin; none where the kernel does not tell.
func (k *Kernel) sections(module string) []uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	addrs, known := k.moduleSections[module]
	if !known {
		addrs = readSections("/sys/module/" + module + "/sections")
		k.moduleSections[module] = addrs
	}
	return addrs
}

func readSections(dir string) (addrs []uint64) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			continue
		}
		if addr, err := strconv.ParseUint(strings.TrimSpace(string(text)), 0, 64); err == nil && addr != 0 {
			addrs = append(addrs, addr)
		}
	}
	slices.Sort(addrs)
	return addrs
}

// withinSection returns the function with the extent that it has within its
// section. Behind the last function of a section may be one without symbols:
// the instructions that alternatives are replaced by, for example.
func (k *Kernel) withinSection(f Function) Function {
	if f.Module == VMLinux {
		return f
	}
	sections := k.sections(f.Module)
	i, _ := slices.BinarySearch(sections, f.Addr+1)
	if i < len(sections) && sections[i]-f.Addr < f.Extent {
		f.Extent = sections[i] - f.Addr
	}
	return f
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
