package examples

import (
	"embed"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"kinst/internal/cli"
	"kinst/internal/vm/vmtest"
)

//go:embed *.d
var programs embed.FS

// TestMain runs the tests in a guest of each kernel, where this test binary is
// the command kinst too.
func TestMain(m *testing.M) {
	command := map[string]func(){"kinst": func() { os.Exit(cli.Main(os.Args)) }}
	switch {
	case vmtest.InGuest():
		os.Args[0] = "examples.test"
	case filepath.Base(os.Args[0]) != "kinst":
		vmtest.Main(m) // exits
	}
	testscript.Main(m, command)
}

// TestExamples runs the scripts of testdata/guest, one for each program.
func TestExamples(t *testing.T) {
	all, err := fs.Glob(programs, "*.d")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		script := strings.TrimSuffix(name, ".d") + ".txtar"
		if _, err := os.Stat(filepath.Join("testdata/guest", script)); err != nil {
			t.Errorf("%s has no test: %v", name, err)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/guest",
		Setup: func(env *testscript.Env) error {
			return os.CopyFS(env.WorkDir, programs)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"branch": branch},
	})
}

var (
	inst   = regexp.MustCompile(`^([ !])  0x[0-9a-f]+ <\+(\d+)>:\t(\S+)(.*)`)
	inside = regexp.MustCompile(`<[^+>]+\+(\d+)>`)
)

// branch FUNCTION sets JUMP, NEXT and TARGET to the offsets of a function's first
// conditional jump, the instruction behind it and the one that it jumps to.
func branch(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: branch function")
	}
	ts.Check(ts.Exec("kinst", "disas", "-b", args[0]))
	jump := ""
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		m := inst.FindStringSubmatch(line)
		switch {
		case m == nil:
		case jump != "":
			ts.Setenv("JUMP", jump)
			ts.Setenv("NEXT", m[2])
			return
		case m[1] == " " && m[3][0] == 'j' && m[3] != "jmp":
			jump = m[2]
			target := inside.FindStringSubmatch(m[4])
			if target == nil {
				ts.Fatalf("no target: %s", line)
			}
			ts.Setenv("TARGET", target[1])
		}
	}
	ts.Fatalf("%s has no conditional jump", args[0])
}
