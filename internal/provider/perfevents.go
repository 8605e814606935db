package provider

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// PerfEvents are events of perf_event_open(2) that run programs.
type PerfEvents struct{ fds []int }

// Start opens an event on each of some CPUs, in all processes, and lets a
// program, of type ebpf.PerfEvent, run each time that it overflows.
func (p *PerfEvents) Start(attr unix.PerfEventAttr, cpus []int, prog *ebpf.Program) error {
	for _, cpu := range cpus {
		if err := p.startOn(attr, cpu, prog); err != nil {
			return fmt.Errorf("on CPU %d: %w", cpu, err)
		}
	}
	return nil
}

func (p *PerfEvents) startOn(attr unix.PerfEventAttr, cpu int, prog *ebpf.Program) error {
	attr.Bits |= unix.PerfBitDisabled
	fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("perf_event_open", err)
	}
	p.fds = append(p.fds, fd)
	if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_BPF, prog.FD()); err != nil {
		return os.NewSyscallError("ioctl PERF_EVENT_IOC_SET_BPF", err)
	}
	return os.NewSyscallError("ioctl PERF_EVENT_IOC_ENABLE", unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_ENABLE, 0))
}

// ErrNotCounting says that the processor has no counter left for an event.
var ErrNotCounting = errors.New("all of the processor's counters are in use")

// Overflows returns how often the events have overflowed that do so after so
// many occurrences. It wraps ErrNotCounting for one that is pinned and has no
// counter.
func (p *PerfEvents) Overflows(period uint64) (total uint64, err error) {
	for _, fd := range p.fds {
		var count [8]byte // perf_event_open(2), "Reading results"
		n, err := unix.Read(fd, count[:])
		if err != nil {
			return total, os.NewSyscallError("reading a perf event", err)
		}
		if n == 0 {
			return total, ErrNotCounting
		}
		total += binary.NativeEndian.Uint64(count[:]) / period
	}
	return total, nil
}

// Close ends the events.
func (p *PerfEvents) Close() error {
	var errs []error
	for _, fd := range p.fds {
		errs = append(errs, unix.Close(fd))
	}
	p.fds = nil
	return errors.Join(errs...)
}
