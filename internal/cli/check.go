package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"kinst/internal/arm"
	"kinst/internal/kernel"
)

func newCheckCommand() *cobra.Command {
	var brief, clean bool
	cmd := &cobra.Command{
		Use:   "check [flags]",
		Short: "say what this kernel and these privileges allow",
		Long: `Say what of tracing this kernel and these privileges allow, and after > what to
do where they do not: ok is what is there, no what is missed and needed, -- what
would be of use. The exit status is 1 if instructions cannot be traced.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if clean {
				return cleanUp(cmd.OutOrStdout())
			}
			return check(cmd.OutOrStdout(), brief)
		},
	}
	cmd.Flags().BoolVarP(&brief, "brief", "b", false, "print only the first obstacle, if there is one")
	cmd.Flags().BoolVar(&clean, "clean", false, "remove what killed sessions left behind, and say what")
	return cmd
}

// check prints a line for each thing that tracing needs or can use.
func check(out io.Writer, brief bool) error {
	k, err := kernel.Open()
	if err != nil {
		return err
	}
	defer k.Close()
	ok := true
	for _, c := range k.Check() {
		if brief {
			if c.Required && !c.OK {
				fmt.Fprintf(out, "%s: %s\n", c.Name, c.Detail)
				return exitError(exitFatal)
			}
			continue
		}
		mark := "ok"
		switch {
		case !c.OK && c.Required:
			mark, ok = "no", false
		case !c.OK:
			mark = "--"
		}
		printCheck(out, mark, c)
	}
	if !ok {
		return exitError(exitFatal)
	}
	return nil
}

// printCheck prints what was found and, where something is missing, what to do.
func printCheck(out io.Writer, mark string, c kernel.Check) {
	lines := wrap(c.Detail, helpWidth-helpIndent)
	if !c.OK && c.Remedy != "" {
		for i, line := range wrap(c.Remedy, helpWidth-helpIndent-2) {
			if i == 0 {
				lines = append(lines, "> "+line)
			} else {
				lines = append(lines, "  "+line)
			}
		}
	}
	name := c.Name
	for _, line := range lines {
		fmt.Fprintf(out, "%-2s  %-*s%s\n", mark, helpIndent-4, name, line)
		mark, name = "", ""
	}
}

// cleanUp removes the leftovers of sessions that are dead.
func cleanUp(out io.Writer) error {
	removed, err := arm.Clean()
	for _, r := range removed {
		fmt.Fprintln(out, "removed", r)
	}
	return err
}
