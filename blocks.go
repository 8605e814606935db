package kinst

import (
	"fmt"
	"slices"

	"kinst/internal/codegen"
	"kinst/internal/dlang/types"
	"kinst/internal/provider"
	"kinst/internal/record"
)

// Counting executions per instruction needs no probe on each instruction: of
// those that are executed equally often one will do, and none where others are
// executed as often together (kernel.Listing.Frequencies says which they are).
// That is so if all that the clauses do is to count by what describes the probe,
// under predicates that cannot change from one instruction to the next.

// markCounts marks the units of which nothing but counts is asked, unless every
// probe is to be armed.
func (s *Session) markCounts(units []*codegen.Unit) {
	for _, u := range units {
		u.Counts = s.settings.Sites != "all" && s.isKinst(u) && countsOnly(u)
	}
}

func (s *Session) isKinst(u *codegen.Unit) bool { return s.known[u.Probes[0]].owner.Name() == "kinst" }

// chooseSites decides for each unit of a compiled program whether counts are all
// that is asked of it, as the option sites says.
func (s *Session) chooseSites(p *Program) error {
	p.counting = make([]*provider.Counting, len(p.units))
	for i, u := range p.units {
		if !u.Counts || !keepsCounts(u, p.code.Layout) {
			if s.settings.Sites == "blocks" && s.isKinst(u) {
				return fmt.Errorf("option sites=blocks: the clauses of %s do more than count executions by probe; leave the option out", u.Probes[0].Desc)
			}
			continue
		}
		if same := slices.IndexFunc(p.units[:i], func(v *codegen.Unit) bool { return sameClauses(u, v) }); same >= 0 {
			p.counting[i] = p.counting[same]
			continue
		}
		p.counting[i] = &provider.Counting{Thread: slices.ContainsFunc(u.Clauses, func(c *types.Clause) bool { return asksThread(c.Predicate) })}
	}
	return nil
}

// sameClauses reports whether units do the same, at probes of different kinds.
func sameClauses(u, v *codegen.Unit) bool {
	return slices.EqualFunc(u.Clauses, v.Clauses, func(a, b *types.Clause) bool { return a.Syntax == b.Syntax })
}

// countsOnly reports whether all that the clauses of a unit do is to count how
// often each probe fires.
func countsOnly(u *codegen.Unit) bool {
	for _, c := range u.Clauses {
		if c.Default || c.Predicate != nil && !isSteady(c.Predicate) {
			return false
		}
		for _, stmt := range c.Body {
			agg, ok := stmt.(*types.Aggregate)
			if !ok || agg.Agg.Func != record.Count {
				return false
			}
		}
	}
	return true
}

// keepsCounts reports whether the aggregations of such a unit have a count for
// each of its probes.
func keepsCounts(u *codegen.Unit, layout *record.Layout) bool {
	for _, c := range u.Clauses {
		for _, stmt := range c.Body {
			agg := layout.Aggs[stmt.(*types.Aggregate).Agg.Index]
			if !agg.BySite || u.First < agg.FirstProbe || u.First+uint32(len(u.Probes)) > agg.FirstProbe+agg.Sites {
				return false
			}
		}
	}
	return true
}

// ofThread are the built-in variables that stay the same while a thread executes
// instructions, unless one of them changes what the kernel knows of the thread.
var ofThread = []string{"pid", "tid", "ppid", "uid", "gid", "execname"}

// ofFunction are the built-in variables that are the same for all instructions
// of a function.
var ofFunction = []string{"probeprov", "probemod", "probefunc"}

// isSteady reports whether an expression has the same value at instructions
// that are executed one behind the other, but for what asksThread tells.
func isSteady(x types.Expr) bool {
	return all(x, func(name string) bool { return slices.Contains(ofThread, name) || slices.Contains(ofFunction, name) })
}

// asksThread reports whether a steady expression, or nil, asks who the thread is.
func asksThread(x types.Expr) bool {
	return x != nil && !all(x, func(name string) bool { return slices.Contains(ofFunction, name) })
}

// all reports whether an expression is made of constants and of built-in
// variables of which isOne holds.
func all(x types.Expr, isOne func(name string) bool) bool {
	switch x := x.(type) {
	case *types.Const, *types.Str:
		return true
	case *types.BuiltinRef:
		return isOne(x.Builtin.Name)
	case *types.Unary:
		return all(x.X, isOne)
	case *types.Convert:
		return all(x.X, isOne)
	case *types.Binary:
		return all(x.X, isOne) && all(x.Y, isOne)
	case *types.Logic:
		return all(x.X, isOne) && all(x.Y, isOne)
	}
	return false
}

// substitute tells the reader of the aggregations which probes' counts stand
// for those of which.
func (s *Session) substitute(standIns map[*provider.Probe][]*provider.Probe) {
	if len(standIns) == 0 {
		return
	}
	index := make(map[*provider.Probe]uint32)
	for _, u := range s.program.units {
		for i, p := range u.Probes {
			index[p] = u.First + uint32(i)
		}
	}
	for i, agg := range s.program.code.Layout.Aggs {
		if !agg.BySite || s.loaded.Aggs[i] == nil {
			continue
		}
		if agg.StandIns == nil {
			agg.StandIns = make([][]uint32, agg.Sites)
			for site := range agg.StandIns {
				agg.StandIns[site] = []uint32{uint32(site)}
			}
		}
		for probe, counters := range standIns {
			site := index[probe] - agg.FirstProbe
			if site >= agg.Sites {
				continue
			}
			agg.StandIns[site] = nil
			for _, counter := range counters {
				agg.StandIns[site] = append(agg.StandIns[site], index[counter]-agg.FirstProbe)
			}
		}
	}
}
