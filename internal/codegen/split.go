package codegen

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// A program that is too much for the verifier is cut into parts, each a
// program of its own that ends by a tail call of the next one. A cut is made
// before a statement that is not inside an if, or before a clause. What
// outlives it lies in scratch memory.

// maxParts is how many parts there can be: the kernel's limit of tail calls
// (MAX_TAIL_CALL_CNT) and the first part.
const maxParts = 33

// budgets are the lengths in instructions from which on a part is cut, each
// tried when the one before is still too much. The first stands for no cuts.
var budgets = []int{0, 3000, 600, 120, 1}

// What outlives a cut beside variables and the record, as offsets in the
// generator's saved memory.
const (
	savedTime        = 0 // that the clauses of this firing see; 0 if none has asked yet
	savedExits       = 8
	savedSpeculation = 16
	savedSize        = 24
)

// A cutter is how a generator cuts its program.
type cutter struct {
	budget  int // 0: never
	done    []code
	firsts  map[int]int // part at which a clause begins, by its number
	saved   int         // offset of the saved memory in scratch memory
	open    *segment    // that is being built
	nesting int         // in ifs
	inParts bool        // the clause has been cut
}

// partsMap is the map through which a unit's parts call one another.
func partsMap(unit int) string { return fmt.Sprintf("kinst_parts_%d", unit) }

// prepareCuts takes the memory that outlives cuts.
func (g *generator) prepareCuts() {
	g.firsts = make(map[int]int)
	if g.budget == 0 {
		return
	}
	r := g.scratchTemp(savedSize)
	g.saved = r.off
	g.zero(r)
}

// savedAt is a word of the saved memory.
func (g *generator) savedAt(off int) region { return region{g.get(resScratch), g.saved + off, 8} }

// lasting takes memory for an object that must outlive cuts.
func (g *generator) lasting(size int) region {
	if g.budget > 0 {
		return g.scratchTemp(size)
	}
	return g.temp(size)
}

// savedTime is the time, fetched once by whichever part needs it first.
func (g *generator) savedTime() reg {
	at := g.savedAt(savedTime)
	now, have := g.newReg(), g.newLabel()
	g.load(now, at.base, at.off, 8)
	g.jumpIfImm(asm.JNE, w64, now, 0, have)
	g.callTo(now, asm.FnKtimeGetNs)
	g.store(at.base, at.off, now, 8)
	g.place(have)
	return now
}

// mayCut cuts the program here if the part is long enough.
func (g *generator) mayCut() {
	if g.budget == 0 || g.nesting > 0 || len(g.list) < g.budget {
		return
	}
	g.callPart(g.constant(uint64(len(g.done)+1), w64))
	if g.clause != nil {
		g.inParts = true
		g.tail()
		g.place(g.clause.end)
		g.callClause(g.clause.number + 1)
	}
	g.endPart()
	g.beginPart()
}

// callPart goes on with another part. It comes back only if that cannot be
// called.
func (g *generator) callPart(index reg) {
	name := partsMap(g.number)
	if g.maps[name] == nil {
		g.maps[name] = &ebpf.MapSpec{Name: name, Type: ebpf.ProgramArray, KeySize: 4, ValueSize: 4, MaxEntries: maxParts}
	}
	g.call(asm.FnTailCall, g.ctx, g.mapPtr(name), index)
	g.jump(g.exitTo)
}

// callClause goes on with the part at which a clause begins, if there is such a
// clause.
func (g *generator) callClause(n int) {
	if n >= len(g.unit.Clauses) {
		g.jump(g.exitTo)
		return
	}
	index := g.newReg()
	g.emit(ins{kind: partOf, dst: index, imm: int64(n)})
	g.callPart(index)
}

// endPart closes the part that is being written.
func (g *generator) endPart() {
	g.place(g.exitTo)
	g.emit(ins{kind: finish})
	g.place(g.end)
	g.exit(noReg)
	g.expand()
	g.done = append(g.done, g.code)
}

// beginPart begins another part, in the state in which the last one ended.
func (g *generator) beginPart() {
	old := g.code
	g.code = code{pos: old.pos, frame: old.frame, maxFrame: old.frame}
	g.ctx = g.param(0)
	g.end = g.newLabel()
	g.exitTo = g.newLabel()
	for _, s := range g.scopes {
		clear(s)
	}
	g.emit(ins{kind: start})
	if g.locals != nil && g.locals.size > 0 {
		g.locals.base = g.get(resScratch)
	}
	if g.locals != nil && g.locals.token.size > 0 {
		g.locals.token.base = g.get(resScratch)
	}
	if s := g.open; s != nil && s.Records {
		s.base = g.get(resScratch)
		if s.exits != noReg {
			s.exits = g.reload(savedExits, 4)
		}
	}
	if c := g.clause; c != nil {
		c.end, c.stopped, c.faulted, c.what, c.value = g.newLabel(), g.newLabel(), false, g.newReg(), g.newReg()
		if c.speculation != noReg {
			c.speculation = g.reload(savedSpeculation, 4)
		}
	}
}

func (g *generator) reload(off, size int) reg {
	at, r := g.savedAt(off), g.newReg()
	g.load(r, at.base, at.off, size)
	return r
}

// save keeps a number for the parts that follow.
func (g *generator) save(off int, r reg, size int) {
	if g.budget > 0 {
		at := g.savedAt(off)
		g.store(at.base, at.off, r, size)
	}
}

// afterClause begins a new part behind a clause that has been cut, so that
// what leaves the clause in any of its parts can go on there.
func (g *generator) afterClause(n int) {
	if !g.inParts {
		return
	}
	g.inParts = false
	if n+1 == len(g.unit.Clauses) {
		return
	}
	g.callPart(g.constant(uint64(len(g.done)+1), w64))
	g.endPart()
	g.beginPart()
	g.firsts[n+1] = len(g.done)
}

// parts returns the code of all parts, with the calls of clauses resolved.
func (g *generator) parts() ([]code, error) {
	if len(g.done) > maxParts {
		return nil, limit("the program needs %d parts and the kernel calls %d in a row: make the clauses shorter", len(g.done), maxParts)
	}
	for p := range g.done {
		for n := range g.done[p].list {
			if i := &g.done[p].list[n]; i.kind == partOf {
				*i = ins{op: aluOp(asm.Mov, w64, asm.ImmSource), dst: i.dst, imm: int64(g.firsts[int(i.imm)]), pos: i.pos}
			}
		}
	}
	return g.done, nil
}
