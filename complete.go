package kinst

import (
	"context"
	"slices"
	"strings"

	"kinst/internal/kernel"
	"kinst/internal/provider"
)

// Providers returns the names of the providers.
func (s *Session) Providers() []string {
	var names []string
	for _, p := range s.providers {
		names = append(names, p.Name())
	}
	return names
}

// Modules returns the modules that a provider may have probes in: the kernel
// and the modules that are loaded for those that trace code, and for others
// those of their probes.
func (s *Session) Modules(providerName string) []string {
	if !onDemand(providerName) {
		return s.fields(context.Background(), provider.Desc{Provider: providerName, Name: everywhere(providerName)}, func(d provider.Desc) string { return d.Module })
	}
	names := []string{kernel.VMLinux}
	modules, err := s.kernel.Modules()
	if err != nil {
		return names
	}
	for _, m := range modules {
		names = append(names, m.Name)
	}
	return names
}

// Functions returns the functions of a module, or of all for "", that begin
// with prefix and in which a provider may have probes.
func (s *Session) Functions(ctx context.Context, providerName, module, prefix string) []string {
	if !onDemand(providerName) {
		d := provider.Desc{Provider: providerName, Module: module, Function: prefix + "*", Name: everywhere(providerName)}
		return s.fields(ctx, d, func(d provider.Desc) string { return d.Function })
	}
	functions, err := s.kernel.Functions(module, prefix+"*")
	if err != nil {
		return nil
	}
	var names []string
	for _, f := range functions {
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			if strings.HasPrefix(name, prefix) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Names returns the names of the probes that a provider has in a function, in
// the provider's order: of kinst the offsets of the instructions.
func (s *Session) Names(ctx context.Context, providerName, module, function string) []string {
	return s.fields(ctx, provider.Desc{Provider: providerName, Module: module, Function: function}, func(d provider.Desc) string { return d.Name })
}

// everywhere returns the name of a probe that each function of a provider has, or
// "" for any: those of processes have too many to be looked through.
func everywhere(providerName string) string {
	if provider.Matches("pid[0-9]*", providerName) {
		return "entry"
	}
	return ""
}

// onDemand reports whether a provider makes the probes of a function when it is
// named.
func onDemand(providerName string) bool { return providerName == "kinst" || providerName == "fbt" }

// fields returns one field of the probes that match a description, each text
// once.
func (s *Session) fields(ctx context.Context, d provider.Desc, field func(provider.Desc) string) []string {
	var texts []string
	seen := make(map[string]bool)
	for _, p := range s.providers {
		if !provider.Matches(p.Name(), d.Provider) && !provider.Matches(d.Provider, p.Name()) {
			continue
		}
		probes, _, err := p.Match(ctx, d)
		if err != nil {
			continue
		}
		for _, probe := range probes {
			if text := field(probe.Desc); !seen[text] {
				seen[text] = true
				texts = append(texts, text)
			}
		}
	}
	return texts
}
