package tracefs

import (
	"errors"
	"fmt"
	"os"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"kinst/internal/provider"
)

// Programs are programs that events run when the kernel has made a record.
type Programs struct {
	events   []int
	programs []*ebpf.Program
}

// Attach has the program run with each record of an event, on every CPU: one
// perf event on any CPU turns the event on.
func (p *Programs) Attach(e Event, prog *ebpf.Program) error {
	format, err := ReadFormat(e.System, e.Name)
	if err != nil {
		return err
	}
	attr := unix.PerfEventAttr{
		Type:   unix.PERF_TYPE_TRACEPOINT,
		Config: uint64(format.ID),
		Sample: 1,
		Wakeup: 1,
	}
	fd, err := unix.PerfEventOpen(&attr, -1, 0, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("opening the event %s:%s: %w", e.System, e.Name, err)
	}
	p.events = append(p.events, fd)
	p.programs = append(p.programs, prog)
	err = unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_BPF, prog.FD())
	return os.NewSyscallError("ioctl PERF_EVENT_IOC_SET_BPF", err)
}

// Missed returns how often a program was skipped because another one was
// running on the CPU.
func (p *Programs) Missed() (uint64, error) { return provider.RecursionMisses(p.programs) }

// Close takes the programs off their events.
func (p *Programs) Close() error {
	var errs []error
	for _, fd := range p.events {
		errs = append(errs, unix.Close(fd))
	}
	p.events = nil
	return errors.Join(errs...)
}
