package arm

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"kinst/internal/kernel"
)

// ErrNoBreakpoint is wrapped by the errors of ArmBreakpoint that say that all
// hardware breakpoints are in use.
var ErrNoBreakpoint = errors.New("all hardware breakpoints of the processor, four on x86, are in use")

// ArmBreakpoint puts a program, of type ebpf.PerfEvent, on one site by a
// hardware breakpoint. It reaches instructions that kprobes are refused on:
// jump labels, static calls, traps of BUG and WARN, and functions that are
// hidden from the function tracer; but not those on the blacklist. The
// registers are those before the instruction, and the program counter in them
// is its address.
//
// There are four for the whole system, on every CPU that is online now. The
// error wraps ErrNoBreakpoint where they are all taken.
func (s *Session) ArmBreakpoint(prog *ebpf.Program, site Site) (*Group, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkModules([]Site{site}); err != nil {
		return nil, err
	}
	g := &Group{session: s}
	if err := g.armBreakpoint(prog, site); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: a hardware breakpoint: %w", site, err), g.disarm())
	}
	s.groups[g] = struct{}{}
	return g, nil
}

func (g *Group) armBreakpoint(prog *ebpf.Program, site Site) error {
	cpus, err := kernel.OnlineCPUs()
	if err != nil {
		return err
	}
	for _, cpu := range cpus {
		fd, err := kernel.OpenBreakpoint(site.Addr(), -1, cpu)
		if err != nil {
			return breakpointError(err)
		}
		g.breakpoints = append(g.breakpoints, fd)
		if err := attach(fd, prog); err != nil {
			return err
		}
	}
	return nil
}

// breakpointHits returns how often the breakpoints were reached. It is more
// than how often their programs have run, by the times when another program
// was running on the CPU (bpf_overflow_handler in kernel/events/core.c).
func (g *Group) breakpointHits() (hits uint64, err error) {
	for _, fd := range g.breakpoints {
		var count [8]byte // perf_event_open(2), "Reading results"
		if _, err := unix.Read(fd, count[:]); err != nil {
			return 0, fmt.Errorf("counting the hits of a hardware breakpoint: %w", err)
		}
		hits += binary.NativeEndian.Uint64(count[:])
	}
	return hits, nil
}

func breakpointError(err error) error {
	switch {
	case errors.Is(err, unix.ENOSPC):
		return ErrNoBreakpoint
	case errors.Is(err, unix.EINVAL):
		return fmt.Errorf("the kernel allows none there (%w)", err)
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP):
		return fmt.Errorf("this processor, or this virtual machine, has none (%w)", err)
	}
	return err
}
