package kinst

import (
	"slices"
	"strings"
	"testing"
	"time"
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
		{"demangle=", func(s *Settings) any { return s.Demangle }, false},
		{"switchrate=100", func(s *Settings) any { return s.Switchrate }, 100 * time.Nanosecond},
		{"switchrate=10hz", func(s *Settings) any { return s.Switchrate }, 100 * time.Millisecond},
		{"switchrate=3Min", func(s *Settings) any { return s.Switchrate }, 3 * time.Minute},
		{"statusrate=0", func(s *Settings) any { return s.Statusrate }, time.Duration(0)},
		{"aggrate=250msec", func(s *Settings) any { return s.Aggrate }, 250 * time.Millisecond},
		{"bufpolicy=ring", func(s *Settings) any { return s.Bufpolicy }, "ring"},
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
		{"bufsiz=1", `there is no option "bufsiz"; the options are agghist`},
		{"bufsize=4x", `option bufsize: "4x" is not a size`},
		{"bufsize=9999999999g", `is not a size`},
		{"bufsize=1", `the least is 4096`},
		{"bufpolicy=round", `"round" is none of its values, switch, fill, ring`},
		{"quiet=maybe", `"maybe" is neither on nor off`},
		{"switchrate=-1", `"-1" is not a rate`},
		{"switchrate=hz", `"hz" is not a rate`},
		{"switchrate=9223372036854775807us", `is not a rate`},
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
		"DTRACE_OPT_BUFSIZ=1":      `failed to set the environment's DTRACE_OPT_BUFSIZ: there is no option "bufsiz"; the options are agghist`,
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
