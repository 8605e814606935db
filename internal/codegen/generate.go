package codegen

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"kinst/internal/dlang/syntax"
	"kinst/internal/dlang/types"
	"kinst/internal/provider"
	"kinst/internal/record"
)

// A class is hooks whose programs do not interrupt one another on a CPU, so
// that they can share memory.
type class int

const (
	classRun class = iota // run by user space, with preemption disabled
	// classProbe: kprobes, perf events and tracepoints exclude one another
	// (bpf_prog_active).
	classProbe
	classRaw
	classUser
	classes
)

var hookClass = [...]class{
	provider.HookRun:           classRun,
	provider.HookKprobe:        classProbe,
	provider.HookPerfEvent:     classProbe,
	provider.HookTracepoint:    classProbe,
	provider.HookRawTracepoint: classRaw,
	provider.HookUprobe:        classUser,
}

// A generator writes the program of one unit.
type generator struct {
	*compiler
	code
	cutter
	unit   *Unit
	number int // of the unit
	class  class
	ctx    reg
	exitTo label // the end of the program, where it gives back what it took
	end    label // behind that

	scopes []map[resource]reg // resources at hand, innermost last
	clause *clause            // that is being written
	locals *locals

	current []location // of the assignments being written, innermost last
	bound   map[*types.Binding]value

	scratchUsed, scratchMax int
	scratchAt               syntax.Pos // of the D that needs the most
	heapStart, heapEnd      int        // what the clause has reserved of it
}

func newGenerator(c *compiler, number int) *generator {
	u := c.units[number]
	g := &generator{compiler: c, unit: u, number: number, class: hookClass[u.Context.Hook], bound: make(map[*types.Binding]value)}
	g.end = g.newLabel()
	g.exitTo = g.end
	if g.pooled() {
		g.scratchUsed = pieceHeader
	}
	return g
}

// A failure is why a program cannot be written; writers panic with it.
type failure struct{ error }

// fail gives up the program.
func (g *generator) fail(format string, args ...any) {
	panic(failure{fmt.Errorf("%s: %w", g.pos, fmt.Errorf(format, args...))})
}

// program writes the whole program.
func (g *generator) program() (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = r.error
		default:
			panic(r)
		}
	}()
	g.ctx = g.param(0)
	if c := g.unit.Context.Counter; c != provider.CountNothing {
		g.atomicAdd(g.mapValue(globalsMap, 0), runsOffset+8*int(c), g.constant(1, w64))
	}
	if g.unit.Context.Hook != provider.HookRun {
		g.whileTracing()
	}
	g.unlessTask()
	g.exitTo = g.newLabel()
	g.emit(ins{kind: start})
	g.scope(func() {
		if c := g.unit.Context; c.Lookup == provider.LookupKey || c.Hook == provider.HookUprobe {
			g.get(resIndex) // ends the program if it fired for no probe
		}
		g.prepareCuts()
		g.declareLocals()
		for i, c := range g.unit.Clauses {
			g.mayCut()
			g.writeClause(i, c)
			g.afterClause(i)
		}
		g.endPart()
	})
	return nil
}

// whileTracing ends the program unless the session is tracing.
func (g *generator) whileTracing() {
	state := g.newReg()
	g.load(state, g.mapValue(globalsMap, 0), stateOffset, 4)
	g.jumpIfImm(asm.JNE, w64, state, int64(Tracing), g.exitTo)
}

// unlessTask ends the program for the tasks that the context leaves out.
func (g *generator) unlessTask() {
	t := g.unit.Context.Unless
	if t == nil {
		return
	}
	g.memory(func() {
		at := region{fp, g.stack(t.Size), t.Size}
		task := g.call(asm.FnGetCurrentTask)
		failed := g.call(asm.FnProbeReadKernel, g.addr(at), g.constant(uint64(t.Size), w64), g.addressOf(task, t.Offset))
		g.jumpIfImm(asm.JNE, w64, failed, 0, g.exitTo)
		bits := g.newReg()
		g.load(bits, at.base, at.off, t.Size)
		g.alu(asm.And, w64, bits, g.constant(t.Mask, w64))
		g.jumpIfImm(asm.JNE, w64, bits, 0, g.exitTo)
	})
}

// scope runs f with a list of its own of the resources at hand: what f takes
// is not at hand behind it, where it may not have run.
func (g *generator) scope(f func()) {
	g.scopes = append(g.scopes, make(map[resource]reg))
	f()
	g.scopes = g.scopes[:len(g.scopes)-1]
}

// memory runs f and gives back the stack and scratch memory that it took, but
// for what it reserved.
func (g *generator) memory(f func()) {
	frame, scratch := g.frame, g.scratchUsed
	f()
	g.frame, g.scratchUsed = frame, max(scratch, g.heapEnd)
}

