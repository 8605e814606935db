package kinst

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"kinst/internal/dlang/syntax"
	"kinst/internal/provider"
)

// maxTraced bounds how many probes a description that is to be traced may mean:
// each takes a kilobyte here and more in the kernel. To list them is free of it.
const maxTraced = 1 << 18

// match returns the probes that a description means, in the order of the
// providers, each in its provider's order. If more than most are meant, which
// is 0 for any number, a provider whose probes are made on demand refuses.
func (s *Session) match(ctx context.Context, spec *syntax.ProbeSpec, most int) ([]*provider.Probe, error) {
	if spec.ID > 0 {
		return s.matchID(spec.ID)
	}
	d := provider.Desc{Provider: spec.Provider, Module: spec.Module, Function: spec.Function, Name: spec.Name, Most: most}
	var found []*provider.Probe
	var reason *provider.NoMatchError
	if d.Provider == "" {
		d.Provider = soleProvider(spec)
	}
	for _, p := range s.providers {
		probes, why, err := s.matchIn(ctx, p, d)
		if err != nil {
			return nil, err
		}
		if why != nil && (reason == nil || d.Provider != "") {
			reason = why
		}
		found = append(found, probes...)
	}
	if found == nil && reason == nil {
		return nil, s.noMatch(spec)
	}
	if found == nil {
		return nil, reason
	}
	return found, nil
}

// matchIn returns the probes of a provider that a description means. If it means
// none although it names the provider, or if there is no knowing, why says the
// reason.
func (s *Session) matchIn(ctx context.Context, p provider.Provider, d provider.Desc) (found []*provider.Probe, why *provider.NoMatchError, err error) {
	named := d.Provider == p.Name() || provider.Matches(p.Name(), d.Provider)
	if !named && !provider.Matches(d.Provider, p.Name()) {
		return nil, nil, nil
	}
	found, notes, err := p.Match(ctx, d)
	for _, n := range notes {
		s.opts.Note(n)
	}
	switch {
	case errors.Is(err, unix.EACCES): // to a file of tracefs, which root alone may read
		err = explained(err, unix.CAP_DAC_READ_SEARCH)
	case errors.Is(err, fs.ErrPermission):
		err = explained(err, unix.CAP_SYS_ADMIN)
	}
	var none *provider.NoMatchError
	switch {
	case errors.As(err, &none):
		if !named || none.Why == "" {
			none = nil
		}
	case err != nil && named:
		return nil, nil, err
	case err != nil:
		none = &provider.NoMatchError{Why: fmt.Sprintf("the probes of the provider %s are left out: %v", p.Name(), err)}
		s.opts.Note(none.Why)
	}
	for _, probe := range found {
		s.enter(probe, p)
	}
	return found, none, nil
}

// noMatch says why a description matches no probe where no provider does.
func (s *Session) noMatch(spec *syntax.ProbeSpec) error {
	for _, field := range []struct{ is, text string }{{"module", spec.Module}, {"function", spec.Function}} {
		if spec.Provider == "" && s.meansProvider(field.text) {
			return provider.NoMatch("its fields are counted from the right, and so %s is the name of its %s; one with a provider has three colons", field.text, field.is)
		}
	}
	_, isOffset, err := provider.ParseOffset(spec.Name)
	switch {
	case err == nil && isOffset && provider.Matches(spec.Provider, "kinst"):
		return provider.NoMatch("probes of kinst are made on demand: name the provider in full, as in kinst::vfs_read:0")
	case spec.Provider != "" && !s.meansProvider(spec.Provider):
		return provider.NoMatch("there is no provider %s; there are %s, pidPID and NAMEPID, as kinst(1) describes them", spec.Provider, strings.Join(s.plainProviders(), ", "))
	}
	return provider.NoMatch("no provider has such probes; -l lists those that are there, and those of kinst and pid are made on demand, where the provider is named in full, as in kinst::vfs_read:")
}

// meansProvider reports whether a field that is not empty means a provider.
func (s *Session) meansProvider(field string) bool {
	return field != "" && slices.ContainsFunc(s.providers, func(p provider.Provider) bool {
		return provider.Matches(field, p.Name()) || provider.Matches(p.Name(), field)
	})
}

// plainProviders returns the names of the providers that have one name.
func (s *Session) plainProviders() []string {
	return slices.DeleteFunc(s.Providers(), provider.IsGlob)
}

// soleProvider returns the provider of the probes that a name alone can mean
// where only one has such names, so that others need not be asked.
func soleProvider(spec *syntax.ProbeSpec) string {
	switch name := spec.Name; {
	case spec.Module != "" || spec.Function != "":
	case firesOnce(name) && !strings.HasPrefix(name, "tick-"):
		return "dtrace"
	case strings.HasPrefix(name, "tick-"), strings.HasPrefix(name, "profile-"):
		return "profile"
	}
	return ""
}

