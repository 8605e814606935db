package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"kinst"
	"kinst/internal/vm"
)

// A tracer is one use of the tracing command: what its flags say.
type tracer struct {
	name    string
	sources []kinst.Source // -n -s -P -m -f -i, in their order
	sets    []string       // -x NAME[=VALUE], and the flags that stand for one
	args    []string       // macro arguments
	list    bool
	compile bool
	version bool
	verbose bool
	output  string
	command []string
	pids    []string

	processes []*kinst.Process
	session   *kinst.Session
	arming    progress
}

const traceLong = `kinst traces any instruction of any kernel function of the running kernel,
with programs in the language D.

A probe is PROVIDER:MODULE:FUNCTION:NAME. Those of the provider kinst are the
instructions of the kernel: their names are offsets from the function's first
byte, as "kinst disas FUNCTION" lists them.`

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
  kinst -s script.d -c 'ls /'
        a script, while a command runs`

// newTraceCommand returns the command without its subcommands: what
// dtrace(1) does.
func newTraceCommand(name string) *cobra.Command {
	t := &tracer{name: name}
	cmd := &cobra.Command{
		Use:           name + " [flags] [argument...]",
		Short:         "trace any instruction of any kernel function",
		Long:          traceLong,
		Example:       traceExample,
		Args:          cobra.ArbitraryArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			t.args = append([]string{name}, args...)
			return t.run(cmd)
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	t.addFlags(cmd.Flags())
	return cmd
}

func (t *tracer) addFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	source := func(kind kinst.SourceKind, long, short, arg, usage string) {
		f.VarP(&sourceFlag{t, kind, arg}, long, short, usage)
	}
	source(kinst.Names, "name", "n", "program", "trace the probes that the program, probes [/predicate/] [{actions}], names")
	source(kinst.Script, "script", "s", "file", "compile a script; - is the standard input")
	source(kinst.Providers, "provider", "P", "provider", "trace all probes of a provider [/predicate/] [{actions}]")
	source(kinst.Modules, "module", "m", "[provider:]module", "trace all probes of a module [/predicate/] [{actions}]")
	source(kinst.Functions, "function", "f", "[[provider:]module:]function", "trace all probes of a function [/predicate/] [{actions}]")
	source(kinst.IDs, "id", "i", "id", "trace the probe with this ID [/predicate/] [{actions}]")

	set := func(option, long, short, usage string) {
		f.VarP(&settingFlag{t, option, true}, long, short, usage)
		f.Lookup(long).NoOptDefVal = "true"
	}
	f.VarP(&settingFlag{t, "", false}, "option", "x", "set an option, NAME or NAME=VALUE")
	set("quiet", "quiet", "q", "print only what the program prints")
	set("zdefs", "allow-no-match", "Z", "allow descriptions that match no probe")
	f.VarP(&settingFlag{t, "bufsize", false}, "buffer-size", "b", "the size of each CPU's record buffer (k, m and g suffixes)")

	f.BoolVarP(&t.list, "list", "l", false, "list the matching probes, trace nothing")
	f.BoolVarP(&t.compile, "compile-only", "e", false, "compile the program, then exit")
	f.StringArrayVarP(&t.command, "command", "c", nil, "run a command and trace until it ends; $target is its process ID")
	f.StringArrayVarP(&t.pids, "pid", "p", nil, "trace until the process with this ID ends; $target is it")
	f.StringVarP(&t.output, "output", "o", "", "append the output to a file")
	f.BoolVarP(&t.verbose, "verbose", "v", false, "say what is left out and why")
	f.BoolVarP(&t.version, "version", "V", false, "print the version")
}

// rewriteModelFlags drops -32 and -64, which a POSIX flag parser would take
// for two flags. Both are of dtrace(1): the data model, which here is the
// kernel's.
func rewriteModelFlags(args []string) []string {
	var out []string
	for i, a := range args {
		if a == "--" {
			return append(out, args[i:]...)
		}
		if a != "-64" {
			out = append(out, a)
		}
	}
	return out
}

// A sourceFlag appends a piece of D to the tracer's, in the order in which
// the flags stand.
type sourceFlag struct {
	t    *tracer
	kind kinst.SourceKind
	arg  string
}

func (f *sourceFlag) String() string { return "" }
func (f *sourceFlag) Type() string   { return f.arg }
func (f *sourceFlag) Set(text string) error {
	f.t.sources = append(f.t.sources, kinst.Source{Kind: f.kind, Text: text})
	return nil
}

// A settingFlag sets an option: the one that it names, or -x NAME=VALUE.
type settingFlag struct {
	t      *tracer
	option string
	isBool bool
}

func (f *settingFlag) String() string   { return "" }
func (f *settingFlag) IsBoolFlag() bool { return f.isBool }
func (f *settingFlag) Type() string {
	switch {
	case f.isBool:
		return "bool"
	case f.option != "":
		return "size"
	}
	return "name[=value]"
}

func (f *settingFlag) Set(text string) error {
	switch {
	case f.isBool:
		text = f.option
	case f.option != "":
		text = f.option + "=" + text
	}
	f.t.sets = append(f.t.sets, text)
	return nil
}

func (t *tracer) run(cmd *cobra.Command) (err error) {
	if t.version {
		fmt.Fprintf(cmd.OutOrStdout(), "%s: kinst %s\n", t.name, version)
		return nil
	}
	if len(t.sources) == 0 && !t.list {
		if cmd.Flags().NFlag() == 0 && len(t.args) == 1 {
			fmt.Fprint(cmd.ErrOrStderr(), cmd.UsageString())
			return exitError(exitUsage)
		}
		return usageError{errors.New("no probes are specified; name some with -n, -s, -P, -m, -f or -i")}
	}
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
	if err := t.startProcesses(); err != nil {
		return err
	}
	t.session, err = kinst.Open(kinst.Options{
		Settings:  settings,
		Args:      t.args,
		Processes: t.processes,
		Warn:      t.warn,
		Note:      t.note,
		Progress:  t.progress(),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.session.Close()) }()
	out, err := t.openOutput(cmd.OutOrStdout())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if t.list {
		return t.listProbes(ctx, out)
	}
	return t.trace(ctx, out)
}

// settings returns the options' values: the defaults, changed by -x.
func (t *tracer) settings() (*kinst.Settings, error) {
	s := kinst.NewSettings()
	for _, set := range t.sets {
		if err := s.Set(set); err != nil {
			return nil, usageError{err}
		}
	}
	return s, nil
}

// readScripts reads the files that -s names. $0 is the first one's name.
func (t *tracer) readScripts(stdin io.Reader) error {
	for i := range t.sources {
		src := &t.sources[i]
		if src.Kind != kinst.Script {
			continue
		}
		src.Name = src.Text
		var text []byte
		var err error
		if src.Name == "-" {
			text, err = io.ReadAll(stdin)
		} else {
			text, err = os.ReadFile(src.Name)
		}
		if err != nil {
			return fmt.Errorf("failed to read the script: %w", err)
		}
		src.Text = string(text)
		if t.args[0] == t.name {
			t.args[0] = src.Name
		}
	}
	return nil
}

func (t *tracer) startProcesses() error {
	for _, command := range t.command {
		p, err := kinst.StartCommand(command)
		if err != nil {
			return err
		}
		t.processes = append(t.processes, p)
	}
	for _, text := range t.pids {
		pid, err := strconv.Atoi(text)
		if err != nil || pid <= 0 {
			return usageError{fmt.Errorf("invalid process ID %q", text)}
		}
		p, err := kinst.GrabProcess(pid)
		if err != nil {
			return err
		}
		t.processes = append(t.processes, p)
	}
	return nil
}

// openOutput opens the file of -o, to append to it, or takes the standard
// output.
func (t *tracer) openOutput(stdout io.Writer) (io.WriteCloser, error) {
	if t.output == "" {
		return nopCloser{stdout}, nil
	}
	f, err := os.OpenFile(t.output, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, fmt.Errorf("failed to open the output file: %w", err)
	}
	return f, nil
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func (t *tracer) listProbes(ctx context.Context, out io.Writer) error {
	probes, err := t.session.List(ctx, t.sources...)
	w := newProbeTable(out)
	for _, p := range probes {
		w.row(p)
	}
	return errors.Join(w.flush(), t.describe(err))
}

// trace compiles and runs the program.
func (t *tracer) trace(ctx context.Context, out io.Writer) error {
	program, err := t.session.Compile(ctx, t.sources...)
	if err != nil {
		return t.describe(err)
	}
	if t.compile {
		return nil
	}
	err = t.session.Start(ctx, program)
	t.arming.clear()
	if err != nil {
		return err
	}
	t.reportMatches(program)
	vm.NotifyReady()
	status, err := t.session.Consume(ctx, out)
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
		fmt.Fprintf(&b, "invalid %s specifier %s: ", src.Kind, src.Text)
	}
	b.WriteString(compile.Detail(isTerminal(os.Stderr)))
	return errors.New(b.String())
}

// reportMatches says how many probes each source matched.
func (t *tracer) reportMatches(program *kinst.Program) {
	if t.session.Settings().Quiet {
		return
	}
	for i, src := range t.sources {
		kind, text := "description", src.Text
		if src.Kind == kinst.Script {
			kind, text = "script", src.Name
		}
		n := program.Matched(i)
		plural := "s"
		if n == 1 {
			plural = ""
		}
		fmt.Fprintf(os.Stderr, "%s: %s '%s' matched %d probe%s\n", t.name, kind, text, n, plural)
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

func (t *tracer) warn(text string) { fmt.Fprintf(os.Stderr, "%s: %s\n", t.name, text) }

func (t *tracer) note(text string) {
	if t.verbose {
		t.warn(text)
	}
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// interrupts returns a context that ends with the first SIGINT, SIGTERM or
// SIGHUP; the second one ends the process. SIGPIPE is left to the errors of
// write(2), so that what is armed is taken out in order.
func interrupts(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE)
	go func() {
		<-signals
		signal.Reset(unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
		cancel()
	}()
	return ctx, cancel
}
