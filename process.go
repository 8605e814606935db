package kinst

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/mattn/go-shellwords"
	"golang.org/x/sys/unix"

	"kinst/internal/isa"
	"kinst/internal/uprobe"
	"kinst/internal/userland"
)

// A Process is one that a session watches: tracing ends when the last of them
// has ended. Children that it forks are processes of their own, which are not
// watched. A program that it executes in its own place is still watched, but
// probes of its functions stay those of the old one: they fire only where that
// is executed anew at the same addresses.
type Process struct {
	PID int

	done   chan struct{}
	how    string       // it ended; when done is closed
	tracee *tracee      // of a created process; nil for a grabbed one
	loaded func() error // brings a created process to where its libraries are loaded
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// StartCommand creates a process that is stopped before its first
// instruction, for -c. The command is split into words as a shell does it,
// without expansions. The process has this one's standard input, output, error
// and environment. It runs as the user who called sudo(8), if that is how this
// process came to be root.
func StartCommand(command string) (*Process, error) {
	p, err := startCommand(command)
	if err != nil {
		return nil, fmt.Errorf("failed to run the command %q: %w", command, err)
	}
	return p, nil
}

func startCommand(command string) (*Process, error) {
	words, err := shellwords.Parse(command)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, errors.New("it is empty")
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &unix.SysProcAttr{Ptrace: true}
	if os.Geteuid() == 0 {
		if cmd.SysProcAttr.Credential, err = sudoCaller(os.Getenv); err != nil {
			return nil, err
		}
	}
	t, err := startTracee(cmd)
	if err != nil {
		return nil, err
	}
	p := &Process{PID: t.pid, done: make(chan struct{}), tracee: t}
	p.loaded = sync.OnceValue(t.load)
	go func() {
		p.how = ending(p.PID, t.wait())
		close(p.done)
	}()
	return p, nil
}

// sudoCaller returns the user and the groups of who called sudo, or nil if
// nobody did, or root.
func sudoCaller(getenv func(string) string) (*syscall.Credential, error) {
	id := getenv("SUDO_UID")
	if id == "" || id == "0" {
		return nil, nil
	}
	uid, err := strconv.ParseUint(id, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("SUDO_UID is %q, which is no user; unset it to run the command as root", id)
	}
	gid, err := strconv.ParseUint(getenv("SUDO_GID"), 10, 32)
	if err != nil {
		return nil, fmt.Errorf("SUDO_GID is %q, which is no group; unset SUDO_UID to run the command as root", getenv("SUDO_GID"))
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), Groups: groupsOf(id)}, nil
}

// groupsOf returns the supplementary groups of a user, as far as they can be
// found out.
func groupsOf(uid string) []uint32 {
	u, err := user.LookupId(uid)
	if err != nil {
		return nil
	}
	ids, err := u.GroupIds()
	if err != nil {
		return nil
	}
	var groups []uint32
	for _, id := range ids {
		if gid, err := strconv.ParseUint(id, 10, 32); err == nil {
			groups = append(groups, uint32(gid))
		}
	}
	return groups
}

// ending says how a process ended, in dtrace(1)'s words.
func ending(pid int, state *os.ProcessState) string {
	if state != nil {
		status := state.Sys().(syscall.WaitStatus)
		switch {
		case status.Signaled():
			return fmt.Sprintf("pid %d terminated by %s", pid, unix.SignalName(status.Signal()))
		case status.ExitStatus() > 0:
			return fmt.Sprintf("pid %d exited with status %d", pid, status.ExitStatus())
		}
	}
	return fmt.Sprintf("pid %d has exited", pid)
}

// GrabProcess watches a process that runs already, for -p. It needs pidfds,
// which Linux has since 5.3.
func GrabProcess(pid int) (*Process, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, fmt.Errorf("failed to grab process %d: %w", pid, grabError(pid, err))
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
		p.how = ending(pid, nil)
		close(p.done)
	}()
	return p, nil
}

func grabError(pid int, err error) error {
	if errors.Is(err, unix.ESRCH) {
		return errors.New("there is no such process")
	}
	status, err2 := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err2 != nil {
		return err
	}
	for line := range strings.Lines(string(status)) {
		group, ok := strings.CutPrefix(line, "Tgid:")
		if group = strings.TrimSpace(group); ok && group != strconv.Itoa(pid) {
			return fmt.Errorf("it is a thread of process %s", group)
		}
	}
	return err
}

// Load brings a created process that is stopped before its first instruction
// to where its libraries are loaded and none of their code has been executed
// but the dynamic linker's. It does nothing the second time, and for a grabbed
// process.
func (p *Process) Load() error {
	if p.loaded == nil {
		return nil
	}
	return p.loaded()
}

// Continue lets a created process run. It does nothing for a grabbed one.
func (p *Process) Continue() error {
	if p.tracee == nil {
		return nil
	}
	if err := p.tracee.resume(); err != nil {
		return fmt.Errorf("failed to let process %d run: %w", p.PID, err)
	}
	return nil
}

