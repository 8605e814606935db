package rawtp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kinst/internal/provider/tracetest"
)

// interrupted calls getppid(2) all the time, while a timer interrupts it.
const interrupted = `
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int main(void) {
	timer_t timer;
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
	struct itimerspec every = {{0, 30000}, {0, 30000}};
	signal(SIGALRM, SIG_IGN);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &every, 0) != 0)
		return 1;
	for (int i = 0; i < 500000; i++)
		syscall(SYS_getppid);
	return 0;
}
`

// TestNested has programs of one tracepoint interrupted by those of another:
// neither disturbs what the other one is just putting together.
func TestNested(t *testing.T) {
	const program = `
syscall::getppid:entry /pid == $target/ {
	@calls[strjoin(execname, strjoin("BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB", "CCCCCCCCCCCCCCCCCCCCCCCCCCCC"))] = count();
}
rawtp:::hrtimer_expire_entry {
	@timers = sum(strlen(strjoin("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", strjoin(execname, "yyyyyyyyyyyyyyyyy"))) > 0);
}
END { printa("%s %@d\n", @calls); printa("timers %@d\n", @timers); }
`
	source := filepath.Join(t.TempDir(), "interrupted.c")
	if err := os.WriteFile(source, []byte(interrupted), 0o600); err != nil {
		t.Fatal(err)
	}
	command := strings.TrimSuffix(source, ".c")
	if out, err := exec.Command("gcc", "-O2", "-o", command, source, "-lrt").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out := strings.Split(tracetest.Run(t, program, command), "\n")
	const want = "interruptedBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBCCCCCCCCCCCCCCCCCCCCCCCCCCCC 500000"
	if len(out) != 2 || out[0] != want || out[1] == "timers 0" {
		t.Errorf("got:\n%s\nwant:\n%s\nand timers", strings.Join(out, "\n"), want)
	}
}