// aside runs f for code on some of the ways through the program: neither the
// memory that it takes nor the resources outlast it.
func (g *generator) aside(f func()) { g.scope(func() { g.memory(f) }) }

// A region is memory that the verifier knows to be ours.
type region struct {
	base reg
	off  int
	size int
}

// at is the region from byte n on.
func (r region) at(n int) region { return region{r.base, r.off + n, r.size - n} }

// smallObject is the largest object that is kept on the stack, and
// stackObjects how much of the stack objects may take altogether.
const (
	smallObject  = 128
	stackObjects = 288
)

// temp takes memory for an object: on the stack, or in scratch memory. It
// holds what it held before.
func (g *generator) temp(size int) region {
	if size <= smallObject && g.frame+size <= stackObjects {
		return region{fp, g.stack(size), size}
	}
	return g.scratchTemp(size)
}

// needScratch notes how far scratch memory must reach.
func (g *generator) needScratch(size int) {
	if size > g.scratchMax {
		g.scratchMax, g.scratchAt = size, g.pos
	}
}

// scratchTemp takes memory in scratch memory, where, other than on the stack,
// the verifier allows offsets that it does not know.
func (g *generator) scratchTemp(size int) region {
	off := g.scratchUsed
	g.scratchUsed += (size + 7) &^ 7
	g.needScratch(g.scratchUsed)
	return region{g.get(resScratch), off, size}
}

// addr is the address of a region in a register.
func (g *generator) addr(r region) reg { return g.addressOf(r.base, r.off) }

// zero clears a region.
func (g *generator) zero(r region) {
	if r.size > 64 {
		g.call(asm.FnProbeReadKernel, g.addr(r), g.constant(uint64(r.size), w64), g.mapValue(globalsMap, g.zeros(r.size)))
		return
	}
	for n := 0; n < r.size; {
		size := 8
		for size > r.size-n || (r.off+n)%size != 0 {
			size /= 2
		}
		g.storeImm(r.base, r.off+n, 0, size)
		n += size
	}
}

// zeros returns the offset in kinst_globals of so many bytes that are 0.
func (c *compiler) zeros(size int) int {
	if size > c.globals.zeroSize {
		c.globals.zeroSize = size
		c.globals.zeroAt = c.globals.alloc(size)
	}
	return c.globals.zeroAt
}

// A resource is something that a program fetches at most once in a stretch of
// code that has it at hand.
type resource int

const (
	resScratch resource = iota // scratch memory of this class and CPU
	resIndex                   // the probe's index in the session's table
	resTime                    // nanoseconds; the same all through a program
	resPidTgid                 // bpf_get_current_pid_tgid
	resUidGid                  // bpf_get_current_uid_gid
	resCPU
	resTask    // the current task
	resGlobals // the value of kinst_globals
	resThread  // the key of this thread in kinst_self
	resEntry   // the entry of this thread in kinst_self, or 0; never a need
	resources
)

// get returns a register that holds a resource. It must not be changed.
func (g *generator) get(r resource) reg {
	for _, s := range slices.Backward(g.scopes) {
		if at, ok := s[r]; ok {
			return at
		}
	}
	if r == resTime && g.budget > 0 {
		now := g.savedTime()
		g.scopes[len(g.scopes)-1][r] = now
		return now
	}
	dst := g.newReg()
	n := -1
	if g.clause != nil {
		n = g.clause.number
	}
	g.emit(ins{kind: need, dst: dst, res: r, clause: n})
	g.scopes[len(g.scopes)-1][r] = dst
	return dst
}

// A demand is the need of a program for a resource.
type demand struct {
	clauses map[int]bool // that need it
	always  bool         // one of them has no predicate
	shared  reg          // holds it for all of them, if it is fetched once
}

func (g *generator) demands() []demand {
	all := make([]demand, resources)
	for n := range g.list {
		i := &g.list[n]
		if i.kind != need {
			continue
		}
		d := &all[i.res]
		if d.clauses == nil {
			d.clauses = make(map[int]bool)
		}
		d.clauses[i.clause] = true
		d.always = d.always || i.clause < 0 || g.unit.Clauses[i.clause].Predicate == nil
	}
	if d := &all[resScratch]; g.pooled() && (len(d.clauses) > 0 || g.budget > 0) {
		d.always, d.shared = true, g.newReg()
	}
	for r := range all {
		if all[r].shared == noReg && len(all[r].clauses) > 1 && (all[r].always || resource(r) == resTime) {
			all[r].shared = g.newReg()
		}
	}
	return all
}

