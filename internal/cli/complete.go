package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"kinst"
	"kinst/internal/vm"
)

// addCompletions tells the shell's completion what the tracing command's flags
// take: providers, functions of the running kernel, offsets.
func (t *tracer) addCompletions(cmd *cobra.Command) {
	for flag, complete := range map[string]func(string) []cobra.Completion{
		"name":     func(word string) []cobra.Completion { return completeProbes(kinst.Names, word) },
		"function": func(word string) []cobra.Completion { return completeProbes(kinst.Functions, word) },
		"module":   func(word string) []cobra.Completion { return completeProbes(kinst.Modules, word) },
		"provider": func(word string) []cobra.Completion { return completeProbes(kinst.Providers, word) },
		"option":   completeOption,
		"stdc":     func(string) []cobra.Completion { return []cobra.Completion{"a", "c", "s", "t"} },
		"pid":      completePID,
	} {
		f := func(_ *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			directive := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
			found := complete(word)
			return slices.DeleteFunc(found, func(c cobra.Completion) bool { return !strings.HasPrefix(c, word) }), directive
		}
		if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
			panic(err) // the flag is not defined
		}
	}
	for _, flag := range []string{"include", "library"} {
		if err := cmd.MarkFlagDirname(flag); err != nil {
			panic(err)
		}
	}
	if err := cmd.MarkFlagFilename("script", "d"); err != nil {
		panic(err)
	}
}

// maxCompletions is how many words a shell is offered at most.
const maxCompletions = 500

// completeProbes completes the last description of probes in a word, of which
// several may be listed with commas. In predicates and actions there is none.
func completeProbes(kind kinst.SourceKind, word string) []cobra.Completion {
	description := strings.TrimLeft(word[strings.LastIndexAny(word, ",}")+1:], " \n\t")
	if strings.ContainsAny(description, "/{ ") || strings.Count(word, "{") > strings.Count(word, "}") {
		return nil
	}
	s, err := kinst.Open(kinst.Options{})
	if err != nil {
		return nil
	}
	defer s.Close()
	before := strings.TrimSuffix(word, description)
	var found []cobra.Completion
	for _, d := range completeDescription(s, kind, description) {
		if strings.HasPrefix(d, description) {
			found = append(found, before+d)
		}
	}
	return found[:min(len(found), maxCompletions)]
}

// descriptionFields is how many fields the descriptions have that a flag takes.
var descriptionFields = map[kinst.SourceKind]int{kinst.Providers: 1, kinst.Modules: 2, kinst.Functions: 3, kinst.Names: 4}

// completeDescription returns what the last field of a description can be, as
// descriptions. Functions are those that the kernel has, names the offsets of
// their instructions.
func completeDescription(s *kinst.Session, kind kinst.SourceKind, description string) []string {
	ctx := context.Background()
	fields := strings.Split(description, ":")
	last := fields[len(fields)-1]
	most := descriptionFields[kind]
	var words []string
	switch {
	case len(fields) > most:
		return nil
	case len(fields) == 1:
		words = completeProvider(s, last)
	case len(fields) == 2:
		words = s.Modules(fields[0])
	case len(fields) == 3:
		words = s.Functions(ctx, fields[0], fields[1], last)
	case len(fields) == 4:
		words = s.Names(ctx, fields[0], fields[1], fields[2])
	}
	var found []string
	for _, w := range words {
		if len(fields) < most {
			w += ":"
		}
		found = append(found, strings.TrimSuffix(description, last)+w)
	}
	if len(fields) == 1 {
		found = append(found, pidProvider) // and a number
		found = append(found, completeAlone(s, kind, last)...)
	}
	return found
}

// pidProvider is what the names of the providers of processes begin with.
const pidProvider = "pid"

// completeProvider returns the names of the providers. That of pid is one for
// each process.
func completeProvider(s *kinst.Session, word string) []string {
	providers := slices.DeleteFunc(s.Providers(), func(name string) bool { return strings.ContainsAny(name, "*[") })
	if !strings.HasPrefix(word, pidProvider) {
		return providers
	}
	for _, c := range completePID("") {
		number, _, _ := strings.Cut(c, "\t")
		providers = append(providers, pidProvider+number)
	}
	return providers
}

// completeAlone returns what stands for a description without its provider: the
// names of probes, modules and functions.
func completeAlone(s *kinst.Session, kind kinst.SourceKind, word string) []string {
	switch {
	case kind == kinst.Names:
		return []string{"BEGIN", "END", "ERROR", "profile-99", "tick-1s"}
	case kind == kinst.Modules:
		return s.Modules("fbt")
	case kind == kinst.Functions && word != "":
		return s.Functions(context.Background(), "fbt", "", word)
	}
	return nil
}

// completeOption completes the name of an option, or its value where it has
// some to choose from.
func completeOption(word string) (found []cobra.Completion) {
	name, _, given := strings.Cut(word, "=")
	if !given {
		return kinst.OptionNames()
	}
	for _, value := range kinst.OptionValues(name) {
		found = append(found, name+"="+value)
	}
	return found
}

// completePID offers the processes, with their names.
func completePID(string) []cobra.Completion {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var found []cobra.Completion
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		comm, err := os.ReadFile(fmt.Sprintf("/proc/%s/comm", e.Name()))
		if err != nil {
			continue // it has ended
		}
		found = append(found, cobra.CompletionWithDesc(e.Name(), strings.TrimSpace(string(comm))))
	}
	return found
}

// completeFunction completes the functions that disas lists.
func completeFunction(_ *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	s, err := kinst.Open(kinst.Options{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer s.Close()
	module, last, found := strings.Cut(word, ":")
	if !found {
		module, last = "", word
	}
	var words []cobra.Completion
	for _, f := range s.Functions(context.Background(), "kinst", module, last) {
		if len(words) == maxCompletions {
			break
		}
		if found {
			f = module + ":" + f
		}
		words = append(words, f)
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// completeRelease completes the kernels that kinst vm finds by their releases.
// Paths are left to the shell.
func completeRelease(_ *cobra.Command, _ []string, word string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	releases, err := vm.Releases()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	for _, release := range releases {
		if strings.HasPrefix(release, word) {
			found = append(found, release)
		}
	}
	return found, cobra.ShellCompDirectiveDefault
}
