package kinst

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cilium/ebpf/btf"

	"kinst/internal/codegen"
	"kinst/internal/dlang/syntax"
	"kinst/internal/dlang/types"
	"kinst/internal/provider"
)

// A Program is D that has been compiled.
type Program struct {
	units   []*codegen.Unit
	code    *codegen.Program
	files   []*syntax.File      // by source
	matched [][]*provider.Probe // by source
	front   *front

	counting []*provider.Counting // by unit: nil where its clauses do more than count
}

// Matched returns how many probes a source names, counted from 0, once for
// each clause that names it. After Start, those that the kernel refused are
// not among them.
func (p *Program) Matched(source int) int { return len(p.matched[source]) }

// Listing writes the program's BPF, each stretch of it below the line of D
// that it is for.
func (p *Program) Listing(w io.Writer) error { return p.code.Listing(w) }

// Compile compiles sources, which form one program in their order. An error
// in the D is a *CompileError.
func (s *Session) Compile(ctx context.Context, sources ...Source) (*Program, error) {
	f, err := s.check(ctx, sources)
	if err != nil {
		return nil, err
	}
	units := f.enablings.units(f.checked)
	s.markCounts(units)
	code, err := codegen.Compile(slices.Concat(units, f.laterUnits()), s.codegenOptions())
	if err != nil {
		return nil, s.blame(f, err)
	}
	p := &Program{units: units, code: code, matched: f.matched, files: f.files[len(f.files)-len(sources):], front: f}
	return p, s.chooseSites(p)
}

// A front is a program between its text and its code.
type front struct {
	sources   []Source
	files     []*syntax.File // of the libraries, then of the sources
	enablings *enablings
	matched   [][]*provider.Probe // by source
	checked   *types.Program
}

// check parses sources, finds the probes that they name and checks the whole.
func (s *Session) check(ctx context.Context, sources []Source) (*front, error) {
	f := &front{sources: sources, enablings: newEnablings(), matched: make([][]*provider.Probe, len(sources))}
	var err error
	if f.files, err = s.libraries(); err != nil {
		return nil, err
	}
	if err := s.numberProbes(ctx, sources); err != nil {
		return nil, err
	}
	if err := s.checkCPU(); err != nil {
		return nil, err
	}
	for _, src := range sources {
		file, err := s.parse(src)
		if err != nil {
			return nil, err
		}
		s.restrictCPU(file)
		f.files = append(f.files, file)
		for _, c := range clauses(file) {
			f.enablings.later[c] = s.followClause(c)
			found, err := s.matchClause(ctx, src, c)
			if err != nil {
				return nil, err
			}
			f.enablings.probes[c] = found
		}
	}
	if err := f.enablings.chooseContexts(f.files, s.opts.Note); err != nil {
		return nil, s.blame(f, err)
	}
	for i, file := range f.files[len(f.files)-len(sources):] {
		for _, c := range clauses(file) {
			f.matched[i] = append(f.matched[i], f.enablings.probes[c]...)
		}
	}
	if f.checked, err = types.Check(f.files, s.checkEnv(f.enablings)); err != nil {
		return nil, s.blame(f, err)
	}
	return f, nil
}

// Rewrite writes a source as the D that the compiler makes of it, where if
// statements have become clauses.
func (s *Session) Rewrite(w io.Writer, src Source) error {
	file, err := s.parse(src)
	if err != nil {
		return err
	}
	return syntax.Fprint(w, syntax.DesugarFile(file))
}

// parse reads a source and sets the options that its pragmas set.
func (s *Session) parse(src Source) (*syntax.File, error) {
	cfg := &syntax.Config{
		Args:   s.opts.Args,
		IDs:    syntax.ProcessIDs(),
		IsType: s.isType,
	}
	if src.Kind == Script && len(cfg.Args) > 0 {
		cfg.Args = append([]string{src.Name}, cfg.Args[1:]...)
	}
	if len(s.opts.Processes) > 0 {
		cfg.Target = s.opts.Processes[0].PID
	}
	text := &syntax.Source{Name: src.Name, Text: src.Text}
	if src.Kind == Script && s.settings.Cpp {
		var err error
		if text.Text, err = s.preprocess(src); err != nil {
			return nil, err
		}
		cfg.Included = func(name string) *syntax.Source { return s.included(src, name) }
	}
	s.texts[text] = src
	s.configure(cfg)
	file, err := parseAs(src.Kind, text, cfg)
	if file != nil {
		if err := s.setPragmas(src, file); err != nil {
			return nil, err
		}
	}
	if err != nil && s.configure(cfg) {
		file, err = parseAs(src.Kind, text, cfg) // as a pragma would have it
	}
	if err != nil {
		return nil, s.compileError(src, err)
	}
	return file, nil
}

