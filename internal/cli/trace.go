package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"kinst"
	"kinst/internal/vm"
)

// A tracer is one use of the tracing command: what its flags say.
type tracer struct {
	name    string
	sources []kinst.Source // -n -s -P -m -f -i, in their order
	sets    []setting      // -x, and the flags that stand for an option
	args    []string       // macro arguments
	list    bool
	compile bool
	rewrite bool
	version bool
	verbose bool
	output  string
	begin   []func(*kinst.Settings) (*kinst.Process, error) // what -c and -p ask for, in their order
	refusal error                                           // why a flag cannot be obeyed

	processes []*kinst.Process
	session   *kinst.Session
	arming    progress
}

const traceLong = `Traces any instruction of any kernel function of the running kernel, with
programs in the language D.

A probe is PROVIDER:MODULE:FUNCTION:NAME. Those of the provider kinst are the
instructions of the kernel: their names are offsets from the function's first
byte, as "kinst disas FUNCTION" lists them. A PROGRAM is probes and what to do
when they fire:

  PROBE,... [/PREDICATE/] [{ACTIONS}] ...

An empty field of a probe's description is any, and patterns (* ? [a-z]) work.`

const traceExample = `  kinst -n 'kinst::vfs_read:9 {printf("%#x", regs[R_RSI]);}'
        one instruction, one register
  kinst -n 'kinst::vfs_read:'
        every instruction of a function
  kinst -n 'kinst::vfs_read: {@[probename] = count();}'
        how often each of them runs, printed on Ctrl-C
  kinst -l -n 'kinst::vfs_read:'
        the instructions that can be probed
  kinst disas vfs_read
        the listing that the offsets come from
  kinst -s script.d -c 'ls /' 10
        a script with $1 = 10, while a command runs
  kinst vm -k 6.12 -- -n 'kinst::vfs_read:'
        in a throwaway virtual machine`

// newTraceCommand returns the command without its subcommands: what
// dtrace(1) does.
func newTraceCommand(name string) *cobra.Command {
	t := &tracer{name: name}
	cmd := &cobra.Command{
		Use:                   name + " [FLAGS] [ARGUMENT...]",
		DisableFlagsInUseLine: true,
		Short:                 "trace any instruction of any kernel function",
		Long:                  traceLong,
		Example:               traceExample,
		Args:                  cobra.ArbitraryArgs,
		SilenceUsage:          true,
		SilenceErrors:         true,
		RunE: func(cmd *cobra.Command, args []string) error {
			t.args = append([]string{name}, args...)
			return t.run(cmd)
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		printHelp(cmd.OutOrStdout(), newRootCommand(name))
	})
	t.addFlags(cmd.Flags())
	t.addCompletions(cmd)
	return cmd
}

func (t *tracer) run(cmd *cobra.Command) error {
	switch {
	case t.refusal != nil:
		return usageError{t.refusal}
	case t.output == "" && cmd.Flags().Changed("output"):
		return errors.New("failed to open the output file: its name is empty")
	case t.list && t.version:
		return usageError{errors.New("only one of the flags -l and -V can be given at a time")}
	case t.version:
		return t.printVersion(cmd.OutOrStdout())
	case t.list && len(t.sources) == 0 && len(t.args) > 1:
		return t.listArguments(cmd)
	case len(t.sources) == 0 && !t.list:
		if cmd.Flags().NFlag() == 0 && len(t.args) == 1 {
			printHelp(cmd.ErrOrStderr(), newRootCommand(t.name))
			return exitError(exitUsage)
		}
		if cmd.Flags().NFlag() == 0 && t.name != dtraceName {
			return fmt.Errorf("there is no command %q, and no probes are specified: name some with -n, -s, -f, -m, -P or -i", t.args[1])
		}
		if _, err := t.settings(); err != nil {
			return err // as of -x that has taken the flag behind it for its option
		}
		return errors.New("no probes specified: name some with -n, -s, -f, -m, -P or -i")
	}
	return t.open(cmd)
}

// printVersion prints the version, and of D's the one that libdtrace calls
// its own.
func (t *tracer) printVersion(out io.Writer) error {
	_, err := fmt.Fprintf(out, "%s: Sun D 1.13 (kinst %s)\n", t.name, version)
	return err
}

// open opens a session, with the processes to be watched, and works in it.
func (t *tracer) open(cmd *cobra.Command) (err error) {
	settings, err := t.settings()
	if err != nil {
		return err
	}
	if err := t.readScripts(cmd.InOrStdin()); err != nil {
		return err
	}
	ctx, stop := interrupts(cmd.Context())
	defer stop()
	defer func() {
		for _, p := range t.processes {
			p.Release()
		}
	}()
	if err := t.startProcesses(settings); err != nil {
		return err
	}
	if t.session, err = kinst.Open(t.options(settings)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.session.Close()) }()
	if t.list {
		return t.withOutput(cmd.OutOrStdout(), func(out io.Writer) error { return t.listProbes(ctx, out) })
	}
	program, err := t.session.Compile(ctx, t.sources...)
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted before the program was compiled; no probe is armed")
	}
	if err != nil {
		return t.describe(err)
	}
	return t.withOutput(cmd.OutOrStdout(), func(out io.Writer) error {
		if err := t.show(ctx, program, out); err != nil || t.compile {
			return err
		}
		return t.trace(ctx, program, out)
	})
}

