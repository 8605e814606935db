// Package cli is the command: dtrace(1)'s flags, the subcommands, where
// output goes and the exit status.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"kinst/internal/vm"
)

// version is set by the linker.
var version = "unknown"

// dtraceName is the name under which the command is dtrace(1) and no more: it
// has no subcommands.
const dtraceName = "dtrace"

// Exit statuses, those of dtrace(1).
const (
	exitFatal = 1
	exitUsage = 2
)

// Main runs the command and returns its exit status.
func Main(args []string) int {
	if vm.IsInit() {
		vm.Init() // does not return
	}
	name := filepath.Base(args[0])
	root := newRootCommand(name)
	if len(args) < 2 || !isSubcommand(root, args[1]) {
		// The words of a D program's arguments are no subcommands' names.
		root = newTraceCommand(name)
	}
	root.SetArgs(args[1:])
	out := &output{Writer: os.Stdout}
	root.SetOut(out)
	err := root.ExecuteContext(context.Background())
	return status(name, out.failure(err), os.Stderr)
}

// An output remembers that something could not be written to it, for those who
// print a text and don't look.
type output struct {
	io.Writer
	err error
}

// Write writes, and keeps the first error.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// failure returns the error of a command: that of the output, if the command
// itself has nothing to say.
func (o *output) failure(err error) error {
	var exit exitError
	if o.err != nil && (err == nil || errors.As(err, &exit)) {
		return o.err
	}
	return err
}

// newRootCommand returns the whole tree of commands: the tracing command with
// the subcommands below it.
func newRootCommand(name string) *cobra.Command {
	root := newTraceCommand(name)
	setHelp(root)
	if name != dtraceName {
		root.AddCommand(newDisasCommand(), newCheckCommand(), newVMCommand())
		root.InitDefaultCompletionCmd()
	}
	return root
}

// someArguments is for commands that take one argument at least: what says
// which.
func someArguments(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usageError{fmt.Errorf("%s takes %s", cmd.CommandPath(), what)}
		}
		return nil
	}
}

// noArguments is for commands that take none.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("%s takes no arguments, and %q is one", cmd.CommandPath(), args[0])}
	}
	return nil
}

// checkTopics has the commands that cobra makes refuse what they do not know:
// help of no command, completion of no shell.
func checkTopics(root *cobra.Command) {
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Run, c.RunE = nil, func(_ *cobra.Command, args []string) error {
				topic, _, err := root.Find(args)
				if topic == nil || err != nil || topic == root && len(args) > 0 {
					return usageError{fmt.Errorf("there is no command %q", strings.Join(args, " "))}
				}
				topic.InitDefaultHelpFlag()
				return topic.Help()
			}
		case "completion":
			c.Args = func(_ *cobra.Command, args []string) error {
				if len(args) > 0 {
					return usageError{fmt.Errorf("there is no completion for %q; there is for bash, fish, powershell and zsh", args[0])}
				}
				return nil
			}
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
			for _, shell := range c.Commands() {
				shell.Args = noArguments
			}
		}
	}
}

// isSubcommand reports whether a first argument names a subcommand: one of
// ours, or of cobra's own (help, completion, __complete).
func isSubcommand(root *cobra.Command, arg string) bool {
	if !root.HasSubCommands() {
		return false
	}
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd(arg)
	checkTopics(root)
	if arg == cobra.ShellCompRequestCmd || arg == cobra.ShellCompNoDescRequestCmd {
		return true
	}
	for _, c := range root.Commands() {
		if c.Name() == arg || c.HasAlias(arg) {
			return true
		}
	}
	return false
}

// An exitError ends the command with a status and without a message.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// A usageError is a wrong use of the flags.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// status reports an error and turns it into the exit status.
func status(name string, err error, stderr io.Writer) int {
	var exit exitError
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return int(exit)
	case errors.Is(err, unix.EPIPE):
		return endByPipe()
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "%s: %s\nTry '%s --help'.\n", name, shortened(err.Error()), name)
		return exitUsage
	}
	fmt.Fprintf(stderr, "%s: %s\n", name, shortened(err.Error()))
	return exitFatal
}

// maxMessage is how long a line of a message may be, bytes: what it repeats of
// the user's words, a file's name or a constant of a program, may be of any
// length.
const maxMessage = 1000

// shortened leaves out the middle of the lines of a message that are too long.
func shortened(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if len(line) > maxMessage {
			head, tail := line[:maxMessage/2], line[len(line)-maxMessage/2:]
			lines[i] = strings.ToValidUTF8(head, "") + "..." + strings.ToValidUTF8(tail, "")
		}
	}
	return strings.Join(lines, "\n")
}

// endByPipe ends the process as one whose reader has gone away, with SIGPIPE.
func endByPipe() int {
	signal.Reset(unix.SIGPIPE)
	_ = unix.Kill(os.Getpid(), unix.SIGPIPE)
	return 128 + int(unix.SIGPIPE) // where SIGPIPE is ignored
}
