package cpc_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kinst/internal/provider/tracetest"
)

// touching touches a thousand pages between two system calls.
const touching = `
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { pages = 1000, size = 4096 };

int main(void) {
	volatile char *memory = mmap(0, pages * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || madvise((void *)memory, pages * size, MADV_NOHUGEPAGE) != 0)
		return 1;
	getppid();
	for (int i = 0; i < pages; i++)
		memory[i * size] = 1;
	getppid();
	return 0;
}
`

// Each fault of a known workload is a firing, and none is skipped.
func TestPageFaults(t *testing.T) {
	const program = `
self int touching;
syscall::getppid:entry /pid == $target/ { self->touching = !self->touching; }
cpc:::minor_faults-user-1 /self->touching/ { @faults = count(); @user = sum(arg1 != 0 && arg0 == 0); }
cpc:::page_faults-kernel-1 /self->touching/ { @kernel = count(); }
END { printa("%@d %@d\n", @faults, @user); }
`
	source := filepath.Join(t.TempDir(), "touching.c")
	if err := os.WriteFile(source, []byte(touching), 0o600); err != nil {
		t.Fatal(err)
	}
	command := strings.TrimSuffix(source, ".c")
	if out, err := exec.Command("gcc", "-O1", "-o", command, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out := strings.TrimSpace(tracetest.Run(t, program, command)); out != "1000 1000" {
		t.Errorf("got %q, want 1000 faults, all of them of user code", out)
	}
}

// A clock counts nanoseconds: the probe fires as often as its period is in the
// time that a busy program takes.
func TestClock(t *testing.T) {
	const program = `
cpc:::cpu_clock-all-1000000 /pid == $target/ { @ticks = count(); }
profile:::profile-1000 /pid == $target/ { @same = count(); }
END { printa("%@d %@d\n", @ticks, @same); }
`
	var ticks, same int
	out := tracetest.Run(t, program, "dd if=/dev/zero of=/dev/null bs=1M count=2000 status=none")
	if n, err := fmt.Sscan(out, &ticks, &same); n != 2 || err != nil || ticks < 10 || ticks < same*9/10-2 || ticks > same*11/10+2 {
		t.Errorf("got %q: %v", out, err)
	}
}
