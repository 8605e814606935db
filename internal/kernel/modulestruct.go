package kernel

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cilium/ebpf/btf"
)

// moduleStruct is a loaded module's struct module, in the kernel's memory.
type moduleStruct struct {
	kernel *Kernel
	layout *btf.Struct
	bytes  []byte
}

func (k *Kernel) moduleStruct(module string) (*moduleStruct, error) {
	syms, err := k.Symbols()
	if err != nil {
		return nil, err
	}
	addr := uint64(0)
	for _, sym := range syms.Lookup("__this_module") {
		if sym.Module == module {
			addr = sym.Addr
		}
	}
	if addr == 0 {
		return nil, errors.New("the kernel's symbols lack __this_module of module " + module)
	}
	spec, err := k.BTF()
	if err != nil {
		return nil, err
	}
	layout, err := structOf(spec, "module")
	if err != nil {
		return nil, err
	}
	text, err := k.LiveText(addr, int(layout.Size))
	if err != nil {
		return nil, err
	}
	return &moduleStruct{k, layout, text}, nil
}

func (m *moduleStruct) uint64(at uint32) uint64 { return binary.NativeEndian.Uint64(m.bytes[at:]) }
func (m *moduleStruct) uint32(at uint32) uint32 { return binary.NativeEndian.Uint32(m.bytes[at:]) }

// table returns the places that a table of entries begins with, given the
// members that hold its address and its length. A table that the kernel is
// not built with has none.
func (m *moduleStruct) table(pointer, count string, size int) []uint64 {
	text, addr, err := m.tableBytes(pointer, count, size)
	if err != nil {
		return nil
	}
	return relative(text, addr, size)
}

// tableBytes returns such a table as it stands in memory, and where.
func (m *moduleStruct) tableBytes(pointer, count string, size int) (table []byte, addr uint64, err error) {
	at, err1 := memberOffset(m.layout, pointer)
	n, err2 := memberOffset(m.layout, count)
	if err := errors.Join(err1, err2); err != nil {
		return nil, 0, err
	}
	addr = m.uint64(at)
	entries := int(m.uint32(n))
	if entries < 0 || entries > maxTable/size {
		return nil, 0, fmt.Errorf("a table of %d entries, according to struct module's %s", entries, count)
	}
	if addr == 0 || entries == 0 {
		return nil, 0, nil
	}
	table, err = m.kernel.LiveText(addr, entries*size)
	return table, addr, err
}
