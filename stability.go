package kinst

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kinst/internal/dlang/syntax"
	"kinst/internal/provider"
)

// A Stability is how far one can rely on an interface to stay as it is, in
// DTrace's words and in its order.
type Stability int

const (
	Internal Stability = iota
	Private
	Obsolete
	External
	Unstable
	Evolving
	Stable
	Standard
)

func (s Stability) String() string {
	return [...]string{"Internal", "Private", "Obsolete", "External", "Unstable", "Evolving", "Stable", "Standard"}[s]
}

// A Class is what an interface depends on.
type Class int

const (
	Unknown Class = iota
	OnCPU
	OnPlatform
	OnGroup
	OnISA
	Common
)

func (c Class) String() string {
	return [...]string{"Unknown", "CPU", "Platform", "Group", "ISA", "Common"}[c]
}

// Attributes are the stability of an interface: of its names and of what its
// data mean, and what it depends on.
type Attributes struct {
	Names, Data Stability
	Class       Class
}

func (a Attributes) min(b Attributes) Attributes {
	return Attributes{min(a.Names, b.Names), min(a.Data, b.Data), min(a.Class, b.Class)}
}

var (
	stable   = Attributes{Stable, Stable, Common}
	private  = Attributes{Private, Private, Unknown}
	unstable = Attributes{Unstable, Unstable, Common}
)

// providerAttributes are those of a provider's probes by the parts of their
// descriptions, and of their arguments.
type providerAttributes struct {
	provider, module, function, name, args Attributes
}

// attributesOf returns what dtrace(1) says of its providers of these names.
func attributesOf(name string) providerAttributes {
	evolving := Attributes{Evolving, Evolving, Common}
	perISA := Attributes{Evolving, Evolving, OnISA}
	privateISA := Attributes{Private, Private, OnISA}
	switch name {
	case "dtrace":
		return providerAttributes{stable, private, private, stable, stable}
	case "profile":
		return providerAttributes{evolving, Attributes{Unstable, Unstable, Unknown}, private, evolving, evolving}
	case "cpc":
		return providerAttributes{evolving, Attributes{Private, Private, Unknown}, private, Attributes{Evolving, Evolving, OnCPU}, evolving}
	case "io", "proc", "sched":
		return providerAttributes{evolving, private, private, evolving, Attributes{Evolving, Evolving, OnISA}}
	case "kinst", "syscall":
		return providerAttributes{evolving, private, privateISA, evolving, privateISA}
	case "fbt":
		return providerAttributes{perISA, private, privateISA, perISA, privateISA}
	}
	if strings.HasPrefix(name, "pid") {
		return providerAttributes{perISA, private, private, perISA, private}
	}
	return providerAttributes{evolving, private, privateISA, Attributes{Private, Private, OnISA}, privateISA}
}

// describe returns the attributes of a description: of the parts that it has,
// and of a provider that it leaves open nothing that one could rely on.
func (a providerAttributes) describe(d provider.Desc) Attributes {
	all := a.provider
	if d.Provider == "" || provider.IsGlob(d.Provider) {
		all = unstable
	}
	for _, part := range []struct {
		text string
		attr Attributes
	}{{d.Module, a.module}, {d.Function, a.function}, {d.Name, a.name}} {
		if part.text != "" {
			all = all.min(part.attr)
		}
	}
	return all
}

// A Description is what is known of a probe beside its names.
type Description struct {
	Probe, Args Attributes
	ArgTypes    []string // as in D, of args[0], ...
}

// Describe describes a probe of the session. Where the types of its arguments
// cannot be found out, there are none.
func (s *Session) Describe(p Probe) Description {
	desc := provider.Desc{Provider: p.Provider, Module: p.Module, Function: p.Function, Name: p.Name}
	return s.describe(desc, s.probes[p.ID-1])
}

// describe describes what a description means, of which probe is the first.
func (s *Session) describe(desc provider.Desc, probe *provider.Probe) Description {
	attributes := attributesOf(probe.Provider)
	d := Description{Probe: attributes.describe(desc), Args: attributes.args}
	context := probe.Context
	if probe.ContextFor != nil {
		typed, err := probe.ContextFor(provider.Uses{Args: true})
		if err != nil {
			s.opts.Note(fmt.Sprintf("the arguments of %s: %v", probe.Desc, err))
		} else {
			context = typed
		}
	}
	for _, arg := range context.Args {
		d.ArgTypes = append(d.ArgTypes, arg.Type.String())
	}
	return d
}

// A Report is the least stability of what a source uses.
type Report struct {
	Probes     Attributes // of the descriptions of its probes
	Statements Attributes
	Specs      []SpecReport // of each description, once
}

// A SpecReport is what is known of the probes that a description means.
type SpecReport struct {
	Text string
	Description
}

// Report returns what a source of a program relies on. Sources are counted
// from 0.
func (s *Session) Report(ctx context.Context, p *Program, source int) Report {
	r := Report{Probes: stable, Statements: stable}
	for _, c := range clauses(p.files[source]) {
		uses := usesOf(c)
		for _, spec := range c.Probes {
			found, err := s.match(ctx, spec, maxTraced)
			if err != nil {
				continue // of a description that may match none
			}
			desc := provider.Desc{Provider: spec.Provider, Module: spec.Module, Function: spec.Function, Name: spec.Name}
			if spec.ID > 0 {
				desc = found[0].Desc
			}
			d := s.describe(desc, found[0])
			r.Probes = r.Probes.min(d.Probe)
			if uses.arguments {
				uses.least = uses.least.min(d.Args)
			}
			text := describe(spec)
			if !slices.ContainsFunc(r.Specs, func(s SpecReport) bool { return s.Text == text }) {
				r.Specs = append(r.Specs, SpecReport{text, d})
			}
		}
		r.Statements = r.Statements.min(uses.least)
	}
	return r
}

// uses is what of less than full stability a clause uses.
type uses struct {
	least     Attributes
	arguments bool
}

func usesOf(c *syntax.Clause) uses {
	used := argumentsOf(c)
	u := uses{least: stable, arguments: used.Args || used.Numbers != 0}
	syntax.Inspect(c, func(x syntax.Expr) {
		switch x := x.(type) {
		case *syntax.Ident:
			if x.Name == "curthread" {
				u.least = u.least.min(Attributes{Stable, Private, Common})
			}
		case *syntax.SymbolRef:
			u.least = u.least.min(private)
		}
	})
	return u
}
