package codegen

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"kinst/internal/dlang/types"
	"kinst/internal/record"
)

// callEffect calls a subroutine whose value nobody wants.
func (g *generator) callEffect(x *types.CallExpr) {
	switch {
	case x.Type().IsString():
		g.memory(func() { g.callInto(x, g.temp(g.opts.Strsize)) })
	default:
		g.callScalar(x)
	}
}

// callScalar calls a subroutine that returns a number, a pointer or nothing.
func (g *generator) callScalar(x *types.CallExpr) (r reg) {
	g.memory(func() { r = scalarSubroutines[x.Func.Name](g, x) })
	return r
}

// callInto calls a subroutine that returns a string.
func (g *generator) callInto(x *types.CallExpr, to region) {
	g.memory(func() { stringSubroutines[x.Func.Name](g, x, to) })
}

var scalarSubroutines map[string]func(*generator, *types.CallExpr) reg

func init() {
	scalarSubroutines = map[string]func(*generator, *types.CallExpr) reg{
		"alloca":      (*generator).alloca,
		"bcopy":       (*generator).bcopy,
		"copyin":      (*generator).copyin,
		"copyinto":    (*generator).copyinto,
		"copyout":     (*generator).copyout,
		"copyoutstr":  (*generator).copyout,
		"htonl":       swap(4),
		"htonll":      swap(8),
		"htons":       swap(2),
		"index":       (*generator).index,
		"ntohl":       swap(4),
		"ntohll":      swap(8),
		"ntohs":       swap(2),
		"progenyof":   (*generator).progenyof,
		"rand":        func(g *generator, _ *types.CallExpr) reg { return g.call(asm.FnGetPrandomU32) },
		"rindex":      (*generator).index,
		"speculation": func(g *generator, _ *types.CallExpr) reg { return g.speculation() },
		"strlen":      (*generator).strlen,
		"strtoll":     (*generator).strtoll,
	}
}

// swap converts a number of so many bytes between the machine's byte order and
// the network's.
func swap(bytes int) func(*generator, *types.CallExpr) reg {
	size := sizeOf(bytes)
	return func(g *generator, x *types.CallExpr) reg {
		r := g.copyOf(g.scalar(x.Args[0]), width(bytes < 8))
		i := asm.HostTo(asm.BE, asm.R0, size)
		g.emit(ins{op: i.OpCode, dst: r, imm: i.Constant})
		return r
	}
}

// progenyof is progenyof(pid): whether the process or one of its ancestors has
// that ID. Its further arguments are the current task, and the offsets of
// real_parent and tgid in it.
func (g *generator) progenyof(x *types.CallExpr) reg {
	pid, task := g.scalar(x.Args[0]), g.scalar(x.Args[1])
	return g.callSub(g.sub("progeny", buildProgeny), pid, task, g.scalar(x.Args[2]), g.scalar(x.Args[3]), g.turn())
}

// maxAncestors is how far up progenyof() looks.
const maxAncestors = 128

// buildProgeny is (pid, task, offset of real_parent, offset of tgid, turn).
func buildProgeny(c *code, _ *compiler) {
	pid, task, parent, tgid, turn := c.param(0), c.param(1), c.param(2), c.param(3), c.param(4)
	word := c.stack(8)
	found := c.constant(0, w64)
	c.storeImm(fp, word, 0, 8)
	c.loop(turn, maxAncestors, func(_ reg, l loop) {
		read := func(offset reg, size int) reg {
			at := c.copyOf(task, w64)
			c.alu(asm.Add, w64, at, offset)
			failed := c.call(asm.FnProbeReadKernel, c.addressOf(fp, word), c.constant(uint64(size), w64), at)
			l.leaveImm(asm.JNE, failed, 0)
			v := c.newReg()
			c.load(v, fp, word, size)
			return v
		}
		other := c.newLabel()
		id := read(tgid, 4)
		c.jumpIf(asm.JNE, w32, id, pid, other)
		c.set(found, 1, w64)
		c.jump(l.done)
		c.place(other)
		l.leaveImm(asm.JEq, id, 0) // the idle task is its own parent
		c.move(task, read(parent, 8), w64)
	})
	c.exit(found)
}

// specsMap holds the speculations in use, by their IDs.
const specsMap = "kinst_specs"

// speculation is speculation(): the ID of a speculation that is free, from 1
// to nspec, or 0.
func (g *generator) speculation() reg {
	if g.spec == nil {
		n := int64(g.opts.Nspec)
		g.spec = &subprogram{"kinst_speculation", func(c *code) { buildSpeculation(c, n) }}
	}
	g.needSpecs()
	return g.callSub(g.spec, g.turn())
}

// buildSpeculation takes the first free ID: that of which no entry exists yet.
// It is (turn).
func buildSpeculation(c *code, n int64) {
	turn := c.param(0)
	key := c.stack(4)
	taken := c.constant(0, w64)
	c.loop(turn, int(n), func(i reg, l loop) {
		id := c.copyOf(i, w64)
		c.aluImm(asm.Add, w64, id, 1)
		c.store(fp, key, id, 4)
		at := c.addressOf(fp, key)
		failed := c.call(asm.FnMapUpdateElem, c.mapPtr(specsMap), at, at, c.constant(uint64(ebpf.UpdateNoExist), w64))
		other := c.newLabel()
		c.jumpIfImm(asm.JNE, w64, failed, 0, other)
		c.load(taken, fp, key, 4)
		c.jump(l.done)
		c.place(other)
	})
	some := c.newLabel()
	c.jumpIfImm(asm.JNE, w64, taken, 0, some)
	c.callSub(subLost, c.constant(uint64(record.LossSpecBusy), w64))
	c.place(some)
	c.exit(taken)
}

// specKey writes a speculation's ID to memory and returns its address.
func (g *generator) specKey(id reg) reg {
	key := g.stack(4)
	g.store(fp, key, id, 4)
	return g.addressOf(fp, key)
}

// inSpeculation ends the clause, silently, unless a speculation is in use.
func (g *generator) inSpeculation(id reg) {
	g.needSpecs()
	g.memory(func() {
		at := g.call(asm.FnMapLookupElem, g.mapPtr(specsMap), g.specKey(id))
		g.jumpIfImm(asm.JEq, w64, at, 0, g.clause.end)
	})
}

// endSpeculation frees a speculation's ID, or makes it 0 if it was not in use.
func (g *generator) endSpeculation(id reg) {
	g.needSpecs()
	freed := g.newLabel()
	g.memory(func() {
		failed := g.call(asm.FnMapDeleteElem, g.mapPtr(specsMap), g.specKey(id))
		g.jumpIfImm(asm.JEq, w64, failed, 0, freed)
	})
	g.set(id, 0, w32)
	g.place(freed)
}

// needSpecs makes sure that the map of speculations is there.
func (g *generator) needSpecs() {
	if g.maps[specsMap] == nil {
		g.maps[specsMap] = &ebpf.MapSpec{Name: specsMap, Type: ebpf.Hash, KeySize: 4, ValueSize: 4, MaxEntries: uint32(g.opts.Nspec)}
	}
}
