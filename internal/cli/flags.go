package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"kinst"
)

// The groups of the tracing command's flags, in the order of its help.
const (
	groupProbes    = "Probes"
	groupPrograms  = "Programs"
	groupProcesses = "Processes"
	groupOutput    = "Output"
	groupOptions   = "Options"
)

const groupAnnotation = "group"

// optionFlag is the long name of -x.
const optionFlag = "option"

// addFlags defines dtrace(1)'s flags, and a long name for each.
func (t *tracer) addFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	group := ""
	annotate := func(flag *pflag.Flag) {
		flag.Annotations = map[string][]string{groupAnnotation: {group}}
	}
	source := func(kind kinst.SourceKind, long, short, arg, usage string) {
		annotate(f.VarPF(&sourceFlag{t, kind, arg}, long, short, usage))
	}
	set := func(option, long, short, usage string) {
		flag := f.VarPF(&settingFlag{t: t, flag: "-" + short, option: option, isBool: true}, long, short, usage)
		flag.NoOptDefVal = "true"
		annotate(flag)
	}
	setTo := func(option, long, short, arg, usage string) {
		annotate(f.VarPF(&settingFlag{t: t, flag: "-" + short, option: option, arg: arg}, long, short, usage))
	}
	toggle := func(to *bool, long, short, usage string) {
		f.BoolVarP(to, long, short, false, usage)
		annotate(f.Lookup(long))
	}

	group = groupProbes
	source(kinst.Names, "name", "n", "PROGRAM",
		"trace probes [[[PROVIDER:]MODULE:]FUNCTION:]NAME")
	source(kinst.Functions, "function", "f", "PROGRAM", "trace probes [[PROVIDER:]MODULE:]FUNCTION")
	source(kinst.Modules, "module", "m", "PROGRAM", "trace probes [PROVIDER:]MODULE")
	source(kinst.Providers, "provider", "P", "PROGRAM", "trace probes PROVIDER")
	source(kinst.IDs, "id", "i", "PROGRAM", "trace the probe with an ID, as -l shows it")
	toggle(&t.list, "list", "l", "list the probes and trace nothing; with -v, the types of their arguments too")
	set("zdefs", "allow-no-match", "Z", "let descriptions match no probe")

	group = groupPrograms
	source(kinst.Script, "script", "s", "FILE", "compile a script; - is the standard input. Arguments are its $1, $2, ...")
	toggle(&t.compile, "compile-only", "e", "compile, trace nothing")
	set("destructive", "destructive", "w", "allow destructive actions")
	set("cpp", "cpp", "C", "run the C preprocessor on scripts, with:")
	setTo("define", "define", "D", "NAME[=TEXT]", "a macro")
	setTo("undef", "undefine", "U", "NAME", "a macro less")
	setTo("incdir", "include", "I", "DIR", "a directory of included files")
	set("cpphdrs", "show-includes", "H", "the names of included files printed")
	setTo("stdc", "stdc", "X", "a|c|s|t", "the C it is for: a, t GNU's; c ISO's; s before 1989")
	setTo("libdir", "library", "L", "DIR", "compile the *.d of DIR before the program")
	set("verbose", "listing", "S", "print the compiled program, as BPF")
	toggle(&t.rewrite, "desugar", "d", "print the program as the compiler rewrites it")

	group = groupProcesses
	f.VarP(&processFlag{t, startCommand, "CMD"}, "command", "c", "run `CMD` once all probes are in, and trace until it ends; $target is its ID")
	annotate(f.Lookup("command"))
	f.VarP(&processFlag{t, grabProcess, "PID"}, "pid", "p", "trace until the process `PID` ends; $target is it")
	annotate(f.Lookup("pid"))

	group = groupOutput
	set("quiet", "quiet", "q", "print what the program prints, no more")
	set("flowindent", "flowindent", "F", "indent by function entry and return")
	f.StringVarP(&t.output, "output", "o", "", "append the output to `FILE`")
	annotate(f.Lookup("output"))
	toggle(&t.verbose, "verbose", "v", "report stability, and what is left out and why")

	group = groupOptions
	setTo("", optionFlag, "x", "NAME[=VALUE]", "set an option; kinst(1) describes them")
	setTo("bufsize", "buffer-size", "b", "SIZE", "-x bufsize=SIZE: of each CPU's buffer (k, m, g)")
	annotate(f.VarPF(&modelFlag{t, "32", "2"}, "32", "3", "refused: the kernel is 64 bits wide"))
	annotate(f.VarPF(&modelFlag{t, "64", "4"}, "64", "6", "64-bit programs, as they always are"))
	toggle(&t.version, "version", "V", "print the version")
	f.Bool("help", false, "print this")
	annotate(f.Lookup("help"))

	for _, r := range refused {
		flag := f.VarPF(&refusedFlag{t, r}, r.long, r.short, r.why)
		flag.NoOptDefVal = "true"
		flag.Hidden = true
	}
}

