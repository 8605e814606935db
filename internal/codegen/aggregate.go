package codegen

import (
	"fmt"
	"math"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"kinst/internal/aggregate"
	"kinst/internal/dlang/types"
	"kinst/internal/record"
)

// aggPrefix begins the names of the maps of aggregations.
const aggPrefix = "kinst_agg_"

func aggMap(index int) string { return fmt.Sprintf("%s%d", aggPrefix, index) }

// An aggregation is how an aggregation is kept.
type aggregation struct {
	*record.Agg
	entries uint32 // for its probes
	slots   int    // rows in a value of the map
	atomic  bool   // programs that update it may interrupt one another
}

// planAggs decides how each aggregation is kept, from all its uses.
func (c *compiler) planAggs() {
	uses := c.aggUses()
	c.layout.Aggs = make([]*record.Agg, len(uses))
	for i := range uses {
		c.layout.Aggs[i] = c.planAgg(i, uses[i])
	}
}

// aggUse is the statements that aggregate into an aggregation.
type aggUse struct {
	agg   *types.Agg
	units []*Unit
	list  []*types.Aggregate
}

// aggUses finds the uses of all aggregations, by their indexes.
func (c *compiler) aggUses() []aggUse {
	var uses []aggUse
	at := func(agg *types.Agg) *aggUse {
		for agg.Index >= len(uses) {
			uses = append(uses, aggUse{})
		}
		uses[agg.Index].agg = agg
		return &uses[agg.Index]
	}
	for _, u := range c.units {
		for _, cl := range u.Clauses {
			eachStmt(cl.Body, func(s types.Stmt) {
				switch s := s.(type) {
				case *types.Aggregate:
					use := at(s.Agg)
					use.units = append(use.units, u)
					use.list = append(use.list, s)
				case *types.Action:
					for _, agg := range s.Aggs {
						at(agg)
					}
				}
			})
		}
	}
	return uses
}

// eachStmt calls f for all statements, those inside ifs too.
func eachStmt(list []types.Stmt, f func(types.Stmt)) {
	for _, s := range list {
		f(s)
		if s, ok := s.(*types.If); ok {
			eachStmt(s.Then, f)
			eachStmt(s.Else, f)
		}
	}
}

func (c *compiler) planAgg(index int, use aggUse) *record.Agg {
	t := use.agg
	if t == nil { // no unit has anything to do with it
		return &record.Agg{Index: index, Words: 1}
	}
	r := &record.Agg{
		Index: index, Name: t.Name, Func: t.Func, Signed: t.Signed, Used: len(use.list) > 0,
		Base: t.Base, Limit: t.Limit, Step: t.Step, Levels: t.Levels, Factor: t.Factor,
	}
	r.Words = aggregate.Words(r)
	a := &aggregation{Agg: r}
	c.aggs[t] = a
	if !r.Used {
		c.keyFields(a, use)
		return r
	}
	a.atomic = a.large() || mayInterrupt(use.units)
	c.keyFields(a, use)
	c.chooseSlots(a)
	c.maps[aggMap(index)] = c.aggSpec(a)
	return r
}

// large reports whether the rows are too large for a per-CPU map: all CPUs
// share them.
func (a *aggregation) large() bool { return 8*a.Words > perCPULimit }

func (c *compiler) aggSpec(a *aggregation) *ebpf.MapSpec {
	m := &ebpf.MapSpec{Name: aggMap(a.Index), KeySize: uint32(a.KeySize), ValueSize: uint32(8 * a.Words)}
	if a.BySite {
		m.Type, m.MaxEntries = ebpf.PerCPUArray, a.Sites
		return m
	}
	m.Type, m.MaxEntries = ebpf.PerCPUHash, max(entries(c.opts.Aggsize, a.KeySize+8*a.Words), a.entries)
	switch {
	case a.large():
		m.Type = ebpf.Hash
		return m
	case a.slots > 1:
		m.Type = ebpf.Hash
		m.ValueSize *= uint32(a.slots)
	}
	if haveMemAlloc() {
		m.Flags = unix.BPF_F_NO_PREALLOC
	}
	return m
}

// slotLimit is the largest entry that the kernel allocates as fast as small
// ones: those that its bpf_mem_alloc takes from a slab.
const slotLimit = 4096

