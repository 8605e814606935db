package tracee

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"

	"kinst/internal/uprobe"
)

// A Tracee is a process that is traced. What ptrace(2) does is between a process
// and one thread of another: all calls are made by a goroutine that keeps its
// thread. The other methods are for one goroutine.
type Tracee struct {
	PID int

	calls  chan func()
	ended  chan struct{} // closed when there is nothing left to trace
	stops  chan Stop
	status unix.WaitStatus

	linker  *uprobe.Group  // stops the process when libraries are loaded
	closing []<-chan error // former ones that are being closed
	loaded  func() (bool, error)

	// The tracing goroutine's own.
	threads map[int]bool        // that are traced, by their IDs
	asked   map[int]bool        // that will be held as soon as they stop
	held    map[int]unix.Signal // that are held, and the signal by which their process is stopped, if it is
	ignore  bool                // holds nothing any more
	quit    bool
	wake    func()
}

// A Stop is that a thread of the process is held, until Resume.
type Stop struct {
	Executed bool // a program; otherwise the dynamic linker has loaded libraries, or unloaded some
	tid      int
}

// stopsAtOnce is how many threads can be held at once: the dynamic linker lets
// one after the other load libraries.
const stopsAtOnce = 16

func newTracee() *Tracee {
	return &Tracee{
		calls: make(chan func()), ended: make(chan struct{}), stops: make(chan Stop, stopsAtOnce), wake: func() {},
		threads: make(map[int]bool), asked: make(map[int]bool), held: make(map[int]unix.Signal),
	}
}

// Start starts a command that is held before its first instruction. It dies with
// this process until it is Run.
func Start(cmd *exec.Cmd) (*Tracee, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(unix.SysProcAttr)
	}
	cmd.SysProcAttr.Ptrace = true
	t := newTracee()
	return t, t.open(func() error { return t.start(cmd) })
}

// Seize traces a process that runs, without stopping it.
func Seize(pid int) (*Tracee, error) {
	t := newTracee()
	t.PID = pid
	return t, t.open(t.seize)
}

// open begins to trace in a thread that lasts as long as tracing does: when it
// ends, the kernel lets go of the process.
func (t *Tracee) open(begin func() error) error {
	started := make(chan error)
	inThread(func() {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, unix.SIGCHLD)
		defer signal.Stop(signals)
		defer close(t.ended)
		err := begin()
		started <- err
		if err != nil {
			return
		}
		for t.wait() && !t.quit {
			select {
			case call := <-t.calls:
				call()
			case <-signals:
			}
		}
	})
	return <-started
}

// inThread runs f in a thread that ends with it, which the process's first
// thread could not.
func inThread(f func()) {
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() != os.Getpid() {
			f()
			return
		}
		other := make(chan struct{})
		inThread(func() {
			close(other)
			f()
		})
		<-other
		runtime.UnlockOSThread()
	}()
}

// start starts a command by PTRACE_TRACEME, which Go's os/exec can, and seizes
// it. In between it is stopped, for its parent only.
func (t *Tracee) start(cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	t.PID = cmd.Process.Pid
	_ = cmd.Process.Release()
	var status unix.WaitStatus
	if _, err := unix.Wait4(t.PID, &status, unix.WALL, nil); err != nil {
		return os.NewSyscallError("wait4", err)
	}
	if !status.Stopped() {
		return fmt.Errorf("process %d did not stop after execve", t.PID)
	}
	if err := t.seizeStopped(); err != nil {
		return errors.Join(err, unix.Kill(t.PID, unix.SIGKILL))
	}
	t.threads[t.PID] = true
	t.held[t.PID] = 0
	return nil
}

// seizeStopped goes from one way of tracing to the other, by a stop of job
// control.
func (t *Tracee) seizeStopped() error {
	if err := ptrace(unix.PTRACE_DETACH, t.PID, uintptr(unix.SIGSTOP)); err != nil {
		return err
	}
	if err := ptrace(unix.PTRACE_SEIZE, t.PID, unix.PTRACE_O_EXITKILL); err != nil {
		return err
	}
	if err := t.waitFor(unix.PTRACE_EVENT_STOP, unix.SIGSTOP); err != nil {
		return err
	}
	if err := unix.Kill(t.PID, unix.SIGCONT); err != nil {
		return err
	}
	if err := ptrace(unix.PTRACE_CONT, t.PID, 0); err != nil {
		return err
	}
	return t.waitFor(0, unix.SIGCONT)
}

