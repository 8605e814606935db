package codegen

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"kinst/internal/record"
)

// Programs on user processes run in the process's context, where another one
// can preempt them on the same CPU and be preempted in its turn. One on a raw
// tracepoint can be interrupted by one on another. So each takes a piece of
// scratch memory that is its own until the end, out of a few that its CPU has.
// Programs of the other classes exclude one another; they do the same only if
// they need more memory than the kernel keeps for each CPU.

const piecesMap = "kinst_pieces" // poolPieces of the first CPU, of the second, ...

// poolPieces is how many programs can be under way at once on a CPU.
const poolPieces = 8

// The beginning of a piece. Who finds that it is the only user owns the piece;
// the others leave again.
const (
	pieceUsers  = 0
	pieceOwner  = 8 // what only this run of the program has, or 0
	pieceHeader = 16
)

// perCPULimit is the largest value of a per-CPU map: the kernel's
// PCPU_MIN_UNIT_SIZE.
const perCPULimit = 32 << 10

// pooled reports whether the program takes scratch memory from the pool.
func (g *generator) pooled() bool {
	return g.large || g.class == classUser || g.class == classRaw && g.severalRaw()
}

// severalRaw reports whether there are programs on several raw tracepoints.
// The kernel does not run one while it is running already.
func (c *compiler) severalRaw() bool {
	n := 0
	for _, u := range c.units {
		if hookClass[u.Context.Hook] == classRaw {
			n++
		}
	}
	return n > 1
}

// takePiece takes a piece. If all are in use, what the program would have
// recorded is lost. A part of a program but the first finds the piece that the
// part before has taken.
func (g *generator) takePiece(dst reg) {
	s := g.sub("take_piece", buildTakePiece)
	if len(g.done) > 0 {
		s = g.sub("find_piece", buildFindPiece)
	}
	g.move(dst, g.callSub(s, g.ctx), w64)
	g.jumpIfImm(asm.JEq, w64, dst, 0, g.end)
}

func (g *generator) givePiece(piece reg) {
	g.storeImm(piece, pieceOwner, 0, 8)
	g.atomicAdd(piece, pieceUsers, g.constant(^uint64(0), w64))
}

// buildTakePiece takes a piece: (ctx) gives it, or 0.
func buildTakePiece(c *code, _ *compiler) {
	taken, owner := c.newLabel(), c.owner(c.param(0))
	piece := c.eachPiece(func(piece reg) {
		users := c.newReg()
		c.atomicAdd(piece, pieceUsers, c.constant(1, w64))
		c.load(users, piece, pieceUsers, 8)
		c.jumpIfImm(asm.JEq, w64, users, 1, taken)
		c.atomicAdd(piece, pieceUsers, c.constant(^uint64(0), w64))
	})
	c.callSub(subLost, c.constant(uint64(record.LossRecords), w64))
	c.exit(c.constant(0, w64))
	c.place(taken)
	c.store(piece, pieceOwner, owner, 8)
	c.exit(piece)
}

// buildFindPiece finds the piece that this run has taken: (ctx) gives it, or 0.
func buildFindPiece(c *code, _ *compiler) {
	found, owner := c.newLabel(), c.owner(c.param(0))
	piece := c.eachPiece(func(piece reg) {
		other := c.newReg()
		c.load(other, piece, pieceOwner, 8)
		c.jumpIf(asm.JEq, w64, other, owner, found)
	})
	c.exit(c.constant(0, w64))
	c.place(found)
	c.exit(piece)
}

// owner is a number that no other run of a program has meanwhile: how far its
// context is from some place in memory.
func (c *code) owner(ctx reg) reg {
	n := c.copyOf(c.mapValue(globalsMap, 0), w64)
	c.alu(asm.Sub, w64, n, ctx)
	return n
}

// eachPiece runs f for one piece of this CPU after the other.
func (c *code) eachPiece(f func(piece reg)) reg {
	index, piece := c.call(asm.FnGetSmpProcessorId), c.newReg()
	key, none := c.stack(4), c.newLabel()
	c.aluImm(asm.Mul, w64, index, poolPieces)
	for range poolPieces {
		c.store(fp, key, index, 4)
		c.callTo(piece, asm.FnMapLookupElem, c.mapPtr(piecesMap), c.addressOf(fp, key))
		c.jumpIfImm(asm.JEq, w64, piece, 0, none)
		f(piece)
		c.aluImm(asm.Add, w64, index, 1)
	}
	c.place(none)
	return piece
}

func (c *compiler) piecesMap() *ebpf.MapSpec {
	return &ebpf.MapSpec{Name: piecesMap, Type: ebpf.Array, KeySize: 4, MaxEntries: uint32(poolPieces * c.opts.CPUs)}
}
