// Package tracefs knows the events that the kernel shows in tracefs: which
// there are, and the format of their records.
package tracefs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"kinst/internal/kernel"
)

// An Event is an event of tracefs that stands for a tracepoint.
type Event struct {
	System, Name string
}

// Events returns the events of tracefs that stand for tracepoints, in its
// order: not those of system calls, which have two tracepoints for all, and
// not those that somebody has defined.
func Events() ([]Event, error) {
	tracefs, err := kernel.TraceFS()
	if err != nil {
		return nil, err
	}
	available, err := os.ReadFile(filepath.Join(tracefs, "available_events"))
	if err != nil {
		return nil, fmt.Errorf("listing the tracepoints: %w", err)
	}
	defined, err := definedSystems(tracefs)
	if err != nil {
		return nil, err
	}
	var events []Event
	for line := range strings.Lines(string(available)) {
		system, name, ok := strings.Cut(strings.TrimSpace(line), ":")
		if ok && system != "syscalls" && !defined[system] {
			events = append(events, Event{system, name})
		}
	}
	return events, nil
}

// definedSystems are the systems of events that somebody has defined, on
// kprobes, uprobes or other events. Lines of dynamic_events look like
//
//	p:kprobes/my_event vfs_read
//	s:synthetic/latency u64 lat
func definedSystems(tracefs string) (map[string]bool, error) {
	text, err := os.ReadFile(filepath.Join(tracefs, "dynamic_events"))
	if os.IsNotExist(err) {
		return nil, nil // the kernel has none
	}
	if err != nil {
		return nil, fmt.Errorf("telling tracepoints from other events: %w", err)
	}
	systems := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		_, event, _ := strings.Cut(line, ":")
		if system, _, ok := strings.Cut(event, "/"); ok {
			systems[system] = true
		}
	}
	return systems, nil
}
