package kinst

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/mattn/go-shellwords"
	"golang.org/x/sys/unix"

	"kinst/internal/tracee"
	"kinst/internal/userland"
)

// A Process is one that a session watches: tracing ends when the last of them
// has ended. Children that it forks are processes of their own, which are not
// watched. Programs that it executes in its own place, and libraries that it
// loads later, are: where the program describes probes in the process they are
// looked for in them too, before any of them is executed.
type Process struct {
	PID int

	done    chan struct{}
	how     string         // it ended; when done is closed
	created bool           // by this process, which ends it
	tracee  *tracee.Tracee // of a grabbed process nil unless it is followed
	loaded  func() error   // brings a created process to where its libraries are loaded

	followed bool
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// StartCommand creates a process that is stopped before its first
// instruction, for -c. The command is split into words as a shell does it,
// without expansions. The process has this one's standard input, output, error
// and environment, but for the variables that env sets, NAME=VALUE, or removes,
// NAME. It runs as the user who called sudo(8), if that is how this process came
// to be root.
func StartCommand(command string, env ...string) (*Process, error) {
	p, err := startCommand(command, env)
	if err != nil {
		return nil, fmt.Errorf("failed to run the command %q: %w", command, err)
	}
	return p, nil
}

func startCommand(command string, env []string) (*Process, error) {
	words, err := splitCommand(command)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = changed(os.Environ(), env)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = new(unix.SysProcAttr)
	if os.Geteuid() == 0 {
		if cmd.SysProcAttr.Credential, err = sudoCaller(os.Getenv); err != nil {
			return nil, err
		}
	}
	t, err := tracee.Start(cmd)
	if err != nil {
		return nil, err
	}
	p := &Process{PID: t.PID, done: make(chan struct{}), created: true, tracee: t}
	p.loaded = sync.OnceValue(func() error { return t.Load(context.Background()) })
	go func() {
		<-t.Ended()
		p.how = ending(p.PID, t.Status())
		close(p.done)
	}()
	return p, nil
}

// splitCommand splits a command into words.
func splitCommand(command string) ([]string, error) {
	p := shellwords.NewParser()
	words, err := p.Parse(command)
	switch {
	case err != nil:
		return nil, errors.New("its quotation marks are not in pairs, or it has parentheses outside of them")
	case p.Position >= 0:
		return nil, errors.New("of the characters ; & | < > those that are not in quotation marks are for a shell: sh -c '...' is one")
	case len(words) == 0:
		return nil, errors.New("it is empty")
	}
	return words, nil
}

// changed returns an environment with variables set, NAME=VALUE, and removed,
// NAME. Of several changes of one variable the last counts.
func changed(environ, changes []string) []string {
	for _, change := range changes {
		name, _, set := strings.Cut(change, "=")
		environ = slices.DeleteFunc(environ, func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
		if set {
			environ = append(environ, change)
		}
	}
	return environ
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
func ending(pid int, status unix.WaitStatus) string {
	switch {
	case status.Signaled():
		return fmt.Sprintf("pid %d terminated by %s", pid, unix.SignalName(status.Signal()))
	case status.ExitStatus() > 0:
		return fmt.Sprintf("pid %d exited with status %d", pid, status.ExitStatus())
	}
	return fmt.Sprintf("pid %d has exited", pid)
}

// GrabProcess watches a process that runs already, for -p. It needs pidfds,
// which Linux has since 5.3.
func GrabProcess(pid int) (*Process, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if why := grabError(pid, err); why != nil {
		if err == nil {
			unix.Close(fd)
		}
		return nil, fmt.Errorf("failed to grab process %d: %w", pid, why)
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
		p.how = ending(pid, 0)
		close(p.done)
	}()
	return p, nil
}

// grabError says why a process cannot be watched. Err is that of the kernel, which
// may have nothing against it.
func grabError(pid int, err error) error {
	why := userland.CheckProcess(pid)
	switch {
	case why == nil, err == nil && errors.Is(why, userland.ErrNoProcess): // it has exited since
		return err
	case errors.Is(err, unix.ESRCH):
		return userland.ErrNoProcess
	}
	return why
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

// follow has a session be told of the programs that the process executes and
// the libraries that it loads: of a grabbed process from now on, of a created one
// from Continue on.
func (p *Process) follow() error {
	if p.followed {
		return nil
	}
	p.followed = true
	if p.created {
		return nil
	}
	t, err := tracee.Seize(p.PID)
	if err != nil {
		return err
	}
	if err := t.WatchLibraries(); err != nil {
		return errors.Join(err, t.Detach())
	}
	p.tracee = t
	return nil
}

// stops tells of what follow is for.
func (p *Process) stops() <-chan tracee.Stop {
	if p.tracee == nil || !p.followed {
		return nil
	}
	return p.tracee.Stops()
}

// unfollow ends following.
func (p *Process) unfollow() error {
	if p.tracee == nil {
		return nil
	}
	return p.tracee.Ignore()
}

// Continue lets a created process run. It does nothing for a grabbed one.
func (p *Process) Continue() error {
	if !p.created {
		return nil
	}
	if err := p.tracee.Run(p.followed); err != nil {
		return fmt.Errorf("failed to let process %d run: %w", p.PID, err)
	}
	return nil
}

// Release ends a created process that has not ended yet, as dtrace(1) does,
// and leaves a grabbed one alone.
func (p *Process) Release() {
	switch {
	case p.created:
		_ = p.tracee.Kill()
	case p.tracee != nil:
		_ = p.tracee.Detach()
	}
}
