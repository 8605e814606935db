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
// those that are executed equally often one will do (kernel.Listing.Runs says
// which they are). That is so if all that the clauses do is to count by what
// describes the probe, under predicates that cannot change from one
// instruction to the next.

// chooseSites decides for each unit whether counts are all that is asked of
// it, as the option sites says.
func (s *Session) chooseSites(p *Program) error {
	p.countsOnly = make([]bool, len(p.units))
	if s.settings.Sites == "all" {
		return nil
	}
	for i, u := range p.units {
		p.countsOnly[i] = countsOnly(u, p.code.Layout)
		if s.settings.Sites == "blocks" && !p.countsOnly[i] && s.known[u.Probes[0]].owner.Name() == "kinst" {
			return fmt.Errorf("option sites=blocks: the clauses of %s do more than count executions by probe; leave the option out", u.Probes[0].Desc)
		}
	}
	return nil
}

// countsOnly reports whether all that the clauses of a unit do is to count how
// often each probe fires.
func countsOnly(u *codegen.Unit, layout *record.Layout) bool {
	for _, c := range u.Clauses {
		if c.Default || c.Predicate != nil && !isSteady(c.Predicate) {
			return false
		}
		for _, stmt := range c.Body {
			agg, ok := stmt.(*types.Aggregate)
			if !ok || agg.Agg.Func != record.Count || !layout.Aggs[agg.Agg.Index].BySite {
				return false
			}
		}
	}
	return true
}

// steady are the built-in variables that stay the same while a thread executes
// instructions that are executed equally often.
var steady = []string{"pid", "tid", "ppid", "uid", "gid", "execname", "probeprov", "probemod", "probefunc"}

// isSteady reports whether an expression has the same value at every
// instruction of a run.
func isSteady(x types.Expr) bool {
	switch x := x.(type) {
	case *types.Const, *types.Str:
		return true
	case *types.BuiltinRef:
		return slices.Contains(steady, x.Builtin.Name)
	case *types.Unary:
		return isSteady(x.X)
	case *types.Convert:
		return isSteady(x.X)
	case *types.Binary:
		return isSteady(x.X) && isSteady(x.Y)
	case *types.Logic:
		return isSteady(x.X) && isSteady(x.Y)
	}
	return false
}

// substitute tells the reader of the aggregations which probes' counts stand
// for which.
func (s *Session) substitute(standIns map[*provider.Probe]*provider.Probe) {
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
		sites := s.loaded.Aggs[i].MaxEntries()
		if agg.StandIns == nil {
			agg.StandIns = make([]uint32, sites)
			for site := range agg.StandIns {
				agg.StandIns[site] = uint32(site)
			}
		}
		for probe, standIn := range standIns {
			site := index[probe] - agg.FirstProbe
			if site < sites && index[standIn]-agg.FirstProbe < sites {
				agg.StandIns[site] = index[standIn] - agg.FirstProbe
			}
		}
	}
}
