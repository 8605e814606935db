package vm

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A machine is one running guest as the host sees it.
type machine struct {
	cfg     *Config
	accel   accelerator
	qemu    *qemu
	lines   *lines
	console *tail         // the kernel's log and QEMU's own messages
	read    chan struct{} // closed when all that the guest has said is read

	hello   chan *os.File // the control line that init chose
	exit    chan int      // the program's status, as wait(2) gives it
	failure chan string   // why init could not do its work
	output  chan error    // the end of stdout or stderr, or why it could not be written
}

// start starts QEMU and the readers of its lines.
func start(cfg *Config, image *Kernel, ramfs *os.File, marker string, a accelerator, stdout, stderr io.Writer) (*machine, error) {
	l, err := newLines()
	if err != nil {
		return nil, err
	}
	n := len(transports)
	m := &machine{
		cfg: cfg, accel: a, lines: l, console: newTail(cfg.Console), read: make(chan struct{}),
		hello: make(chan *os.File, n), exit: make(chan int, n), failure: make(chan string, n), output: make(chan error, 2*n),
	}
	if m.qemu, err = startQEMU(qemuArgs(cfg, image, a), ramfs, l, m.console); err != nil {
		l.close()
		return nil, err
	}
	var readers sync.WaitGroup // they end when QEMU does
	readers.Go(func() { io.Copy(m.console, l.console.host) })
	for _, t := range transports {
		b := l.of[t]
		readers.Go(func() { m.readOutput(b.stdout.host, stdout, marker) })
		readers.Go(func() { m.readOutput(b.stderr.host, stderr, marker) })
		readers.Go(func() { m.readControl(b.control.host) })
	}
	go func() {
		readers.Wait()
		close(m.read)
	}()
	return m, nil
}

// readOutput copies one of the program's outputs up to the marker that follows
// its end. Of the lines that stand for one output a single one is used; the
// others end with the machine.
func (m *machine) readOutput(line *os.File, sink io.Writer, marker string) {
	if err := copyUntil(sink, line, marker); err != io.EOF {
		m.output <- err
	}
}

// readControl reads what init says: one word a line, perhaps with an argument.
func (m *machine) readControl(line *os.File) {
	for s := bufio.NewScanner(line); s.Scan(); {
		word, arg, _ := strings.Cut(s.Text(), " ")
		switch word {
		case wordHello:
			m.hello <- line
		case wordExit:
			if status, err := strconv.Atoi(arg); err == nil {
				m.exit <- status
			}
		case wordFailure:
			m.failure <- arg
		}
	}
}

// run follows the guest from its boot to its end, and ends it.
func (m *machine) run(ctx context.Context) (int, error) {
	defer m.end()
	limit := m.accel.bootTimeout(m.cfg)
	boot := time.NewTimer(limit)
	defer boot.Stop()
	var (
		control    *os.File // nil until init has reported
		status     int
		missing    = 3 // ends to come: of stdout, of stderr, of the program
		interrupts int
	)
	for missing > 0 {
		select {
		case control = <-m.hello:
			boot.Stop()
			m.accel.remember(true)
		case <-boot.C:
			return 1, m.stillborn(ctx, fmt.Sprintf("the guest did not reach its init within %v", limit))
		case <-m.cfg.Interrupts:
			if interrupts++; interrupts > 1 || control == nil {
				return 130, ErrInterrupted
			}
			control.Write([]byte{byteInterrupt})
		case status = <-m.exit:
			missing--
		case reason := <-m.failure:
			return 1, fmt.Errorf("the guest's init: %s", reason)
		case err := <-m.output:
			if err != nil {
				return 1, err
			}
			missing--
		case <-ctx.Done():
			return 1, m.cancelled(context.Cause(ctx))
		case <-m.qemu.gone:
			if control == nil {
				return 1, m.stillborn(ctx, "the guest ended before it reached its init")
			}
			return 1, m.obituary(ctx, "the guest ended before the program did")
		}
	}
	return m.ending(unix.WaitStatus(status))
}

// ending is the outcome of a program that has ended.
func (m *machine) ending(status unix.WaitStatus) (int, error) {
	if !status.Signaled() {
		return status.ExitStatus(), nil
	}
	code := 128 + int(status.Signal())
	switch status.Signal() {
	case unix.SIGINT, unix.SIGTERM, unix.SIGPIPE: // somebody wanted it
		return code, nil
	}
	return code, &SignalError{status.Signal(), m.console.lastLines()}
}

// end ends the machine. Output that nobody takes does not keep it.
func (m *machine) end() {
	m.qemu.kill()
	select {
	case <-m.read:
	case <-time.After(time.Second):
	}
	m.lines.close()
}

// stillborn is the error of a guest that has not reached its init.
func (m *machine) stillborn(ctx context.Context, what string) error {
	err := m.obituary(ctx, what)
	if !m.accel.trial {
		return err
	}
	if _, panicked := errors.AsType[*PanicError](err); !panicked {
		m.accel.remember(false)
	}
	return &retryError{err}
}

// cancelled adds the console's last lines, which may say why there was no end
// before, to the reason of a run's end.
func (m *machine) cancelled(reason error) error {
	if lines := m.console.lastLines(); lines != "" {
		return fmt.Errorf("%w; the last words of the guest's console:\n%s", reason, lines)
	}
	return reason
}

// obituary says how the guest ended.
func (m *machine) obituary(ctx context.Context, what string) error {
	m.qemu.kill()
	select {
	case <-m.read:
	case <-m.cfg.Interrupts:
	case <-ctx.Done():
	}
	if reason := m.console.panicReason(); reason != "" {
		return &PanicError{reason, m.console.lastLines()}
	}
	return &DeathError{what, m.console.lastLines()}
}

// A retryError sends Run to the next accelerator.
type retryError struct{ reason error }

func (e *retryError) Error() string { return e.reason.Error() }
