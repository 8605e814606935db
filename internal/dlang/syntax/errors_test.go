package syntax

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A diagnosis is an error that a source under testdata/errors expects. It is
// written in a comment: behind the token that the error is reported at, or
// (NEXT) on the line before the error's, or (END) anywhere, for an error at the
// end of the source.
//
//	x = 08 /* ERROR D_INT_DIGIT "invalid digit 8" */;
type diagnosis struct {
	where   string
	line    int
	column  int // of the comment
	tag     string
	message *regexp.Regexp
}

var (
	errorComment  = regexp.MustCompile(`/\* ERROR (NEXT |END )?(D_\w+) "(.*?)" \*/`)
	configComment = regexp.MustCompile(`(?m)^/\* CONFIG (.*) \*/$`)
)

func diagnoses(text string) (list []diagnosis) {
	for i, line := range strings.Split(text, "\n") {
		for _, m := range errorComment.FindAllStringSubmatchIndex(line, -1) {
			d := diagnosis{line: i + 1, column: m[0] + 1, tag: line[m[4]:m[5]]}
			if m[2] >= 0 {
				d.where = strings.TrimSpace(line[m[2]:m[3]])
			}
			d.message = regexp.MustCompile(line[m[6]:m[7]])
			list = append(list, d)
		}
	}
	return list
}

// matches reports whether e is the diagnosis.
func (d *diagnosis) matches(text string, e *Error) bool {
	if e.Tag != d.tag || !d.message.MatchString(e.Msg) {
		return false
	}
	switch lines := strings.Split(text, "\n"); {
	case d.where == "NEXT":
		return e.Pos.Line == d.line+1
	case d.where == "END":
		return !e.Pos.IsValid() || e.Pos.Line >= len(lines)-1
	case e.Pos.Line != d.line || e.Pos.Column >= d.column:
		return false
	default: // a single token stands between the error's place and the comment
		token := strings.TrimSpace(lines[d.line-1][e.Pos.Column-1 : d.column-1])
		return token[0] == '"' || !strings.ContainsAny(token, " \t")
	}
}

// sourceConfig reads the configuration that a source under testdata asks for,
// words like args=a,b spec=provider command.
func sourceConfig(t *testing.T, text string) (cfg Config, command bool) {
	cfg = Config{IDs: IDs{Pid: 100, Ppid: 1, Pgid: 100, Sid: 7, Uid: 1000, Euid: 1001, Gid: 50, Egid: 51}, Target: 4242}
	m := configComment.FindStringSubmatch(text)
	if m == nil {
		return cfg, false
	}
	for _, w := range strings.Fields(m[1]) {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "args":
			cfg.Args = append([]string{"test.d"}, strings.Split(value, ",")...)
		case "spec":
			spec, ok := map[string]Spec{"provider": ByProvider, "module": ByModule, "function": ByFunction, "name": ByName}[value]
			if !ok {
				t.Fatalf("unknown spec %q", value)
			}
			cfg.Spec = spec
		case "command":
			command = true
		case "defaultargs":
			cfg.DefaultArgs = true
		case "argref":
			cfg.ArgRef = true
		case "empty":
			cfg.Empty = true
		case "library":
			cfg.Library = true
		case "pspec":
			cfg.PSpec = true
		case "types":
			names := words(strings.ReplaceAll(value, ",", " "))
			cfg.IsType = func(name string) bool { return names[name] }
		default:
			t.Fatalf("unknown configuration %q", w)
		}
	}
	return cfg, command
}

// parseTestdata parses a file under testdata with the configuration in it.
func parseTestdata(t *testing.T, path string) (string, *File, ErrorList) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	cfg, command := sourceConfig(t, text)
	src := &Source{Name: filepath.Base(path), Text: text}
	if command {
		src.Name = ""
	}
	f, err := Parse(src, &cfg)
	var list ErrorList
	if err != nil && !errors.As(err, &list) {
		t.Fatalf("%T: %v", err, err)
	}
	return text, f, list
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: no files (%v)", pattern, err)
	}
	return paths
}

func TestErrors(t *testing.T) {
	cases := 0
	for _, path := range glob(t, "testdata/errors/*.d") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, _, errs := parseTestdata(t, path)
			want := diagnoses(text)
			cases += len(want)
			for _, d := range want {
				found := false
				for i, e := range errs {
					if e != nil && d.matches(text, e) {
						errs[i], found = nil, true
						break
					}
				}
				if !found {
					t.Errorf("line %d: no %s %q", d.line, d.tag, d.message)
				}
			}
			for _, e := range errs {
				if e != nil {
					t.Errorf("unexpected: %s:%s: %s %s", e.Pos, strconv.Itoa(e.Pos.Column), e.Tag, e.Msg)
				}
			}
		})
	}
	if cases < 120 {
		t.Errorf("%d cases", cases)
	}
}
