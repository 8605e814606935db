package buffer

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// ring is a map of type BPF_MAP_TYPE_RINGBUF as user space sees it: a page with
// the consumer's position, one with the producer's, and the data, twice in a row
// so that no record is ever broken (kernel/bpf/ringbuf.c). Records are read
// where they lie; cilium/ebpf's reader copies each under a lock, which costs
// more than printing it.
type ring struct {
	consumer []byte
	producer []byte // with the data behind it
	data     []byte

	consumed, produced *uint64
	next               uint64 // position of the first record that has not been read
	released           uint64 // what the consumer's position was last set to
}

// Of a record's header: its length, with the flags of one that is still being
// written and of one that was given up (BPF_RINGBUF_BUSY_BIT,
// BPF_RINGBUF_DISCARD_BIT).
const (
	ringHeader  = 8
	ringBusy    = 1 << 31
	ringDiscard = 1 << 30
)

func openRing(m *ebpf.Map) (*ring, error) {
	if m.Type() != ebpf.RingBuf {
		return nil, fmt.Errorf("a map of type %s is no ring buffer", m.Type())
	}
	page, size := os.Getpagesize(), int(m.MaxEntries())
	consumer, err := unix.Mmap(m.FD(), 0, page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping the ring buffer's position into memory: %w", err)
	}
	producer, err := unix.Mmap(m.FD(), int64(page), page+2*size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("mapping the ring buffer into memory: %w", err), unix.Munmap(consumer))
	}
	r := &ring{
		consumer: consumer, producer: producer, data: producer[page:],
		consumed: (*uint64)(unsafe.Pointer(&consumer[0])),
		produced: (*uint64)(unsafe.Pointer(&producer[0])),
	}
	r.next = atomic.LoadUint64(r.consumed)
	r.released = r.next
	return r, nil
}

func (r *ring) close() error {
	return errors.Join(unix.Munmap(r.consumer), unix.Munmap(r.producer))
}

func (r *ring) size() int { return len(r.data) / 2 }

// available is how many bytes there are that have not been read.
func (r *ring) available() int { return int(atomic.LoadUint64(r.produced) - r.next) }

// read returns the next record and its position, or nil where there is none that
// is complete. The record stays what it is until a position behind it is
// released.
func (r *ring) read() (data []byte, position uint64) {
	for r.available() > 0 {
		at := r.next & uint64(r.size()-1)
		// The length is written last: what comes before it in the kernel
		// (smp_store_release, xchg) is seen with it.
		header := atomic.LoadUint32((*uint32)(unsafe.Pointer(&r.data[at])))
		if header&ringBusy != 0 {
			return nil, 0
		}
		length := uint64(header &^ ringDiscard)
		position = r.next
		r.next += ringHeader + (length+7)&^7
		if header&ringDiscard == 0 {
			begin := at + ringHeader
			return r.data[begin : begin+length : begin+length], position
		}
	}
	return nil, 0
}

// release gives the memory before a position back to the programs.
func (r *ring) release(position uint64) {
	if position != r.released {
		atomic.StoreUint64(r.consumed, position)
		r.released = position
	}
}