// expand replaces the needs by the code that fetches the resources. What
// several clauses need is fetched once at the start, if one of them has no
// predicate that might make it superfluous. The time must be the same in all
// clauses: if all have predicates, the first that needs it fetches it.
func (g *generator) expand() {
	all := g.demands()
	old := g.list
	g.list = nil
	frame := g.frame
	g.frame = g.maxFrame // what is on the stack may be in use
	defer func() { g.frame = frame }()
	same := make(map[reg]reg)
	for _, i := range old {
		g.pos = i.pos
		switch d := &all[i.res]; {
		case i.kind == start:
			g.fetchShared(all)
		case i.kind == finish:
			if piece := all[resScratch].shared; g.pooled() && piece != noReg {
				g.givePiece(piece)
			}
		case i.kind != need:
			g.list = append(g.list, i)
		case d.shared == noReg:
			g.fetch(i.res, i.dst)
		default:
			same[i.dst] = d.shared
			if !d.always {
				late := g.newLabel()
				g.jumpIfImm(asm.JNE, w64, d.shared, 0, late)
				g.fetch(i.res, d.shared)
				g.place(late)
			}
		}
	}
	for n := range g.list {
		g.list[n].uses(func(r *reg) {
			if s, ok := same[*r]; ok {
				*r = s
			}
		})
	}
}

// fetchShared fetches what is fetched once at the start.
func (g *generator) fetchShared(all []demand) {
	for r := range all {
		switch d := &all[r]; {
		case d.shared == noReg:
		case d.always:
			g.fetch(resource(r), d.shared)
		default:
			g.set(d.shared, 0, w64)
		}
	}
}

// fetch writes the code that fetches a resource.
func (g *generator) fetch(r resource, dst reg) {
	switch r {
	case resScratch:
		if g.pooled() {
			g.takePiece(dst)
		} else {
			g.fetchScratch(dst)
		}
	case resIndex:
		g.fetchIndex(dst)
	case resTime:
		g.callTo(dst, asm.FnKtimeGetNs)
	case resPidTgid:
		g.callTo(dst, asm.FnGetCurrentPidTgid)
	case resUidGid:
		g.callTo(dst, asm.FnGetCurrentUidGid)
	case resCPU:
		g.move(dst, g.call(asm.FnGetSmpProcessorId), w32)
	case resTask:
		g.callTo(dst, asm.FnGetCurrentTask)
	case resGlobals:
		g.emit(ins{kind: loadValue, dst: dst, sym: globalsMap})
	case resThread:
		g.fetchThread(dst)
	}
}

func (g *generator) fetchScratch(dst reg) {
	frame := g.frame
	key := g.stack(4)
	g.storeImm(fp, key, int64(g.class), 4)
	g.callTo(dst, asm.FnMapLookupElem, g.mapPtr(scratchMap), g.addressOf(fp, key))
	g.jumpIfImm(asm.JEq, w64, dst, 0, g.exitTo)
	g.frame = frame
}

// fetchThread makes the key of a thread: its ID, or for an idle thread, which
// has ID 0 on every CPU, the complement of the CPU's number.
func (g *generator) fetchThread(dst reg) {
	done := g.newLabel()
	g.move(dst, g.call(asm.FnGetCurrentPidTgid), w32)
	g.jumpIfImm(asm.JNE, w64, dst, 0, done)
	g.move(dst, g.call(asm.FnGetSmpProcessorId), w32)
	g.aluImm(asm.Xor, w32, dst, -1)
	g.place(done)
}

// fetchIndex finds out which probe fired.
func (g *generator) fetchIndex(dst reg) {
	switch u := g.unit; {
	case u.Context.Lookup == provider.LookupKey:
		g.lookupKey(dst)
	case g.oneProbe():
		g.set(dst, uint64(u.First), w64)
	case u.Context.Lookup == provider.LookupCookie:
		g.callTo(dst, asm.FnGetAttachCookie, g.ctx)
	case u.Context.Lookup == provider.LookupFunc:
		g.lookupSite(dst, g.call(asm.FnGetFuncIp, g.ctx), 0)
	default:
		pc, _ := g.opts.Arch.Register(g.opts.Arch.PC)
		ip := g.newReg()
		g.load(ip, g.ctx, pc.Offset, 8)
		g.lookupSite(dst, ip, uint64(u.Context.IPBias))
	}
}

// lookupKey finds the probe by the number that the context gives.
func (g *generator) lookupKey(dst reg) {
	g.memory(func() {
		key := g.readPlace(g.unit.Context.Key, func() { g.jump(g.exitTo) })
		g.lookupSite(dst, key, 0)
	})
}

