package codegen

import (
	"fmt"

	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"kinst/internal/dlang/types"
	"kinst/internal/record"
)

// actionKinds is the actions that are in the record.
var actionKinds = map[string]record.ActionKind{
	"default": record.Default,
	"trace":   record.Trace, "tracemem": record.Tracemem, "print": record.Print,
	"printf": record.Printf, "printa": record.Printa,
	"stack": record.Stack, "ustack": record.UStack, "jstack": record.UStack,
	"sym": record.Symbol, "func": record.Symbol, "mod": record.Symbol,
	"usym": record.Symbol, "ufunc": record.Symbol, "umod": record.Symbol, "uaddr": record.Symbol,
	"exit": record.Exit, "system": record.System, "freopen": record.Freopen, "ftruncate": record.Ftruncate,
	"clear": record.Clear, "trunc": record.Trunc, "normalize": record.Normalize, "denormalize": record.Denormalize,
	"setopt": record.Setopt, "panic": record.System, "breakpoint": record.System,
	"speculate": record.Speculate, "commit": record.Commit, "discard": record.Discard,
}

// sysrq is the commands by which user space does what BPF programs cannot.
var sysrq = map[string]string{
	"panic":      "echo c >/proc/sysrq-trigger",
	"breakpoint": "echo g >/proc/sysrq-trigger",
}

// layoutAction adds the fields of an action; it returns nil for an action that
// leaves nothing in the record.
func (g *generator) layoutAction(a *types.Action, b *recordBuilder) *record.Action {
	kind, ok := actionKinds[a.Name]
	if !ok {
		return nil
	}
	r := &record.Action{Kind: kind, Number: a.Number, Format: a.Format, HasFormat: a.HasFormat}
	switch a.Name {
	case "panic", "breakpoint":
		r.Format, r.HasFormat = sysrq[a.Name], true
	case "tracemem":
		size := int(a.Args[1].(*types.Const).Value)
		r.Fields = append(r.Fields, b.field(&record.Type{Kind: record.Bytes, Size: size, Name: "bytes"}, size))
		for _, dynamic := range a.Args[2:] {
			r.Fields = append(r.Fields, b.expr(dynamic))
		}
	case "trace":
		r.Kind = traceKind(a.Args[0])
		r.Fields = append(r.Fields, b.expr(a.Args[0]))
	default:
		for _, x := range a.Args {
			r.Fields = append(r.Fields, b.expr(x))
		}
	}
	for _, agg := range a.Aggs {
		r.Aggs = append(r.Aggs, agg.Index)
	}
	return r
}

// traceKind is what trace(x) is: stacks and symbols are what they are as
// actions of their own.
func traceKind(x types.Expr) record.ActionKind {
	switch x := x.(type) {
	case *types.StackExpr:
		if x.User {
			return record.UStack
		}
		return record.Stack
	case *types.SymExpr:
		return record.Symbol
	}
	return record.Trace
}

// statement writes a statement of a segment.
func (g *generator) statement(s *segment, st types.Stmt) {
	g.pos = st.Pos()
	g.memory(func() {
		switch st := st.(type) {
		case *types.ExprStmt:
			g.clause.action = st.Number
			g.effect(st.X)
		case *types.Aggregate:
			g.clause.action = st.Number
			g.aggregate(st)
		case *types.Action:
			g.clause.action = st.Number
			g.action(s, st)
		default:
			panic(fmt.Sprintf("codegen: unknown statement %T", st))
		}
	})
}

func (g *generator) action(s *segment, a *types.Action) {
	fields := []record.Field(nil)
	if r := s.actions[a]; r != nil {
		fields = r.Fields
	}
	switch a.Name {
	case "exit":
		g.exitAction(s, a, fields[0])
		return
	case "tracemem":
		g.tracemem(s, a, fields)
		return
	case "speculate":
		id := g.copyOf(g.scalar(a.Args[0]), w32)
		g.inSpeculation(id)
		g.store(s.base, s.off+fields[0].Offset, id, 4)
		g.clause.speculation = id
		g.save(savedSpeculation, id, 4)
		return
	case "commit", "discard":
		id := g.copyOf(g.scalar(a.Args[0]), w32)
		g.endSpeculation(id)
		g.store(s.base, s.off+fields[0].Offset, id, 4)
		return
	case "stop":
		g.call(asm.FnSendSignal, g.constant(uint64(unix.SIGSTOP), w64))
		return
	case "raise":
		g.call(asm.FnSendSignal, g.scalar(a.Args[0]))
		return
	case "chill":
		g.chill(g.scalar(a.Args[0]))
		return
	}
	for i, f := range fields {
		g.record(a.Args[i], s.at(f.Offset), f.Type)
	}
}

// exitAction is exit(status): nothing but END fires any more, and the clauses
// behind this one do not run.
func (g *generator) exitAction(s *segment, a *types.Action, f record.Field) {
	status := g.scalar(a.Args[0])
	g.store(s.base, s.off+f.Offset, status, 4)
	base := g.get(resGlobals)
	s.exits = g.newReg()
	g.load(s.exits, base, stateOffset, 4)
	g.save(savedExits, s.exits, 4)
	g.store(base, statusOffset, status, 4)
	g.storeImm(base, exitedOffset, 1, 4)
	g.storeImm(base, stateOffset, int64(Draining), 4)
}

// tracemem copies memory of the kernel.
func (g *generator) tracemem(s *segment, a *types.Action, fields []record.Field) {
	addr := g.scalar(a.Args[0])
	g.readKernel(s.at(fields[0].Offset), fields[0].Type.Size, addr)
	for i, f := range fields[1:] {
		g.record(a.Args[2+i], s.at(f.Offset), f.Type)
	}
}

// record writes the value of an expression into a record or key.
func (g *generator) record(x types.Expr, to region, t *record.Type) {
	switch t.Kind {
	case record.ProbeProvider, record.ProbeModule, record.ProbeFunction, record.ProbeName:
		g.putIndex(to)
	case record.String:
		g.stringInto(x, region{to.base, to.off, t.Size})
	case record.Struct, record.Array, record.Bytes, record.Float:
		g.copyObject(x, region{to.base, to.off, t.Size})
	case record.KernelStack, record.UserStack:
		g.stackInto(x.(*types.StackExpr), to)
	case record.KernelSymbol, record.KernelFunc, record.KernelModule:
		g.store(to.base, to.off, g.scalar(x.(*types.SymExpr).X), 8)
	case record.UserSymbol, record.UserFunc, record.UserModule, record.UserAddress:
		g.processInto(to)
		g.store(to.base, to.off+8, g.scalar(x.(*types.SymExpr).X), 8)
	default:
		g.scalarInto(x, to, t.Size)
	}
}

// scalarInto writes a number.
func (g *generator) scalarInto(x types.Expr, to region, size int) {
	if k, ok := x.(*types.Const); ok && (size < 8 || int64(k.Value) == int64(int32(k.Value))) {
		g.storeImm(to.base, to.off, int64(int32(k.Value)), size)
		return
	}
	g.store(to.base, to.off, g.scalar(x), size)
}

// processInto writes the process that a user address belongs to.
func (g *generator) processInto(to region) {
	pid := g.copyOf(g.get(resPidTgid), w64)
	g.aluImm(asm.RSh, w64, pid, 32)
	g.store(to.base, to.off, pid, 8)
}

// stackInto writes the addresses of a stack, 0 behind the last.
func (g *generator) stackInto(x *types.StackExpr, to region) {
	if x.User {
		g.processInto(to)
		to = to.at(8)
	}
	to.size = 8 * x.Frames
	g.zero(to)
	g.getStack(to, x.User)
}
