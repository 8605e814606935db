package kinst

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestOptionsAreSorted(t *testing.T) {
	if !slices.IsSortedFunc(options, func(a, b option) int { return strings.Compare(a.name, b.name) }) {
		t.Error("the table of options is not sorted by name, which Set needs")
	}
}

func TestSet(t *testing.T) {
	for _, test := range []struct {
		text string
		got  func(*Settings) any
		want any
	}{
		{"bufsize=16k", func(s *Settings) any { return s.Bufsize }, int64(16 << 10)},
		{"bufsize=1G", func(s *Settings) any { return s.Bufsize }, int64(1 << 30)},
		{"strsize=2048", func(s *Settings) any { return s.Strsize }, int64(2048)},
		{"quiet", func(s *Settings) any { return s.Quiet }, true},
		{"temporal=0", func(s *Settings) any { return s.Temporal }, false},
		{"quiet=ON", func(s *Settings) any { return s.Quiet }, true},
		{"quiet=2", func(s *Settings) any { return s.Quiet }, true},
		{"temporal=0x0", func(s *Settings) any { return s.Temporal }, false},
		{"demangle=", func(s *Settings) any { return s.Demangle }, false},
		{"switchrate=100", func(s *Settings) any { return s.Switchrate }, 100 * time.Nanosecond},
		{"switchrate=10hz", func(s *Settings) any { return s.Switchrate }, 100 * time.Millisecond},
		{"switchrate=3Min", func(s *Settings) any { return s.Switchrate }, 3 * time.Minute},
		{"statusrate=0", func(s *Settings) any { return s.Statusrate }, time.Duration(0)},
		{"aggrate=250msec", func(s *Settings) any { return s.Aggrate }, 250 * time.Millisecond},
		{"bufpolicy=ring", func(s *Settings) any { return s.Bufpolicy }, "ring"},
		{"bufsize=1", func(s *Settings) any { return s.Bufsize }, int64(4096)},
		{"bufsize=4097", func(s *Settings) any { return s.Bufsize }, int64(4097)},
		{"aggsize=1", func(s *Settings) any { return s.Aggsize }, int64(64)},
		{"dynvarsize=63", func(s *Settings) any { return s.Dynvarsize }, int64(64)},
		{"strsize=1", func(s *Settings) any { return s.Strsize }, int64(2)},
		{"specsize=1", func(s *Settings) any { return s.Specsize }, int64(1)},
		{"version=1.6.3", func(s *Settings) any { return s.Version }, "1.6.3"},
		{"droptags", func(s *Settings) any { return s.Droptags }, true},
		{"verbose", func(s *Settings) any { return s.Verbose }, true},
		{"late=dynamic", func(s *Settings) any { return s.Late }, "dynamic"},
		{"cppargs=-DA=1  -I/x", func(s *Settings) any { return strings.Join(s.Cppargs, ",") }, "-DA=1,-I/x"},
		{"setenv=A=b=c", func(s *Settings) any { return strings.Join(s.Environ, ",") }, "A=b=c"},
		{"unsetenv=A", func(s *Settings) any { return strings.Join(s.Environ, ",") }, "A"},
		{"cpu=1", func(s *Settings) any { return s.CPU }, int64(1)},
	} {
		s := NewSettings()
		if err := s.Set(test.text); err != nil {
			t.Errorf("%s: %v", test.text, err)
		} else if got := test.got(s); got != test.want {
			t.Errorf("%s: got %v, want %v", test.text, got, test.want)
		}
	}
}

func TestSetRefuses(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"bufsiz=1", `there is no option "bufsiz"; did you mean bufsize? kinst(1) describes them`},
		{"destrutive", `did you mean destructive?`},
		{"QUIET", `did you mean quiet?`},
		{"nspec=1048577", `1048577 is too large; the most is 1048576`},
		{"strsize=8m", `8m is too large; the most is 4194304`},
		{"stackindent=1001", `1001 is too large; the most is 1000`},
		{"cpppath=", `option cpppath: it takes a value`},
		{"wombats=25", `there is no option "wombats"; kinst(1) describes those that there are`},
		{"version=1.14", `option version: version 1.14 of D is newer than what kinst knows, 1.13`},
		{"version=1.7.2", `option version: there is no version 1.7.2 of D; there are 1.0 1.1`},
		{"version=new", `option version: "new" is not a version of D, such as 1.13`},
		{"version=1.2.3.4", `is not a version of D`},
		{"version", `"" is not a version of D`},
		{"setenv=A", `option setenv: "A" is not NAME=VALUE`},
		{"setenv==A", `option setenv: "=A" is not NAME=VALUE`},
		{"unsetenv=A=b", `option unsetenv: "A=b" is not the name of a variable`},
		{"tree=1", `the option tree is not for Linux: the program's tree is not printed`},
		{"bufsize=4x", `option bufsize: "4x" is not a size`},
		{"bufsize=9999999999g", `option bufsize: 9999999999g is too large`},
		{"bufsize=99999999999999999999", `option bufsize: 99999999999999999999 is too large`},
		{"nspec=99999999999999999999", `option nspec: 99999999999999999999 is too large`},
		{"nspec=-99999999999999999999", `is not a number`},
		{"bufsize=0", `option bufsize: 0 is too small; the least is 1`},
		{"specsize=0", `the least is 1`},
		{"bufpolicy=round", `"round" is none of its values, switch, fill, ring`},
		{"quiet=maybe", `"maybe" is neither on nor off`},
		{"switchrate=-1", `"-1" is not a rate`},
		{"switchrate=hz", `"hz" is not a rate`},
		{"switchrate=9223372036854775807us", `option switchrate: 9223372036854775807us is too long; the longest is 106751 days`},
		{"switchrate=99999999999999999999", `is too long`},
		{"switchrate=-99999999999999999999", `is not a rate`},
		{"encoding=latin1", `"latin1" is none of its values, ascii, utf8`},
		{"switchrate=1fortnight", `is not a rate`},
		{"nspec=", `"" is not a number`},
	} {
		err := NewSettings().Set(test.text)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.text, err, test.want)
		}
	}
}

