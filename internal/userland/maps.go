package userland

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"kinst/internal/kernel"
)

// A mapping is a stretch of a process's memory that shows a file.
type mapping struct {
	start, end uint64
	offset     uint64 // in the file, of start
	exec       bool
	device     string // "major:minor"
	inode      uint64 // 0 for memory that shows no file
	path       string // as the process sees it, or a word in brackets
	deleted    bool
}

const deletedMark = " (deleted)"

// readMaps returns what a process has mapped, by ascending address.
func readMaps(pid int) ([]mapping, error) {
	f, err := os.Open(procPath(pid, "maps"))
	if err != nil {
		return nil, processError(pid, err)
	}
	defer f.Close()
	maps, err := parseMaps(f)
	if err != nil {
		return nil, processError(pid, err)
	}
	return maps, nil
}

func procPath(pid int, name string) string {
	return "/proc/" + strconv.Itoa(pid) + "/" + name
}

// processError says what an error of a file in /proc/PID means.
func processError(pid int, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ESRCH):
		return fmt.Errorf("process %d: %w", pid, ErrNoProcess)
	case errors.Is(err, fs.ErrPermission):
		return kernel.Refused(fmt.Errorf("process %d cannot be looked into: %w", pid, err), unix.CAP_SYS_PTRACE)
	}
	return fmt.Errorf("process %d: %w", pid, err)
}

// ErrNoProcess is wrapped by the errors that say that a process is not there.
var ErrNoProcess = errors.New("there is no such process")

func parseMaps(r io.Reader) ([]mapping, error) {
	var maps []mapping
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<16) // a path of 4,096 bytes may be escaped
	for lines.Scan() {
		m, err := parseMapping(lines.Text())
		if err != nil {
			return nil, err
		}
		maps = append(maps, m)
	}
	return maps, lines.Err()
}

// parseMapping reads a line of /proc/PID/maps, proc(5):
//
//	7f5e10028000-7f5e1017e000 r-xp 00028000 fe:00 1835046   /usr/lib/libc.so.6
func parseMapping(line string) (m mapping, err error) {
	var fields [5]string
	rest := line
	for i := range fields {
		fields[i], rest, _ = strings.Cut(rest, " ")
	}
	start, end, _ := strings.Cut(fields[0], "-")
	var errs [4]error
	m.start, errs[0] = strconv.ParseUint(start, 16, 64)
	m.end, errs[1] = strconv.ParseUint(end, 16, 64)
	m.offset, errs[2] = strconv.ParseUint(fields[2], 16, 64)
	m.inode, errs[3] = strconv.ParseUint(fields[4], 10, 64)
	if errors.Join(errs[:]...) != nil || len(fields[1]) != 4 {
		return mapping{}, fmt.Errorf("%q is not a line of /proc/PID/maps", line)
	}
	m.exec = fields[1][2] == 'x'
	m.device = fields[3]
	m.path = strings.ReplaceAll(strings.TrimLeft(rest, " "), `\012`, "\n")
	m.path, m.deleted = strings.CutSuffix(m.path, deletedMark)
	return m, nil
}

// open opens the file that a mapping shows.
func (m *mapping) open(pid int) (*os.File, error) {
	f, err := os.Open(m.link(pid))
	if err == nil || m.deleted {
		return f, err
	}
	byName, err2 := os.Open(m.rooted(pid))
	if err2 != nil {
		return nil, err2
	}
	if !m.shows(byName) {
		byName.Close()
		return nil, fmt.Errorf("%s is not the file any more that process %d has mapped, and %w", m.path, pid, err)
	}
	return byName, nil
}

// link is the name of the file as long as it is mapped. To follow it takes
// CAP_SYS_ADMIN or, from Linux 5.9 on, CAP_CHECKPOINT_RESTORE.
func (m *mapping) link(pid int) string {
	return procPath(pid, fmt.Sprintf("map_files/%x-%x", m.start, m.end))
}

// rooted is the name by which we reach what the process calls by its path.
func (m *mapping) rooted(pid int) string { return procPath(pid, "root"+m.path) }

// shows reports whether the mapping is one of this file. Devices are not
// compared: those of overlays and subvolumes have two numbers.
func (m *mapping) shows(f *os.File) bool {
	var st unix.Stat_t
	return unix.Fstat(int(f.Fd()), &st) == nil && st.Ino == m.inode
}

// isELF reports whether a file begins as ELF files do.
func isELF(f io.ReaderAt) bool {
	var magic [4]byte
	_, err := f.ReadAt(magic[:], 0)
	return err == nil && bytes.Equal(magic[:], []byte("\x7fELF"))
}