// chooseSlots decides whether the rows of all CPUs are one entry of a map that
// all share, in a slot for each. A new key then costs a tenth of what it costs in
// a per-CPU map, which asks the kernel's allocator of per-CPU memory for it.
func (c *compiler) chooseSlots(a *aggregation) {
	a.slots = 1
	if !a.BySite && !a.large() && hashOverhead+a.KeySize+8*a.Words*c.opts.CPUs <= slotLimit {
		a.slots = c.opts.CPUs
	}
}

// mayInterrupt reports whether programs of the units can run at once on a CPU.
func mayInterrupt(units []*Unit) bool {
	for _, u := range units {
		if hookClass[u.Context.Hook] != classProbe {
			return true
		}
	}
	return false
}

// keyFields lays out the key. If all its fields are of the probe's
// description, the probe's index is the key, unless there will be more probes.
func (c *compiler) keyFields(a *aggregation, use aggUse) {
	a.BySite = true
	b := recordBuilder{}
	for i, t := range use.agg.Keys {
		rt, size := c.keyType(t, use, i)
		if _, probe := probeKindOf(rt.Kind); !probe {
			a.BySite = false
		}
		a.Keys = append(a.Keys, b.field(rt, size))
	}
	a.KeySize = max((b.size+7)&^7, 8)
	if a.BySite && len(a.Keys) > 0 && slices.ContainsFunc(use.units, func(u *Unit) bool { return u.Later }) {
		a.BySite = false
		for _, u := range use.units {
			a.entries += 2 * uint32(len(u.Probes)) // twice what there is now
		}
	}
	a.BySite = a.BySite && !a.large()
	if !a.BySite {
		return
	}
	a.KeySize = 4
	for i := range a.Keys {
		a.Keys[i].Offset = 0
	}
	a.Sites = 1
	if len(a.Keys) == 0 && !perProbe(use.units) || len(use.units) == 0 {
		return
	}
	first, end := uint32(math.MaxUint32), uint32(0)
	for _, u := range use.units {
		first = min(first, u.First)
		end = max(end, u.First+uint32(len(u.Probes)))
	}
	a.FirstProbe, a.Sites = first, end-first
}

// perProbe reports whether units need to know of each probe what it adds to an
// aggregation without keys.
func perProbe(units []*Unit) bool {
	return slices.ContainsFunc(units, func(u *Unit) bool { return u.Counts }) &&
		!slices.ContainsFunc(units, func(u *Unit) bool { return u.Later })
}

func probeKindOf(k record.Kind) (record.Kind, bool) {
	switch k {
	case record.ProbeProvider, record.ProbeModule, record.ProbeFunction, record.ProbeName:
		return k, true
	}
	return k, false
}

// keyType is how key i is kept: as the field of the probe's description that
// it is in all uses, and a string in as many bytes as the longest needs.
func (c *compiler) keyType(t *types.Type, use aggUse, i int) (*record.Type, int) {
	r := t.Record()
	if !t.IsString() {
		return r, r.Size
	}
	r.Size = c.opts.Strsize
	if len(use.list) == 0 {
		return r, r.Size
	}
	first, same := probeField(use.list[0].Keys[i])
	longest := 0
	for _, s := range use.list {
		k, ok := probeField(s.Keys[i])
		same = same && ok && k == first
		longest = max(longest, c.capacity(s.Keys[i]))
	}
	if same {
		r.Kind = first
		return r, 4
	}
	r.Size = (longest + 7) &^ 7
	return r, r.Size
}

// aggregate writes a statement that aggregates.
func (g *generator) aggregate(s *types.Aggregate) {
	a := g.aggs[s.Agg]
	var key region
	if !a.BySite {
		key = g.key(a.KeySize, a.Keys, s.Keys)
	}
	var value, incr reg
	if s.Value != nil {
		value = g.scalar(s.Value)
	}
	if s.Incr != nil {
		incr = g.scalar(s.Incr)
	}
	done := g.newLabel()
	row := g.row(a, key, done)
	g.update(a, row, value, incr, done)
	g.place(done)
}

