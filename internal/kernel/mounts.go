package kernel

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// TraceFS returns a directory that is the kernel's tracefs, without a slash
// at its end.
//
// Where none is mounted at the usual places it makes a mount of its own that
// is attached nowhere, and so seen by nobody else and gone with the process.
// Where somebody has taken away the one that it returned before, it returns
// another one.
func TraceFS() (string, error) { return traceFS.directory() }

// DebugFS returns a directory that is the kernel's debugfs, in the same way.
func DebugFS() (string, error) { return debugFS.directory() }

var (
	traceFS = mount{fstype: "tracefs", magic: unix.TRACEFS_MAGIC, usual: []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}}
	debugFS = mount{fstype: "debugfs", magic: unix.DEBUGFS_MAGIC, usual: []string{"/sys/kernel/debug"}}
)

// A mount is a file system of the kernel's, wherever it is mounted.
type mount struct {
	fstype string
	magic  int64
	usual  []string

	mu  sync.Mutex
	dir string // where it was last
}

func (m *mount) directory() (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.isAt(m.dir) {
		return m.dir, nil
	}
	for _, dir := range m.usual {
		if m.isAt(dir) {
			m.dir = dir
			return dir, nil
		}
	}
	dir, err := detachedMount(m.fstype)
	if errors.Is(err, os.ErrPermission) {
		return "", Refused(fmt.Errorf("%s is not mounted where this process could use it, and cannot be: %w", m.fstype, err), unix.CAP_SYS_ADMIN)
	}
	if err != nil {
		return "", fmt.Errorf("%s is not mounted and cannot be: %w; mount -t %[1]s %[1]s %[3]s", m.fstype, err, m.usual[0])
	}
	m.dir = dir
	return dir, nil
}

func (m *mount) isAt(dir string) bool {
	var fs unix.Statfs_t
	return dir != "" && unix.Statfs(dir, &fs) == nil && int64(fs.Type) == m.magic
}

// detachedMount mounts a file system of that type outside the file hierarchy
// and returns the name by which this process reaches it.
func detachedMount(fstype string) (string, error) {
	fs, err := unix.Fsopen(fstype, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return "", err
	}
	defer unix.Close(fs)
	if err := unix.FsconfigCreate(fs); err != nil {
		return "", err
	}
	mount, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return "", err
	}
	return "/proc/self/fd/" + strconv.Itoa(mount), nil
}