// readPlace reads a number, zero-extended, into a register that may be
// changed. If it cannot be read, it does what failed says, which must not come
// back.
func (g *generator) readPlace(p provider.Place, failed func()) reg {
	if p.Constant != nil {
		return g.constant(*p.Constant, w64)
	}
	n := g.newReg()
	switch {
	case p.Address:
		return g.copyOf(g.addressOf(g.ctx, p.Offset), w64)
	case p.Located:
		g.load(n, g.ctx, p.Offset, 4)
		g.aluImm(asm.And, w64, n, 0xffff)
		g.alu(asm.Add, w64, n, g.ctx)
		return n
	case !p.Indirect:
		g.load(n, g.ctx, p.Base+p.Offset, p.Size)
		return n
	}
	g.memory(func() {
		at := region{fp, g.stack(8), p.Size}
		base := g.newReg()
		g.load(base, g.ctx, p.Base, 8)
		if p.Scale != 0 {
			index := g.newReg()
			g.load(index, g.ctx, p.Index, 8)
			g.aluImm(asm.Mul, w64, index, int64(p.Scale))
			g.alu(asm.Add, w64, base, index)
		}
		g.readOr(memoryReader(g.unit.Context.Hook), at, p.Size, g.addressOf(base, p.Offset), failed)
		g.load(n, at.base, at.off, p.Size)
	})
	return n
}

// maxSiteTable is the longest stretch of addresses that a table of sites
// covers, 4 bytes for each; sites that are farther apart are found by hashing.
const maxSiteTable = 64 << 10

// noSite marks the addresses at which there is no probe.
const noSite = ^uint32(0)

// lookupSite finds the probe whose Addr is at less bias; it changes at. Without
// a probe it ends the program.
func (g *generator) lookupSite(dst, at reg, bias uint64) {
	low, high := g.unit.Probes[0].Addr, g.unit.Probes[0].Addr
	g.unit.addresses(func(addr uint64, _ int) {
		low, high = min(low, addr), max(high, addr)
	})
	if low == high {
		g.subtract(at, low+bias)
		g.jumpIfImm(asm.JNE, w64, at, 0, g.exitTo)
		g.set(dst, uint64(g.unit.First), w64)
		return
	}
	name := siteMap(g.sites)
	g.sites++
	if high-low > maxSiteTable {
		g.hashSites(dst, at, bias, name)
		return
	}
	table := make([]uint32, high-low+1)
	for i := range table {
		table[i] = noSite
	}
	g.unit.addresses(func(addr uint64, probe int) {
		table[addr-low] = g.unit.First + uint32(probe)
	})
	g.tableMap(name, table)
	g.subtract(at, low+bias)
	g.jumpIfImm(asm.JGT, w64, at, int64(high-low), g.exitTo)
	g.aluImm(asm.LSh, w64, at, 2)
	row := g.mapValue(name, 0)
	g.alu(asm.Add, w64, row, at)
	g.load(dst, row, 0, 4)
	if slices.Contains(table, noSite) {
		g.jumpIfImm(asm.JEq, w32, dst, -1, g.exitTo)
	}
}

// tableMap adds a map with one value: a table of numbers or bytes.
func (c *compiler) tableMap(name string, table any) {
	c.maps[name] = &ebpf.MapSpec{Name: name, Type: ebpf.Array, KeySize: 4, ValueSize: uint32(binary.Size(table)), MaxEntries: 1,
		Contents: []ebpf.MapKV{{Key: uint32(0), Value: table}}}
}

// subtract emits r -= n.
func (c *code) subtract(r reg, n uint64) {
	if int64(n) == int64(int32(n)) {
		c.aluImm(asm.Sub, w64, r, int64(n))
		return
	}
	c.alu(asm.Sub, w64, r, c.constant(n, w64))
}

func (g *generator) hashSites(dst, at reg, bias uint64, name string) {
	m := &ebpf.MapSpec{Name: name, Type: ebpf.Hash, KeySize: 8, ValueSize: 4}
	g.unit.addresses(func(addr uint64, probe int) {
		m.Contents = append(m.Contents, ebpf.MapKV{Key: addr, Value: g.unit.First + uint32(probe)})
	})
	m.MaxEntries = uint32(len(m.Contents))
	g.maps[name] = m
	if bias != 0 {
		g.subtract(at, bias)
	}
	g.memory(func() {
		key := g.stack(8)
		g.store(fp, key, at, 8)
		row := g.call(asm.FnMapLookupElem, g.mapPtr(name), g.addressOf(fp, key))
		g.jumpIfImm(asm.JEq, w64, row, 0, g.exitTo)
		g.load(dst, row, 0, 4)
	})
}

// lost counts a loss.
func (g *generator) lost(l record.Loss) { g.callSub(subLost, g.constant(uint64(l), w64)) }
