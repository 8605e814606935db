package vmtest

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// lock waits until no other test's guest runs on this machine: packages are
// tested side by side, and guests under emulation take a whole processor.
func lock() (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(os.TempDir(), "kinst-vmtest.lock"), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	for {
		if err = unix.Flock(int(f.Fd()), unix.LOCK_EX); err != unix.EINTR {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}
