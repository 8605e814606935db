package kinst

import (
	"context"
	"errors"
	"fmt"

	"kinst/internal/codegen"
	"kinst/internal/dlang/syntax"
	"kinst/internal/dlang/types"
	"kinst/internal/provider"
)

// A Program is D that has been compiled.
type Program struct {
	units   []*codegen.Unit
	code    *codegen.Program
	matched [][]*provider.Probe // by source

	countsOnly []bool // by unit: to count is all that its clauses do
}

// Matched returns how many probes a source names, counted from 0, once for
// each clause that names it. After Start, those that the kernel refused are
// not among them.
func (p *Program) Matched(source int) int { return len(p.matched[source]) }

// Compile compiles sources, which form one program in their order. An error
// in the D is a *CompileError.
func (s *Session) Compile(ctx context.Context, sources ...Source) (*Program, error) {
	p := &Program{matched: make([][]*provider.Probe, len(sources))}
	e := newEnablings()
	var files []*syntax.File
	for i, src := range sources {
		file, err := s.parse(src)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
		for _, c := range clauses(file) {
			found, err := s.matchClause(ctx, src, c)
			if err != nil {
				return nil, err
			}
			e.probes[c] = found
			p.matched[i] = append(p.matched[i], found...)
		}
	}
	if err := e.chooseContexts(files); err != nil {
		return nil, s.blame(sources, files, err)
	}
	checked, err := types.Check(files, s.checkEnv(e))
	if err != nil {
		return nil, s.blame(sources, files, err)
	}
	p.units = e.units(checked)
	p.code, err = codegen.Compile(p.units, s.codegenOptions())
	if err != nil {
		return nil, s.blame(sources, files, err)
	}
	return p, s.chooseSites(p)
}

// parse reads a source and sets the options that its pragmas set.
func (s *Session) parse(src Source) (*syntax.File, error) {
	text := &syntax.Source{Name: src.Name, Text: src.Text}
	s.texts[text] = src
	cfg := &syntax.Config{
		Args:        s.opts.Args,
		IDs:         syntax.ProcessIDs(),
		DefaultArgs: s.settings.Defaultargs,
	}
	if len(s.opts.Processes) > 0 {
		cfg.Target = s.opts.Processes[0].PID
	}
	spec := syntax.ByName
	switch src.Kind {
	case Providers:
		spec = syntax.ByProvider
	case Modules:
		spec = syntax.ByModule
	case Functions:
		spec = syntax.ByFunction
	}
	var file *syntax.File
	var err error
	if src.Kind == Script || src.Kind == Names {
		file, err = syntax.Parse(text, cfg)
	} else {
		file, err = syntax.ParseProbeSpec(text, spec, cfg)
	}
	if err != nil {
		return nil, s.compileError(src, err)
	}
	for _, pragma := range file.Pragmas {
		if pragma.Kind != "option" {
			continue
		}
		for _, arg := range pragma.Args {
			if err := s.settings.Set(arg); err != nil {
				var list syntax.ErrorList
				list.Add(pragma.At, "D_PRAGMA_OPTSET", "%v", err)
				return nil, s.compileError(src, list)
			}
		}
	}
	return file, nil
}

// matchClause returns the probes of a clause, each once, in the order of its
// descriptions.
func (s *Session) matchClause(ctx context.Context, src Source, c *syntax.Clause) ([]*provider.Probe, error) {
	var probes []*provider.Probe
	seen := make(map[*provider.Probe]bool)
	for _, spec := range c.Probes {
		found, err := s.match(ctx, spec)
		if err != nil {
			var none *provider.NoMatchError
			if errors.As(err, &none) && s.settings.Zdefs {
				continue
			}
			return nil, s.refuse(src, spec, err)
		}
		for _, p := range found {
			if !seen[p] {
				seen[p] = true
				probes = append(probes, p)
			}
		}
	}
	return probes, nil
}

// compileError ties errors to their source.
func (s *Session) compileError(src Source, err error) error {
	var list syntax.ErrorList
	if !errors.As(err, &list) {
		return err
	}
	return &CompileError{Source: src, Errors: list, tags: s.settings.Errtags}
}

// blame ties the errors of a whole program to the source of the first.
func (s *Session) blame(sources []Source, files []*syntax.File, err error) error {
	var list syntax.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		return err
	}
	src, ok := s.texts[list[0].Pos.Source]
	if !ok {
		src = sources[0]
	}
	return s.compileError(src, list)
}

// checkEnv is what a program is checked against.
func (s *Session) checkEnv(e *enablings) *types.Env {
	set := s.settings
	return &types.Env{
		Contexts: e.contextsOf,
		Arch:     s.arch,
		BTF:      s.kernel.ModuleBTF,
		Symbol:   s.symbol,

		Strsize:       int(set.Strsize),
		Stackframes:   int(set.Stackframes),
		Ustackframes:  int(set.Ustackframes),
		Jstackframes:  int(set.Jstackframes),
		Jstackstrsize: int(set.Jstackstrsize),
		Destructive:   set.Destructive,
	}
}

// symbol finds a symbol of the kernel for `name and module`name.
func (s *Session) symbol(module, name string) (uint64, error) {
	syms, err := s.kernel.Symbols()
	if err != nil {
		return 0, err
	}
	for _, sym := range syms.Lookup(name) {
		if module == "" || module == sym.Module {
			return sym.Addr, nil
		}
	}
	if module != "" {
		name = module + "`" + name
	}
	return 0, fmt.Errorf("the kernel has no symbol %s", name)
}

func (s *Session) codegenOptions() codegen.Options {
	set := s.settings
	return codegen.Options{
		Arch:       s.arch,
		Strsize:    int(set.Strsize),
		ID:         func(p *provider.Probe) uint32 { return uint32(s.known[p].id) },
		Bufsize:    int(set.Bufsize),
		Aggsize:    int(set.Aggsize),
		Dynvarsize: int(set.Dynvarsize),
		Nspec:      int(set.Nspec),
	}
}
