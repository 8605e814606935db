package kernel

import (
	"bytes"

	"kinst/internal/isa"
)

// cutUnnamed takes off what follows a function without a symbol of its own.
// Where a weak function is overridden by another one, the linker drops its
// symbol and leaves its text, which is never run: it would be listed as the
// end of the function before it. It is recognised by its first instruction,
// the function tracer's, behind padding, and by that nothing leads from the
// one part to the other.
//
// What is left in the listing so are weak functions that are hidden from the
// tracer, and those behind functions with indirect jumps.
func (l *Listing) cutUnnamed() {
	for i := 1; i < len(l.Insts); i++ {
		if l.Insts[i].Addr == l.entry() || !l.isTracerSite(i) {
			continue
		}
		first := i
		if prev := l.Insts[i-1]; l.arch.LandingPad(prev.Bytes) == prev.Len {
			first--
		}
		end := first
		for end > 0 && l.arch.Padding(l.Insts[end-1]) {
			end--
		}
		// A call before padding may be of a function that does not return.
		ends := end > 0 && (!l.Insts[end-1].FallsThrough() || l.Insts[end-1].Kind.Is(isa.Call))
		if ends && end < first && l.Insts[first].Addr%unnamedAlign == 0 && l.isApart(first) {
			l.Insts = l.Insts[:end]
			return
		}
	}
}

// unnamedAlign is what functions with padding before them are aligned to, in
// bytes.
const unnamedAlign = 16

// isTracerSite reports whether the i-th instruction is what the compiler puts
// at the beginning of functions for the tracer: live, or where the tracer
// does not care because nobody calls the function, as it was compiled.
func (l *Listing) isTracerSite(i int) bool {
	in := l.Insts[i]
	if bytes.Equal(in.Bytes, l.arch.TracerNop) {
		return !l.reasons.rewritten(in.Addr)
	}
	if !in.Kind.Is(isa.Call) || !in.HasTarget() {
		return false
	}
	f, err := l.reasons.kernel.FunctionAt(in.Target)
	return err == nil && f.Name == "__fentry__" && f.Addr == in.Target
}

// isApart reports whether no way leads from the instructions before the
// first-th to those from it on, or back: no jump, none of the kernel's tables,
// and no indirect jump to nobody knows where.
func (l *Listing) isApart(first int) bool {
	k := l.reasons.kernel
	symbolizer, err := k.Symbolizer()
	if err != nil {
		return false
	}
	flow := isa.Flow{Symbol: func(addr uint64) string {
		name, offset, ok := symbolizer.Symbol(addr)
		if !ok || offset != 0 {
			return ""
		}
		return name
	}}
	border := l.Insts[first].Addr
	crosses := func(from, to uint64) bool {
		return l.holds(from) && l.holds(to) && (from < border) != (to < border)
	}
	for i, in := range l.Insts {
		if in.Kind.Is(isa.Jump) && in.HasTarget() && crosses(in.Addr, in.Target) {
			return false
		}
		if i < first && l.arch.ResolveKind(in, flow).Is(isa.Jump|isa.Indirect) {
			return false
		}
	}
	for _, table := range []pairTable{jumpTable, exceptionTable} {
		pairs, ok := k.codePairs(l.Function.Module, table)
		if !ok {
			return false
		}
		for _, p := range pairs.from(l.Insts[0].Addr, l.End()) {
			if crosses(p.code, p.target) {
				return false
			}
		}
	}
	return true
}
