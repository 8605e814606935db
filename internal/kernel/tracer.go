package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

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

// findTraceable reports whether the function tracer knows the function.
func (l *Listing) findTraceable() bool {
	i, ok := l.Find(l.entry())
	if ok && bytes.Equal(l.Insts[i].Bytes, l.arch.TracerNop) && !l.reasons.rewritten(l.entry()) {
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
	pad := l.arch.LandingPad(text)
	return bytes.HasPrefix(text[pad:], l.arch.TracerNop) && !l.reasons.rewritten(whole[0].Addr+uint64(pad))
}

// Body returns the address behind the function tracer's nop, where the i-th
// instruction is that nop or the landing pad before it and the one behind is
// executed as often, with the same registers: unless the function is left at the
// nop, as live patches do, nothing but the nop leads there. To the kernel a probe
// on the nop is a matter of the function tracer, and costs it a look at every
// function that there is.
func (l *Listing) Body(i int) (addr uint64, ok bool) {
	nop, _ := l.Find(l.entry())
	if !l.IsEntry(i) || nop+1 >= len(l.Insts) {
		return 0, false
	}
	addr = l.Insts[nop].End()
	if l.Unprobeable(nop+1) != "" || l.reasons.kernel.redirected()[l.Function.Name] {
		return 0, false
	}
	c, ok := l.cuts()
	return addr, ok && !c.at(addr)
}

// loadRedirected returns the names of the functions which somebody may make
// control leave at the tracer's nop: by a live patch, or by a BPF program of type
// fmod_ret.
func loadRedirected() map[string]bool {
	dir, err := TraceFS()
	if err != nil {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(dir, "enabled_functions"))
	if err != nil {
		return nil // nobody can
	}
	return parseRedirected(string(text))
}

// parseRedirected reads lines of a function, in parentheses how many trace it,
// and how: I for what may set the instruction pointer, D for a call of a
// trampoline's own (t_show in kernel/trace/ftrace.c):
//
//	vfs_read (2) R I     	tramp: 0xffffffffc0201000 (klp_ftrace_handler+0x0/0x1d0) ->...
//	ext4_sync_fs [ext4] (1)     D   	direct-->bpf_trampoline_6442474432+0x0/0x1000
func parseRedirected(text string) map[string]bool {
	names := make(map[string]bool)
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(line, " ")
		_, flags, ok := strings.Cut(rest, ")")
		flags, _, _ = strings.Cut(flags, "\t")
		if ok && strings.ContainsAny(flags, "ID") {
			names[name] = true
		}
	}
	return names
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
