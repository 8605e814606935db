package tracee

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// spawns makes threads that make threads, at most 64 at a time, until it is
// killed.
const spawns = `
#include <pthread.h>
#include <unistd.h>
static void *spawn(void *unused)
{
	pthread_t t;
	for (;;) {
		pthread_create(&t, NULL, (void *(*)(void *))getpid, NULL);
		pthread_join(t, NULL);
	}
}
int main(void)
{
	pthread_t t[8];
	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, spawn, NULL);
	spawn(NULL);
}
`

func startSpawns(t *testing.T) int {
	t.Helper()
	dir := t.TempDir()
	source, program := filepath.Join(dir, "spawns.c"), filepath.Join(dir, "spawns")
	if err := os.WriteFile(source, []byte(spawns), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-pthread", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	cmd := exec.Command(program)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for threads(t, cmd.Process.Pid) == nil || len(threads(t, cmd.Process.Pid)) < 9 {
		time.Sleep(time.Millisecond)
	}
	return cmd.Process.Pid
}

// threads returns which thread traces each of a process's threads.
func threads(t *testing.T, pid int) map[int]int {
	t.Helper()
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	tracers := make(map[int]int)
	for _, task := range tasks {
		tid, err := strconv.Atoi(task.Name())
		if err != nil {
			t.Fatal(err)
		}
		if state, tracer := threadState(pid, tid); state != "" && state != "X" && state != "Z" {
			tracers[tid] = tracer
		}
	}
	return tracers
}

// TestSeize traces every thread of a process that makes threads all the time,
// and none when it lets go.
func TestSeize(t *testing.T) {
	pid := startSpawns(t)
	for range 10 {
		tr, err := Seize(pid)
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			for tid, tracer := range threads(t, pid) {
				if tracer == 0 {
					t.Errorf("thread %d is not traced", tid)
				}
			}
		}
		if err := tr.Detach(); err != nil {
			t.Fatal(err)
		}
		traced := true
		for n := 0; traced && n < 1000; n++ {
			traced = false
			for _, tracer := range threads(t, pid) {
				traced = traced || tracer != 0
			}
		}
		if traced {
			t.Fatal("it is still traced")
		}
	}
}

// TestSeizeOnce: a process has one tracer.
func TestSeizeOnce(t *testing.T) {
	pid := startSpawns(t)
	first, err := Seize(pid)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Seize(pid); err == nil {
		t.Error("it is seized twice")
	}
	if err := first.Detach(); err != nil {
		t.Fatal(err)
	}
}

// TestStart runs a command that stops itself, traced and not.
func TestStart(t *testing.T) {
	for _, followed := range []bool{false, true} {
		tr, err := Start(exec.Command("sh", "-c", "kill -STOP $$; exit 3"))
		if err != nil {
			t.Fatal(err)
		}
		if err := tr.Run(followed); err != nil {
			t.Fatal(err)
		}
		for !stopped(tr.PID) {
			time.Sleep(time.Millisecond)
		}
		if err := unix.Kill(tr.PID, unix.SIGCONT); err != nil {
			t.Fatal(err)
		}
		<-tr.Ended()
		if got := tr.Status().ExitStatus(); got != 3 {
			t.Errorf("followed %v: exit status %d, want 3", followed, got)
		}
	}
}

// stopped reports whether a process is stopped, or a tracer has it so.
func stopped(pid int) bool {
	state, _ := threadState(pid, pid)
	return state == "T" || state == "t"
}