// numberProbes gives the probes that are there without being asked for the IDs
// that a list of all has, if sources name probes by their IDs: up to those of
// the provider that has the highest of them.
func (s *Session) numberProbes(ctx context.Context, sources []Source) error {
	highest := 0
	for _, src := range sources {
		if src.Kind == IDs {
			highest = max(highest, leadingID(src.Text))
		}
	}
	for _, p := range s.providers {
		if len(s.probes) >= highest {
			return nil
		}
		if _, _, err := s.matchIn(ctx, p, provider.Desc{}); err != nil {
			return err
		}
	}
	return nil
}

// leadingID returns the ID that a source begins with. What is written in any
// other way, such as with a macro variable, may be as high as can be.
func leadingID(text string) int {
	text = strings.TrimSpace(text)
	end := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(text)
	}
	id, err := strconv.Atoi(text[:end])
	if err != nil || strings.HasPrefix(text, "0") {
		return math.MaxInt
	}
	return id
}

func (s *Session) matchID(id int) ([]*provider.Probe, error) {
	if id > len(s.probes) {
		return nil, provider.NoMatch("there is no probe with the ID %d", id)
	}
	return s.probes[id-1 : id], nil
}

// enter gives a probe its ID.
func (s *Session) enter(p *provider.Probe, owner provider.Provider) {
	if _, ok := s.known[p]; !ok {
		s.probes = append(s.probes, p)
		s.known[p] = known{len(s.probes), owner}
	}
}

// A Probe is one that exists, with its ID.
type Probe struct {
	ID                               int
	Provider, Module, Function, Name string
}

func (s *Session) probe(p *provider.Probe) Probe {
	return Probe{s.known[p].id, p.Provider, p.Module, p.Function, p.Name}
}

// List returns the probes that sources name, or all that are there without
// being asked for. Sources with predicates or actions are checked too.
// Unmatched says which descriptions match none, and why.
func (s *Session) List(ctx context.Context, sources ...Source) (probes []Probe, unmatched []error, err error) {
	s.listing = true
	if len(sources) == 0 {
		sources = []Source{{Kind: Names, Text: ":::"}}
	}
	if err := s.numberProbes(ctx, sources); err != nil {
		return nil, nil, err
	}
	for _, src := range sources {
		file, err := s.parse(src)
		if err != nil {
			return nil, nil, err
		}
		if err := s.checkListed(ctx, src, file); err != nil {
			return nil, nil, err
		}
		for _, c := range clauses(file) {
			for _, spec := range c.Probes {
				found, err := s.match(ctx, spec, 0)
				if ctx.Err() != nil {
					return nil, nil, ctx.Err()
				}
				if err != nil {
					unmatched = append(unmatched, unmatchedError(spec, err))
				}
				for _, p := range found {
					probes = append(probes, s.probe(p))
				}
			}
		}
	}
	return probes, unmatched, nil
}

// unmatchedError says that a description matches nothing. It is named once.
func unmatchedError(spec *syntax.ProbeSpec, err error) error {
	if strings.HasPrefix(err.Error(), describe(spec)) {
		return fmt.Errorf("failed to match %w", err)
	}
	return fmt.Errorf("failed to match %s: %w", describe(spec), err)
}

// checkListed checks a source that has more than descriptions of probes.
func (s *Session) checkListed(ctx context.Context, src Source, file *syntax.File) error {
	all := clauses(file)
	bare := len(all) == len(file.Decls) && !slices.ContainsFunc(all, func(c *syntax.Clause) bool {
		return c.Predicate != nil || len(c.Body) > 0
	})
	if bare {
		return nil
	}
	zdefs := s.settings.Zdefs
	s.settings.Zdefs = true
	defer func() { s.settings.Zdefs = zdefs }()
	_, err := s.check(ctx, []Source{src})
	return err
}

// refuse explains why a description of a source matches no probe.
func (s *Session) refuse(src Source, spec *syntax.ProbeSpec, err error) error {
	msg := err.Error()
	if none := (*provider.NoMatchError)(nil); errors.As(err, &none) {
		msg = fmt.Sprintf("probe description %s does not match any probes", describe(spec))
		if none.Why != "" {
			msg += ": " + none.Why
		}
	}
	var list syntax.ErrorList
	list.Add(spec.At, "D_PDESC_ZERO", "%s", msg)
	return s.compileError(src, list)
}

func clauses(f *syntax.File) []*syntax.Clause {
	var cs []*syntax.Clause
	for _, d := range f.Decls {
		if c, ok := d.(*syntax.Clause); ok {
			cs = append(cs, c)
		}
	}
	return cs
}

// describe writes a description with all its fields.
func describe(spec *syntax.ProbeSpec) string {
	if spec.ID > 0 {
		return strconv.Itoa(spec.ID)
	}
	return fmt.Sprintf("%s:%s:%s:%s", spec.Provider, spec.Module, spec.Function, spec.Name)
}
