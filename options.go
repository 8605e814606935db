package kinst

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Settings are the values of DTrace's options, as -x, `#pragma D option` and
// setopt() set them. NewSettings gives their defaults.
type Settings struct {
	Bufsize    int64  // of one CPU's record buffer, bytes; rounded up to a power of two
	Bufpolicy  string // "switch", "fill" or "ring"
	Bufresize  string // of what finds no memory: "auto" makes it smaller, "manual" is an error
	Aggsize    int64  // of one aggregation, bytes of keys and values on one CPU
	Dynvarsize int64  // of the thread-local variables, and of each associative array, bytes
	Strsize    int64  // of a string, bytes with the final NUL
	Nspec      int64  // how many speculations there are
	Specsize   int64  // of one speculation's buffer, bytes

	Switchrate time.Duration // how long a record may wait to be read; less where buffers fill
	Aggrate    time.Duration // how old the figures may be that printa() shows
	Statusrate time.Duration // between two looks at the losses, up to 10 s
	Cleanrate  time.Duration // between two cleanings of thread-local variables, 200 µs to 60 s

	Stackframes   int64 // of stack()
	Ustackframes  int64 // of ustack()
	Jstackframes  int64 // of jstack()
	Jstackstrsize int64 // accepted; jstack() is ustack()
	Stackindent   int64 // columns

	Aggsortkey    bool  // sort aggregations by key
	Aggsortkeypos int64 // by which key first
	Aggsortpos    int64 // by which of several aggregations
	Aggsortrev    bool  // descending
	Aggzoom       bool  // stretch the bars of a distribution
	Agghist       bool  // show counts as bars
	Aggpack       bool  // show distributions in one line

	CPU         int64  // trace on this CPU only; -1 for all
	Destructive bool   // allow destructive actions (-w)
	Quiet       bool   // print what the program prints, no more (-q)
	Quietresize bool   // leave unsaid what bufresize=auto made smaller
	Flowindent  bool   // indent entries and returns (-F)
	Rawbytes    bool   // print bytes as bytes even where they look like a string
	Temporal    bool   // order the records of all CPUs by time
	Demangle    bool   // C++ and Rust names
	Encoding    string // of the bars of distributions: "ascii", "utf8", or "" for what suits them
	Errtags     bool   // name the tag of each compile error
	Zdefs       bool   // descriptions may match no probe (-Z)
	Droptags    bool   // name the kind of each loss
	Verbose     bool   // print the compiled program (-S)
	Late        string // accepted: "static" or "dynamic"; translators are always compiled in
	Oformat     string // "text" or "json"
	Sites       string // "auto", "all" or "blocks": the sites that kinst:: counting arms

	Argref      bool     // arguments may be given that the program does not use
	Defaultargs bool     // a macro argument that is not there is 0 or ""
	Empty       bool     // a program may be empty
	Pspec       bool     // a word where a declaration may begin is a probe's name
	Libdir      []string // directories of libraries, compiled before the program (-L)
	Version     string   // of D that the program is for: __SUNW_D_VERSION

	// Environ changes the environment of a command (-c): NAME=VALUE sets a
	// variable, NAME removes one. It is the options setenv and unsetenv.
	Environ []string

	Cpp     bool     // run the preprocessor on scripts (-C)
	Cpppath string   // the preprocessor; cpp by default
	Cpphdrs bool     // have it print the files it includes (-H)
	Cppargs []string // its arguments -D, -U and -I: the options define, undef and incdir
	Stdc    string   // "a", "c", "s" or "t": the C that it is for (-X)
}

// NewSettings returns the defaults.
func NewSettings() *Settings {
	return &Settings{
		Bufsize: 4 << 20, Bufpolicy: "switch", Bufresize: "auto",
		Aggsize: 4 << 20, Dynvarsize: 4 << 20, Strsize: 256,
		Nspec: 1, Specsize: 32 << 10,
		Switchrate: 50 * time.Millisecond, Statusrate: time.Second, Cleanrate: time.Second,
		Stackframes: 20, Ustackframes: 20, Jstackframes: 50, Jstackstrsize: 512, Stackindent: 14,
		CPU: -1, Temporal: true, Demangle: true, Oformat: "text", Sites: "auto",
		Cpppath: "cpp", Stdc: "a", Late: "static", Version: versions[len(versions)-1],
	}
}

