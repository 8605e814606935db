package process

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"kinst/internal/kernel"
)

// A watch follows what processes map into their memory, by the records that
// perf_event_open(2) has for that: so that a process is known that began and
// ended between two looks.
type watch struct {
	rings []perfRing
}

// Watch begins to follow all processes, from now on. It needs CAP_PERFMON; the
// error is no harm but for processes that are gone before their first address
// is asked for.
func (s *Symbols) Watch() error {
	cpus, err := kernel.OnlineCPUs()
	if err != nil {
		return fmt.Errorf("following the memory of processes: %w", err)
	}
	w := &watch{}
	for _, cpu := range cpus {
		ring, err := openPerfRing(cpu)
		if err != nil {
			w.close()
			return fmt.Errorf("following the memory of processes on CPU %d: %w", cpu, err)
		}
		w.rings = append(w.rings, ring)
	}
	s.watch = w
	return nil
}

// Close ends what Watch began. What is known stays known.
func (s *Symbols) Close() error {
	if s.watch == nil {
		return nil
	}
	err := s.watch.close()
	s.watch = nil
	return err
}

func (w *watch) close() error {
	var errs []error
	for _, r := range w.rings {
		errs = append(errs, unix.Munmap(r.memory), unix.Close(r.fd))
	}
	return errors.Join(errs...)
}

// perfRing is the ring of the records of one CPU.
type perfRing struct {
	fd     int
	memory []byte // a perf_event_mmap_page, then the data
}

// perfRingPages is the size of a ring's data: some thousand mappings.
const perfRingPages = 64

func openPerfRing(cpu int) (perfRing, error) {
	attr := unix.PerfEventAttr{
		Type:        unix.PERF_TYPE_SOFTWARE,
		Config:      unix.PERF_COUNT_SW_DUMMY,
		Size:        uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Sample_type: unix.PERF_SAMPLE_TIME,
		Bits: unix.PerfBitMmap | unix.PerfBitMmap2 | unix.PerfBitTask | unix.PerfBitComm |
			unix.PerfBitCommExec | unix.PerfBitSampleIDAll,
	}
	fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return perfRing{}, err
	}
	page := os.Getpagesize()
	memory, err := unix.Mmap(fd, 0, (1+perfRingPages)*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		unix.Close(fd)
		return perfRing{}, err
	}
	return perfRing{fd, memory}, nil
}

// read passes on the records that came since the last call: their type, the
// header's misc field and what follows the header.
func (r perfRing) read(visit func(kind uint32, misc uint16, body []byte)) {
	page := (*unix.PerfEventMmapPage)(unsafe.Pointer(&r.memory[0]))
	data := r.memory[os.Getpagesize():]
	size := uint64(len(data))
	head := atomic.LoadUint64(&page.Data_head)
	tail := page.Data_tail // written here only
	for tail < head {
		record := circular(data, tail%size, 8)
		length := uint64(binary.NativeEndian.Uint16(record[6:]))
		if length < 8 || length > head-tail {
			tail = head // cannot happen; do not loop for ever if it does
			break
		}
		record = circular(data, tail%size, length)
		visit(binary.NativeEndian.Uint32(record), binary.NativeEndian.Uint16(record[4:]), record[8:])
		tail += length
	}
	atomic.StoreUint64(&page.Data_tail, tail)
}

// circular is a copy of n bytes of a ring.
func circular(data []byte, at, n uint64) []byte {
	b := make([]byte, n)
	copied := copy(b, data[at:])
	copy(b[copied:], data)
	return b
}

// change is a record about a process.
type change struct {
	kind uint32
	misc uint16
	time uint64
	body []byte
}

// follow applies what processes did since the last call, in its order.
func (s *Symbols) follow() {
	if s.watch == nil {
		return
	}
	var changes []change
	for _, r := range s.watch.rings {
		r.read(func(kind uint32, misc uint16, body []byte) {
			if len(body) < 16 {
				return
			}
			end := len(body) - 8
			changes = append(changes, change{kind, misc, binary.NativeEndian.Uint64(body[end:]), body[:end]})
		})
	}
	slices.SortStableFunc(changes, func(a, b change) int {
		switch {
		case a.time < b.time:
			return -1
		case a.time > b.time:
			return 1
		}
		return 0
	})
	for _, c := range changes {
		s.apply(c)
	}
}

func (s *Symbols) apply(c change) {
	pid := binary.NativeEndian.Uint32(c.body)
	switch c.kind {
	case unix.PERF_RECORD_FORK:
		if len(c.body) < 8 {
			return
		}
		parent := binary.NativeEndian.Uint32(c.body[4:])
		if parent == pid {
			return // a thread
		}
		child := &process{pid: pid, used: s.now()}
		child.mappings = slices.Clone(s.known(parent).mappings)
		s.keep(child)
	case unix.PERF_RECORD_COMM:
		if c.misc&unix.PERF_RECORD_MISC_COMM_EXEC != 0 {
			p := s.known(pid)
			p.earlier, p.mappings = p.mappings, nil
		}
	case unix.PERF_RECORD_MMAP2:
		if m, ok := parseMmap2(c.body); ok {
			s.known(pid).mapped(m)
		}
	}
}

// parseMmap2 reads the body of a PERF_RECORD_MMAP2 about executable memory.
func parseMmap2(b []byte) (m mapping, ok bool) {
	const filename = 64
	if len(b) < filename || binary.NativeEndian.Uint32(b[56:])&unix.PROT_EXEC == 0 {
		return mapping{}, false
	}
	m.start = binary.NativeEndian.Uint64(b[8:])
	m.end = m.start + binary.NativeEndian.Uint64(b[16:])
	m.offset = binary.NativeEndian.Uint64(b[24:])
	major, minor := binary.NativeEndian.Uint32(b[32:]), binary.NativeEndian.Uint32(b[36:])
	m.file = fileID{fmt.Sprintf("%02x:%02x", major, minor), strconv.FormatUint(binary.NativeEndian.Uint64(b[40:]), 10)}
	m.named(unix.ByteSliceToString(b[filename:]))
	return m, true
}

// mapped adds a mapping, in the place of what it covers.
func (p *process) mapped(m mapping) {
	p.mappings = slices.DeleteFunc(slices.Clone(p.mappings), func(old mapping) bool {
		return old.start < m.end && m.start < old.end
	})
	i, _ := slices.BinarySearchFunc(p.mappings, m.start, func(m mapping, start uint64) int {
		if m.start < start {
			return -1
		}
		return 1
	})
	p.mappings = slices.Insert(p.mappings, i, m)
}
