package codegen

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"kinst/internal/record"
)

// Programs on user processes run in the process's context, where another one
// can preempt them on the same CPU and be preempted in its turn. One on a raw
// tracepoint can be interrupted by one on another. So they take their scratch
// memory from a pool, and give it back at the end. Those of the other classes
// exclude one another.

const (
	poolMap   = "kinst_pool"   // a queue of the indexes of free pieces
	piecesMap = "kinst_pieces" // by index: a piece of scratch memory
)

// poolPieces is how many programs can be under way at once, for each CPU.
const poolPieces = 32

// pooled reports whether the program takes scratch memory from the pool.
func (g *generator) pooled() bool {
	return g.class == classUser || g.class == classRaw && g.severalRaw()
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

// takePiece takes a piece, whose index it keeps on the stack for givePiece. If
// all are in use, what the program would have recorded is lost.
func (g *generator) takePiece(dst reg) {
	g.piece = g.stack(4)
	taken := g.newLabel()
	failed := g.call(asm.FnMapPopElem, g.mapPtr(poolMap), g.addressOf(fp, g.piece))
	g.jumpIfImm(asm.JEq, w64, failed, 0, taken)
	g.lost(record.LossRecords)
	g.jump(g.end)
	g.place(taken)
	g.callTo(dst, asm.FnMapLookupElem, g.mapPtr(piecesMap), g.addressOf(fp, g.piece))
	g.jumpIfImm(asm.JEq, w64, dst, 0, g.end)
}

func (g *generator) givePiece() {
	g.call(asm.FnMapPushElem, g.mapPtr(poolMap), g.addressOf(fp, g.piece), g.constant(0, w64))
}

func (c *compiler) poolMap() *ebpf.MapSpec {
	n := uint32(poolPieces * c.opts.CPUs)
	m := &ebpf.MapSpec{Name: poolMap, Type: ebpf.Queue, ValueSize: 4, MaxEntries: n}
	for i := range n {
		m.Contents = append(m.Contents, ebpf.MapKV{Value: i})
	}
	return m
}

func (c *compiler) piecesMap() *ebpf.MapSpec {
	return &ebpf.MapSpec{Name: piecesMap, Type: ebpf.Array, KeySize: 4, MaxEntries: uint32(poolPieces * c.opts.CPUs)}
}