func (t *tracer) options(settings *kinst.Settings) kinst.Options {
	return kinst.Options{
		Settings:  settings,
		Args:      t.args,
		Processes: t.processes,
		Warn:      t.warn,
		Note:      t.note,
		Ended:     t.notice,
		Progress:  t.progress(),
	}
}

// settings returns the options' values: the defaults, changed by the
// environment and by -x.
func (t *tracer) settings() (*kinst.Settings, error) {
	s := kinst.NewSettings()
	if err := s.SetEnvironment(os.Environ()); err != nil {
		return nil, err
	}
	for _, set := range t.sets {
		if err := set.set(s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// readScripts reads the files that -s names.
func (t *tracer) readScripts(stdin io.Reader) error {
	for i := range t.sources {
		src := &t.sources[i]
		if src.Kind != kinst.Script {
			continue
		}
		src.Name = src.Text
		var text []byte
		var err error
		switch src.Name {
		case "":
			err = errors.New("its name is empty")
		case "-":
			text, err = io.ReadAll(stdin)
		default:
			text, err = os.ReadFile(src.Name)
		}
		if err != nil {
			return fmt.Errorf("failed to read the script: %w", err)
		}
		src.Text = string(text)
	}
	return nil
}

func (t *tracer) startProcesses(set *kinst.Settings) error {
	for _, begin := range t.begin {
		p, err := begin(set)
		if err != nil {
			return err
		}
		t.processes = append(t.processes, p)
	}
	return nil
}

func startCommand(command string, set *kinst.Settings) (*kinst.Process, error) {
	return kinst.StartCommand(command, set.Environ...)
}

func grabProcess(text string, _ *kinst.Settings) (*kinst.Process, error) {
	pid, err := strconv.Atoi(text)
	if err != nil || pid <= 0 {
		return nil, fmt.Errorf("invalid pid: %q is not the number of a process", text)
	}
	return kinst.GrabProcess(pid)
}

// withOutput calls f with the file of -o, to append to it, or with the
// standard output. Where that is a pipe whose reader goes away, so does this
// process.
func (t *tracer) withOutput(stdout io.Writer, f func(out io.Writer) error) error {
	if t.output == "" {
		if o, ok := stdout.(*output); ok {
			stdout = o.Writer // ftruncate() takes a file
		}
		return f(stdout)
	}
	file, err := os.OpenFile(t.output, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return fmt.Errorf("failed to open the output file: %w", err)
	}
	return errors.Join(f(file), file.Close())
}

// show prints what was asked for of the compiled program.
func (t *tracer) show(ctx context.Context, program *kinst.Program, out io.Writer) error {
	if t.rewrite {
		for _, src := range t.sources {
			if err := t.session.Rewrite(out, src); err != nil {
				return t.describe(err)
			}
		}
	}
	if t.session.Settings().Verbose {
		if err := program.Listing(os.Stderr); err != nil {
			return err
		}
	}
	if t.verbose && t.compile {
		return t.reportStability(ctx, program, out)
	}
	return nil
}

// trace runs the program.
func (t *tracer) trace(ctx context.Context, program *kinst.Program, out io.Writer) error {
	err := t.session.Start(ctx, program)
	t.arming.clear()
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted before all probes were armed; none is")
	case err != nil:
		return err
	}
	t.reportMatches(program)
	if t.verbose {
		if err := t.reportStability(ctx, program, out); err != nil {
			return err
		}
	}
	if t.session.Settings().Destructive {
		t.notice("allowing destructive actions")
	}
	vm.NotifyReady()
	ctx, stop := untilUnread(ctx, os.Stdout, t.output == "")
	defer stop()
	status, err := t.session.Consume(ctx, out)
	if cause := context.Cause(ctx); errors.Is(cause, unix.EPIPE) {
		return cause
	}
	if err != nil {
		return err
	}
	if status != 0 {
		return exitError(status)
	}
	return nil
}

// describe names the source in which a compile error is, as dtrace(1) does.
func (t *tracer) describe(err error) error {
	var compile *kinst.CompileError
	if !errors.As(err, &compile) {
		return err
	}
	var b strings.Builder
	src := compile.Source
	if src.Kind == kinst.Script {
		fmt.Fprintf(&b, "failed to compile script %s: ", src.Name)
	} else {
		fmt.Fprintf(&b, "invalid %s specifier %s: ", src.Kind, compile.Text())
	}
	b.WriteString(compile.Detail(isTerminal(os.Stderr)))
	return errors.New(b.String())
}

// reportMatches says how many probes each source matched.
func (t *tracer) reportMatches(program *kinst.Program) {
	for i, src := range t.sources {
		kind := "description"
		if src.Kind == kinst.Script {
			kind = "script"
		}
		n := program.Matched(i)
		plural := "s"
		if n == 1 {
			plural = ""
		}
		t.notice(fmt.Sprintf("%s '%s' matched %d probe%s", kind, src.Label(), n, plural))
	}
}

// progress returns what shows how far arming is: nothing but on a terminal.
func (t *tracer) progress() func(done, total int) {
	if !isTerminal(os.Stderr) {
		return nil
	}
	t.arming.w = os.Stderr
	return t.arming.update
}

// notice says what goes unsaid under -q.
func (t *tracer) notice(text string) {
	if !t.session.Settings().Quiet {
		t.warn(text)
	}
}

func (t *tracer) warn(text string) { fmt.Fprintf(os.Stderr, "%s: %s\n", t.name, shortened(text)) }

func (t *tracer) note(text string) {
	if t.verbose {
		t.warn(text)
	}
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
