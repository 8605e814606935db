package kernel

import (
	"os"
	"sync"

	"github.com/cilium/ebpf/btf"
)

// kernelOverruns reports whether the kernel would read beyond mapped memory,
// and so crash, when a kprobe is put into the function.
//
// To see whether it can replace the breakpoint by a jump it decodes the whole
// function (can_optimize), as far as kallsyms says that it goes. For the last
// one of a module this is the end of the module's text, whose last page is
// filled with zeros. Two of them make an instruction: if their number is odd,
// the last is read as the first byte of an instruction that ends in the next
// page. Since Linux 6.4, where a module's text has memory of its own, that is
// not mapped.
//
// A probe on the function tracer's site, at the function's entry, is not
// optimized and does no harm.
func (l *Listing) kernelOverruns() bool {
	if !l.Function.last || l.Function.Module == VMLinux || l.arch.JumpLen == 0 {
		return false
	}
	end := l.reasons.kernel.moduleTextEnd(l.Function.Module, l.End())
	if end <= l.End() || isMapped(end) {
		return false
	}
	text, err := l.reasons.kernel.LiveText(l.End(), int(end-l.End()))
	if err != nil {
		return true
	}
	for len(text) > 0 {
		in, err := l.arch.Decode(text, end-uint64(len(text)))
		if err != nil {
			return true
		}
		text = text[in.Len:]
	}
	return false
}

// moduleTextEnd returns the end of the memory that holds a module's text, of
// which addr is a part. Where the kernel does not tell, it is taken for that
// of the page.
func (k *Kernel) moduleTextEnd(module string, addr uint64) uint64 {
	if m, err := k.moduleStruct(module); err == nil {
		if base, size, ok := m.textMemory(); ok && base <= addr && addr <= base+size {
			return base + size
		}
	}
	page := uint64(os.Getpagesize())
	return (addr + page - 1) / page * page
}

// textMemory returns where a module's text is, on kernels that give it memory
// of its own: the first of struct module's array mem.
func (m *moduleStruct) textMemory() (base, size uint64, ok bool) {
	mem, err := memberOffset(m.layout, "mem")
	if err != nil {
		return 0, 0, false
	}
	var array *btf.Array
	for _, member := range m.layout.Members {
		if member.Name == "mem" {
			array, _ = btf.UnderlyingType(member.Type).(*btf.Array)
		}
	}
	if array == nil {
		return 0, 0, false
	}
	memory, isStruct := btf.UnderlyingType(array.Type).(*btf.Struct)
	if !isStruct {
		return 0, 0, false
	}
	b, err1 := memberOffset(memory, "base")
	s, err2 := memberOffset(memory, "size")
	if err1 != nil || err2 != nil {
		return 0, 0, false
	}
	return m.uint64(mem + b), uint64(m.uint32(mem + s)), true
}

// isMapped reports whether there is memory at a kernel address. /proc/kcore
// has zeros where there is none; BPF knows. Where that cannot be had, the
// answer is no.
func isMapped(addr uint64) bool {
	reader, err := mappedReader()
	return err == nil && reader.read(addr, make([]byte, 1)) == nil
}

var mappedReader = sync.OnceValues(openProbeReader)
