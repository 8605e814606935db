package kernel

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// OpenBreakpoint opens a perf event that is a hardware breakpoint on the
// execution of the instruction at addr: on one CPU for all processes (pid
// -1), or for one process on any CPU (cpu -1). It returns its descriptor, or
// a unix.Errno: ENOSPC where all breakpoints of a CPU are in use, EINVAL where
// the kernel allows none, ENOENT where the processor has none.
func OpenBreakpoint(addr uint64, pid, cpu int) (fd int, err error) {
	const execute = 4 // HW_BREAKPOINT_X, uapi/linux/hw_breakpoint.h
	attr := unix.PerfEventAttr{
		Type:    unix.PERF_TYPE_BREAKPOINT,
		Size:    uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Bp_type: execute,
		Ext1:    addr,
		Ext2:    uint64(unsafe.Sizeof(uintptr(0))), // the length is to be that of a long
		Sample:  1,                                 // every execution
	}
	return unix.PerfEventOpen(&attr, pid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
}
