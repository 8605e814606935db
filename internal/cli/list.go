package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// listArguments is -l with words that no flag stands before. dtrace(1) lists
// all probes and passes them over, which is not what was meant.
func (t *tracer) listArguments(cmd *cobra.Command) error {
	word := t.args[1]
	if t.name != dtraceName {
		return usageError{fmt.Errorf("-l lists the probes that a flag names, and %q stands behind none: put -n before it, or -P, -m, -f or -i", word)}
	}
	t.warn(fmt.Sprintf("all probes are listed, as no flag stands before %q: put -n before it, or -P, -m, -f or -i", word))
	t.args = t.args[:1]
	return t.open(cmd)
}

// listProbes prints the probes that the sources name as dtrace -l does. Under
// dtrace's own name and with -Z, descriptions without probes do not change the
// exit status.
func (t *tracer) listProbes(ctx context.Context, out io.Writer) error {
	probes, unmatched, err := t.session.List(ctx, t.sources...)
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted before all probes were found")
	}
	if err != nil {
		return t.describe(err)
	}
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "%5s %10s %17s %33s %s\n", "ID", "PROVIDER", "MODULE", "FUNCTION", "NAME")
	for _, p := range probes {
		fmt.Fprintf(w, "%5d %10s %17s %33s %s\n", p.ID, p.Provider, p.Module, p.Function, p.Name)
		if t.verbose {
			printDescription(w, t.session.Describe(p))
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, err := range unmatched {
		t.warn(err.Error())
	}
	if len(unmatched) > 0 && t.name != dtraceName && !t.session.Settings().Zdefs {
		return exitError(exitFatal)
	}
	return nil
}
