package codegen

import (
	"github.com/cilium/ebpf/asm"

	"kinst/internal/dlang/syntax"
	"kinst/internal/dlang/types"
	"kinst/internal/record"
)

// What a program may write to by address is its own: the clause's heap, and
// the global and clause-local variables whose address it takes.

// findAddressed finds the variables whose address an expression takes, other
// than to find an element of an array that is part of them.
func (c *compiler) findAddressed(x types.Expr) {
	switch x := x.(type) {
	case *types.Deref:
		if array, _, ok := ownElement(x); ok {
			c.elements[array] = true
		}
	case *types.AddrOf:
		if c.elements[x.X] {
			return
		}
		if root, ok := c.root(x.X).(*types.VarRef); ok {
			c.addressed[root.Var] = true
		}
	}
}

// root is the expression for the whole object that an lvalue is a part of.
func (c *compiler) root(x types.Expr) types.Expr {
	switch x := x.(type) {
	case *types.Field:
		return c.root(x.X)
	case *types.Convert:
		return c.root(x.X)
	case *types.Deref:
		if array, _, ok := ownElement(x); ok {
			return c.root(array)
		}
	}
	return x
}

// writable is the memory that the clause may write to by address.
func (g *generator) writable() []region {
	var all []region
	if g.heapEnd > 0 {
		all = append(all, region{g.get(resScratch), g.heapStart, g.heapEnd - g.heapStart})
	}
	locals := false
	for _, v := range g.order {
		switch {
		case !g.addressed[v]:
		case v.Scope == syntax.Local:
			_, ours := g.locals.offsets[v]
			locals = locals || ours
		case v.Scope == syntax.Global && !v.Array:
			all = append(all, region{g.get(resGlobals), g.variable(v).off, v.Type.Base().Size})
		}
	}
	if locals {
		all = append(all, g.locals.region)
	}
	return all
}

// own turns the address of size bytes of the program's own memory, a number,
// into one that the verifier knows; any other stops the clause.
func (g *generator) own(addr reg, size int) reg {
	return g.owned(addr, func(r region, off reg, other label) {
		if r.size < size {
			g.jump(other)
			return
		}
		g.jumpIfImm(asm.JGT, w64, off, int64(r.size-size), other)
	})
}

// ownSized is own for so many bytes as sized found. The verifier knows bounds of
// an offset and of a size, but not of their sum: it wants as much memory behind
// a region as the bound of the size is.
func (g *generator) ownSized(addr reg, x types.Expr, size reg, bound int) reg {
	if _, ok := x.(*types.Const); ok {
		return g.own(addr, bound)
	}
	return g.owned(addr, func(r region, off reg, other label) {
		if r.base == g.get(resScratch) {
			g.needScratch(r.off + r.size + bound)
		} else {
			g.globals.room = max(g.globals.room, r.off+r.size+bound)
		}
		g.jumpIfImm(asm.JGT, w64, off, int64(r.size), other)
		end := g.copyOf(off, w64)
		g.alu(asm.Add, w64, end, size)
		g.jumpIfImm(asm.JGT, w64, end, int64(r.size), other)
	})
}

// owned looks for the region that an address is in: inside goes on to other
// unless an offset is good.
func (g *generator) owned(addr reg, inside func(r region, off reg, other label)) reg {
	at, found := g.newReg(), g.newLabel()
	for _, r := range g.writable() {
		other := g.newLabel()
		off := g.copyOf(addr, w64)
		g.alu(asm.Sub, w64, off, g.plainAddress(r))
		inside(r, off, other)
		g.move(at, g.plus(r, off), w64)
		g.jump(found)
		g.place(other)
	}
	g.fault(record.FaultBadAddress, addr)
	g.place(found)
	return at
}
