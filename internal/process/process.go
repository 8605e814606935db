package process

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// process is a process as it was last seen.
type process struct {
	pid      uint32
	start    string    // when it began, in the words of /proc; tells it from a later one with its number
	mappings []mapping // executable ones, by address; kept when the process exits
	earlier  []mapping // those before the last exec or dlclose
	read     time.Time // when this was read
	used     time.Time
	jit      jitMap
}

// mapping is executable memory.
type mapping struct {
	start, end uint64
	offset     uint64 // of the file, at start
	file       fileID
	path       string // empty for memory that is not of a file
}

// fileID tells files apart: device and inode, as in /proc, or a name.
type fileID struct {
	device, inode string
}

func (m mapping) fileOffset(addr uint64) uint64 { return addr - m.start + m.offset }

// refresh reads what the process has mapped. Of a process that has exited the
// last known state stays.
func (p *process) refresh() {
	stat, err := os.ReadFile(p.proc("stat"))
	if err != nil {
		return
	}
	start := startTime(stat)
	text, err := os.ReadFile(p.proc("maps"))
	if err != nil {
		return
	}
	mappings := parseMaps(text)
	if len(mappings) == 0 {
		return // exiting, or a kernel thread
	}
	if start != p.start {
		p.start, p.mappings, p.earlier, p.jit = start, mappings, nil, jitMap{}
		return
	}
	if !slices.Equal(mappings, p.mappings) {
		p.earlier, p.mappings = p.mappings, mappings
	}
}

func (p *process) proc(name string) string { return fmt.Sprintf("/proc/%d/%s", p.pid, name) }

// find returns the mapping that an address is in.
func (p *process) find(addr uint64) (mapping, bool) {
	for _, mappings := range [][]mapping{p.mappings, p.earlier} {
		i, _ := slices.BinarySearchFunc(mappings, addr, func(m mapping, addr uint64) int {
			if m.end <= addr {
				return -1
			}
			return 1
		})
		if i < len(mappings) && mappings[i].start <= addr {
			return mappings[i], true
		}
	}
	return mapping{}, false
}

// startTime is the 22nd field of /proc/PID/stat. The second, the command's name
// in parentheses, may contain anything.
func startTime(stat []byte) string {
	_, rest, ok := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	if !ok {
		return ""
	}
	fields := bytes.Fields(rest)
	const start = 22 - 3
	if len(fields) <= start {
		return ""
	}
	return string(fields[start])
}

// parseMaps reads the executable mappings of /proc/PID/maps, lines of
//
//	7f12a4200000-7f12a4355000 r-xp 00026000 fe:01 131085    /usr/lib/libc.so.6
func parseMaps(text []byte) []mapping {
	var mappings []mapping
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 5 || !strings.Contains(fields[1], "x") {
			continue
		}
		from, to, _ := strings.Cut(fields[0], "-")
		var m mapping
		var errs [3]error
		m.start, errs[0] = strconv.ParseUint(from, 16, 64)
		m.end, errs[1] = strconv.ParseUint(to, 16, 64)
		m.offset, errs[2] = strconv.ParseUint(fields[2], 16, 64)
		if errs != [3]error{} {
			continue
		}
		m.file = fileID{fields[3], fields[4]}
		if len(fields) > 5 {
			_, path, _ := strings.Cut(line, fields[4])
			m.named(strings.TrimSpace(path))
		}
		mappings = append(mappings, m)
	}
	return mappings
}

// named gives a mapping the name that the kernel has for it: of memory that is
// not of a file, [heap], [anon:...] or //anon, there is none.
func (m *mapping) named(name string) {
	name = strings.TrimSuffix(name, " (deleted)")
	switch {
	case name == vdsoName:
		m.file = fileID{inode: vdsoName}
		m.path = name
	case strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "//"):
		m.path = name
	}
}