// waitFor waits until the command stops for an event and a signal, and lets it
// go on from other stops. It executes nothing meanwhile.
func (t *Tracee) waitFor(event int, signal unix.Signal) error {
	for {
		var status unix.WaitStatus
		_, err := unix.Wait4(t.PID, &status, unix.WALL, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return os.NewSyscallError("wait4", err)
		case !status.Stopped():
			return fmt.Errorf("process %d ended before its first instruction", t.PID)
		case eventOf(status) == event && status.StopSignal() == signal:
			return nil
		}
		if err := ptrace(unix.PTRACE_CONT, t.PID, 0); err != nil {
			return err
		}
	}
}

// follows are what a process that is followed stops at; threads that it makes
// are traced too.
const follows = unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACECLONE

// seize seizes all threads of the process: those that are made meanwhile are
// traced already, or are found the next time.
func (t *Tracee) seize() error {
	for found := true; found; {
		found = false
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", t.PID))
		if err != nil {
			return err
		}
		for _, task := range tasks {
			tid, err := strconv.Atoi(task.Name())
			if err != nil || t.threads[tid] {
				continue
			}
			err = ptrace(unix.PTRACE_SEIZE, tid, follows)
			if err != nil && !t.beyondSeizing(tid) {
				return err
			}
			t.threads[tid], found = true, true
		}
	}
	return nil
}

// beyondSeizing reports whether a thread need not be seized: it has ended, or
// is traced by this one.
func (t *Tracee) beyondSeizing(tid int) bool {
	state, tracer := threadState(t.PID, tid)
	return state == "" || state == "Z" || state == "X" || tracer == unix.Gettid()
}

// call has a call made by the tracing thread.
func (t *Tracee) call(f func() error) error {
	result := make(chan error, 1)
	select {
	case t.calls <- func() { result <- f() }:
		return <-result
	case <-t.ended:
		return ErrEnded
	}
}

// ErrEnded is that a process cannot be made to do something because it has
// ended.
var ErrEnded = errors.New("the process has ended")

// Wake has f called, from another goroutine, when there is something new in
// Stops.
func (t *Tracee) Wake(f func()) error {
	return t.call(func() error {
		t.wake = f
		return nil
	})
}

// Stops tells when threads are held.
func (t *Tracee) Stops() <-chan Stop { return t.stops }

// Ended is closed when the process has ended, or is not traced any more.
func (t *Tracee) Ended() <-chan struct{} { return t.ended }

// Status is how the process ended.
func (t *Tracee) Status() unix.WaitStatus { return t.status }

// Run lets a command run that is held. If it is followed it is traced from then
// on, which does not depend on this process's life any more; if not, it is not.
func (t *Tracee) Run(followed bool) error {
	if !followed {
		return errors.Join(t.closeLinker(), t.call(func() error {
			clear(t.threads)
			clear(t.held)
			return ptrace(unix.PTRACE_DETACH, t.PID, 0)
		}))
	}
	return t.call(func() error {
		return errors.Join(ptrace(unix.PTRACE_SETOPTIONS, t.PID, follows), t.resume(t.PID))
	})
}

// Resume lets a thread go on that is held.
func (t *Tracee) Resume(s Stop) error {
	return t.call(func() error { return t.resume(s.tid) })
}

// Ignore lets all threads go on that are held, and holds none any more.
func (t *Tracee) Ignore() error {
	t.dropLinker()
	return ignoreEnd(t.call(func() error {
		t.ignore = true
		var errs []error
		for tid := range t.held {
			errs = append(errs, t.resume(tid))
		}
		return errors.Join(errs...)
	}))
}

// Detach stops tracing, and the process goes on.
func (t *Tracee) Detach() error {
	err := errors.Join(t.closeLinker(), ignoreEnd(t.call(func() error {
		t.quit = true
		return nil
	})))
	<-t.ended
	return err
}

// Kill ends the process, and waits for it to end.
func (t *Tracee) Kill() error {
	err := errors.Join(ignoreEnd(t.call(func() error { return unix.Kill(t.PID, unix.SIGKILL) })), t.closeLinker())
	<-t.ended
	return err
}

func ignoreEnd(err error) error {
	if errors.Is(err, ErrEnded) {
		return nil
	}
	return err
}

// dropLinker begins to close what stops the process, which waits for a grace
// period of RCU. Until that is over the process may be stopped once more.
func (t *Tracee) dropLinker() {
	group := t.linker
	t.linker = nil
	if group == nil {
		return
	}
	closed := make(chan error, 1)
	go func() { closed <- group.Close() }()
	t.closing = append(t.closing, closed)
}

// closeLinker has the process not be stopped any more.
func (t *Tracee) closeLinker() error {
	t.dropLinker()
	var errs []error
	for _, closed := range t.closing {
		errs = append(errs, <-closed)
	}
	t.closing = nil
	return errors.Join(errs...)
}
