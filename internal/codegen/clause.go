package codegen

import (
	"github.com/cilium/ebpf/asm"

	"kinst/internal/dlang/types"
	"kinst/internal/provider"
	"kinst/internal/record"
)

// A clause is a clause of D as it is being written. Its actions between two
// ifs form a segment, with a record of its own, as in DTrace, where an if
// splits a clause into several.
type clause struct {
	*types.Clause
	number int            // in the unit
	home   *record.Clause // of the first segment
	end    label

	// A fault sets what (action<<32 | fault) and value, and goes to stopped.
	stopped     label
	faulted     bool
	what, value reg
	action      int // that is being written, 0 for the predicate

	speculation reg // of the speculate() that holds for what follows, or noReg
}

// writeClause writes clause n of the unit. A fault in it ends it, and the next
// clause goes on.
func (g *generator) writeClause(n int, c *types.Clause) {
	g.clause = &clause{Clause: c, number: n, end: g.newLabel(), stopped: g.newLabel(), what: g.newReg(), value: g.newReg()}
	g.clause.home = g.addRecord()
	used := g.scratchUsed
	g.pos = c.Syntax.Pos()
	g.scope(func() {
		if c.Predicate != nil {
			g.branch(c.Predicate, false, g.clause.end)
		}
		if c.Default {
			g.segment([]types.Stmt{&types.Action{At: c.Syntax.Pos(), Name: "default", Number: 1}})
		}
		g.block(c.Body)
		g.tail()
	})
	g.place(g.clause.end)
	g.clause = nil
	g.heapEnd = 0
	g.scratchUsed = used
}

// addRecord adds a clause to the layout.
func (g *generator) addRecord() *record.Clause {
	r := &record.Clause{Index: len(g.layout.Clauses), Source: g.clause.Source, Size: record.HeaderSize}
	g.layout.Clauses = append(g.layout.Clauses, r)
	return r
}

// tail writes what happens after a fault.
func (g *generator) tail() {
	c := g.clause
	if !c.faulted {
		return
	}
	g.jump(c.end)
	g.place(c.stopped)
	g.scope(func() {
		where := g.constant(uint64(c.home.Index)<<32, w64)
		if g.oneProbe() {
			g.set(where, uint64(c.home.Index)<<32|uint64(g.unit.First), w64)
		} else {
			g.alu(asm.Or, w64, where, g.get(resIndex))
		}
		g.callSub(g.sub("fault", buildFault), where, c.what, c.value)
	})
}

// fault ends the clause. The code behind it must be reached by another way.
func (g *generator) fault(f record.Fault, value reg) {
	c := g.clause
	c.faulted = true
	g.set(c.what, uint64(c.action)<<32|uint64(f), w64)
	if value == noReg {
		g.set(c.value, 0, w64)
	} else {
		g.move(c.value, value, w64)
	}
	g.jump(c.stopped)
}

// block writes statements, the stretches between ifs as segments.
func (g *generator) block(list []types.Stmt) {
	first := 0
	for n, s := range list {
		if s, ok := s.(*types.If); ok {
			g.segment(list[first:n])
			g.mayCut()
			g.ifElse(s)
			first = n + 1
		}
	}
	g.segment(list[first:])
}

func (g *generator) ifElse(s *types.If) {
	g.pos = s.At
	g.clause.action = s.Number
	speculation := g.clause.speculation
	otherwise, end := g.newLabel(), g.newLabel()
	g.branch(s.Cond, false, otherwise)
	g.nesting++
	g.scope(func() { g.block(s.Then) })
	g.clause.speculation = speculation
	if len(s.Else) > 0 {
		g.jump(end)
	}
	g.place(otherwise)
	g.scope(func() { g.block(s.Else) })
	g.place(end)
	g.nesting--
	g.clause.speculation = speculation
}

// segment writes statements that share a record, and sends it.
func (g *generator) segment(list []types.Stmt) {
	if len(list) == 0 {
		return
	}
	g.memory(func() {
		s := g.layoutSegment(list)
		if s.Records {
			g.header(s)
		}
		g.open = s
		for _, st := range list {
			g.mayCut()
			g.statement(s, st)
		}
		g.open = nil
		if s.Records {
			g.send(s)
		}
		if s.exits != noReg {
			g.jumpIfImm(asm.JNE, w64, s.exits, int64(Draining), g.exitTo)
		}
	})
}

