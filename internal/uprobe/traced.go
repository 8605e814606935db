package uprobe

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"kinst/internal/arm"
	"kinst/internal/kernel"
)

// traced arms sites as many probes of one tracefs event, which is opened once.
// The kernel runs the event's programs in every thread that shares the memory
// of the one that it is opened for (uprobe_perf_filter in
// kernel/trace/trace_uprobe.c).
var traced = backend{arm: armTraced}

// eventCount counts the events of this process: their names have to differ.
var eventCount atomic.Uint64

// removeDead removes once what killed processes have left. What cannot be
// removed is no reason not to trace.
var removeDead = sync.OnceFunc(func() { _, _ = arm.Clean() })

func armTraced(prog *ebpf.Program, pid int, file string, sites []Site) (func() error, error) {
	if strings.ContainsAny(file, " \t\n") {
		return nil, fmt.Errorf("%q: this kernel cannot be told names of files with blanks", file)
	}
	dir, err := kernel.TraceFS()
	if err != nil {
		return nil, err
	}
	group, err := arm.EventGroup()
	if err != nil {
		return nil, err
	}
	removeDead()
	e := &event{dir: dir, name: fmt.Sprintf("%s/u%d", group, eventCount.Add(1))}
	if err := e.define(file, sites); err != nil {
		return nil, errors.Join(err, e.remove())
	}
	fd, err := e.open(prog, pid)
	if err != nil {
		return nil, errors.Join(err, e.remove())
	}
	return func() error { return errors.Join(unix.Close(fd), e.remove()) }, nil
}

// An event is a tracefs event with many sites.
type event struct {
	dir     string // tracefs
	name    string // GROUP/EVENT
	defined bool
}

func (e *event) write(text string) error {
	f, err := os.OpenFile(filepath.Join(e.dir, "uprobe_events"), os.O_WRONLY|os.O_APPEND, 0)
	if errors.Is(err, os.ErrNotExist) {
		return errors.New("this kernel has no uprobes; it takes one built with CONFIG_UPROBE_EVENTS")
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// writeLines is how many lines go into one write; the kernel takes 4,096
// bytes at a time.
const writeLines = 16

func (e *event) define(file string, sites []Site) error {
	var lines strings.Builder
	for i, s := range sites {
		fmt.Fprintf(&lines, "p:%s %s:%#x", e.name, file, s.Offset)
		if s.Semaphore != 0 {
			fmt.Fprintf(&lines, "(%#x)", s.Semaphore)
		}
		lines.WriteByte('\n')
		if (i+1)%writeLines != 0 && i+1 != len(sites) {
			continue
		}
		e.defined = true
		if err := e.write(lines.String()); err != nil {
			return fmt.Errorf("defining the event that holds the sites: %w", err)
		}
		lines.Reset()
	}
	return nil
}

// open enables the event, with the program on it, for a process.
func (e *event) open(prog *ebpf.Program, pid int) (fd int, err error) {
	text, err := os.ReadFile(filepath.Join(e.dir, "events", e.name, "id"))
	if err != nil {
		return -1, err
	}
	id, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return -1, err
	}
	attr := unix.PerfEventAttr{
		Type:        unix.PERF_TYPE_TRACEPOINT,
		Size:        uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Config:      id,
		Sample_type: unix.PERF_SAMPLE_RAW,
		Sample:      1,
		Wakeup:      1,
	}
	fd, err = unix.PerfEventOpen(&attr, pid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("opening the event that holds the sites: %w", err)
	}
	if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_BPF, prog.FD()); err != nil {
		return -1, errors.Join(fmt.Errorf("attaching the BPF program: %w", err), unix.Close(fd))
	}
	return fd, nil
}

func (e *event) remove() error {
	if !e.defined {
		return nil
	}
	e.defined = false
	if err := e.write("-:" + e.name + "\n"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("removing the event %s: %w", e.name, err)
	}
	return nil
}
