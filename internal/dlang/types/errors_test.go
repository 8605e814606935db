package types

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/cilium/ebpf/btf"

	"kinst/internal/dlang/syntax"
	"kinst/internal/isa"
)

// A diagnosis is an error that a source under testdata/errors expects, in a
// comment behind the token that the error is reported at:
//
//	trace(1 / 0 /* ERROR D_DIV_ZERO "division by zero" */);
//
// with NEXT before the tag, it is expected anywhere on the next line.
type diagnosis struct {
	next    bool
	line    int
	column  int // of the comment
	tag     string
	message *regexp.Regexp
}

var errorComment = regexp.MustCompile(`/\* ERROR (NEXT )?(D_\w+) "(.*?)" \*/`)

func diagnoses(text string) (list []diagnosis) {
	for i, line := range strings.Split(text, "\n") {
		for _, m := range errorComment.FindAllStringSubmatchIndex(line, -1) {
			list = append(list, diagnosis{
				next: m[2] >= 0, line: i + 1, column: m[0] + 1,
				tag: line[m[4]:m[5]], message: regexp.MustCompile(line[m[6]:m[7]]),
			})
		}
	}
	return list
}

func (d *diagnosis) matches(text string, e *syntax.Error) bool {
	if e.Tag != d.tag || !d.message.MatchString(e.Msg) {
		return false
	}
	if d.next {
		return e.Pos.Line == d.line+1
	}
	if e.Pos.Line != d.line || e.Pos.Column >= d.column {
		return false
	}
	token := strings.TrimSpace(strings.Split(text, "\n")[d.line-1][e.Pos.Column-1 : d.column-1])
	return token[0] == '"' || !strings.ContainsAny(token, " \t")
}

var vmlinux = sync.OnceValues(btf.LoadKernelSpec)

// testEnv is the environment of the sources under testdata: what a probe offers
// goes by its name.
func testEnv(t *testing.T) *Env {
	t.Helper()
	arch, err := isa.Native()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string][]*Context{
		"BEGIN":  {{}},
		"regs":   {{Registers: true}},
		"return": {{Registers: true, Errno: true}},
		"args":   {{Args: []Arg{{Name: "fd", Type: TypeInt}, {Name: "buf", Type: typeCharPtr}, {Name: "none"}, {Name: "twice", Means: "arg0 * 2"}}}},
		"both":   {{Registers: true}, {}},
	}
	return &Env{
		Arch:     arch,
		Contexts: func(c *syntax.Clause) []*Context { return kinds[c.Probes[0].Name] },
		BTF: func(module string) (*btf.Spec, error) {
			if module != "" {
				return nil, fmt.Errorf("no module %s", module)
			}
			return vmlinux()
		},
		Symbol: func(module, name string) (uint64, error) {
			if module != "" || name != "vfs_read" && name != "jiffies" {
				return 0, errors.New("there is no such symbol")
			}
			return 0xffffffff81000000, nil
		},
	}
}

// checkText checks a source.
func checkText(t *testing.T, name, text string, env *Env) (*Program, syntax.ErrorList) {
	t.Helper()
	file, err := syntax.Parse(&syntax.Source{Name: name, Text: text}, nil)
	if err == nil {
		var p *Program
		if p, err = Check([]*syntax.File{file}, env); err == nil {
			return p, nil
		}
	}
	var list syntax.ErrorList
	if !errors.As(err, &list) {
		t.Fatalf("%s: %v", name, err)
	}
	return nil, list
}

// TestErrors checks the sources under testdata/errors: they have the errors
// that their comments expect, and no others.
func TestErrors(t *testing.T) {
	files, err := filepath.Glob("testdata/errors/*.d")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sources: %v", err)
	}
	cases := 0
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		want := diagnoses(text)
		cases += len(want)
		t.Run(filepath.Base(path), func(t *testing.T) {
			env := testEnv(t)
			env.Destructive = !strings.Contains(text, "/* not destructive */")
			_, got := checkText(t, filepath.Base(path), text, env)
			compareErrors(t, text, want, got)
		})
	}
	t.Logf("%d cases", cases)
}

func compareErrors(t *testing.T, text string, want []diagnosis, got syntax.ErrorList) {
	t.Helper()
	used := make([]bool, len(got))
	for _, d := range want {
		found := false
		for i, e := range got {
			if !used[i] && d.matches(text, e) {
				used[i], found = true, true
				break
			}
		}
		if !found {
			t.Errorf("line %d: no %s %q", d.line, d.tag, d.message)
		}
	}
	for i, e := range got {
		if !used[i] {
			t.Errorf("line %d, column %d: unexpected %s: %s", e.Pos.Line, e.Pos.Column, e.Tag, e.Msg)
		}
	}
}
