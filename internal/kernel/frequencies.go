package kernel

import (
	"maps"
	"slices"
	"strings"

	"kinst/internal/isa"
)

// Frequencies says which instructions are, provably, executed equally often,
// and which as often as others together, by their indexes. Where nothing can be
// proved each instruction is a class of its own.
//
// Control is followed from one instruction to the next, but nothing is said
// across
//   - calls: they may not come back, or another thread may still be in them;
//   - instructions that the kernel's exception table names: they may fault and
//     go on elsewhere;
//   - what the kernel rewrites while it runs: jump labels, static calls and,
//     where somebody makes a function be left there, the function tracer's site;
//   - instructions that may turn interrupts on or wait, where the thread may stay
//     for long, and loops, for the same reason;
//   - instructions of any of the kinds.
//
// Control may come from elsewhere to where such a place may go on to, and to
// where a part that the compiler split off the function (.cold) jumps back.
//
// It can be proved of what the compiler made, which the function tracer's site
// tells: there nobody else jumps into the middle. Functions with indirect jumps
// are left alone, but where those are known to lead out.
func (l *Listing) Frequencies(kinds isa.Kind) isa.Frequencies {
	c, ok := l.cuts()
	if !ok {
		return alone(len(l.Insts))
	}
	c = c.also(l.Insts, kinds)
	pieces := l.pieces(c)
	of := l.graph(pieces, c).Frequencies()
	frequencies := isa.Frequencies{Class: make([]int, 0, len(l.Insts))}
	for n, p := range pieces {
		for range p.end - p.first {
			frequencies.Class = append(frequencies.Class, pieces[of.Class[n]].first)
		}
	}
	for _, sum := range of.Sums {
		s := isa.Sum{Class: pieces[sum.Class].first}
		for _, n := range sum.Of {
			s.Of = append(s.Of, pieces[n].first)
		}
		frequencies.Sums = append(frequencies.Sums, s)
	}
	return frequencies
}

// alone is what can be said of n instructions of which nothing is known.
func alone(n int) isa.Frequencies {
	f := isa.Frequencies{Class: make([]int, n)}
	for i := range f.Class {
		f.Class[i] = i
	}
	return f
}

// cuts are the addresses in a function across which control is not followed.
type cuts struct {
	behind  map[uint64]bool // between the instruction that ends there and the next
	entries map[uint64]bool // where control may come to from elsewhere
	leaders map[uint64]bool // where blocks begin
}

// findCuts returns where control is not followed, ok false where that cannot be
// known.
func (l *Listing) findCuts() (c cuts, ok bool) {
	if l.Rest != nil || !l.isTraceable() {
		return cuts{}, false
	}
	from, to, ok := l.codePairs()
	if !ok {
		return cuts{}, false
	}
	blocks, ok := l.blocks()
	if !ok {
		return cuts{}, false
	}
	c = cuts{behind: make(map[uint64]bool), leaders: make(map[uint64]bool)}
	if c.entries, ok = l.entries(to); !ok {
		return cuts{}, false
	}
	for _, b := range blocks {
		c.leaders[b.Insts[0].Addr] = true
	}
	for _, in := range l.Insts {
		if in.Kind&cutting != 0 || l.reasons.rewritten(in.Addr) {
			c.behind[in.End()] = true
		}
	}
	for _, p := range from {
		c.behind[l.endOf(p.code)] = true
	}
	if i, ok := l.Find(l.entry()); ok && l.reasons.kernel.redirected()[l.Function.Name] {
		c.behind[l.Insts[i].End()] = true
	}
	return c, true
}

// also returns the cuts and those behind instructions of any of some kinds.
func (c cuts) also(insts []isa.Inst, kinds isa.Kind) cuts {
	c.behind = maps.Clone(c.behind)
	for _, in := range insts {
		if in.Kind&kinds != 0 {
			c.behind[in.End()] = true
		}
	}
	return c
}

// at reports whether control may come to an address from elsewhere than the
// instruction before it, or leave before it.
func (c cuts) at(addr uint64) bool { return c.entries[addr] || c.leaders[addr] || c.behind[addr] }

// cutting are the kinds of instructions behind which control is not followed,
// whatever is counted.
const cutting = isa.Call | isa.Return | isa.Trap | isa.EnablesInterrupts | isa.Waits

// A piece is instructions, by their indexes from first up to end, that control
// goes through from the first to the last.
type piece struct{ first, end int }

// pieces divides the function.
func (l *Listing) pieces(c cuts) []piece {
	var pieces []piece
	for i, in := range l.Insts {
		if i == 0 || c.at(in.Addr) {
			pieces = append(pieces, piece{i, i})
		}
		pieces[len(pieces)-1].end++
	}
	return pieces
}

