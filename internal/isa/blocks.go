package isa

// Block is a run of instructions that control enters at the first and leaves
// behind the last. Calls that return are inside of it. Barring interrupts and
// traps, all its instructions are executed equally often.
type Block struct {
	Insts []Inst
	Edges []Edge // where control goes behind the last instruction
}

// EdgeKind says how control leaves a block.
type EdgeKind uint8

const (
	Next    EdgeKind = iota // to the instruction behind: falling through, or a jump not taken
	Taken                   // by a jump to another block of the function
	Tail                    // by a jump out of the function, to Target
	Leave                   // by a return
	Resume                  // behind a trap, if its handler returns there
	Unknown                 // by a jump to who knows where: a table of a switch, a function pointer
	Beyond                  // past the last instruction, into what follows the function
)

// String names the kind.
func (k EdgeKind) String() string {
	return [...]string{"next", "taken", "tail", "leave", "resume", "unknown", "beyond"}[k]
}

// Edge is one way out of a block.
type Edge struct {
	Kind   EdgeKind
	Block  int    // index of the block it leads to, -1 if there is none
	Target uint64 // address it leads to; 0 for Leave and Unknown
}

// Flow tells Blocks of the functions that are called and jumped to. Both of
// its functions may be nil.
type Flow struct {
	// Symbol gives the name of the function at addr, or "".
	Symbol func(addr uint64) string
	// NoReturn says that the named function never returns.
	NoReturn func(symbol string) bool
}

// Blocks divides a function, as Function returns it, into blocks in the order
// of their addresses.
func Blocks(arch *Arch, insts []Inst, flow Flow) []Block {
	b := blockBuilder{arch: arch, insts: insts, flow: flow}
	b.findLeaders()
	b.cut()
	for i := range b.blocks {
		b.blocks[i].Edges = b.edges(i)
	}
	return b.blocks
}

// ResolveKind is the instruction's kind with thunks seen through: a jump to
// the kernel's return thunk is a return, a call of an indirect thunk an
// indirect call.
func (a *Arch) ResolveKind(in Inst, flow Flow) Kind {
	if !in.HasTarget() || flow.Symbol == nil {
		return in.Kind
	}
	thunk := a.Thunk(flow.Symbol(in.Target))
	switch {
	case thunk == 0:
		return in.Kind
	case in.Kind.Is(Call) && thunk.Is(Indirect):
		return in.Kind | Indirect
	case in.Kind.Is(Call):
		return in.Kind
	}
	return in.Kind&^Jump | thunk
}

type blockBuilder struct {
	arch   *Arch
	insts  []Inst
	flow   Flow
	leader map[uint64]bool
	blocks []Block
	at     map[uint64]int // address of a block's first instruction to its index
}

// findLeaders finds the instructions that begin blocks.
func (b *blockBuilder) findLeaders() {
	boundary := make(map[uint64]bool, len(b.insts))
	for _, in := range b.insts {
		boundary[in.Addr] = true
	}
	b.leader = make(map[uint64]bool)
	for _, in := range b.insts {
		if in.Kind.Is(Jump) && in.HasTarget() && boundary[in.Target] {
			b.leader[in.Target] = true
		}
		if b.ends(in) {
			b.leader[in.End()] = true
		}
	}
}

// ends says whether a block ends behind the instruction.
func (b *blockBuilder) ends(in Inst) bool {
	return in.Kind&(Jump|Return|Trap) != 0 || b.neverReturns(in)
}

func (b *blockBuilder) neverReturns(in Inst) bool {
	if !in.Kind.Is(Call) || !in.HasTarget() || b.flow.Symbol == nil || b.flow.NoReturn == nil {
		return false
	}
	return b.flow.NoReturn(b.flow.Symbol(in.Target))
}

func (b *blockBuilder) cut() {
	b.at = make(map[uint64]int)
	first := 0
	for i := range b.insts {
		if i+1 < len(b.insts) && !b.leader[b.insts[i+1].Addr] {
			continue
		}
		b.at[b.insts[first].Addr] = len(b.blocks)
		b.blocks = append(b.blocks, Block{Insts: b.insts[first : i+1]})
		first = i + 1
	}
}

// edges are the ways out of block i.
func (b *blockBuilder) edges(i int) []Edge {
	insts := b.blocks[i].Insts
	last := insts[len(insts)-1]
	kind := b.arch.ResolveKind(last, b.flow)
	switch {
	case b.neverReturns(last), kind.Is(Call) && !b.followed(last):
		return nil // compilers end a function in a call only if it does not return
	case kind.Is(Trap):
		return b.resume(last)
	case kind.Is(Conditional):
		return []Edge{b.next(last), b.taken(last, kind)}
	case kind&(Jump|Return) != 0:
		return []Edge{b.taken(last, kind)}
	}
	return []Edge{b.next(last)}
}

// taken is the edge of a jump or return of the given kind.
func (b *blockBuilder) taken(last Inst, kind Kind) Edge {
	switch {
	case kind.Is(Return):
		return Edge{Kind: Leave, Block: -1}
	case kind.Is(Indirect):
		return Edge{Kind: Unknown, Block: -1}
	}
	return b.jump(last)
}

// followed says whether there is an instruction behind the last of a block.
func (b *blockBuilder) followed(last Inst) bool {
	_, ok := b.at[last.End()]
	return ok
}

func (b *blockBuilder) next(last Inst) Edge {
	if to, ok := b.at[last.End()]; ok {
		return Edge{Kind: Next, Block: to, Target: last.End()}
	}
	return Edge{Kind: Beyond, Block: -1, Target: last.End()}
}

func (b *blockBuilder) resume(last Inst) []Edge {
	to, ok := b.at[last.End()]
	if !ok {
		return nil
	}
	return []Edge{{Kind: Resume, Block: to, Target: last.End()}}
}

// jump is the edge of a direct jump that is taken. One into the middle of an
// instruction, as over a lock prefix, leads to no block.
func (b *blockBuilder) jump(last Inst) Edge {
	if to, ok := b.at[last.Target]; ok {
		return Edge{Kind: Taken, Block: to, Target: last.Target}
	}
	first, end := b.insts[0].Addr, b.insts[len(b.insts)-1].End()
	if last.Target >= first && last.Target < end {
		return Edge{Kind: Taken, Block: -1, Target: last.Target}
	}
	return Edge{Kind: Tail, Block: -1, Target: last.Target}
}
