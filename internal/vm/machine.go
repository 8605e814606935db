package vm

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A machine is one running guest as the host sees it.
type machine struct {
	cfg     *Config
	accel   accelerator
	qemu    *qemu
	console *tail // the kernel's log and QEMU's own messages

	hello   chan *os.File // the control line that the guest spoke on
	exit    chan int      // the program's exit status
	failure chan string   // why init could not do its work
	output  sync.WaitGroup
	sinkErr chan error // stdout or stderr could not be written
}

// start starts QEMU and the readers of its lines.
func start(cfg *Config, image *Kernel, ramfs *os.File, plan *guestPlan, a accelerator, stdout, stderr io.Writer) (*machine, error) {
	m := &machine{
		cfg: cfg, accel: a, console: newTail(cfg.Console),
		hello: make(chan *os.File, len(transports)), exit: make(chan int, 1),
		failure: make(chan string, 1), sinkErr: make(chan error, 2),
	}
	lines, err := newLines()
	if err != nil {
		return nil, err
	}
	m.qemu, err = startQEMU(qemuArgs(cfg, image, a), ramfs, lines, m.console)
	if err != nil {
		lines.close()
		return nil, err
	}
	m.output.Add(2)
	go io.Copy(m.console, lines.console.host)
	var outOnce, errOnce sync.Once
	for _, t := range transports {
		go m.readOutput(lines.of[t].stdout.host, stdout, plan.Marker, &outOnce)
		go m.readOutput(lines.of[t].stderr.host, stderr, plan.Marker, &errOnce)
		go m.readControl(lines.of[t].control.host)
	}
	return m, nil
}

// readOutput copies one of the program's outputs up to the marker that follows
// its end. Of the lines that stand for one output a single one is used.
func (m *machine) readOutput(line *os.File, sink io.Writer, marker string, ended *sync.Once) {
	err := copyUntil(sink, line, marker)
	if err == io.EOF { // an unused line, or the machine is gone
		return
	}
	if err != nil {
		m.sinkErr <- err
	}
	ended.Do(m.output.Done)
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

// run follows the guest from its boot to its end.
func (m *machine) run(ctx context.Context) (int, error) {
	defer m.qemu.kill()
	boot := time.NewTimer(m.accel.patience())
	defer boot.Stop()
	var control *os.File
	interrupts := 0
	for {
		select {
		case control = <-m.hello:
			boot.Stop()
			m.accel.worked(true)
			if interrupts == 1 {
				io.WriteString(control, string(byteInterrupt))
			}
		case <-boot.C:
			return m.stillborn(fmt.Sprintf("the guest did not reach its init within %v", m.accel.patience()))
		case <-m.cfg.Interrupts:
			if interrupts++; interrupts > 1 {
				return 130, ErrInterrupted
			}
			if control != nil {
				io.WriteString(control, string(byteInterrupt))
			}
		case status := <-m.exit:
			return status, m.drain(ctx)
		case reason := <-m.failure:
			return 1, fmt.Errorf("the guest's init: %s", reason)
		case err := <-m.sinkErr:
			return 1, err
		case <-ctx.Done():
			return 1, context.Cause(ctx)
		case <-m.qemu.gone:
			if control == nil && m.console.panicReason() == "" {
				return m.stillborn("the guest ended before it reached its init")
			}
			return 1, m.obituary("the guest ended before the program did")
		}
	}
}

// drain waits until the program's output has arrived.
func (m *machine) drain(ctx context.Context) error {
	all := make(chan struct{})
	go func() { m.output.Wait(); close(all) }()
	select {
	case <-all:
		select {
		case err := <-m.sinkErr:
			return err
		default:
			return nil
		}
	case err := <-m.sinkErr:
		return err
	case <-m.qemu.gone:
		return m.obituary("the guest ended before its output was read")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// stillborn is the end of a guest that has not reached its init.
func (m *machine) stillborn(what string) (int, error) {
	err := m.obituary(what)
	if m.accel.trial {
		m.accel.worked(false)
		return 1, &retryError{err}
	}
	return 1, err
}

// obituary says how the guest ended.
func (m *machine) obituary(what string) error {
	if reason := m.console.panicReason(); reason != "" {
		return &PanicError{reason, m.console.lastLines()}
	}
	return &DeathError{what, m.console.lastLines()}
}

// A retryError sends Run to the next accelerator.
type retryError struct{ reason error }

func (e *retryError) Error() string { return e.reason.Error() }