// Release ends a created process that has not ended yet, as dtrace(1) does,
// and leaves a grabbed one alone.
func (p *Process) Release() {
	if p.tracee != nil {
		p.tracee.kill()
	}
}

// A tracee is a child that this process traces with ptrace(2), which is
// between a process and one thread: all calls are made by a goroutine that
// keeps its thread.
type tracee struct {
	pid   int
	cmd   *exec.Cmd
	calls chan func()
	ended chan struct{} // closed when there is nothing left to trace
	state *os.ProcessState
}

// startTracee starts a command that is stopped before its first instruction.
// It dies with this process as long as it is traced.
func startTracee(cmd *exec.Cmd) (*tracee, error) {
	t := &tracee{cmd: cmd, calls: make(chan func()), ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := t.start()
		started <- err
		if err != nil {
			return
		}
		for call := range t.calls {
			call()
		}
		_ = cmd.Wait() // how it ended is the command's own affair
		t.state = cmd.ProcessState
		close(t.ended)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return t, nil
}

func (t *tracee) start() error {
	if err := t.cmd.Start(); err != nil {
		return err
	}
	t.pid = t.cmd.Process.Pid
	var status unix.WaitStatus
	if _, err := unix.Wait4(t.pid, &status, 0, nil); err != nil {
		return os.NewSyscallError("wait4", err)
	}
	if !status.Stopped() {
		return fmt.Errorf("process %d did not stop after execve", t.pid)
	}
	return os.NewSyscallError("ptrace", unix.PtraceSetOptions(t.pid, unix.PTRACE_O_EXITKILL))
}

// call has a call made by the tracing thread.
func (t *tracee) call(f func() error) error {
	result := make(chan error)
	t.calls <- func() { result <- f() }
	return <-result
}

// resume lets the process run untraced, once.
func (t *tracee) resume() error {
	if t.calls == nil {
		return nil
	}
	err := t.call(func() error { return unix.PtraceDetach(t.pid) })
	close(t.calls)
	t.calls = nil
	return err
}

// wait waits for the process to end.
func (t *tracee) wait() *os.ProcessState {
	<-t.ended
	return t.state
}

func (t *tracee) kill() {
	select {
	case <-t.ended:
		return
	default:
	}
	_ = t.cmd.Process.Kill()
	_ = t.resume() // so that it is waited for
	<-t.ended
}

// load lets the dynamic linker work until it has loaded the libraries. In a
// program that has none, all is loaded. Of a linker that does not tell, the
// program's entry point is the first that is known, where the libraries have
// been initialised too.
func (t *tracee) load() error {
	if err := t.loadLibraries(); err != nil {
		return fmt.Errorf("failed to let process %d load its libraries: %w", t.pid, err)
	}
	return nil
}

func (t *tracee) loadLibraries() error {
	arch, err := isa.Native()
	if err != nil {
		return err
	}
	store := userland.NewStore(arch)
	defer store.Close()
	p, err := store.Process(t.pid)
	if err != nil {
		return err
	}
	program := p.Program()
	if program == nil {
		return errors.Join(p.Unreadable...)
	}
	if len(p.Objects) == 1 || program.Foreign() != "" {
		return nil
	}
	loaded := func() (bool, error) { return true, nil }
	stop, err := siteAt(program, program.Entry())
	if err != nil {
		return err
	}
	if linker, err := p.Linker(); err == nil {
		loaded = linker.Loaded
		if stop, err = siteAt(linker.Object, linker.Notify.Addr); err != nil {
			return err
		}
	}
	group, err := uprobe.StopAt(t.pid, []uprobe.Site{stop})
	if err != nil {
		return err
	}
	return errors.Join(t.runUntil(loaded), group.Close())
}

func siteAt(o *userland.Object, vaddr uint64) (uprobe.Site, error) {
	offset, ok := o.Offset(vaddr)
	if !ok {
		return uprobe.Site{}, fmt.Errorf("%#x is not in the text of %s", vaddr, o.Path)
	}
	return uprobe.Site{File: o.Link(), Offset: offset}, nil
}

// runUntil lets the process run from one SIGSTOP to the next until a condition
// holds. Other signals are passed on to it.
func (t *tracee) runUntil(condition func() (bool, error)) error {
	signal := 0
	for {
		var status unix.WaitStatus
		err := t.call(func() error {
			if err := unix.PtraceCont(t.pid, signal); err != nil {
				return os.NewSyscallError("ptrace", err)
			}
			_, err := unix.Wait4(t.pid, &status, 0, nil)
			return os.NewSyscallError("wait4", err)
		})
		switch {
		case err != nil:
			return err
		case !status.Stopped():
			return errors.New("it ended before")
		case status.StopSignal() != unix.SIGSTOP:
			signal = int(status.StopSignal())
			continue
		}
		signal = 0
		if ok, err := condition(); ok || err != nil {
			return err
		}
	}
}
