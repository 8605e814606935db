package codegen

import (
	"slices"
	"sort"

	"github.com/cilium/ebpf/asm"

	"kinst/internal/dlang/syntax"
)

// Registers of the machine. R0 and R5 are kept out of allocation: what lives
// in memory passes through them, and R0 breaks cycles among arguments.
var (
	volatile  = []asm.Register{asm.R1, asm.R2, asm.R3, asm.R4}
	preserved = []asm.Register{asm.R6, asm.R7, asm.R8, asm.R9}
)

const (
	temp0 = asm.R0
	temp1 = asm.R5
)

// maxStack is the kernel's MAX_BPF_STACK, in bytes.
const maxStack = 512

// An interval is the life of a virtual register: from its first definition to
// its last use, or to the end of the loop that this is in. Elsewhere jumps go
// forward only.
type interval struct {
	reg        reg
	start, end int // indexes of instructions
	uses       int
	crosses    bool // a call that destroys the volatile registers
	hint       []reg
	want       []asm.Register // argument registers that it is moved to
	at         asm.Register
	spill      int // offset from the frame pointer; 0 if it has a register
}

// allocation says where each virtual register is.
type allocation struct {
	intervals []interval // by reg
	frame     int        // bytes of stack in use, spilled registers included
}

// allocate gives each virtual register a register of the machine or a place
// on the stack, below the frame bytes that the code uses itself. The registers
// that are used most for their length of life are served first.
func allocate(list []ins, regs, frame int) *allocation {
	a := &allocation{intervals: make([]interval, regs+1), frame: frame}
	a.lives(list)
	order := make([]*interval, 0, regs)
	for i := range a.intervals {
		if iv := &a.intervals[i]; iv.uses > 0 {
			order = append(order, iv)
		}
	}
	weight := func(iv *interval) float64 { return float64(iv.uses) / float64(iv.end-iv.start+1) }
	sort.SliceStable(order, func(i, j int) bool { return weight(order[i]) > weight(order[j]) })

	var taken [11]lane
	for n := range list {
		if i := &list[n]; i.kind == param {
			taken[asm.R1+asm.Register(i.imm)].add(-1, n)
		}
	}
	var slots []*slot
	for _, iv := range order {
		if r, ok := a.choose(iv, &taken); ok {
			iv.at = r
			taken[r].add(iv.start, iv.end)
			continue
		}
		iv.spill = a.spill(iv, &slots)
	}
	return a
}

// checkFrame says whether the stack has room for a clause. If it has not, the
// error is at what needs the most of it.
func (c *code) checkFrame(a *allocation) error {
	if a.frame <= maxStack {
		return nil
	}
	pos := c.deepest
	if a.frame-c.maxFrame > c.maxFrame {
		pos = a.tightest(c.list)
	}
	return limitAt(pos, "a clause needs %d bytes of stack and a BPF program has %d: split its expressions with this-> variables", a.frame, maxStack)
}

// tightest is where most registers are on the stack at once.
func (a *allocation) tightest(list []ins) (pos syntax.Pos) {
	change := make([]int, len(list)+1)
	for i := range a.intervals {
		if iv := &a.intervals[i]; iv.spill != 0 {
			change[iv.start]++
			change[iv.end]--
		}
	}
	most, now := 0, 0
	for n := range list {
		now += change[n]
		if now > most && list[n].pos.IsValid() {
			most, pos = now, list[n].pos
		}
	}
	return pos
}

// lives finds where each virtual register is defined and used.
func (a *allocation) lives(list []ins) {
	var calls []int
	for n := range list {
		i := &list[n]
		touch := func(r *reg) {
			if *r <= 0 {
				return
			}
			iv := &a.intervals[*r]
			if iv.uses == 0 {
				iv.reg, iv.start = *r, n
			}
			iv.uses++
			iv.end = n
		}
		i.uses(touch)
		i.defines(touch)
		if i.kind == call {
			calls = append(calls, n)
			for k, r := range i.args {
				if r > 0 {
					a.intervals[r].want = append(a.intervals[r].want, asm.R1+asm.Register(k))
				}
			}
		}
		if i.kind == param {
			a.intervals[i.dst].want = append(a.intervals[i.dst].want, asm.R1+asm.Register(i.imm))
		}
		if i.isMove() && i.dst > 0 && i.src > 0 {
			a.intervals[i.dst].hint = append(a.intervals[i.dst].hint, i.src)
			a.intervals[i.src].hint = append(a.intervals[i.src].hint, i.dst)
		}
	}
	a.loops(list)
	for r := range a.intervals {
		iv := &a.intervals[r]
		next := sort.SearchInts(calls, iv.start+1)
		iv.crosses = next < len(calls) && calls[next] < iv.end
	}
}

// loops extends the life of what is used in a loop to the loop's end.
func (a *allocation) loops(list []ins) {
	places := make(map[label]int)
	for n := range list {
		i := &list[n]
		if i.kind == place {
			places[i.to] = n
			continue
		}
		begin, back := places[i.to]
		if i.kind != jump || !back {
			continue
		}
		for r := range a.intervals {
			if iv := &a.intervals[r]; iv.start < begin && iv.end >= begin {
				iv.end = max(iv.end, n)
			}
		}
	}
}

func (i *ins) isMove() bool {
	return i.kind == plain && i.op == aluOp(asm.Mov, w64, asm.RegSource)
}

// choose finds a register that is free for the whole interval, if possible one
// that saves a move.
func (a *allocation) choose(iv *interval, taken *[11]lane) (asm.Register, bool) {
	free := func(r asm.Register) bool { return taken[r].free(iv.start, iv.end) }
	allowed := func(r asm.Register) bool {
		return slices.Contains(preserved, r) || !iv.crosses && slices.Contains(volatile, r)
	}
	for _, h := range iv.hint {
		if r := a.intervals[h].at; r != 0 && allowed(r) && free(r) {
			return r, true
		}
	}
	for _, r := range iv.want {
		if allowed(r) && free(r) {
			return r, true
		}
	}
	if !iv.crosses {
		for _, r := range volatile {
			if free(r) {
				return r, true
			}
		}
	}
	for _, r := range preserved {
		if free(r) {
			return r, true
		}
	}
	return 0, false
}

// spill finds 8 bytes of stack that are free for the whole interval.
func (a *allocation) spill(iv *interval, slots *[]*slot) int {
	for _, s := range *slots {
		if s.free(iv.start, iv.end) {
			s.add(iv.start, iv.end)
			return s.off
		}
	}
	a.frame += 8
	s := &slot{off: -a.frame}
	s.add(iv.start, iv.end)
	*slots = append(*slots, s)
	return s.off
}

// A slot is 8 bytes of stack that hold registers one after another.
type slot struct {
	lane
	off int // from the frame pointer
}

// A lane is the stretches of code during which a register is taken, sorted. A
// stretch may begin where another one ends: the instruction there reads the
// one and writes the other.
type lane struct{ start, end []int }

func (l *lane) free(start, end int) bool {
	n := sort.Search(len(l.end), func(i int) bool { return l.end[i] > start })
	return n == len(l.start) || l.start[n] >= end
}

func (l *lane) add(start, end int) {
	n := sort.SearchInts(l.start, start)
	l.start = slices.Insert(l.start, n, start)
	l.end = slices.Insert(l.end, n, end)
}
