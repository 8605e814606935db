package kernel

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"kinst/internal/isa"
)

// An Entry is the beginning of a function that can be traced as a whole.
type Entry struct {
	Function
	Code uint64 // address behind the landing pad
	Body uint64 // address behind the nop that the function tracer replaces; Code where there is none
}

// Entries returns the functions that can be traced as a whole, by the names
// that Functions takes: those that the function tracer knows, or all in a
// kernel that has none, less those on the blacklist of kprobes. What the
// compiler split off a blacklisted function may be among them; the kernel
// refuses it.
//
// A function that the tracer knows begins with a nop, behind its landing pad,
// or with the call that somebody has put there.
func (k *Kernel) Entries(arch *isa.Arch, module, pattern string) ([]Entry, error) {
	functions, err := k.Functions(module, pattern)
	if err != nil {
		return nil, err
	}
	traced, err := hasTracer()
	if err != nil {
		return nil, err
	}
	black := k.blacklist()
	w := window{kernel: k}
	entries := make([]Entry, 0, len(functions))
	for _, f := range functions {
		if inMerged(black, f.Addr) {
			continue
		}
		text, err := w.text(f.Addr, arch.MaxLen*2)
		if err != nil {
			continue // a module that has gone
		}
		e := Entry{Function: f, Code: f.Addr + uint64(arch.LandingPad(text))}
		e.Body = e.Code
		if k.begins(arch, e, text[e.Code-f.Addr:]) {
			e.Body += uint64(len(arch.TracerNop))
		} else if traced {
			continue
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// begins reports whether the text behind an entry's landing pad begins with
// what the function tracer replaces or has replaced.
func (k *Kernel) begins(arch *isa.Arch, e Entry, text []byte) bool {
	if bytes.HasPrefix(text, arch.TracerNop) {
		return !k.rewritten(e.Module, e.Code)
	}
	in, err := arch.Decode(text, e.Code)
	switch {
	case err != nil:
		return false
	case in.Kind.Is(isa.Call) && in.HasTarget() && in.Len == len(arch.TracerNop):
		return k.isTracer(in.Target)
	case in.Kind.Is(isa.Trap):
		// The kernel is at work there.
		n := arch.BreakpointLen
		return bytes.HasPrefix(text[n:], arch.TracerNop[n:])
	}
	return false
}

// hasTracer reports whether the kernel has a function tracer, which alone
// makes some functions traceable and others not.
var hasTracer = sync.OnceValues(func() (bool, error) {
	dir, err := TraceFS()
	if err != nil {
		return false, err
	}
	_, err = os.Stat(filepath.Join(dir, "available_filter_functions"))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
})

// mergeSpans returns the same addresses in order and in as few spans as
// possible.
func mergeSpans(spans []span) []span {
	sorted := slices.SortedFunc(slices.Values(spans), func(a, b span) int { return cmp.Compare(a.begin, b.begin) })
	var merged []span
	for _, s := range sorted {
		if n := len(merged); n > 0 && s.begin <= merged[n-1].end {
			merged[n-1].end = max(merged[n-1].end, s.end)
		} else {
			merged = append(merged, s)
		}
	}
	return merged
}

func inMerged(spans []span, addr uint64) bool {
	_, ok := slices.BinarySearchFunc(spans, addr, func(s span, addr uint64) int {
		switch {
		case s.end <= addr:
			return -1
		case s.begin > addr:
			return 1
		}
		return 0
	})
	return ok
}

// A window reads text at ascending addresses in large pieces.
type window struct {
	kernel *Kernel
	addr   uint64
	buf    []byte
}

const windowSize = 64 << 10

func (w *window) text(addr uint64, n int) ([]byte, error) {
	if addr < w.addr || addr-w.addr+uint64(n) > uint64(len(w.buf)) {
		buf, err := w.kernel.LiveText(addr, windowSize)
		if err != nil {
			// The end of a module's text may be nearer.
			if buf, err = w.kernel.LiveText(addr, n); err != nil {
				return nil, err
			}
		}
		w.addr, w.buf = addr, buf
	}
	return w.buf[addr-w.addr:][:n], nil
}
