package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"kinst"
)

// reportStability prints what each source relies on, and with -e what there is
// to know of each description of probes, as dtrace -v does.
func (t *tracer) reportStability(ctx context.Context, program *kinst.Program, out io.Writer) error {
	var b strings.Builder
	for i, src := range t.sources {
		kind := "description"
		if src.Kind == kinst.Script {
			kind = "script"
		}
		report := t.session.Report(ctx, program, i)
		fmt.Fprintf(&b, "\nStability attributes for %s %s:\n", kind, src.Label())
		printAttributes(&b, "Minimum Probe Description Attributes", report.Probes)
		printAttributes(&b, "Minimum Statement Attributes", report.Statements)
		if !t.compile {
			b.WriteByte('\n')
			continue
		}
		for _, spec := range report.Specs {
			fmt.Fprintf(&b, "\n%s\n", spec.Text)
			printDescription(&b, spec.Description)
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// printDescription prints what is known of a probe, as dtrace -lv does.
func printDescription(w io.Writer, d kinst.Description) {
	printAttributes(w, "Probe Description Attributes", d.Probe)
	printAttributes(w, "Argument Attributes", d.Args)
	fmt.Fprintf(w, "\n\tArgument Types\n")
	for i, name := range d.ArgTypes {
		fmt.Fprintf(w, "\t\targs[%d]: %s\n", i, name)
	}
	if len(d.ArgTypes) == 0 {
		fmt.Fprintf(w, "\t\tNone\n")
	}
	fmt.Fprintln(w)
}

func printAttributes(w io.Writer, title string, a kinst.Attributes) {
	fmt.Fprintf(w, "\n\t%s\n", title)
	fmt.Fprintf(w, "\t\tIdentifier Names: %s\n", a.Names)
	fmt.Fprintf(w, "\t\tData Semantics:   %s\n", a.Data)
	fmt.Fprintf(w, "\t\tDependency Class: %s\n", a.Class)
}