// An option is one that can be set by its name. Its value is a pointer into
// Settings, whose type says how the text of a value is read. Values of an
// option that is a list add up.
type option struct {
	name    string
	value   func(*Settings) any
	words   []string                      // the values of a string option, if it has not any
	min     int64                         // of an int64 option: less is refused
	max     int64                         // of an int64 option, if it is not 0: more is refused
	raise   int64                         // of an int64 option: less becomes this
	isSize  bool                          // an int64 option that takes the suffixes k, m, g, t
	flag    string                        // what the values of a list begin with
	split   bool                          // a value of a list is several, between blanks
	check   func(*Settings, string) error // of a text, before it is set
	early   bool                          // it is for what begins before the program is read
	dynamic bool                          // setopt() can change it
}

var options = []option{
	{name: "agghist", value: func(s *Settings) any { return &s.Agghist }, dynamic: true},
	{name: "aggpack", value: func(s *Settings) any { return &s.Aggpack }, dynamic: true},
	{name: "aggrate", value: func(s *Settings) any { return &s.Aggrate }, dynamic: true},
	{name: "aggsize", value: func(s *Settings) any { return &s.Aggsize }, isSize: true, min: 1, raise: 64},
	{name: "aggsortkey", value: func(s *Settings) any { return &s.Aggsortkey }, dynamic: true},
	{name: "aggsortkeypos", value: func(s *Settings) any { return &s.Aggsortkeypos }, dynamic: true},
	{name: "aggsortpos", value: func(s *Settings) any { return &s.Aggsortpos }, dynamic: true},
	{name: "aggsortrev", value: func(s *Settings) any { return &s.Aggsortrev }, dynamic: true},
	{name: "aggzoom", value: func(s *Settings) any { return &s.Aggzoom }, dynamic: true},
	{name: "argref", value: func(s *Settings) any { return &s.Argref }},
	{name: "bufpolicy", value: func(s *Settings) any { return &s.Bufpolicy }, words: []string{"switch", "fill", "ring"}},
	{name: "bufresize", value: func(s *Settings) any { return &s.Bufresize }, words: []string{"auto", "manual"}},
	{name: "bufsize", value: func(s *Settings) any { return &s.Bufsize }, isSize: true, min: 1, raise: 4096},
	{name: "cleanrate", value: func(s *Settings) any { return &s.Cleanrate }},
	{name: "cpp", value: func(s *Settings) any { return &s.Cpp }},
	{name: "cppargs", value: func(s *Settings) any { return &s.Cppargs }, split: true},
	{name: "cpphdrs", value: func(s *Settings) any { return &s.Cpphdrs }},
	{name: "cpppath", value: func(s *Settings) any { return &s.Cpppath }, check: checkPath},
	{name: "cpu", value: func(s *Settings) any { return &s.CPU }},
	{name: "defaultargs", value: func(s *Settings) any { return &s.Defaultargs }},
	{name: "define", value: func(s *Settings) any { return &s.Cppargs }, flag: "-D"},
	{name: "demangle", value: func(s *Settings) any { return &s.Demangle }},
	{name: "destructive", value: func(s *Settings) any { return &s.Destructive }},
	{name: "droptags", value: func(s *Settings) any { return &s.Droptags }},
	{name: "dynvarsize", value: func(s *Settings) any { return &s.Dynvarsize }, isSize: true, min: 1, raise: 64},
	{name: "empty", value: func(s *Settings) any { return &s.Empty }},
	{name: "encoding", value: func(s *Settings) any { return &s.Encoding }, words: []string{"ascii", "utf8"}},
	{name: "errtags", value: func(s *Settings) any { return &s.Errtags }},
	{name: "flowindent", value: func(s *Settings) any { return &s.Flowindent }, dynamic: true},
	{name: "incdir", value: func(s *Settings) any { return &s.Cppargs }, flag: "-I"},
	{name: "jstackframes", value: func(s *Settings) any { return &s.Jstackframes }},
	{name: "jstackstrsize", value: func(s *Settings) any { return &s.Jstackstrsize }, isSize: true},
	{name: "late", value: func(s *Settings) any { return &s.Late }, words: []string{"static", "dynamic"}},
	{name: "libdir", value: func(s *Settings) any { return &s.Libdir }},
	{name: "nspec", value: func(s *Settings) any { return &s.Nspec }, min: 1, max: 1 << 20},
	{name: "oformat", value: func(s *Settings) any { return &s.Oformat }, words: []string{"text", "json"}},
	{name: "pspec", value: func(s *Settings) any { return &s.Pspec }},
	{name: "quiet", value: func(s *Settings) any { return &s.Quiet }, dynamic: true},
	{name: "quietresize", value: func(s *Settings) any { return &s.Quietresize }, dynamic: true},
	{name: "rawbytes", value: func(s *Settings) any { return &s.Rawbytes }, dynamic: true},
	{name: "setenv", value: func(s *Settings) any { return &s.Environ }, check: checkAssignment, early: true},
	{name: "sites", value: func(s *Settings) any { return &s.Sites }, words: []string{"auto", "all", "blocks"}},
	{name: "specsize", value: func(s *Settings) any { return &s.Specsize }, isSize: true, min: 1},
	{name: "stackframes", value: func(s *Settings) any { return &s.Stackframes }},
	{name: "stackindent", value: func(s *Settings) any { return &s.Stackindent }, max: 1000, dynamic: true},
	{name: "statusrate", value: func(s *Settings) any { return &s.Statusrate }, dynamic: true},
	{name: "stdc", value: func(s *Settings) any { return &s.Stdc }, words: []string{"a", "c", "s", "t"}},
	{name: "strsize", value: func(s *Settings) any { return &s.Strsize }, isSize: true, min: 1, max: 4 << 20, raise: 2},
	{name: "switchrate", value: func(s *Settings) any { return &s.Switchrate }, dynamic: true},
	{name: "temporal", value: func(s *Settings) any { return &s.Temporal }},
	{name: "undef", value: func(s *Settings) any { return &s.Cppargs }, flag: "-U"},
	{name: "unsetenv", value: func(s *Settings) any { return &s.Environ }, check: checkName, early: true},
	{name: "ustackframes", value: func(s *Settings) any { return &s.Ustackframes }},
	{name: "verbose", value: func(s *Settings) any { return &s.Verbose }},
	{name: "version", value: func(s *Settings) any { return &s.Version }, check: checkVersion},
	{name: "zdefs", value: func(s *Settings) any { return &s.Zdefs }},
}

