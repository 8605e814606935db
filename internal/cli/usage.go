package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kinst"
)

// The help is readable in a terminal of 80 columns.
const (
	helpWidth  = 80
	helpIndent = 28 // column of the explanations
)

// setHelp has a command and those below it print their help and their usage in
// our form.
func setHelp(cmd *cobra.Command) {
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) { printHelp(cmd.OutOrStdout(), cmd) })
	cmd.SetUsageFunc(func(cmd *cobra.Command) error {
		printUsage(cmd.ErrOrStderr(), cmd)
		return nil
	})
}

func printHelp(w io.Writer, cmd *cobra.Command) {
	printUsage(w, cmd)
	if cmd.Long != "" {
		fmt.Fprintf(w, "\n%s\n", cmd.Long)
	}
	printFlags(w, cmd.LocalFlags())
	if cmd.LocalFlags().Lookup(optionFlag) != nil {
		printOptions(w)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintln(w, "\nCommands")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				printEntry(w, "  "+c.Name(), c.Short)
			}
		}
	}
	if cmd.Example != "" {
		fmt.Fprintf(w, "\nExamples\n%s\n", cmd.Example)
	}
}

func printUsage(w io.Writer, cmd *cobra.Command) {
	fmt.Fprintf(w, "Usage: %s\n", cmd.UseLine())
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "       %s COMMAND ...\n", cmd.CommandPath())
	}
}

// printOptions prints the names of the options.
func printOptions(w io.Writer) {
	fmt.Fprintf(w, "\nNames for -x\n")
	for _, line := range wrap(strings.Join(kinst.OptionNames(), " "), helpWidth-2) {
		fmt.Fprintf(w, "  %s\n", line)
	}
}

// printFlags prints the flags by their groups.
func printFlags(w io.Writer, flags *pflag.FlagSet) {
	last := ""
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		group := "Flags"
		if in := f.Annotations[groupAnnotation]; in != nil {
			group = in[0]
		}
		if group != last {
			fmt.Fprintf(w, "\n%s\n", group)
			last = group
		}
		printFlag(w, f)
	})
}

// printFlag prints a flag and, indented, what it does.
func printFlag(w io.Writer, f *pflag.Flag) {
	arg, usage := pflag.UnquoteUsage(f)
	if f.NoOptDefVal != "" {
		arg = ""
	}
	var head string
	switch _, isModel := f.Value.(*modelFlag); {
	case isModel:
		head = "  -" + f.Name
	case f.Shorthand != "":
		head = fmt.Sprintf("  -%s, --%s", f.Shorthand, f.Name)
	default:
		head = "      --" + f.Name
	}
	if arg != "" {
		head += " " + arg
	}
	printEntry(w, head, usage)
}

// printEntry prints a word and, indented, its explanation.
func printEntry(w io.Writer, head, text string) {
	if len(head) > helpIndent-1 {
		fmt.Fprintln(w, head)
		head = ""
	}
	for _, line := range wrap(text, helpWidth-helpIndent) {
		fmt.Fprintf(w, "%-*s%s\n", helpIndent, head, line)
		head = ""
	}
}

// wrap breaks a text into lines of at most width bytes.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}