func TestSetEnvironment(t *testing.T) {
	s := NewSettings()
	if err := s.SetEnvironment([]string{"HOME=/", "DTRACE_OPT_BUFSIZE=16k", "DTRACE_OPT_QUIET=on", "DTRACE=1"}); err != nil {
		t.Fatal(err)
	}
	if s.Bufsize != 16<<10 || !s.Quiet {
		t.Errorf("bufsize %d, quiet %v", s.Bufsize, s.Quiet)
	}
	for entry, want := range map[string]string{
		"DTRACE_OPT_BUFSIZ=1":      `failed to set the environment's DTRACE_OPT_BUFSIZ: there is no option "bufsiz"; did you mean bufsize?`,
		"DTRACE_OPT_BUFSIZE=4x":    `failed to set the environment's DTRACE_OPT_BUFSIZE: option bufsize: "4x" is not a size`,
		"DTRACE_OPT_SYSLIBDIR=/":   `failed to set the environment's DTRACE_OPT_SYSLIBDIR: the option syslibdir is not for Linux`,
		"DTRACE_OPT_BUFPOLICY=":    `"" is none of its values, switch, fill, ring`,
		"DTRACE_OPT_SWITCHRATE=1x": `"1x" is not a rate`,
	} {
		if err := NewSettings().SetEnvironment([]string{entry}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", entry, err, want)
		}
	}
}

// TestEveryOptionOfDTrace sees that each option of the libdtrace of illumos, of
// FreeBSD and of Oracle is there or refused with a reason, and not both.
func TestEveryOptionOfDTrace(t *testing.T) {
	names := strings.Fields(`agghist aggpack aggpercpu aggrate aggsize aggsortkey aggsortkeypos aggsortpos
		aggsortrev aggzoom amin argref bpflog bpflogsize bufpolicy bufresize bufsize cleanrate core cpp cppargs
		cpphdrs cpppath cpu ctfpath ctypes debug debugassert defaultargs define demangle destructive disasm
		droptags dtypes dynvarsize empty encoding errtags evaltime flowindent grabanon incdir iregs jstackframes
		jstackstrsize kdefs knodefs late lazyload ldpath libdir linkmode linknommap linktype lockmem maxframes
		modpath nolibs noresolve nspec objcopypath oformat pcapsize pgmax preallocate printsize procfspath pspec
		quiet quietresize rawbytes scratchsize setenv specsize stackframes stackindent statusrate stdc strip
		strsize switchrate syslibdir sysslice temporal tree tregs udefs undef unodefs unsetenv useruid
		ustackframes verbose version zdefs`)
	for _, name := range names {
		known := slices.Contains(OptionNames(), name)
		if refused := absentOptions[name] != ""; known == refused {
			t.Errorf("%s: known %v, refused %v", name, known, refused)
		}
	}
}

func TestVersionOnlyFalls(t *testing.T) {
	s := NewSettings()
	for _, version := range []string{"1.12.1", "1.5"} {
		if err := s.Set("version=" + version); err != nil {
			t.Fatal(err)
		}
	}
	err := s.Set("version=1.6")
	if want := "option version: version 1.6 of D is newer than 1.5, which has been asked for before"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestVersionNumber(t *testing.T) {
	for version, want := range map[string]uint32{"1.13": 0x0100d000, "1.6.3": 0x01006003, "1": 0x01000000, "1.4096": 0, "256.1": 0, "": 0, "1.": 0} {
		if got := versionNumber(version); got != want {
			t.Errorf("%q: got %#x, want %#x", version, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	for name, want := range map[string]string{
		"bufsiz": "bufsize", "quite": "quiet", "strsizes": "strsize", "stripsize": "strsize", "agsortrev": "aggsortrev", "x": "", "": "", "wombats": "",
	} {
		if got := nearest(name, OptionNames()); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

// TestManual sees that the manual page has an entry for each option, marked
// where setopt() can set it.
func TestManual(t *testing.T) {
	page, err := os.ReadFile("man/kinst.1")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n.Sh OPTIONS\n")
	section, _, _ = strings.Cut(section, "\n.Sh ")
	var got, want []string
	for line := range strings.Lines(section) {
		entry, ok := strings.CutPrefix(strings.TrimSpace(line), ".It Cm ")
		if !ok {
			continue
		}
		for name := range strings.SplitSeq(entry, " , ") {
			got = append(got, strings.ReplaceAll(name, " Ns *", "*"))
		}
	}
	for _, o := range options {
		name := o.name
		if o.dynamic {
			name += "*"
		}
		want = append(want, name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the options (-) and the manual page (+):\n%s", diff)
	}
}
