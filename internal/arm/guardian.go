package arm

import (
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// A guardian is a process that cleans up after the session's process in the
// moment it is killed, where otherwise the next session would: the time until
// then may be long, and system-wide settings may be turned. A session that
// arms but a few sites turns none, and has no guardian.
//
// It is the same program, started under the name guardianName, which init
// recognises before main has run.
type guardian struct {
	process *exec.Cmd
	line    *os.File // held by the session; closed by the kernel at its death
}

const guardianName = "kinst-guardian"

func init() {
	if len(os.Args) > 0 && os.Args[0] == guardianName {
		watch()
		os.Exit(0)
	}
}

// allIsWell is what a session writes to its guardian at its end.
const allIsWell = '.'

func startGuardian() (*guardian, error) {
	self, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return nil, err
	}
	pidfd := os.NewFile(uintptr(self), "pidfd")
	defer pidfd.Close()
	end, line, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer end.Close()
	process := &exec.Cmd{
		Path:       "/proc/self/exe",
		Args:       []string{guardianName},
		Env:        []string{},
		Dir:        "/",
		Stdin:      end,
		ExtraFiles: []*os.File{pidfd},
		// Ctrl-C at the terminal is not for it.
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := process.Start(); err != nil {
		line.Close()
		return nil, err
	}
	return &guardian{process, line}, nil
}

// dismiss ends the guardian, with nothing to clean up.
func (g *guardian) dismiss() {
	if g == nil {
		return
	}
	// If the guardian has died before, there is none to tell.
	_, _ = g.line.Write([]byte{allIsWell})
	g.line.Close()
	_ = g.process.Wait()
}

// watch is the guardian's life.
func watch() {
	const pidfd = 3 // the first of exec.Cmd's ExtraFiles
	var word [1]byte
	if _, err := io.ReadFull(os.Stdin, word[:]); err == nil {
		return
	}
	// The line is cut in the middle of the process's end, when some of its
	// sites may still be armed.
	poll := []unix.PollFd{{Fd: pidfd, Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(poll, -1); err != unix.EINTR {
			break
		}
	}
	_, _ = Clean()
}
