package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"kinst/bench/internal/guest"
	"kinst/internal/arm"
	"kinst/internal/kernel"
)

// An event holds all sites, so that programs take turns on the same probes.
type event struct {
	dir string // tracefs
	id  uint64
}

const eventName = "hit/e"

func defineEvent(k *kernel.Kernel, sites []arm.Site) (*event, error) {
	dir, err := kernel.TraceFS()
	if err != nil {
		return nil, err
	}
	lines, err := guest.Lines(k, eventName, sites)
	if err != nil {
		return nil, err
	}
	e := &event{dir: dir}
	if err := guest.Append(lines); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "events", eventName, "id"))
	if err != nil {
		return nil, err
	}
	e.id, err = strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return e, err
}

func (e *event) remove() error { return guest.Append("-:" + eventName + "\n") }

// hits is how often the kernel has reached the sites so far.
func (e *event) hits() (sum float64, err error) {
	text, err := os.ReadFile(filepath.Join(e.dir, "kprobe_profile"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 {
			n, err := strconv.ParseFloat(f[1], 64)
			if err != nil {
				return 0, err
			}
			sum += n
		}
	}
	return sum, nil
}

// settle is how long the kernel takes to replace traps by jumps, at most.
const settle = 2 * time.Second

// loop runs the loop with a program on the sites, nil for none, and returns how
// long it took and how many hits there were.
func (e *event) loop(prog *ebpf.Program, optimized bool) (took time.Duration, hits float64, err error) {
	if prog == nil {
		took, err = read(reads)
		return took, 0, err
	}
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_TRACEPOINT, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})), Config: e.id,
		Sample_type: unix.PERF_SAMPLE_RAW, Sample: 1, Wakeup: 1,
	}
	fd, err := unix.PerfEventOpen(&attr, -1, 0, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return 0, 0, fmt.Errorf("opening the event: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_BPF, prog.FD()); err != nil {
		return 0, 0, fmt.Errorf("attaching a program: %w", err)
	}
	if optimized {
		if err := e.waitOptimized(); err != nil {
			return 0, 0, err
		}
	}
	before, err := e.hits()
	if err != nil {
		return 0, 0, err
	}
	if took, err = read(reads); err != nil {
		return 0, 0, err
	}
	after, err := e.hits()
	return took, after - before, err
}

// waitOptimized waits until the kernel optimizes no more probes.
func (e *event) waitOptimized() error {
	last := -1
	for deadline := time.Now().Add(settle); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		text, err := os.ReadFile("/sys/kernel/debug/kprobes/list")
		if err != nil {
			return err
		}
		n := strings.Count(string(text), "[OPTIMIZED]")
		if n == last && n > 0 {
			return nil
		}
		last = n
	}
	return nil
}
