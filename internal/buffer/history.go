package buffer

import (
	"encoding/binary"
	"math"

	"kinst/internal/record"
)

// A History holds the last records of each CPU, as many as fit in so many bytes:
// the bufpolicy "ring", which is printed when tracing ends.
type History struct {
	size int
	cpus map[int]*deque
}

// NewHistory keeps up to size bytes per CPU.
func NewHistory(size int) *History {
	return &History{size: size, cpus: make(map[int]*deque)}
}

// Add keeps a record, in the place of the oldest ones of its CPU. A record that
// is larger than the history is not kept.
func (h *History) Add(cpu int, data []byte) error {
	d := h.cpus[cpu]
	if d == nil {
		d = &deque{buf: make([]byte, h.size)}
		h.cpus[cpu] = d
	}
	d.push(data)
	return nil
}

// Flush passes on what is kept, by ascending time, and forgets it.
func (h *History) Flush(visit func(cpu int, data []byte) error) error {
	var scratch []byte
	for {
		oldest, best := -1, uint64(math.MaxUint64)
		for cpu, d := range h.cpus {
			if d.used == 0 {
				continue
			}
			if t := d.time(); oldest < 0 || t < best || t == best && cpu < oldest {
				oldest, best = cpu, t
			}
		}
		if oldest < 0 {
			return nil
		}
		scratch = h.cpus[oldest].pop(scratch[:0])
		if err := visit(oldest, scratch); err != nil {
			return err
		}
	}
}

// deque is a queue of records in a circle of bytes, each after its length.
type deque struct {
	buf         []byte
	first, used int
}

const lengthSize = 4

func (d *deque) push(data []byte) {
	need := lengthSize + len(data)
	if need > len(d.buf) {
		return
	}
	for d.used+need > len(d.buf) {
		d.drop()
	}
	var length [lengthSize]byte
	binary.NativeEndian.PutUint32(length[:], uint32(len(data)))
	d.write(length[:])
	d.write(data)
}

func (d *deque) write(data []byte) {
	at := (d.first + d.used) % len(d.buf)
	n := copy(d.buf[at:], data)
	copy(d.buf, data[n:])
	d.used += len(data)
}

// peek appends n bytes that begin so far behind the first.
func (d *deque) peek(dst []byte, skip, n int) []byte {
	at := (d.first + skip) % len(d.buf)
	end := min(at+n, len(d.buf))
	dst = append(dst, d.buf[at:end]...)
	return append(dst, d.buf[:n-(end-at)]...)
}

func (d *deque) length() int {
	var b [lengthSize]byte
	return int(binary.NativeEndian.Uint32(d.peek(b[:0], 0, lengthSize)))
}

// time is that of the first record, 0 where it is too short to have one.
func (d *deque) time() uint64 {
	if d.length() < record.HeaderSize {
		return 0
	}
	var b [8]byte
	return binary.NativeEndian.Uint64(d.peek(b[:0], lengthSize+record.TimeOffset, 8))
}

func (d *deque) pop(dst []byte) []byte {
	dst = d.peek(dst, lengthSize, d.length())
	d.drop()
	return dst
}

func (d *deque) drop() {
	n := lengthSize + d.length()
	d.first = (d.first + n) % len(d.buf)
	d.used -= n
}
