package kernel

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
	"strings"

	"kinst/internal/isa"
)

// Runs divides the listing into runs: stretches of instructions that are,
// provably, all executed equally often. It returns for each instruction the
// index of the first one of its run. Where nothing can be proved each
// instruction is a run of its own.
//
// A run ends
//   - where a basic block does, and behind every call: it may not come back,
//     or another thread may still be in it;
//   - behind an instruction that the kernel's exception table names: it may
//     fault and go on elsewhere;
//   - behind what the kernel rewrites while it runs: jump labels, static calls
//     and the function tracer's site, from where a function may be left;
//   - behind an instruction that may turn interrupts on, where the thread may
//     stay for long.
//
// And one begins wherever such a place may go on to, and where a part that the
// compiler split off the function (.cold) jumps back into it.
//
// It can be proved of what the compiler made, which the function tracer's site
// tells: there nobody else jumps into the middle. Functions with indirect jumps
// are left alone, but where those are known to lead out.
func (l *Listing) Runs() []int {
	runs := make([]int, len(l.Insts))
	for i := range runs {
		runs[i] = i
	}
	starts, ok := l.runStarts()
	if !ok {
		return runs
	}
	if i, ok := l.Find(l.entry()); ok {
		starts[l.Insts[i].End()] = true
	}
	for i := 1; i < len(runs); i++ {
		if !starts[l.Insts[i].Addr] {
			runs[i] = runs[i-1]
		}
	}
	return runs
}

// runStarts returns the addresses at which runs begin but for the one behind the
// function tracer's site, ok false where they cannot be known.
func (l *Listing) runStarts() (starts map[uint64]bool, ok bool) {
	if l.Rest != nil || !l.isTraceable() {
		return nil, false
	}
	from, to, ok := l.codePairs()
	if !ok {
		return nil, false
	}
	blocks, ok := l.blocks()
	if !ok {
		return nil, false
	}
	starts, ok = l.entries(to)
	for _, b := range blocks {
		starts[b.Insts[0].Addr] = true
	}
	for _, in := range l.Insts {
		if l.endsRun(in) {
			starts[in.End()] = true
		}
	}
	for _, p := range from {
		starts[l.endOf(p.code)] = true
	}
	return starts, ok
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
	return b.Insts[len(b.Insts)-1], slices.ContainsFunc(b.Edges, func(e isa.Edge) bool { return e.Kind == isa.Unknown })
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

// endsRun reports whether a run ends behind an instruction that no table
// names.
func (l *Listing) endsRun(in isa.Inst) bool {
	return in.Kind&(isa.Call|isa.Jump|isa.Return|isa.Trap|isa.EnablesInterrupts) != 0 || l.reasons.rewritten(in.Addr)
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

// A codePair is an entry of a table: a place in the text and where the kernel
// makes control go on from there, at times.
type codePair struct{ code, target uint64 }

// A pairTable is a table whose entries begin with two distances, each from
// itself: s32 code, s32 target.
type pairTable struct {
	start, stop    string // symbols around the kernel's own
	pointer, count string // members of struct module for a module's
	size           int    // of an entry, bytes
}

var (
	jumpTable      = pairTable{"__start___jump_table", "__stop___jump_table", "jump_entries", "num_jump_entries", jumpEntrySize}
	exceptionTable = pairTable{"__start___ex_table", "__stop___ex_table", "extable", "num_exentries", exceptionEntrySize}
)

// exceptionEntrySize is that of struct exception_table_entry: s32 insn, s32
// fixup, s32 data.
const exceptionEntrySize = 12

// codePairs is the entries of a table, by either address.
type codePairs struct{ byCode, byTarget []codePair }

func newCodePairs(all []codePair) *codePairs {
	p := &codePairs{all, slices.Clone(all)}
	slices.SortFunc(p.byCode, func(a, b codePair) int { return cmp.Compare(a.code, b.code) })
	slices.SortFunc(p.byTarget, func(a, b codePair) int { return cmp.Compare(a.target, b.target) })
	return p
}

// from returns the entries of places from begin up to end.
func (p *codePairs) from(begin, end uint64) []codePair {
	return between(p.byCode, begin, end, func(p codePair) uint64 { return p.code })
}

// to returns the entries that lead to places from begin up to end.
func (p *codePairs) to(begin, end uint64) []codePair {
	return between(p.byTarget, begin, end, func(p codePair) uint64 { return p.target })
}

func between(sorted []codePair, begin, end uint64, of func(codePair) uint64) []codePair {
	first := sort.Search(len(sorted), func(i int) bool { return of(sorted[i]) >= begin })
	last := sort.Search(len(sorted), func(i int) bool { return of(sorted[i]) >= end })
	return sorted[first:last]
}

// codePairs returns the entries of a module's table, ok false where it cannot
// be read.
func (k *Kernel) codePairs(module string, t pairTable) (pairs *codePairs, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := pairKey{module, t.start}
	if pairs, ok := k.pairs[key]; ok {
		return pairs, pairs != nil
	}
	table, addr, err := k.pairBytes(module, t)
	if err == nil {
		pairs = newCodePairs(parsePairs(table, addr, t.size))
	}
	k.pairs[key] = pairs
	return pairs, pairs != nil
}

// pairKey names a table of a module.
type pairKey struct{ module, table string }

func (k *Kernel) pairBytes(module string, t pairTable) (table []byte, addr uint64, err error) {
	if module == VMLinux {
		return k.between(t.start, t.stop)
	}
	m, err := k.moduleStruct(module)
	if err != nil {
		return nil, 0, err
	}
	return m.tableBytes(t.pointer, t.count, t.size)
}

// parsePairs reads a table that stands at addr.
func parsePairs(table []byte, addr uint64, size int) []codePair {
	pairs := make([]codePair, 0, len(table)/size)
	for at := 0; at+size <= len(table); at += size {
		code := addr + uint64(at)
		target := code + 4
		pairs = append(pairs, codePair{
			code:   code + uint64(int64(int32(binary.NativeEndian.Uint32(table[at:])))),
			target: target + uint64(int64(int32(binary.NativeEndian.Uint32(table[at+4:])))),
		})
	}
	return pairs
}
