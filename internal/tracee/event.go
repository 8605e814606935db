package tracee

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ptrace makes a call whose address is 0.
func ptrace(request, tid int, data uintptr) error {
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), 0, data, 0, 0)
	if errno != 0 {
		return os.NewSyscallError("ptrace", errno)
	}
	return nil
}

// eventOf is the PTRACE_EVENT_* for which a thread has stopped, or 0 for a
// signal.
func eventOf(s unix.WaitStatus) int { return int(s >> 16) }

// wait takes what has happened to the threads, and reports whether there are
// some left.
func (t *Tracee) wait() bool {
	for {
		var status unix.WaitStatus
		tid, err := unix.Wait4(-1, &status, unix.WALL|unix.WNOTHREAD|unix.WNOHANG, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return false
		case tid == 0:
			return true
		default:
			t.event(tid, status)
		}
	}
}

// event does what is to be done when a thread has stopped or ended. Errors of
// ptrace are that the thread has been killed meanwhile, of which it will be
// told too.
func (t *Tracee) event(tid int, status unix.WaitStatus) {
	if !status.Stopped() {
		delete(t.threads, tid)
		delete(t.asked, tid)
		delete(t.held, tid)
		if tid == t.PID {
			t.status = status
		}
		return
	}
	if !t.threads[tid] {
		if state, _ := threadState(t.PID, tid); state == "" { // a process of its own
			_ = ptrace(unix.PTRACE_DETACH, tid, 0)
			return
		}
		t.threads[tid] = true
	}
	signal := status.StopSignal()
	switch event := eventOf(status); {
	case event == unix.PTRACE_EVENT_EXEC:
		t.threads = map[int]bool{tid: true} // the others are gone
		clear(t.asked)
		clear(t.held)
		t.hold(Stop{Executed: true, tid: tid}, 0)
	case event == unix.PTRACE_EVENT_STOP:
		if signal == unix.SIGTRAP {
			signal = 0
		}
		if t.asked[tid] {
			delete(t.asked, tid)
			t.hold(Stop{tid: tid}, signal)
			return
		}
		_ = t.release(tid, signal)
	case event != 0:
		_ = t.release(tid, 0)
	case signal == unix.SIGSTOP && fromKernel(tid):
		// It is held in another stop than this, from which it goes on without
		// the signal if this process dies.
		t.asked[tid] = true
		_ = errors.Join(ptrace(unix.PTRACE_INTERRUPT, tid, 0), ptrace(unix.PTRACE_CONT, tid, 0))
	default:
		_ = ptrace(unix.PTRACE_CONT, tid, uintptr(signal))
	}
}

// hold holds a thread that has stopped, if anybody wants to know.
func (t *Tracee) hold(s Stop, stopped unix.Signal) {
	t.held[s.tid] = stopped
	if !t.ignore {
		select {
		case t.stops <- s:
			t.wake()
			return
		default: // nobody has asked for long
		}
	}
	_ = t.resume(s.tid)
}

// resume lets a thread go on that is held.
func (t *Tracee) resume(tid int) error {
	stopped, ok := t.held[tid]
	if !ok {
		return nil
	}
	delete(t.held, tid)
	return t.release(tid, stopped)
}

// release lets a thread go on, or stay stopped with its process.
func (t *Tracee) release(tid int, stopped unix.Signal) error {
	if stopped != 0 {
		return ptrace(unix.PTRACE_LISTEN, tid, 0)
	}
	return ptrace(unix.PTRACE_CONT, tid, 0)
}

// fromKernel reports whether the signal by which a thread has stopped is from the
// kernel itself, as is that of uprobe.StopAt.
func fromKernel(tid int) bool {
	const kernel = 0x80 // SI_KERNEL
	var info [128]byte  // siginfo_t: int si_signo, si_errno, si_code
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GETSIGINFO, uintptr(tid), 0, uintptr(unsafe.Pointer(&info[0])), 0, 0)
	return errno == 0 && binary.NativeEndian.Uint32(info[8:]) == kernel
}

// threadState returns the letter for the state of a thread, "" if the process
// has no such thread, and which thread traces it, 0 for none.
func threadState(pid, tid int) (state string, tracer int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/status", pid, tid))
	if err != nil {
		return "", 0
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch {
		case name == "State" && value != "":
			state = value[:1]
		case name == "TracerPid":
			tracer, _ = strconv.Atoi(value)
		}
	}
	return state, tracer
}