// A segment is a record that is being built.
type segment struct {
	*record.Clause
	region
	actions map[types.Stmt]*record.Action
	// speculation is where a speculation is recorded that an earlier segment
	// began.
	speculation record.Field
	exits       reg // the state before exit() was called in it, or noReg
}

// header writes a record's header, and clears what no field covers.
func (g *generator) header(s *segment) {
	g.store(s.base, s.off+record.TimeOffset, g.get(resTime), 8)
	g.storeImm(s.base, s.off+record.ClauseOffset, int64(s.Index), 4)
	g.putIndex(s.at(record.ProbeOffset))
	if s.base == fp {
		g.zero(s.at(record.HeaderSize))
	}
	if g.clause.speculation != noReg {
		g.store(s.base, s.off+s.speculation.Offset, g.clause.speculation, 4)
	}
}

// putIndex writes the index of the probe that fired.
func (g *generator) putIndex(to region) {
	if g.oneProbe() {
		g.storeImm(to.base, to.off, int64(g.unit.First), 4)
		return
	}
	g.store(to.base, to.off, g.get(resIndex), 4)
}

// oneProbe reports whether the program can fire for one probe only. Programs
// on user processes and those that go by a key must look.
func (g *generator) oneProbe() bool {
	c := g.unit.Context
	return len(g.unit.Probes) == 1 && c.Hook != provider.HookUprobe && c.Lookup != provider.LookupKey
}

// send hands the record to user space.
func (g *generator) send(s *segment) {
	g.callSub(g.sub("send", buildSend), g.addr(s.region), g.constant(uint64(s.Size), w64))
}

// layoutSegment places the fields of the actions in a record.
func (g *generator) layoutSegment(list []types.Stmt) *segment {
	s := &segment{actions: make(map[types.Stmt]*record.Action)}
	s.Clause = g.clause.home
	if s.Records || len(s.Actions) > 0 {
		s.Clause = g.addRecord()
	}
	b := recordBuilder{g: g, size: record.HeaderSize}
	if g.clause.speculation != noReg {
		s.speculation = b.field(types.TypeInt.Record(), 4)
		s.Actions = append(s.Actions, &record.Action{Kind: record.Speculate, Fields: []record.Field{s.speculation}})
	}
	for _, st := range list {
		a, ok := st.(*types.Action)
		if !ok {
			continue
		}
		if r := g.layoutAction(a, &b); r != nil {
			s.actions[st] = r
			s.Actions = append(s.Actions, r)
			s.Records = true
		}
	}
	s.Size = b.size
	if s.Records {
		s.region = g.lasting(s.Size)
	}
	return s
}

// A recordBuilder places fields one behind the other.
type recordBuilder struct {
	g    *generator
	size int
}

// field adds a field of a type, aligned as far as it helps to write it.
func (b *recordBuilder) field(t *record.Type, size int) record.Field {
	align := 8
	for align > size && align > 1 {
		align /= 2
	}
	b.size = (b.size + align - 1) &^ (align - 1)
	f := record.Field{Offset: b.size, Type: t}
	b.size += size
	return f
}

// expr adds a field for the value of an expression.
func (b *recordBuilder) expr(x types.Expr) record.Field {
	t, size := b.g.fieldType(x)
	return b.field(t, size)
}

// probeKinds is the built-in variables that are fields of the probe's
// description. They are recorded as the probe's index.
var probeKinds = map[types.BuiltinID]record.Kind{
	types.ProbeProv: record.ProbeProvider,
	types.ProbeMod:  record.ProbeModule,
	types.ProbeFunc: record.ProbeFunction,
	types.ProbeName: record.ProbeName,
}

// probeField reports whether x is a field of the probe's description.
func probeField(x types.Expr) (record.Kind, bool) {
	b, ok := x.(*types.BuiltinRef)
	if !ok {
		return 0, false
	}
	k, ok := probeKinds[b.Builtin.ID]
	return k, ok
}

// fieldType is how the value of an expression is recorded, and in how many
// bytes.
func (g *compiler) fieldType(x types.Expr) (*record.Type, int) {
	if k, ok := probeField(x); ok {
		return &record.Type{Kind: k, Size: g.opts.Strsize, Name: "string"}, 4
	}
	t := x.Type().Record()
	if x.Type().IsString() {
		t.Size = g.capacity(x)
	}
	return t, t.Size
}