// row finds the row of a key, making it if it is new; without a row it counts
// a loss and goes to none.
func (g *generator) row(a *aggregation, key region, none label) reg {
	name := aggMap(a.Index)
	if a.BySite {
		site := g.stack(4)
		g.siteKey(a, site)
		row := g.call(asm.FnMapLookupElem, g.mapPtr(name), g.addressOf(fp, site))
		g.jumpIfImm(asm.JEq, w64, row, 0, none)
		return row
	}
	row := g.call(asm.FnMapLookupElem, g.mapPtr(name), g.addr(key))
	found := g.newLabel()
	g.jumpIfImm(asm.JNE, w64, row, 0, found)
	zeros := g.mapValue(globalsMap, g.zeros(8*a.Words*a.slots))
	g.call(asm.FnMapUpdateElem, g.mapPtr(name), g.addr(key), zeros, g.constant(uint64(ebpf.UpdateNoExist), w64))
	g.move(row, g.call(asm.FnMapLookupElem, g.mapPtr(name), g.addr(key)), w64)
	g.jumpIfImm(asm.JNE, w64, row, 0, found)
	g.lost(record.LossAggregations)
	g.jump(none)
	g.place(found)
	if a.slots > 1 {
		cpu := g.call(asm.FnGetSmpProcessorId)
		g.jumpIfImm(asm.JGE, w64, cpu, int64(a.slots), none)
		g.aluImm(asm.Mul, w64, cpu, int64(8*a.Words))
		g.alu(asm.Add, w64, row, cpu)
	}
	return row
}

// siteKey writes the key of the probe that fired.
func (g *generator) siteKey(a *aggregation, key int) {
	switch {
	case a.Sites == 1:
		g.storeImm(fp, key, 0, 4)
	case len(g.unit.Probes) == 1:
		g.storeImm(fp, key, int64(g.unit.First-a.FirstProbe), 4)
	case a.FirstProbe == 0:
		g.store(fp, key, g.get(resIndex), 4)
	default:
		index := g.copyOf(g.get(resIndex), w64)
		g.aluImm(asm.Sub, w64, index, int64(a.FirstProbe))
		g.store(fp, key, index, 4)
	}
}

// key writes a tuple of keys into memory.
func (g *generator) key(size int, fields []record.Field, keys []types.Expr) region {
	key := g.temp(size)
	g.tuple(key, 0, fields, keys)
	return key
}

// tuple writes keys into memory whose first bytes are written already, and
// clears what is between them.
func (g *generator) tuple(key region, end int, fields []record.Field, keys []types.Expr) {
	for i, f := range fields {
		g.zero(region{key.base, key.off + end, f.Offset - end})
		g.keyField(keys[i], key.at(f.Offset), f.Type)
		end = f.Offset + fieldSize(f.Type)
	}
	g.zero(key.at(end))
}

// fieldSize is how many bytes of a record or key a field takes.
func fieldSize(t *record.Type) int {
	if _, ok := probeKindOf(t.Kind); ok {
		return 4
	}
	return t.Size
}

// keyField writes a key; behind the end of a string or a stack are zeros.
func (g *generator) keyField(x types.Expr, to region, t *record.Type) {
	switch t.Kind {
	case record.String:
		g.paddedInto(x, region{to.base, to.off, t.Size})
		return
	case record.KernelStack, record.UserStack:
		deep := x.Type().Base().Size
		g.zero(region{to.base, to.off + deep, t.Size - deep})
	}
	g.record(x, to, t)
}

// add adds n to a word of a row, or 1 for noReg.
func (g *generator) add(a *aggregation, row reg, word int, n reg) {
	if a.atomic {
		if n == noReg {
			n = g.constant(1, w64)
		}
		g.atomicAdd(row, 8*word, n)
		return
	}
	sum := g.newReg()
	g.load(sum, row, 8*word, 8)
	if n == noReg {
		g.aluImm(asm.Add, w64, sum, 1)
	} else {
		g.alu(asm.Add, w64, sum, n)
	}
	g.store(row, 8*word, sum, 8)
}

// update adds a value to a row.
func (g *generator) update(a *aggregation, row, value, incr reg, done label) {
	switch a.Func {
	case record.Count:
		g.add(a, row, 0, noReg)
	case record.Sum, record.Avg:
		g.add(a, row, 0, value)
		g.add(a, row, 1, noReg)
	case record.Min, record.Max:
		g.extreme(a, row, value)
		g.add(a, row, 1, noReg)
	case record.Stddev:
		g.add(a, row, 0, value)
		g.add(a, row, 1, noReg)
		g.callSub(subSquare, row, value)
	case record.Quantize:
		g.bucket(a, row, g.callSub(subQuantize, value), aggregate.QuantizeBuckets, incr, done)
	case record.Lquantize:
		g.bucket(a, row, g.linear(a, value), int(a.Levels)+2, incr, done)
	case record.Llquantize:
		g.bucket(a, row, g.logLinear(a, value), a.Words-1, incr, done)
	}
}

