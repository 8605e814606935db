package kinst

import (
	"kinst/internal/dlang/syntax"
	"kinst/internal/provider"
)

// maxTypes is how many kinds of arguments a clause that uses args[] can be
// for: each is a program of its own.
const maxTypes = 512

// arguments says which of its probe's arguments a clause uses.
type arguments struct {
	typed    bool // args[]
	numbered bool // arg0 to arg9
}

func (a *arguments) look(x syntax.Expr) {
	id, ok := x.(*syntax.Ident)
	if !ok {
		return
	}
	switch {
	case id.Name == "args":
		a.typed = true
	case len(id.Name) == 4 && id.Name[:3] == "arg" && '0' <= id.Name[3] && id.Name[3] <= '9':
		a.numbered = true
	}
}

// chooseContexts has each probe of which a clause uses more than its context
// tells run in the one that tells it. An inline or a translator may stand in
// any clause.
func (e *enablings) chooseContexts(files []*syntax.File) error {
	var everywhere arguments
	for _, f := range files {
		for _, d := range f.Decls {
			if _, ok := d.(*syntax.Clause); !ok {
				syntax.Inspect(d, everywhere.look)
			}
		}
	}
	for _, f := range files {
		for _, c := range clauses(f) {
			uses := everywhere
			syntax.Inspect(c, uses.look)
			if err := e.chooseContext(c, uses); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *enablings) chooseContext(c *syntax.Clause, uses arguments) error {
	kinds := make(map[*provider.Context]bool)
	for _, p := range e.probes[c] {
		if p.Typed == nil || !uses.typed && !(uses.numbered && p.Context.Unnumbered) {
			continue
		}
		context, err := p.Typed()
		var list syntax.ErrorList
		if err != nil {
			list.Add(c.Pos(), "D_ARGS_TYPE", "the arguments of %s: %v", p.Desc, err)
			return list
		}
		e.chosen[p] = context
		if kinds[context] = true; len(kinds) > maxTypes {
			list.Add(c.Pos(), "D_ARGS_MULTI", "args[ ] may not be referenced because %s matches probes of more than %d kinds of arguments",
				describe(c.Probes[0]), maxTypes)
			return list
		}
	}
	return nil
}

// contextOf returns the context that a probe's program runs in.
func (e *enablings) contextOf(p *provider.Probe) *provider.Context {
	if c := e.chosen[p]; c != nil {
		return c
	}
	return p.Context
}
