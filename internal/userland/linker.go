package userland

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

// A Linker is the dynamic linker of a process. It loads the libraries that the
// program starts with before anything else is executed, and others when it is
// asked to.
type Linker struct {
	// Notify is the function that it calls for debuggers when it begins to
	// load libraries and when they are loaded, in Object.
	Object *Object
	Notify Function

	pid   int
	debug uint64 // address of its struct r_debug
	isPtr bool   // debug is that of a pointer to it
}

// ErrNoLinker says that a process has no dynamic linker, or one that does not
// tell when libraries are loaded.
var ErrNoLinker = errors.New("no dynamic linker that tells when libraries are loaded")

// Linker finds the dynamic linker of a process, which may be its program.
func (p *Process) Linker() (*Linker, error) {
	for _, o := range p.Objects {
		l := &Linker{Object: o, pid: p.PID}
		if !l.findDebug() {
			continue
		}
		if functions, err := o.Functions("_dl_debug_state"); err == nil {
			l.Notify = functions[0]
			return l, nil
		}
	}
	return nil, ErrNoLinker
}

// findDebug finds the struct r_debug (link.h): glibc exports it, musl a
// pointer to it.
func (l *Linker) findDebug() bool {
	syms, err := l.Object.elf.DynamicSymbols()
	if err != nil {
		return false
	}
	for _, s := range syms {
		if s.Name == "_r_debug" || s.Name == "_dl_debug_addr" {
			l.debug = s.Value + l.Object.bias()
			l.isPtr = s.Name == "_dl_debug_addr"
			return true
		}
	}
	return false
}

// Loaded reports whether the linker has loaded all libraries that it was to
// load: at first those that the program starts with.
func (l *Linker) Loaded() (bool, error) {
	mem, err := os.Open(procPath(l.pid, "mem"))
	if err != nil {
		return false, processError(l.pid, err)
	}
	defer mem.Close()
	at := l.debug
	if l.isPtr {
		var pointer [8]byte
		if _, err := mem.ReadAt(pointer[:], int64(at)); err != nil {
			return false, fmt.Errorf("reading the dynamic linker's state in process %d: %w", l.pid, err)
		}
		at = binary.NativeEndian.Uint64(pointer[:])
	}
	// int r_version, struct link_map *r_map, ElfW(Addr) r_brk, enum r_state
	const mapOffset, stateOffset, consistent = 8, 24, 0
	var debug [stateOffset + 4]byte
	if _, err := mem.ReadAt(debug[:], int64(at)); err != nil {
		return false, fmt.Errorf("reading the dynamic linker's state in process %d: %w", l.pid, err)
	}
	return binary.NativeEndian.Uint64(debug[mapOffset:]) != 0 &&
		binary.NativeEndian.Uint32(debug[stateOffset:]) == consistent, nil
}

// Entry is the address of the first instruction of the program itself, which
// is executed when its libraries are loaded and have been initialised.
func (f *File) Entry() uint64 { return f.elf.Entry }
