package arm

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"kinst/internal/kernel"
)

// Clean removes what dead sessions have left: definitions of events in
// tracefs, and system-wide settings that were not set back. What belongs to
// living sessions stays. It returns what it removed, a line each.
func Clean() (removed []string, err error) {
	dir, err := kernel.TraceFS()
	if err != nil {
		return nil, err
	}
	self, err := selfOwner()
	if err != nil {
		return nil, err
	}
	k := newKnobs(stateDir, self)
	settings, err1 := k.restoreAll()
	events, err2 := removeDead(dir, k)
	return append(settings, events...), errors.Join(err1, err2)
}

// restoreAll turns back the knobs that only dead sessions hold.
func (k *knobs) restoreAll() (restored []string, err error) {
	if _, err := os.Stat(filepath.Join(k.dir, "knobs.json")); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	err = withState(k.dir, func(s *state, _ func() error) error {
		var errs []error
		for path, t := range s.Knobs {
			switch ok, err := s.restore(k.owner.NS, path); {
			case err != nil:
				errs = append(errs, err)
			case ok:
				restored = append(restored, fmt.Sprintf("%s set back to %s", path, t.Was))
			}
		}
		return errors.Join(errs...)
	})
	slices.Sort(restored)
	return restored, err
}

// removeDead removes the events of dead sessions.
func removeDead(dir string, k *knobs) (removed []string, err error) {
	dead, err := deadEvents(dir, k.owner.NS)
	if err != nil || len(dead) == 0 {
		return nil, err
	}
	defer k.turn(expedited, unoptimized)()
	var errs []error
	for _, name := range dead {
		switch err := removeDeadEvent(dir, name); {
		case err != nil:
			errs = append(errs, err)
		default:
			removed = append(removed, "event "+name+" removed")
		}
	}
	return removed, errors.Join(errs...)
}

// removeDeadEvent removes an event from where it was defined: here, or by
// package uprobe.
func removeDeadEvent(dir, name string) error {
	for _, file := range []string{"kprobe_events", "uprobe_events"} {
		events, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY|os.O_APPEND, 0)
		if errors.Is(err, os.ErrNotExist) {
			continue // this kernel does without
		}
		if err != nil {
			return err
		}
		err = removeEvent(events, name)
		if err := errors.Join(err, events.Close()); err != nil {
			return err
		}
	}
	return nil
}

// EventGroup is the name of the group of events in tracefs that belong to this
// process. When it is dead, Clean removes them.
func EventGroup() (string, error) {
	self, err := selfOwner()
	if err != nil {
		return "", err
	}
	return self.group(), nil
}

// deadEvents lists the events, as GROUP/EVENT, of sessions that are dead.
func deadEvents(dir string, ns uint64) ([]string, error) {
	groups, err := filepath.Glob(filepath.Join(dir, "events", groupPrefix+"*"))
	if err != nil {
		return nil, err
	}
	var dead []string
	for _, group := range groups {
		o, ours := parseOwner(filepath.Base(group))
		if !ours || !o.dead(ns) {
			continue
		}
		events, err := os.ReadDir(group)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		for _, e := range events {
			if e.IsDir() {
				dead = append(dead, filepath.Base(group)+"/"+e.Name())
			}
		}
	}
	return dead, nil
}
