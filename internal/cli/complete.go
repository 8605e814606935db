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
		"name":     completeProbe,
		"function": completeProbe,
		"module":   completeProbe,
		"provider": completeProbe,
		"option":   completeOption,
		"stdc":     func(string) []cobra.Completion { return []cobra.Completion{"a", "c", "s", "t"} },
		"pid":      completePID,
	} {
		f := func(_ *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			directive := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
			return complete(word), directive
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

// completeProbe completes the last field of a description of probes. Functions
// are those that the kernel has, names the offsets of their instructions.
func completeProbe(word string) []cobra.Completion {
	s, err := kinst.Open(kinst.Options{})
	if err != nil {
		return nil
	}
	defer s.Close()
	ctx := context.Background()
	fields := strings.Split(word, ":")
	last := fields[len(fields)-1]
	prefix := strings.TrimSuffix(word, last)
	var words []string
	switch len(fields) {
	case 1:
		words = append(s.Providers(), dtraceProbes...)
	case 2:
		words = s.Modules(fields[0])
	case 3:
		words = s.Functions(ctx, fields[0], fields[1], last)
	case 4:
		words = s.Names(ctx, fields[0], fields[1], fields[2])
	}
	var found []cobra.Completion
	for _, w := range words {
		if strings.HasPrefix(w, last) && len(found) < maxCompletions {
			if len(fields) < 4 && !slices.Contains(dtraceProbes, w) {
				w += ":"
			}
			found = append(found, prefix+w)
		}
	}
	return found
}

// dtraceProbes are probes that are commonly named alone.
var dtraceProbes = []string{"BEGIN", "END", "ERROR"}

func completeOption(string) []cobra.Completion { return kinst.OptionNames() }

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
