package kernel

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"kinst/internal/isa"
)

// A Listing is the instructions of a function, as the kernel runs them.
type Listing struct {
	Function Function
	// Insts are what the kernel executes now, without the padding behind the
	// function, and without what is there to watch it: the breakpoints and
	// jumps of anybody's kprobes, and the calls that the function tracer,
	// and whatever else hooks itself in there, puts at the beginning.
	Insts []isa.Inst
	// Rest says why the listing ends before the function does: it holds
	// something that is no instruction. It is nil where that is not so.
	Rest error

	arch        *isa.Arch
	reasons     reasons
	isTraceable func() bool
	cuts        func() (cuts, bool)
	overruns    bool // see kernelOverruns
}

// Listing reads the instructions of a function from the kernel's live text.
func (k *Kernel) Listing(arch *isa.Arch, f Function) (*Listing, error) {
	l, err := k.listing(arch, k.withinSection(f))
	if err != nil {
		return nil, fmt.Errorf("the instructions of %s: %w", f, err)
	}
	return l, nil
}

// ErrUnsettled is wrapped by the errors that say that somebody is arming or
// disarming probes in a text, so that it could not be read.
var ErrUnsettled = errors.New("others are just now changing the probes there; try again")

func (k *Kernel) listing(arch *isa.Arch, f Function) (*Listing, error) {
	for try := range settleTries {
		text, probed, err := k.settledText(arch, f)
		if err != nil {
			return nil, err
		}
		k.undoTracer(arch, f, text)
		l := &Listing{Function: f, arch: arch, reasons: k.reasons(f)}
		l.isTraceable = sync.OnceValue(l.findTraceable)
		l.cuts = sync.OnceValues(l.findCuts)
		l.Insts, l.Rest = decode(arch, f, text)
		if len(l.Insts) == 0 {
			return nil, cmp.Or(l.Rest, errors.New("there are none"))
		}
		l.cutUnnamed()
		l.overruns = l.kernelOverruns()
		if l.startsAll(probed) && (!l.isRewritten() || try >= rewriteTries) {
			return l, nil
		}
		time.Sleep(settlePause)
	}
	return nil, ErrUnsettled
}

// startsAll reports whether a probe that was undone stands on an instruction.
// The kernel sees to that: if one does not, the probes were changed while the
// text was read.
func (l *Listing) startsAll(probed []uint64) bool {
	for _, addr := range probed {
		if _, ok := l.Find(addr); !ok && addr < l.End() {
			return false
		}
	}
	return true
}

// isRewritten reports whether the kernel seems to be rewriting an instruction
// just now: for some microseconds there is a breakpoint in its place.
func (l *Listing) isRewritten() bool {
	for i, in := range l.Insts {
		if l.isBreakpoint(i) && (in.Addr == l.entry() || l.reasons.rewritten(in.Addr)) {
			return true
		}
	}
	return false
}

// rewriteTries is after how many more looks such a breakpoint must be there to
// stay.
const rewriteTries = 3

// entry is the address behind the landing pad, if there is one.
func (l *Listing) entry() uint64 {
	if len(l.Insts) == 1 {
		return l.Insts[0].Addr
	}
	return l.Landing(0)
}

// IsEntry reports whether the i-th instruction is what the function tracer
// replaces, or the landing pad before it.
func (l *Listing) IsEntry(i int) bool {
	nop, ok := l.Find(l.entry())
	return ok && i <= nop && bytes.Equal(l.Insts[nop].Bytes, l.arch.TracerNop) && !l.reasons.rewritten(l.entry())
}

func (l *Listing) isBreakpoint(i int) bool {
	return l.Insts[i].Kind.Is(isa.Trap) && l.arch.Padding(l.Insts[i])
}

// decode returns the instructions of a function's text. Behind those of a
// module zeros may follow, up to its next section or the end of its last page.
func decode(arch *isa.Arch, f Function, text []byte) ([]isa.Inst, error) {
	end := len(bytes.TrimRight(text, "\x00"))
	most := min(len(text), end+arch.MaxLen)
	for ; ; end++ { // the last instruction may end in zeros itself
		insts, err := isa.Function(arch, text[:end], f.Addr)
		if err == nil || end == most {
			return insts, err
		}
	}
}

// End is the address behind the last instruction.
func (l *Listing) End() uint64 { return l.Insts[len(l.Insts)-1].End() }

// Find returns the index of the instruction at an address, or where there is
// none, of the first behind it.
func (l *Listing) Find(addr uint64) (i int, ok bool) {
	return slices.BinarySearchFunc(l.Insts, addr, func(in isa.Inst, addr uint64) int {
		switch {
		case in.Addr < addr:
			return -1
		case in.Addr > addr:
			return 1
		}
		return 0
	})
}

// Landing returns the address at which the kernel puts a probe on the i-th
// instruction, and which the probe reports when it is hit. It is the
// instruction's own, but where that is the landing pad at the beginning of
// the function (endbr64, or what the kernel has put in place of it): there it
// is the next one's.
//
// Both are then executed equally often. Nothing jumps behind a landing pad:
// compilers do not know of one in another function, and what the kernel
// itself makes calls to that place, the trampolines of fentry and fexit BPF
// programs, call beyond the instruction after it.
func (l *Listing) Landing(i int) uint64 {
	in := l.Insts[i]
	if i == 0 && len(l.Insts) > 1 && l.arch.LandingPad(in.Bytes) == in.Len {
		return in.End()
	}
	return in.Addr
}

// textOf returns the text that holds a function's instructions. The last
// function of a module is read page by page to one that ends in zeros, or to
// the end of the memory that is there.
func (k *Kernel) textOf(f Function) ([]byte, error) {
	if !f.last {
		return k.LiveText(f.Addr, int(f.Extent))
	}
	page := uint64(os.Getpagesize())
	var text []byte
	for uint64(len(text)) < f.Extent {
		at := f.Addr + uint64(len(text))
		more, err := k.LiveText(at, int(min(f.Extent-uint64(len(text)), page-at%page)))
		switch {
		case err != nil && len(text) == 0:
			return nil, err
		case err != nil:
			return text, nil
		}
		text = append(text, more...)
		if bytes.HasSuffix(more, make([]byte, min(len(more), 16))) {
			return text, nil
		}
	}
	return text, nil
}