// Set sets an option from its text, NAME or NAME=VALUE.
func (s *Settings) Set(text string) error {
	name, value, given := strings.Cut(text, "=")
	o, err := findOption(name)
	if err != nil {
		return err
	}
	if err := o.set(s, value, given); err != nil {
		return &ValueError{name, err}
	}
	return nil
}

// setInProgram sets an option from a pragma's text.
func (s *Settings) setInProgram(text string) error {
	name, _, _ := strings.Cut(text, "=")
	if o, err := findOption(name); err == nil && o.early {
		return fmt.Errorf("option %s: a program cannot set it: the command has been started before the program is read; use -x", name)
	}
	return s.Set(text)
}

// A ValueError is that an option cannot have a value.
type ValueError struct {
	Option string
	Err    error
}

func (e *ValueError) Error() string { return fmt.Sprintf("option %s: %v", e.Option, e.Err) }
func (e *ValueError) Unwrap() error { return e.Err }

func findOption(name string) (*option, error) {
	i, ok := slices.BinarySearchFunc(options, name, func(o option, name string) int { return strings.Compare(o.name, name) })
	if ok {
		return &options[i], nil
	}
	if why := absentOptions[name]; why != "" {
		return nil, fmt.Errorf("the option %s is not for Linux: %s", name, why)
	}
	if near := nearest(strings.ToLower(name), OptionNames()); near != "" {
		return nil, fmt.Errorf("there is no option %q; did you mean %s? kinst(1) describes them, and --help has their names", name, near)
	}
	return nil, fmt.Errorf("there is no option %q; kinst(1) describes those that there are, and --help has their names", name)
}

// nearest returns which of some names somebody may have meant, or "" if none is
// near: a third of the letters may be wrong.
func nearest(name string, names []string) string {
	best, least := "", max((len(name)+1)/3, 1)+1
	for _, n := range names {
		if d := distance(name, n); d < least {
			best, least = n, d
		}
	}
	return best
}

// distance is how many letters have to be put in, left out or changed to make b
// of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// OptionNames returns the names of the options, sorted.
func OptionNames() []string {
	names := make([]string, len(options))
	for i, o := range options {
		names[i] = o.name
	}
	return names
}

