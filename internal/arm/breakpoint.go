package arm

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"kinst/internal/kernel"
)

// ErrNoBreakpoint is wrapped by the errors of ArmBreakpoint that say that all
// hardware breakpoints are in use.
var ErrNoBreakpoint = errors.New("all hardware breakpoints of the processor, four on x86, are in use")

// ArmBreakpoint puts the programs, of type ebpf.PerfEvent, on one site by a
// hardware breakpoint. It reaches instructions that kprobes are refused on:
// jump labels, static calls, traps of BUG and WARN, and functions that are
// hidden from the function tracer; but not those on the blacklist. The
// registers are those before the instruction, and the program counter in them
// is its address.
//
// There are four for the whole system, on every CPU that is online now. The
// error wraps ErrNoBreakpoint where they are all taken.
func (s *Session) ArmBreakpoint(progs []*ebpf.Program, site Site) (*Group, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := &Group{session: s}
	if err := g.armBreakpoint(progs, site); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: a hardware breakpoint: %w", site, err), g.disarm())
	}
	s.groups[g] = struct{}{}
	return g, nil
}

func (g *Group) armBreakpoint(progs []*ebpf.Program, site Site) error {
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
		for _, prog := range progs {
			if err := attach(fd, prog); err != nil {
				return err
			}
		}
	}
	return nil
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
