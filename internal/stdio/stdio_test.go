package stdio_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestClosed builds the command as the Makefile does.
func TestClosed(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	const entry = "-E kinst/internal/stdio.Start"
	if !strings.Contains(string(makefile), entry) {
		t.Errorf("the Makefile's LDFLAGS have no %s", entry)
	}
	path := filepath.Join(t.TempDir(), "kinst")
	if out, err := exec.Command("go", "build", "-ldflags", entry, "-o", path, "kinst/cmd/kinst").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	const closed = "kinst: the standard output is closed: bad file descriptor; direct it to a file, or to /dev/null\n"
	for _, test := range []struct{ line, want string }{
		{`-V >&-`, closed + "1"},
		{`--help >&-`, closed + "1"},
		{`-l -P dtrace >&-`, closed + "1"},
		{`-q -n 'BEGIN {@ = count();} tick-60s {exit(0);}' >&-`, closed + "1"},
		{`-q -x oformat=json -n 'BEGIN {exit(0);}' >&-`, closed + "1"},
		{`-q -n 'BEGIN {printf("x"); exit(0);}' -o /dev/null >&-`, "0"},
		{`-e -n BEGIN >&-`, "0"},
		{`-q -n 'BEGIN {printf("x"); exit(0);}' >/dev/null`, "0"},
		{`-q -n 'BEGIN {printf("x"); exit(0);}' 1<>/dev/null`, "0"},
		{`-q -n 'BEGIN {printf("x"); exit(0);}' <&-`, "x\n0"},
	} {
		out, err := exec.Command("sh", "-c", path+" "+test.line+"; echo $?").CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != test.want {
			t.Errorf("%s:\n got %q, %v\nwant %q", test.line, got, err, test.want)
		}
	}
}