func parseAs(kind SourceKind, text *syntax.Source, cfg *syntax.Config) (*syntax.File, error) {
	switch kind {
	case Providers:
		return syntax.ParseProbeSpec(text, syntax.ByProvider, cfg)
	case Modules:
		return syntax.ParseProbeSpec(text, syntax.ByModule, cfg)
	case Functions:
		return syntax.ParseProbeSpec(text, syntax.ByFunction, cfg)
	case IDs:
		return syntax.ParseProbeSpec(text, syntax.ByID, cfg)
	}
	return syntax.Parse(text, cfg)
}

// configure sets what the options have to say to the parser, and reports
// whether that changed anything.
func (s *Session) configure(cfg *syntax.Config) bool {
	type options struct{ defaultArgs, argRef, empty, pspec bool }
	old := options{cfg.DefaultArgs, cfg.ArgRef, cfg.Empty, cfg.PSpec}
	cfg.DefaultArgs = s.settings.Defaultargs
	cfg.ArgRef = s.settings.Argref
	cfg.Empty = s.settings.Empty
	cfg.PSpec = s.settings.Pspec
	return old != options{cfg.DefaultArgs, cfg.ArgRef, cfg.Empty, cfg.PSpec}
}

// setPragmas does what a file's pragmas say: it sets options and looks for what
// the file depends on.
func (s *Session) setPragmas(src Source, file *syntax.File) error {
	for _, pragma := range file.Pragmas {
		var err error
		switch pragma.Kind {
		case "option":
			err = s.setPragma(pragma)
		case "depends_on":
			err = s.require(pragma)
		}
		if err != nil {
			return s.compileError(src, err)
		}
	}
	return nil
}

func (s *Session) setPragma(pragma *syntax.Pragma) error {
	for _, arg := range pragma.Args {
		if err := s.settings.setInProgram(arg); err != nil {
			var list syntax.ErrorList
			list.Add(pragma.At, "D_PRAGMA_OPTSET", "%v", err)
			return list
		}
	}
	return nil
}

// isType reports whether the kernel or the library has a type of that name.
func (s *Session) isType(name string) bool {
	if types.IsLibraryType(name) {
		return true
	}
	spec, err := s.kernel.BTF()
	if err != nil {
		return false
	}
	found, err := spec.AnyTypesByName(name)
	return err == nil && slices.ContainsFunc(found, func(t btf.Type) bool {
		switch t.(type) {
		case *btf.Typedef, *btf.Int, *btf.Float:
			return true
		}
		return false
	})
}

// matchClause returns the probes of a clause, each once, in the order of its
// descriptions.
func (s *Session) matchClause(ctx context.Context, src Source, c *syntax.Clause) ([]*provider.Probe, error) {
	var probes []*provider.Probe
	seen := make(map[*provider.Probe]bool)
	for _, spec := range c.Probes {
		found, err := s.match(ctx, spec, maxTraced)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
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
func (s *Session) blame(f *front, err error) error {
	var list syntax.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		return err
	}
	src, ok := s.texts[list[0].Pos.Source]
	if !ok {
		src = f.sources[0]
	}
	return &CompileError{
		Source: src, Errors: list, tags: s.settings.Errtags,
		part: func(pos syntax.Pos) string { return partOf(f.files, pos) },
	}
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
		Bufsize:    int(kernelBufsize(set)),
		Aggsize:    int(set.Aggsize),
		Dynvarsize: int(set.Dynvarsize),
		Nspec:      int(set.Nspec),
	}
}