// exchanges is how often a program tries to put an extreme into its row. It
// takes another time only if a program that interrupts it, or on another CPU, has
// changed the row between two instructions.
const exchanges = 8

// extreme keeps the smaller or greater of a row's value and a new one, which the
// row holds ranked. Where programs run at once, what a program takes out of the
// row goes back if it is the greater one: none is ever lost.
func (g *generator) extreme(a *aggregation, row, value reg) {
	kept := g.newLabel()
	rank, old := g.newReg(), g.newReg()
	g.move(rank, value, w64)
	if mask := aggregate.RankMask(a.Agg); mask != 0 {
		g.alu(asm.Xor, w64, rank, g.constant(mask, w64))
	}
	if a.atomic && haveExchange() {
		for range exchanges {
			g.load(old, row, 0, 8)
			g.jumpIf(asm.JGE, w64, old, rank, kept)
			g.exchange(row, 0, rank)
		}
		g.jumpIfImm(asm.JEq, w64, rank, 0, kept)
		g.lost(record.LossAggregations)
	} else {
		g.load(old, row, 0, 8)
		g.jumpIf(asm.JGE, w64, old, rank, kept)
		g.store(row, 0, rank, 8)
	}
	g.place(kept)
}

// bucket counts a value in the bucket of that index, of so many.
func (g *generator) bucket(a *aggregation, row, index reg, buckets int, incr reg, done label) {
	g.add(a, row, 0, noReg)
	g.jumpIfImm(asm.JGE, w64, index, int64(buckets), done)
	at := g.copyOf(index, w64)
	g.aluImm(asm.LSh, w64, at, 3)
	g.alu(asm.Add, w64, at, row)
	g.add(a, at, 1, incr)
}

// linear is the bucket of a value in lquantize.
func (g *generator) linear(a *aggregation, value reg) reg {
	done, above := g.newLabel(), g.newLabel()
	index := g.constant(0, w64)
	g.jumpIfSigned(asm.JSLT, value, a.Base, done)
	g.jumpIfSigned(asm.JSGE, value, a.Base+a.Levels*a.Step, above)
	g.move(index, value, w64)
	g.alu(asm.Sub, w64, index, g.constant(uint64(a.Base), w64))
	if a.Step != 1 {
		g.aluImm(asm.Div, w64, index, a.Step)
	}
	g.aluImm(asm.Add, w64, index, 1)
	g.jump(done)
	g.place(above)
	g.set(index, uint64(a.Levels+1), w64)
	g.place(done)
	return index
}

// jumpIfSigned jumps if a comparison with a constant of any size holds.
func (g *generator) jumpIfSigned(op asm.JumpOp, r reg, v int64, to label) {
	if v == int64(int32(v)) {
		g.jumpIfImm(op, w64, r, v, to)
		return
	}
	g.jumpIf(op, w64, r, g.constant(uint64(v), w64), to)
}

// logLinear is the bucket of a value in llquantize: a comparison for each
// magnitude, and a division within it.
func (g *generator) logLinear(a *aggregation, value reg) reg {
	done := g.newLabel()
	buckets := aggregate.Buckets(a.Agg)
	index := g.constant(0, w64)
	g.jumpIfSigned(asm.JSLT, value, buckets[0].Value, done)
	for first := 1; first < len(buckets)-1; {
		step := buckets[first+1].Value - buckets[first].Value
		last := first
		for last+1 < len(buckets) && last < len(buckets)-1 && buckets[last+1].Value-buckets[last].Value == step {
			last++
		}
		next := g.newLabel()
		g.jumpIfSigned(asm.JSGE, value, buckets[last].Value, next)
		g.move(index, value, w64)
		g.alu(asm.Sub, w64, index, g.constant(uint64(buckets[first].Value), w64))
		g.alu(asm.Div, w64, index, g.constant(uint64(step), w64))
		g.aluImm(asm.Add, w64, index, int64(first))
		g.jump(done)
		g.place(next)
		first = last
	}
	g.set(index, uint64(len(buckets)-1), w64)
	g.place(done)
	return index
}
