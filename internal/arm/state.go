package arm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// stateDir holds what sessions must know of each other. It is in memory, and
// so as old as the running kernel at most.
const stateDir = "/run/kinst"

// state is what a file in stateDir records: the system-wide knobs that are
// turned just now, by sessions that may meanwhile have been killed.
type state struct {
	Knobs map[string]*turned `json:"knobs"` // by path

	written []byte // what the file holds; nil where there is none
}

// turned is a knob that is not at its own value.
type turned struct {
	Was     string  `json:"was"`     // before the first of the holders turned it
	Now     string  `json:"now"`     // what they turned it to
	Holders []owner `json:"holders"` // who needs it there
}

// withState lets change work on the state while nobody else does, and records
// the outcome. Change calls save before it does anything that the state must
// tell of.
func withState(dir string, change func(s *state, save func() error) error) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := flock(lock); err != nil {
		return fmt.Errorf("locking %s: %w", lock.Name(), err)
	}
	file := filepath.Join(dir, "knobs.json")
	s, err := readState(file)
	if err != nil {
		return err
	}
	save := func() error { return s.write(file) }
	if err := change(s, save); err != nil {
		return err
	}
	return save()
}

func flock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func readState(file string) (*state, error) {
	s := &state{Knobs: map[string]*turned{}}
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	s.written = text
	return s, nil
}

// write replaces the file at once, or removes it where there is nothing to
// tell: a process may be killed at any moment.
func (s *state) write(file string) error {
	if len(s.Knobs) == 0 {
		err := os.Remove(file)
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		s.written = nil
		return err
	}
	text, err := json.Marshal(s)
	if err != nil || bytes.Equal(text, s.written) {
		return err
	}
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		return err
	}
	if err := os.Rename(file+".new", file); err != nil {
		return err
	}
	s.written = text
	return nil
}

func readKnob(path string) (string, error) {
	text, err := os.ReadFile(path)
	return strings.TrimSpace(string(text)), err
}

func writeKnob(path, value string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}
