package userland

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestStateError(t *testing.T) {
	stat := func(state string, flags, threads int) string {
		return fmt.Sprintf("12 (a) b) %s 7 12 12 0 -1 %d 0 0 0 0 0 0 0 0 20 0 %d 0 9 0 0", state, flags, threads)
	}
	const leader = "Name:\ta\nTgid:\t12\nPid:\t12\n"
	for name, test := range map[string]struct{ status, stat, want string }{
		"a process":        {leader, stat("S", 0x400000, 1), ""},
		"a thread":         {"Name:\ta\nTgid:\t7\nPid:\t12\n", stat("S", 0x400000, 2), "it is a thread of process 7: name that"},
		"a zombie":         {leader, stat("Z", 0x40000c, 1), "it has ended already, and only its parent, process 7, has not taken notice (it is a zombie)"},
		"threads are left": {leader, stat("Z", 0x40000c, 3), ""},
		"of the kernel":    {leader, stat("S", 0x208040, 1), "it is a thread of the kernel and runs no program: name none, and compare pid with 12 in a predicate"},
	} {
		got := ""
		if err := stateError(12, test.status, test.stat); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func TestCheckProcess(t *testing.T) {
	if err := CheckProcess(os.Getpid()); err != nil {
		t.Errorf("this process: %v", err)
	}
	const nobody = 1<<22 - 1
	if err := CheckProcess(nobody); !errors.Is(err, ErrNoProcess) {
		t.Errorf("no process: %v", err)
	}
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("it has ended already, and only its parent, process %d, has not taken notice (it is a zombie)", os.Getpid())
	var err error
	for range 1000 {
		if err = CheckProcess(cmd.Process.Pid); err != nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err == nil || err.Error() != want {
		t.Errorf("a zombie: got %v, want %s", err, want)
	}
	if _, err := newStore(t).Process(cmd.Process.Pid); err == nil || err.Error() != fmt.Sprintf("process %d: %s", cmd.Process.Pid, want) {
		t.Errorf("what a zombie has mapped: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
