package vmtest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// Acquire waits until the machine has a processor for a guest, which release
// gives back. [Run] and [Main] do that themselves.
func Acquire(t testing.TB) (release func()) {
	t.Helper()
	release, err := acquire()
	if err != nil {
		t.Fatal(err)
	}
	return release
}

// acquire counts across processes: packages are tested side by side, and a guest
// under emulation keeps one processor busy.
func acquire() (release func(), err error) {
	slots := runtime.NumCPU()
	for slot := range slots {
		if f, err := lockSlot(slot, unix.LOCK_NB); err == nil {
			return func() { f.Close() }, nil
		}
	}
	f, err := lockSlot(os.Getpid()%slots, 0)
	if err != nil {
		return nil, fmt.Errorf("waiting for other tests' guests: %w", err)
	}
	return func() { f.Close() }, nil
}

// lockSlot locks the file that stands for one processor. The lock ends with the
// process that has it.
func lockSlot(slot, flags int) (*os.File, error) {
	name := filepath.Join(os.TempDir(), fmt.Sprintf("kinst-vmtest-%d.lock", slot))
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	for err = unix.EINTR; err == unix.EINTR; {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|flags)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