// graph returns how control goes from piece to piece.
func (l *Listing) graph(pieces []piece, c cuts) *isa.Graph {
	at := make(map[uint64]int, len(pieces)) // address of a piece to its index
	for n, p := range pieces {
		at[l.Insts[p.first].Addr] = n
	}
	g := &isa.Graph{
		Next:    make([][]int, len(pieces)),
		Entered: make([]bool, len(pieces)),
		Left:    make([]bool, len(pieces)),
	}
	for n, p := range pieces {
		first, last := l.Insts[p.first], l.Insts[p.end-1]
		g.Entered[n] = g.Entered[n] || c.entries[first.Addr] || c.behind[first.Addr]
		follow := func(addr uint64) {
			to, ok := at[addr]
			switch {
			case !ok:
				g.Left[n] = true
			case c.behind[last.End()]:
				g.Left[n], g.Entered[to] = true, true
			default:
				g.Next[n] = append(g.Next[n], to)
			}
		}
		if last.Kind.Is(isa.Jump) {
			follow(last.Target) // 0, which is in no function, of an indirect one
		}
		if last.FallsThrough() {
			follow(last.End())
		}
	}
	return g
}

// entries returns the addresses where control may come to from elsewhere than
// the function's own instructions, ok false where they cannot be known.
func (l *Listing) entries(to []codePair) (entries map[uint64]bool, ok bool) {
	entries = map[uint64]bool{l.Insts[0].Addr: true}
	for _, p := range to {
		entries[p.target] = true
	}
	return entries, l.addJumpsBack(entries)
}

// blocks returns the basic blocks, ok false where a jump leads nobody knows
// where in the function.
func (l *Listing) blocks() (blocks []isa.Block, ok bool) { return l.blocksOf(l) }

// blocksOf returns the basic blocks of another function, ok false where one of
// its jumps leads nobody knows where in l.
func (l *Listing) blocksOf(other *Listing) (blocks []isa.Block, ok bool) {
	symbolizer, err := l.reasons.kernel.Symbolizer()
	if err != nil {
		return nil, false
	}
	flow := isa.Flow{Symbol: func(addr uint64) string {
		name, offset, ok := symbolizer.Symbol(addr)
		if !ok || offset != 0 {
			return ""
		}
		return name
	}}
	blocks = isa.Blocks(other.arch, other.Insts, flow)
	return blocks, !slices.ContainsFunc(blocks, func(b isa.Block) bool {
		jump, ok := unknown(b)
		return ok && !l.stopsIndirect(jump)
	})
}

// unknown returns the jump at the end of a block that leads nobody knows where.
func unknown(b isa.Block) (jump isa.Inst, ok bool) {
	return b.Insts[len(b.Insts)-1], slices.ContainsFunc(b.Edges, func(e isa.Edge) bool { return e.Kind == isa.Unknown || e.Kind == isa.Taken && e.Block < 0 })
}

// stopsIndirect reports whether an indirect jump cannot lead to an instruction
// of the function but its first. Compiled with landing pads, as the first
// instruction tells, code has one wherever an indirect jump may lead to (GCC's
// -fcf-protection=branch): then there is none further in.
func (l *Listing) stopsIndirect(jump isa.Inst) bool {
	isPad := func(in isa.Inst) bool { return l.arch.LandingPad(in.Bytes) == in.Len }
	return isPad(l.Insts[0]) && !slices.ContainsFunc(l.Insts[1:], isPad) && l.arch.NeedsPad(jump)
}

// codePairs returns the places of the function from where the kernel makes
// control go on elsewhere, and those that it makes control go on at; ok false
// where they cannot be known.
func (l *Listing) codePairs() (from, to []codePair, ok bool) {
	k := l.reasons.kernel
	jumps, ok1 := k.codePairs(l.Function.Module, jumpTable)
	faults, ok2 := k.codePairs(l.Function.Module, exceptionTable)
	if !ok1 || !ok2 {
		return nil, nil, false
	}
	begin, end := l.Insts[0].Addr, l.End()
	return slices.Concat(jumps.from(begin, end), faults.from(begin, end)),
		slices.Concat(jumps.to(begin, end), faults.to(begin, end)), true
}

// holds reports whether an address is in the function.
func (l *Listing) holds(addr uint64) bool { return l.Insts[0].Addr <= addr && addr < l.End() }

// endOf returns the end of the instruction that holds an address.
func (l *Listing) endOf(addr uint64) uint64 {
	i, ok := l.Find(addr)
	if !ok {
		i--
	}
	return l.Insts[i].End()
}

// addJumpsBack adds where the parts that the compiler split off the function,
// or the function that l was split off, jump to.
func (l *Listing) addJumpsBack(entries map[uint64]bool) bool {
	k := l.reasons.kernel
	name, isCold := strings.CutSuffix(l.Function.Name, coldSuffix)
	if !isCold {
		name += coldSuffix
	}
	syms, err := k.Symbols()
	if err != nil {
		return false
	}
	if len(syms.Lookup(name)) == 0 {
		return !isCold
	}
	others, err := k.Functions(l.Function.Module, name)
	if err != nil {
		return false
	}
	for _, f := range others {
		other, err := k.Listing(l.arch, f)
		if err != nil || other.Rest != nil {
			return false
		}
		if _, ok := l.blocksOf(other); !ok {
			return false
		}
		for _, in := range other.Insts {
			if in.HasTarget() {
				entries[in.Target] = true
			}
		}
	}
	return true
}

// coldSuffix is what GCC names the part of a function that it moved away
// because it is hardly ever executed.
const coldSuffix = ".cold"
