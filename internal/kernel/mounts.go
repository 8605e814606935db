package kernel

import (
	"fmt"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// TraceFS returns a directory that is the kernel's tracefs, without a slash
// at its end.
//
// Where none is mounted at the usual places it makes a mount of its own that
// is attached nowhere, and so seen by nobody else and gone with the process.
func TraceFS() (string, error) {
	return traceFS()
}

// DebugFS returns a directory that is the kernel's debugfs, in the same way.
func DebugFS() (string, error) {
	return debugFS()
}

var (
	traceFS = sync.OnceValues(func() (string, error) {
		return findMount("tracefs", unix.TRACEFS_MAGIC, "/sys/kernel/tracing", "/sys/kernel/debug/tracing")
	})
	debugFS = sync.OnceValues(func() (string, error) {
		return findMount("debugfs", unix.DEBUGFS_MAGIC, "/sys/kernel/debug")
	})
)

func findMount(fstype string, magic int64, usual ...string) (string, error) {
	for _, dir := range usual {
		var fs unix.Statfs_t
		if unix.Statfs(dir, &fs) == nil && int64(fs.Type) == magic {
			return dir, nil
		}
	}
	dir, err := detachedMount(fstype)
	if err != nil {
		return "", fmt.Errorf("%s is not mounted and cannot be: %w; mount -t %[1]s %[1]s %[3]s", fstype, err, usual[0])
	}
	return dir, nil
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
