package kinst

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"github.com/mattn/go-shellwords"
	"golang.org/x/sys/unix"
)

// A Process is one that a session watches: tracing ends when the last of them
// has ended.
type Process struct {
	PID int

	done chan struct{}
	run  func() error // lets a created process run
	kill func()       // ends a created process; nil for a grabbed one
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// StartCommand creates a process that is stopped before its first
// instruction, for -c. The command is split into words as a shell does it,
// without expansions. The process has this one's standard input, output and
// error.
func StartCommand(command string) (*Process, error) {
	words, err := shellwords.Parse(command)
	if err == nil && len(words) == 0 {
		err = errors.New("it is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("failed to run the command %q: %w", command, err)
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &unix.SysProcAttr{Ptrace: true}

	p := &Process{done: make(chan struct{})}
	started, resume, resumed := make(chan error), make(chan struct{}), make(chan error, 1)
	go func() {
		// ptrace(2) is between a process and one thread.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := startStopped(cmd); err != nil {
			started <- err
			return
		}
		started <- nil
		<-resume
		resumed <- unix.PtraceDetach(cmd.Process.Pid)
		_ = cmd.Wait() // how it ended is the command's own affair
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("failed to run the command %q: %w", command, err)
	}
	p.PID = cmd.Process.Pid
	p.run = func() error {
		close(resume)
		return <-resumed
	}
	p.kill = func() { _ = cmd.Process.Kill() }
	return p, nil
}

// startStopped starts a command and waits for it to stop after its execve,
// before its first instruction. It dies with this process.
func startStopped(cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	pid := cmd.Process.Pid
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, 0, nil); err != nil {
		return os.NewSyscallError("wait4", err)
	}
	if !status.Stopped() {
		return fmt.Errorf("process %d did not stop after execve", pid)
	}
	return os.NewSyscallError("ptrace", unix.PtraceSetOptions(pid, unix.PTRACE_O_EXITKILL))
}

// GrabProcess watches a process that runs already, for -p. It needs pidfds,
// which Linux has since 5.3.
func GrabProcess(pid int) (*Process, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		if errors.Is(err, unix.ESRCH) {
			err = errors.New("there is no such process")
		}
		return nil, fmt.Errorf("failed to grab process %d: %w", pid, err)
	}
	p := &Process{PID: pid, done: make(chan struct{})}
	go func() {
		defer unix.Close(fd)
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		for {
			if n, err := unix.Poll(fds, -1); n > 0 || err != nil && !errors.Is(err, unix.EINTR) {
				break
			}
		}
		close(p.done)
	}()
	return p, nil
}

// Continue lets a created process run. It does nothing for a grabbed one.
func (p *Process) Continue() error {
	if p.run == nil {
		return nil
	}
	run := p.run
	p.run = nil
	if err := run(); err != nil {
		return fmt.Errorf("failed to let process %d run: %w", p.PID, err)
	}
	return nil
}

// Release ends a created process that has not ended yet, as dtrace(1) does,
// and leaves a grabbed one alone.
func (p *Process) Release() {
	if p.kill != nil {
		p.kill()
	}
}
