package proc_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kinst/internal/provider/tracetest"
)

// shell writes a script for sh and returns the command that runs it.
func shell(t *testing.T, script string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "script.sh")
	if err := os.WriteFile(name, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return "sh " + name
}

// TestLife follows a child of the shell through its life.
func TestLife(t *testing.T) {
	const program = `
proc:::create /pid == $target/ { printf("create %s, child of %d\n", args[0]->pr_fname, args[0]->pr_ppid); }
proc:::lwp-create /pid == $target/ { printf("lwp-create %s in %s\n", args[0]->pr_name, args[1]->pr_fname); }
proc:::start /ppid == $target/ { printf("start %s\n", execname); }
proc:::lwp-start /ppid == $target/ { printf("lwp-start %s\n", execname); }
proc:::exec /ppid == $target/ { printf("exec %s\n", args[0]); }
proc:::exec-failure /ppid == $target/ { printf("exec-failure %d\n", args[0]); }
proc:::exec-success /ppid == $target/ { printf("exec-success %s\n", execname); }
proc:::exit /ppid == $target/ { printf("exit %s %d\n", execname, args[0]); }
proc:::lwp-exit /ppid == $target/ { printf("lwp-exit %s\n", execname); }
`
	true_, err := exec.LookPath("true")
	if err != nil {
		t.Fatal(err)
	}
	got := tracetest.Run(t, program, shell(t, true_+"\n/nonexistent/program\nexit 0\n"))
	want := strings.ReplaceAll(`create sh, child of PID
lwp-create sh in sh
start sh
lwp-start sh
exec TRUE
exec-success true
exit true 1
lwp-exit true
create sh, child of PID
lwp-create sh in sh
start sh
lwp-start sh
exec /nonexistent/program
exec-failure 2
exit sh 1
lwp-exit sh`, "TRUE", true_)
	if sorted(got) != sorted(want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// sorted orders lines by the word that they begin with, because parent and
// child run side by side.
func sorted(text string) string {
	byWord := make(map[string][]string)
	for line := range strings.Lines(text) {
		word, _, _ := strings.Cut(line, " ")
		byWord[word] = append(byWord[word], strings.TrimSpace(line))
	}
	var lines []string
	for _, word := range strings.Fields("create lwp-create start lwp-start exec exec-success exec-failure exit lwp-exit") {
		lines = append(lines, byWord[word]...)
		delete(byWord, word)
	}
	for _, rest := range byWord {
		lines = append(lines, rest...)
	}
	return strings.Join(lines, "\n")
}

// TestReasons ends processes in all ways.
func TestReasons(t *testing.T) {
	const program = `proc:::exit /ppid == $target/ { printf("%d %d\n", args[0], arg0); }`
	for _, test := range []struct{ script, want string }{
		{"(exit 3)\ntrue\n", "1 1"},                             // CLD_EXITED
		{"(kill -9 $(exec sh -c 'echo $PPID'))\ntrue\n", "2 2"}, // CLD_KILLED
	} {
		got := tracetest.Lines(t, program, shell(t, test.script))
		if got[test.want] == 0 {
			t.Errorf("%q: got %v, want %q", test.script, got, test.want)
		}
	}
}

// TestSignals sends signals to a handler, to one who ignores them, and to one
// who waits for a child.
func TestSignals(t *testing.T) {
	const program = `
proc:::signal-send /pid == $target && args[1]->pr_pid == $target/ { printf("send %d to %s\n", args[2], args[0]->pr_name); }
proc:::signal-discard /pid == $target && args[1]->pr_pid == $target/ { printf("discard %d of %s\n", args[2], args[1]->pr_fname); }
proc:::signal-handle /pid == $target && args[0] != SIGCHLD/ { printf("handle %d %d\n", args[0], args[2] != 0); }
`
	got := tracetest.Run(t, program, shell(t, "trap : USR1\ntrap '' USR2\nkill -USR1 $$\nkill -USR2 $$\nkill -USR1 $$\n"))
	const want = `send 10 to sh
handle 10 1
send 12 to sh
discard 12 of sh
send 10 to sh
handle 10 1`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestThreads starts threads in a process of many.
func TestThreads(t *testing.T) {
	const program = `
proc:::create /pid == $target/ { @["create"] = count(); }
proc:::lwp-create /pid == $target && args[1]->pr_pid == $target/ { @["lwp-create"] = count(); }
proc:::lwp-start /pid == $target/ { @["lwp-start"] = count(); }
proc:::start /pid == $target/ { @["start"] = count(); }
proc:::lwp-exit /pid == $target/ { @["lwp-exit"] = count(); }
proc:::exit /pid == $target/ { @["exit"] = count(); }
END { printa("%s %@d\n", @); }
`
	source := filepath.Join(t.TempDir(), "threads.c")
	text := `#include <pthread.h>
static void *run(void *arg) { return arg; }
int main(void) {
	for (int i = 0; i < 100; i++) {
		pthread_t t;
		if (pthread_create(&t, 0, run, 0) != 0 || pthread_join(t, 0) != 0)
			return 1;
	}
	return 0;
}
`
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	threads := strings.TrimSuffix(source, ".c")
	if out, err := exec.Command("gcc", "-pthread", "-o", threads, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := tracetest.Lines(t, program, threads)
	for line, n := range map[string]int{"lwp-create 100": 1, "lwp-start 100": 1, "lwp-exit 101": 1, "exit 1": 1} {
		if got[line] != n {
			t.Errorf("no %q", line)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
}
