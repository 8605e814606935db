package kernel

import (
	"encoding/binary"
	"fmt"
)

// A Span is the addresses from Begin up to End.
type Span struct{ Begin, End uint64 }

// TracepointFrames returns the functions that are on the stack between the code
// that has one of some tracepoints and a BPF program on it, as far as the kernel's
// symbols tell (kernel/trace/bpf_trace.c, include/trace/bpf_probe.h):
// bpf_trace_runN, where it calls that for N arguments, __bpf_trace_CLASS, and
// __traceiter_NAME, where it has several listeners.
func (k *Kernel) TracepointFrames(tracepoints ...string) []Span {
	syms, err := k.Symbols()
	if err != nil {
		return nil
	}
	const runs = "bpf_trace_run"
	var names []string
	for n := 1; n <= 12; n++ {
		names = append(names, fmt.Sprint(runs, n))
	}
	for _, name := range tracepoints {
		names = append(names, "__tracepoint_"+name, "__bpf_trace_"+name, "__traceiter_"+name)
	}
	found := syms.pick(names) // all in one pass
	seen := make(map[uint64]bool)
	var spans []Span
	add := func(addr uint64) {
		if end, ok := syms.Next(addr); ok && !seen[addr] {
			seen[addr] = true
			spans = append(spans, Span{addr, end})
		}
	}
	addNamed := func(name string) {
		for _, i := range found[name] {
			if s := syms.at(i); s.IsText() {
				add(s.Addr)
			}
		}
	}
	for _, name := range tracepoints {
		addNamed("__traceiter_" + name)
		if e, ok := k.rawEvent(syms, found["__tracepoint_"+name]); ok {
			addNamed(fmt.Sprint(runs, e.args))
			add(e.function)
			continue
		}
		addNamed("__bpf_trace_" + name) // most are alone in their class
		for _, run := range names[:12] {
			addNamed(run)
		}
	}
	return spans
}

// A rawEvent is what the kernel knows of BPF programs on a tracepoint.
type rawEvent struct {
	function uint64 // that the tracepoint calls for one
	args     uint32 // of the tracepoint
}

// rawEvent looks for a tracepoint, given the indexes of the symbols of its name, ok
// false where it has none.
func (k *Kernel) rawEvent(syms *Symbols, named []int) (e rawEvent, ok bool) {
	for _, i := range named {
		tracepoint := syms.at(i)
		table, err := k.rawEvents(tracepoint.Module)
		if err != nil {
			continue
		}
		if e, ok := findRawEvent(table, tracepoint.Addr); ok {
			return e, true
		}
	}
	return e, false
}

// rawEventSize is that of struct bpf_raw_event_map: tracepoint, function, u32
// number of arguments, u32 size that may be written, aligned to 32 bytes.
const rawEventSize = 32

func findRawEvent(table []byte, tracepoint uint64) (e rawEvent, ok bool) {
	for ; len(table) >= rawEventSize; table = table[rawEventSize:] {
		if binary.NativeEndian.Uint64(table) == tracepoint {
			return rawEvent{binary.NativeEndian.Uint64(table[8:]), binary.NativeEndian.Uint32(table[16:])}, true
		}
	}
	return e, false
}

// rawEvents returns a module's table of struct bpf_raw_event_map.
func (k *Kernel) rawEvents(module string) (table []byte, err error) {
	if module == VMLinux {
		table, _, err = k.between("__start__bpf_raw_tp", "__stop__bpf_raw_tp")
		return table, err
	}
	m, err := k.moduleStruct(module)
	if err != nil {
		return nil, err
	}
	table, _, err = m.tableBytes("bpf_raw_events", "num_bpf_raw_events", rawEventSize)
	return table, err
}
