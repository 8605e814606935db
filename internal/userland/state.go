package userland

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// CheckProcess returns why a number is not that of a process which runs a
// program: it is that of a thread, of a process that has ended, of a thread of
// the kernel, or of nothing.
func CheckProcess(pid int) error {
	status, err := os.ReadFile(procPath(pid, "status"))
	if err == nil {
		var stat []byte
		if stat, err = os.ReadFile(procPath(pid, "stat")); err == nil {
			return stateError(pid, string(status), string(stat))
		}
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return ErrNoProcess
	}
	return err
}

// kernelThread is PF_KTHREAD of include/linux/sched.h.
const kernelThread = 0x00200000

// stateError judges what /proc/PID/status and /proc/PID/stat say, proc(5).
func stateError(pid int, status, stat string) error {
	if group := statusField(status, "Tgid"); group != "" && group != strconv.Itoa(pid) {
		return fmt.Errorf("it is a thread of process %s: name that", group)
	}
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 18 {
		return nil
	}
	state, parent := fields[0], fields[1]
	flags, _ := strconv.ParseUint(fields[6], 10, 64)
	threads, _ := strconv.Atoi(fields[17])
	switch {
	case flags&kernelThread != 0:
		return fmt.Errorf("it is a thread of the kernel and runs no program: name none, and compare pid with %d in a predicate", pid)
	case state == "X", state == "Z" && threads <= 1:
		return fmt.Errorf("it has ended already, and only its parent, process %s, has not taken notice (it is a zombie)", parent)
	}
	return nil
}

// statusField returns a field of /proc/PID/status.
func statusField(status, name string) string {
	for line := range strings.Lines(status) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