// OptionValues returns the values of an option that has some to choose from.
func OptionValues(name string) []string {
	o, err := findOption(name)
	if err != nil {
		return nil
	}
	if _, isSwitch := o.value(new(Settings)).(*bool); isSwitch {
		return []string{"on", "off"}
	}
	return slices.Clone(o.words)
}

// dynamicNames returns the names of the options that setopt() can change.
func dynamicNames() []string {
	var names []string
	for _, o := range options {
		if o.dynamic {
			names = append(names, o.name)
		}
	}
	return names
}

// absentOptions are those of libdtrace that have nothing to act upon here, and
// why.
var absentOptions = map[string]string{
	"aggpercpu":   "aggregations are summed over the CPUs; make cpu one of the keys to tell them apart",
	"amin":        "programs are not refused for the stability of what they use",
	"bpflog":      "the kernel's words are part of the message where it refuses a program",
	"bpflogsize":  "the kernel's words are part of the message where it refuses a program",
	"core":        "kinst dumps no core",
	"ctfpath":     "types are those of the kernel's BTF",
	"ctypes":      "types are those of the kernel's BTF",
	"debug":       "kinst has no messages for its own debugging; -v says what is left out and why, -S prints the compiled program",
	"debugassert": "kinst has no messages for its own debugging; -v says what is left out and why, -S prints the compiled program",
	"disasm":      "-S has one form",
	"dtypes":      "types are those of the kernel's BTF",
	"evaltime":    "a process is stopped before its first instruction, or where its libraries are loaded if probes are in it",
	"grabanon":    "there is no anonymous tracing, which begins while the kernel boots",
	"iregs":       "programs are compiled to BPF, which has its own registers",
	"kdefs":       "names of the kernel's symbols are always resolved when the program is compiled",
	"knodefs":     "names of the kernel's symbols are always resolved when the program is compiled",
	"lazyload":    "programs are not linked into object files",
	"ldpath":      "programs are not linked into object files",
	"linkmode":    "programs are not linked into object files",
	"linknommap":  "programs are not linked into object files",
	"linktype":    "programs are not linked into object files",
	"lockmem":     "the limit of locked memory is lifted by itself",
	"maxframes":   "stacks have the frames that stackframes, ustackframes and the arguments of the actions say",
	"modpath":     "functions and types are those of the running kernel, and are not read from files",
	"nolibs":      "there are no libraries but those of -L",
	"noresolve":   "addresses in stacks are always named; trace ucaller, or uregs[], for a number",
	"objcopypath": "programs are not linked into object files",
	"pcapsize":    "there is no pcap()",
	"pgmax":       "processes are not held",
	"preallocate": "memory is allocated by the kernel",
	"printsize":   "print() shows the whole object",
	"procfspath":  "processes are those of /proc",
	"scratchsize": "each alloca() and copyin() has room of its own",
	"strip":       "programs are not linked into object files",
	"syslibdir":   "there are no libraries but those of -L",
	"sysslice":    "no process is exempt from tracing as one of the system's",
	"tree":        "the program's tree is not printed; -d prints the program as the compiler rewrites it, -S its code",
	"tregs":       "programs are compiled to BPF, which has its own registers",
	"udefs":       "names of the kernel's symbols are always resolved when the program is compiled",
	"unodefs":     "names of the kernel's symbols are always resolved when the program is compiled",
	"useruid":     "no process is exempt from tracing as one of the system's",
}

func (o *option) set(s *Settings, text string, given bool) (err error) {
	switch v := o.value(s).(type) {
	case *bool:
		*v, err = parseSwitch(text, given)
	case *[]string:
		if text == "" {
			return errors.New("it takes a value")
		}
		if err := o.checked(s, text); err != nil {
			return err
		}
		if o.split {
			*v = append(*v, strings.Fields(text)...)
			break
		}
		*v = append(*v, o.flag+text)
	case *string:
		if o.words != nil && !slices.Contains(o.words, text) {
			return fmt.Errorf("%q is none of its values, %s", text, strings.Join(o.words, ", "))
		}
		if err := o.checked(s, text); err != nil {
			return err
		}
		*v = text
	case *time.Duration:
		*v, err = parseRate(text)
	case *int64:
		n, err := parseNumber(text, o.isSize)
		switch {
		case err != nil:
			return err
		case n < o.min:
			return fmt.Errorf("%s is too small; the least is %d", text, o.min)
		case o.max != 0 && n > o.max:
			return fmt.Errorf("%s is too large; the most is %d", text, o.max)
		}
		*v = max(n, o.raise)
	}
	return err
}