// processFlag asks for a process: $target is the first that the command line
// asks for, in either way.
type processFlag struct {
	t     *tracer
	begin func(text string, set *kinst.Settings) (*kinst.Process, error)
	arg   string
}

func (f *processFlag) String() string { return "" }
func (f *processFlag) Type() string   { return f.arg }
func (f *processFlag) Set(text string) error {
	f.t.begin = append(f.t.begin, func(set *kinst.Settings) (*kinst.Process, error) { return f.begin(text, set) })
	return nil
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
	flag   string // as messages name it
	option string // "" for -x
	arg    string
	isBool bool
}

// A setting is what a settingFlag sets.
type setting struct {
	wrote string // for messages: the flag and its value
	text  string // NAME[=VALUE]
	alias bool   // the flag is not -x
}

func (f *settingFlag) String() string   { return "" }
func (f *settingFlag) IsBoolFlag() bool { return f.isBool }
func (f *settingFlag) Type() string {
	if f.isBool {
		return "bool"
	}
	return f.arg
}

func (f *settingFlag) Set(text string) error {
	wrote := text
	if text == "" {
		wrote = `""`
	}
	s := setting{wrote: f.flag + " " + wrote, text: text, alias: f.option != ""}
	switch {
	case f.isBool:
		s.wrote, s.text = f.flag+"="+text, f.option+"="+text
	case f.option != "":
		s.text = f.option + "=" + text
	}
	f.t.sets = append(f.t.sets, s)
	return nil
}

// set sets the option. Its name is left out of the message where the user has
// written a flag.
func (s setting) set(to *kinst.Settings) error {
	err := to.Set(s.text)
	var value *kinst.ValueError
	if s.alias && errors.As(err, &value) {
		err = value.Err
	}
	if err != nil {
		return fmt.Errorf("failed to set %s: %w", s.wrote, err)
	}
	return nil
}

// A modelFlag is -32 or -64, for getopt(3) the flag 3 or 6 and its value.
type modelFlag struct {
	t           *tracer
	model, rest string
}

func (f *modelFlag) String() string { return "" }
func (f *modelFlag) Type() string   { return "" }
func (f *modelFlag) Set(text string) error {
	if text != f.rest {
		return fmt.Errorf("the models are -32 and -64")
	}
	if f.model == "32" {
		f.t.refuse(errors.New("-32: programs are for the kernel's data model, which is 64 bits wide; leave the flag out"))
	}
	return nil
}

// A refusal is a flag of dtrace(1) that has no meaning here.
type refusal struct{ long, short, why string }

var refused = []refusal{
	{"claim-anonymous", "a", "there is no anonymous tracing to claim: Linux has no place where tracing could be set up to begin while the kernel boots"},
	{"anonymous", "A", "there is no anonymous tracing: Linux has no place where tracing could be set up to begin while the kernel boots"},
	{"link", "G", "programs are not linked into object files: static probes of user programs need no more on Linux than <sys/sdt.h>, of the package systemtap-sdt-dev"},
	{"header", "h", "headers for static probes of user programs are made by the dtrace of the package systemtap-sdt-dev; --help is the help"},
}

// A refusedFlag says why it is of no use.
type refusedFlag struct {
	t *tracer
	refusal
}

func (f *refusedFlag) String() string   { return "" }
func (f *refusedFlag) Type() string     { return "bool" }
func (f *refusedFlag) IsBoolFlag() bool { return true }
func (f *refusedFlag) Set(string) error {
	f.t.refuse(fmt.Errorf("-%s: %s", f.short, f.why))
	return nil
}

// refuse keeps the first reason not to run, until all flags are read.
func (t *tracer) refuse(why error) {
	if t.refusal == nil {
		t.refusal = why
	}
}
