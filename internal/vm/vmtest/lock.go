package vmtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

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
	for {
		for slot := range runtime.NumCPU() {
			f, err := lockSlot(slot)
			switch {
			case err == nil:
				return func() { f.Close() }, nil
			case !errors.Is(err, unix.EWOULDBLOCK):
				return nil, fmt.Errorf("waiting for other tests' guests: %w", err)
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// lockSlot locks the file that stands for one processor, or returns EWOULDBLOCK
// where another process has it. The lock ends with the process that has it.
func lockSlot(slot int) (*os.File, error) {
	name := filepath.Join(os.TempDir(), fmt.Sprintf("kinst-vmtest-%d.lock", slot))
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	for err = unix.EINTR; err == unix.EINTR; {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