func (o *option) checked(s *Settings, text string) error {
	if o.check == nil {
		return nil
	}
	return o.check(s, text)
}

func checkAssignment(_ *Settings, text string) error {
	if strings.IndexByte(text, '=') <= 0 {
		return fmt.Errorf("%q is not NAME=VALUE, a variable of the environment and its value", text)
	}
	return nil
}

func checkPath(_ *Settings, text string) error {
	if text == "" {
		return errors.New("it takes a value")
	}
	return nil
}

func checkName(_ *Settings, text string) error {
	if strings.Contains(text, "=") {
		return fmt.Errorf("%q is not the name of a variable of the environment", text)
	}
	return nil
}

// parseSwitch reads the value of an option that is on or off; given alone it
// is on, with an empty value off.
func parseSwitch(text string, given bool) (bool, error) {
	if !given {
		return true, nil
	}
	switch strings.ToLower(text) {
	case "1", "on", "yes", "enable", "enabled", "true", "set":
		return true, nil
	case "", "0", "off", "no", "disable", "disabled", "false", "unset":
		return false, nil
	}
	if n, err := strconv.ParseUint(text, 0, 64); err == nil {
		return n != 0, nil
	}
	return false, fmt.Errorf("%q is neither on nor off", text)
}

// parseNumber reads a number and, for sizes, its suffix.
func parseNumber(text string, isSize bool) (int64, error) {
	digits, shift := text, 0
	if isSize && text != "" {
		if i := strings.IndexByte("kmgt", text[len(text)-1]|0x20); i >= 0 {
			digits, shift = text[:len(text)-1], 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(digits, 0, 64)
	if n > math.MaxInt64>>shift || n > 0 && errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("%s is too large", text)
	}
	if err != nil || n < 0 {
		kind := "a number"
		if isSize {
			kind = "a size, a number that may end in k, m, g or t"
		}
		return 0, fmt.Errorf("%q is not %s", text, kind)
	}
	return n << shift, nil
}

// rateUnits are the suffixes of intervals.
var rateUnits = map[string]time.Duration{
	"": time.Nanosecond, "ns": time.Nanosecond, "nsec": time.Nanosecond,
	"us": time.Microsecond, "usec": time.Microsecond,
	"ms": time.Millisecond, "msec": time.Millisecond,
	"s": time.Second, "sec": time.Second,
	"m": time.Minute, "min": time.Minute,
	"h": time.Hour, "hour": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour,
}

// parseRate reads an interval (100ms; without a unit in nanoseconds) or a rate
// (10hz), as libdtrace's dt_opt_rate does.
func parseRate(text string) (time.Duration, error) {
	digits := strings.TrimRightFunc(text, unicode.IsLetter)
	suffix := strings.ToLower(text[len(digits):])
	n, err := strconv.ParseInt(digits, 10, 64)
	unit, known := rateUnits[suffix]
	switch {
	case !known && suffix != "hz" || n < 0 || err != nil && !errors.Is(err, strconv.ErrRange):
	case suffix == "hz":
		return time.Second / time.Duration(max(n, 1)), nil
	case n > math.MaxInt64/int64(unit) || err != nil:
		return 0, fmt.Errorf("%s is too long; the longest is %d days", text, math.MaxInt64/(24*time.Hour))
	default:
		return time.Duration(n) * unit, nil
	}
	return 0, fmt.Errorf("%q is not a rate, such as 10hz or 100ms", text)
}

// SetEnvironment sets the options that an environment, a list of NAME=VALUE,
// has in variables DTRACE_OPT_<NAME>.
func (s *Settings) SetEnvironment(environ []string) error {
	for _, entry := range environ {
		variable, value, _ := strings.Cut(entry, "=")
		name, ok := strings.CutPrefix(variable, "DTRACE_OPT_")
		if !ok {
			continue
		}
		if err := s.Set(strings.ToLower(name) + "=" + value); err != nil {
			return fmt.Errorf("failed to set the environment's %s: %w", variable, err)
		}
	}
	return nil
}
