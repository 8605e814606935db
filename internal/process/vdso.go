package process

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
)

// vdsoName is how the kernel calls the library that it gives to every process.
const vdsoName = "[vdso]"

// vdso is its image, as this process has it: there is one for all.
var vdso = sync.OnceValues(func() ([]byte, error) {
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil, err
	}
	for _, m := range parseMaps(text) {
		if m.path != vdsoName {
			continue
		}
		memory, err := os.Open("/proc/self/mem")
		if err != nil {
			return nil, err
		}
		defer memory.Close()
		image := make([]byte, m.end-m.start)
		_, err = memory.ReadAt(image, int64(m.start))
		return image, err
	}
	return nil, fmt.Errorf("this process has no %s", vdsoName)
})

// inode is a file's, in the words of /proc/PID/maps.
func inode(info os.FileInfo) string {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return strconv.FormatUint(stat.Ino, 10)
	}
	return ""
}
