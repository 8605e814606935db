package kinst

import (
	"errors"
	"fmt"
	"slices"

	"kinst/internal/dlang/syntax"
	"kinst/internal/provider"
)

// maxTypes is how many kinds of arguments a clause that uses args[] can be
// for: each is a program of its own.
const maxTypes = 512

// argumentsOf returns what an expression or a clause uses of its probe.
func argumentsOf(n syntax.Node) provider.Uses {
	var u provider.Uses
	syntax.Inspect(n, func(x syntax.Expr) {
		id, ok := x.(*syntax.Ident)
		if !ok {
			return
		}
		switch name := id.Name; {
		case name == "args":
			u.Args = true
		case name == "regs":
			u.Registers = true
		case len(name) == 4 && name[:3] == "arg" && '0' <= name[3] && name[3] <= '9':
			u.Numbers |= 1 << (name[3] - '0')
		}
	})
	return u
}

func union(a, b provider.Uses) provider.Uses {
	return provider.Uses{
		Args:      a.Args || b.Args,
		Numbers:   a.Numbers | b.Numbers,
		Registers: a.Registers || b.Registers,
	}
}

// chooseContexts chooses for each probe the context that has what its clauses
// use. A probe that cannot have it is left out, which note is told, unless the
// clause has no other.
func (e *enablings) chooseContexts(files []*syntax.File, note func(string)) error {
	uses := e.uses(files)
	for _, f := range files {
		for _, c := range clauses(f) {
			if err := e.chooseContext(c, uses, note); err != nil {
				return err
			}
		}
	}
	return nil
}

// uses returns what the clauses of each probe use of it. An inline or a
// translator may stand in any clause.
func (e *enablings) uses(files []*syntax.File) map[*provider.Probe]provider.Uses {
	var everywhere provider.Uses
	for _, f := range files {
		for _, d := range f.Decls {
			if _, ok := d.(*syntax.Clause); !ok {
				everywhere = union(everywhere, argumentsOf(d))
			}
		}
	}
	uses := make(map[*provider.Probe]provider.Uses)
	for _, f := range files {
		for _, c := range clauses(f) {
			here := union(everywhere, argumentsOf(c))
			for _, p := range e.probes[c] {
				if p.ContextFor != nil {
					uses[p] = union(uses[p], here)
				}
			}
		}
	}
	return uses
}

func (e *enablings) chooseContext(c *syntax.Clause, uses map[*provider.Probe]provider.Uses, note func(string)) error {
	kinds := make(map[*provider.Context]bool)
	var list syntax.ErrorList
	var last error
	left := slices.DeleteFunc(slices.Clone(e.probes[c]), func(p *provider.Probe) bool {
		if list != nil || p.ContextFor == nil {
			return false
		}
		context, err := p.ContextFor(uses[p])
		var none *provider.NoMatchError
		switch {
		case errors.As(err, &none):
			last = fmt.Errorf("%s: %s", p.Desc, none.Why)
			note(p.Desc.String() + " is left out: " + none.Why)
			return true
		case err != nil:
			list.Add(c.Pos(), "D_ARGS_TYPE", "the arguments of %s: %v", p.Desc, err)
			return false
		}
		e.chosen[p] = context
		if kinds[context] = true; len(kinds) > maxTypes {
			list.Add(c.Pos(), "D_ARGS_MULTI", "args[ ] may not be referenced because %s matches probes of more than %d kinds of arguments",
				describe(c.Probes[0]), maxTypes)
		}
		return false
	})
	if len(left) == 0 && last != nil {
		list.Add(c.Pos(), "D_PDESC_ZERO", "%v", last)
	}
	e.probes[c] = left
	return list.Err()
}

// contextOf returns the context that a probe's program runs in.
func (e *enablings) contextOf(p *provider.Probe) *provider.Context {
	if c := e.chosen[p]; c != nil {
		return c
	}
	return p.Context
}
