package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"kinst/internal/isa"
)

// The function tracer, kprobes at the beginning of a function, BPF programs
// of type fentry and live patches all replace a nop at the beginning of the
// function, behind its landing pad, by a call.

// undoTracer puts the nop back into a function's text.
func (k *Kernel) undoTracer(arch *isa.Arch, f Function, text []byte) {
	pad := arch.LandingPad(text)
	in, err := arch.Decode(text[pad:], f.Addr+uint64(pad))
	if err != nil || !in.Kind.Is(isa.Call) || !in.HasTarget() || in.Len != len(arch.TracerNop) {
		return
	}
	if k.isTracer(in.Target) {
		copy(text[pad:], arch.TracerNop)
	}
}

// isTracer reports whether a call to addr, the first thing that a function
// does, was put there. The compiler makes calls to functions; the tracers
// call code that the kernel makes as it runs, or one of two functions.
func (k *Kernel) isTracer(addr uint64) bool {
	f, err := k.FunctionAt(addr)
	if err != nil {
		return true
	}
	switch f.Name {
	case "ftrace_caller", "ftrace_regs_caller":
		return true
	}
	// Behind the last function of a module may be anything.
	return f.last && addr != f.Addr
}

// isTraceable reports whether the function tracer knows the function.
func (l *Listing) isTraceable() bool {
	i, ok := l.Find(l.entry())
	if ok && bytes.Equal(l.Insts[i].Bytes, l.arch.TracerNop) {
		return true
	}
	if l.reasons.base == "" {
		return false
	}
	// What the compiler split off a function counts as that.
	whole, err := l.reasons.kernel.Functions(l.Function.Module, l.reasons.base)
	if err != nil {
		return false
	}
	text, err := l.reasons.kernel.LiveText(whole[0].Addr, l.arch.MaxLen*2)
	if err != nil {
		return true // the kernel will say
	}
	l.reasons.kernel.undoTracer(l.arch, whole[0], text)
	return bytes.HasPrefix(text[l.arch.LandingPad(text):], l.arch.TracerNop)
}

// notraceProbes reports whether the kernel lets events be put on functions
// that the function tracer does not know, of which l is one. It asks for an
// event in the middle of an instruction there, which is refused for the one
// reason or the other.
func (k *Kernel) notraceProbes(l *Listing) bool {
	k.notraceOnce.Do(func() { k.notraceAllowed = askNotrace(l) })
	return k.notraceAllowed
}

func askNotrace(l *Listing) (allowed bool) {
	dir, err := TraceFS()
	if err != nil {
		return true
	}
	events, err := os.OpenFile(filepath.Join(dir, "kprobe_events"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return true // nor will anything be armed
	}
	defer events.Close()
	for _, in := range l.Insts {
		if in.Len == 1 || l.reasons.at(in.Addr) != "" {
			continue
		}
		place, err := l.reasons.kernel.Place(l.Function.Module, in.Addr+1)
		if err != nil {
			return true
		}
		_, err = fmt.Fprintf(events, "p:kinst/notrace %s\n", place)
		return !errors.Is(err, unix.EINVAL) // EILSEQ: no instruction starts there
	}
	return true
}
