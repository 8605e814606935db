package kernel

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"
)

// VMLinux is the module name of the kernel proper.
const VMLinux = "vmlinux"

// Kernel is the running kernel. Its methods may be called from several
// goroutines.
type Kernel struct {
	symbols func() (*Symbols, error)
	listed  func() (*Symbols, error) // what /proc/kallsyms lists
	memory  func() (memory, error)
	btf     func() (*btf.Spec, error)

	kprobeOffsets func() (*kprobeOffsets, error)
	blacklist     func() []span          // merged
	redirected    func() map[string]bool // functions, by name

	mu         sync.Mutex
	siteTables map[string]*siteTables // by module
	pairs      map[pairKey]*codePairs // nil for tables that cannot be read
	emulators  map[string]bool        // see assumesLen
	anchors    map[string]anchor      // by module

	moduleSections map[string][]uint64 // by module

	notraceOnce    sync.Once
	notraceAllowed bool // see notraceProbes
	moduleBTF      map[string]*btf.Spec
}

// Open returns the running kernel. It reads nothing: the error of a source
// comes from the method that first needs it.
func Open() (*Kernel, error) {
	k := &Kernel{siteTables: map[string]*siteTables{}, pairs: map[pairKey]*codePairs{}, emulators: map[string]bool{}, anchors: map[string]anchor{}, moduleSections: map[string][]uint64{}}
	k.symbols = sync.OnceValues(k.loadSymbols)
	k.listed = sync.OnceValues(k.listSymbols)
	k.memory = sync.OnceValues(k.openMemory)
	k.btf = sync.OnceValues(loadBTF)
	k.blacklist = sync.OnceValue(loadBlacklist)
	k.redirected = sync.OnceValue(loadRedirected)
	k.kprobeOffsets = sync.OnceValues(func() (*kprobeOffsets, error) {
		spec, err := k.BTF()
		if err != nil {
			return nil, err
		}
		return findKprobeOffsets(spec)
	})
	return k, nil
}

// Close gives back what was opened to read the kernel's memory.
func (k *Kernel) Close() error {
	return nil
}

// Symbols returns the symbols of the kernel and of the modules that were
// loaded when it was first called.
func (k *Kernel) Symbols() (*Symbols, error) { return k.symbols() }

// SymbolsAround returns symbols that name what is at addr also where the kernel
// has made that since its start: the code of BPF programs, and trampolines.
func (k *Kernel) SymbolsAround(addr uint64) (*Symbols, error) {
	syms, err := k.Symbols()
	if err != nil || syms.source == kallsymsPath || syms.spans(addr) {
		return syms, err
	}
	return k.listed()
}

// BTF returns the kernel's own types. It takes a noticeable part of a second
// the first time.
func (k *Kernel) BTF() (*btf.Spec, error) { return k.btf() }

// ModuleBTF returns the types of a module, or of the kernel itself for "" and
// VMLinux.
func (k *Kernel) ModuleBTF(module string) (*btf.Spec, error) {
	if module == "" || module == VMLinux {
		return k.BTF()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if spec := k.moduleBTF[module]; spec != nil {
		return spec, nil
	}
	spec, err := btf.LoadKernelModuleSpec(module)
	if err != nil {
		return nil, fmt.Errorf("reading the types of module %s: %w", module, err)
	}
	if k.moduleBTF == nil {
		k.moduleBTF = make(map[string]*btf.Spec)
	}
	k.moduleBTF[module] = spec
	return spec, nil
}

func loadBTF() (*btf.Spec, error) {
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		return nil, fmt.Errorf("reading the kernel's types from /sys/kernel/btf/vmlinux: %w; "+
			"a kernel built with CONFIG_DEBUG_INFO_BTF is needed", err)
	}
	return spec, nil
}

// Release is the kernel's release as uname -r prints it.
func (k *Kernel) Release() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "" // uname(2) fails on a bad address only
	}
	return unix.ByteSliceToString(u.Release[:])
}

// BootID identifies this boot of this machine.
func (k *Kernel) BootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b)), err
}
