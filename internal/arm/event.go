package arm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"kinst/internal/kernel"
)

// An event is a tracefs event with many sites.
type event struct {
	session *Session
	name    string // GROUP/EVENT
	pending []Site // that the kernel has not been asked for yet
	sites   int    // how many the kernel has taken
	active  int    // of returns: how many the kernel waits for at a time
	perf    []int  // descriptors of the perf events that enable it
}

func openEvents(tracefs *os.Root) (*os.File, error) {
	f, err := tracefs.OpenFile("kprobe_events", os.O_WRONLY|os.O_APPEND, 0)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("this kernel has no kprobes: %w; it takes one built with CONFIG_KPROBE_EVENTS", err)
	case errors.Is(err, os.ErrPermission):
		return nil, kernel.Refused(fmt.Errorf("arming probes: %w", err), unix.CAP_DAC_OVERRIDE)
	}
	return f, err
}

// eventCount counts the events of all sessions of this process: their names
// have to differ.
var eventCount atomic.Uint64

func (s *Session) newEvent(sites []Site) *event {
	// kprobe_profile has no more than the event's own name, which is to be the
	// only one.
	return &event{session: s, pending: sites, name: fmt.Sprintf("%s/s%d_%d", s.owner.group(), os.Getpid(), eventCount.Add(1))}
}

// kind is what a site is in the language of kprobe_events.
func (e *event) kind(s Site) string {
	if s.Return {
		return fmt.Sprintf("r%d", e.active)
	}
	return "p"
}

// A definition is the making of a group's events.
type definition struct {
	ctx     context.Context
	tried   int // sites that the kernel has been asked for
	refused []Refusal
	done    func(tried int)
}

// writeLines is how many lines go into one write. More would not be faster,
// a site takes the kernel a millisecond, but a write cannot be interrupted.
const writeLines = 16

// begin makes the event, with the first of its sites that the kernel takes.
func (e *event) begin(d *definition) error {
	for e.sites == 0 && len(e.pending) > 0 {
		if err := e.define(d, 1); err != nil {
			return err
		}
	}
	return nil
}

// complete adds the rest of the sites.
func (e *event) complete(d *definition) error {
	for len(e.pending) > 0 {
		if err := e.define(d, writeLines); err != nil {
			return err
		}
	}
	return nil
}

// define adds at most so many of the pending sites, up to the first that the
// kernel refuses.
func (e *event) define(d *definition, most int) error {
	if err := d.ctx.Err(); err != nil {
		return err
	}
	part := e.pending[:min(most, len(e.pending))]
	lines := make([]string, len(part))
	for i, site := range part {
		place, err := e.session.kernel.Place(site.Module, site.Addr())
		if err != nil {
			return fmt.Errorf("%s: %w", site, err)
		}
		lines[i] = e.kind(site) + ":" + e.name + " " + place + "\n"
	}
	tried, reason := e.write(lines)
	e.sites += tried
	if reason != nil {
		d.refused = append(d.refused, Refusal{part[tried], reason})
		tried++
	}
	e.pending = e.pending[tried:]
	d.tried += tried
	d.done(d.tried)
	return nil
}

// write appends the lines and returns how many of them the kernel took before
// it refused one, and the reason why it did.
func (e *event) write(lines []string) (taken int, refusal error) {
	_, err := e.session.events.WriteString(strings.Join(lines, ""))
	if err == nil {
		return len(lines), nil
	}
	// The lines before the refused one have taken effect; which one that is
	// the error does not say.
	if i, words := e.session.refusedCommand(lines); i >= 0 {
		return i, withWords(err, words)
	}
	for i, line := range lines {
		// Those that are in are refused now too, as existing.
		_, err := e.session.events.WriteString(line)
		if err != nil && !errors.Is(err, unix.EEXIST) {
			return i, withWords(err, "")
		}
	}
	return len(lines), nil
}

// enable arms the sites, with the programs on them.
func (e *event) enable(progs []*ebpf.Program) error {
	if e.sites == 0 {
		return nil
	}
	id, err := e.id()
	if err != nil {
		return err
	}
	for _, prog := range progs {
		fd, err := openTracepoint(id)
		if err != nil {
			return err
		}
		e.perf = append(e.perf, fd)
		if err := attach(fd, prog); err != nil {
			return err
		}
	}
	return nil
}

// attach makes a perf event run a program. The kernel allows 64 on the same
// event (BPF_TRACE_MAX_PROGS).
func attach(fd int, prog *ebpf.Program) error {
	if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_BPF, prog.FD()); err != nil {
		return fmt.Errorf("attaching a BPF program: %w", err)
	}
	return nil
}

func (e *event) id() (uint64, error) {
	text, err := e.session.tracefs.ReadFile("events/" + e.name + "/id")
	if err != nil {
		return 0, fmt.Errorf("the event that holds the sites is gone: %w", err)
	}
	return strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
}

// openTracepoint opens a perf event on a tracepoint. Its BPF programs run on
// every CPU, whichever the event is opened on.
func openTracepoint(id uint64) (int, error) {
	cpus, err := kernel.OnlineCPUs()
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
	fd, err := unix.PerfEventOpen(&attr, -1, cpus[0], -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("opening the event that holds the sites: %w", err)
	}
	return fd, nil
}

// disable disarms the sites.
func (e *event) disable() error {
	var errs []error
	for _, fd := range e.perf {
		errs = append(errs, unix.Close(fd))
	}
	e.perf = nil
	return errors.Join(errs...)
}

// remove takes the event's definition out of tracefs.
func (e *event) remove() error {
	if e.sites == 0 {
		return nil
	}
	e.sites = 0
	return removeEvent(e.session.events, e.name)
}

// removeEvent takes an event's definition out of tracefs, if it is there.
func removeEvent(events *os.File, name string) error {
	_, err := events.WriteString("-:" + name + "\n")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("removing event %s: %w", name, err)
	}
	return nil
}
