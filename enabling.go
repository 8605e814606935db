package kinst

import (
	"encoding/binary"

	"kinst/internal/codegen"
	"kinst/internal/dlang/syntax"
	"kinst/internal/dlang/types"
	"kinst/internal/provider"
	"kinst/internal/provider/usersites"
)

// enablings are the probes of each clause of a program.
type enablings struct {
	probes   map[*syntax.Clause][]*provider.Probe
	contexts map[*provider.Context]*types.Context
	chosen   map[*provider.Probe]*provider.Context // where it is not the probe's own
	user     *types.Context                        // of all probes in user processes
	later    map[*syntax.Clause]bool               // those that may get more of them
}

func newEnablings() *enablings {
	return &enablings{
		probes:   make(map[*syntax.Clause][]*provider.Probe),
		contexts: make(map[*provider.Context]*types.Context),
		chosen:   make(map[*provider.Probe]*provider.Context),
		user:     usersites.Context().TypesContext(),
		later:    make(map[*syntax.Clause]bool),
	}
}

// contextsOf returns the kinds of probe that a clause runs on, each once.
func (e *enablings) contextsOf(c *syntax.Clause) []*types.Context {
	var kinds []*types.Context
	seen := make(map[*types.Context]bool)
	for _, p := range e.probes[c] {
		if kind := e.context(e.contextOf(p)); !seen[kind] {
			seen[kind] = true
			kinds = append(kinds, kind)
		}
	}
	if e.later[c] && !seen[e.user] {
		kinds = append(kinds, e.user)
	}
	return kinds
}

// context returns the checker's side of a kind of probe. Those in user processes
// are all the same to it.
func (e *enablings) context(c *provider.Context) *types.Context {
	if c.Hook == provider.HookUprobe {
		return e.user
	}
	if e.contexts[c] == nil {
		e.contexts[c] = c.TypesContext()
	}
	return e.contexts[c]
}

// units puts together the probes that run the same clauses in the same kind
// of program, in the order in which the program names them. A program that
// cannot tell probes apart gets one of them.
func (e *enablings) units(p *types.Program) []*codegen.Unit {
	runs, order := e.runs(p)
	type key struct {
		context *provider.Context
		clauses string
	}
	byKey := make(map[key]*codegen.Unit)
	var units []*codegen.Unit
	first := uint32(0)
	for _, probe := range order {
		k := key{e.contextOf(probe), signature(runs[probe])}
		unit := byKey[k]
		if unit == nil || k.context.Lookup == provider.LookupOne {
			unit = &codegen.Unit{Context: k.context}
			for _, i := range runs[probe] {
				unit.Clauses = append(unit.Clauses, p.Clauses[i])
			}
			byKey[k] = unit
			units = append(units, unit)
		}
		unit.Probes = append(unit.Probes, probe)
	}
	for _, u := range units {
		u.First = first
		first += uint32(len(u.Probes))
	}
	return units
}

// runs returns which clauses of the program each probe runs, by their
// indexes, and the probes in the order in which the program names them.
func (e *enablings) runs(p *types.Program) (map[*provider.Probe][]int, []*provider.Probe) {
	runs := make(map[*provider.Probe][]int)
	var order []*provider.Probe
	for i, c := range p.Clauses {
		for _, probe := range e.probes[c.Syntax] {
			if e.context(e.contextOf(probe)) != c.Context {
				continue
			}
			if runs[probe] == nil {
				order = append(order, probe)
			}
			runs[probe] = append(runs[probe], i)
		}
	}
	return runs, order
}

// signature turns a list of clauses into something that can be compared.
func signature(clauses []int) string {
	var b []byte
	for _, i := range clauses {
		b = binary.AppendUvarint(b, uint64(i))
	}
	return string(b)
}
