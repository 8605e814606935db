package buffer

import (
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"kinst/internal/record"
)

const (
	// batch is how long Wait lets records gather after the first one. The
	// programs wake the reader only where it has caught up, so a reader that
	// is behind costs them nothing.
	batch = 4 * time.Millisecond

	// burst is how much programs may write into a ring when they suddenly begin
	// to write much, in bytes a second, so that it holds it.
	burst = 80 << 20

	// settle is how old a record must be before it is taken to be the oldest:
	// a program may take that long from reading the clock to writing.
	settle = 5 * time.Millisecond
)

// RingOptions are the choices of NewRings.
type RingOptions struct {
	// ByCPU gives the records of one CPU after those of another, as DTrace
	// does without its option temporal, instead of all in the order of time.
	ByCPU bool
}

// Rings reads the records of all CPUs. Wait and the methods that read belong to
// one goroutine; Wake may be called from any.
type Rings struct {
	opts    RingOptions
	streams []*stream
	busy    bool          // the last reading found records
	began   time.Time     // when what will be read next began to gather
	pace    time.Duration // how long the fastest ring took to be a quarter full
	epoll   int
	wake    int           // an eventfd, for waiting with epoll
	woken   chan struct{} // for waiting without
}

// NewRings reads from one ring per CPU: maps of type BPF_MAP_TYPE_RINGBUF,
// indexed by the CPU's number. It does not take ownership of them.
func NewRings(maps []*ebpf.Map, opts *RingOptions) (*Rings, error) {
	r := &Rings{epoll: -1, wake: -1, woken: make(chan struct{}, 1)}
	if opts != nil {
		r.opts = *opts
	}
	if err := r.open(maps); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the rings of %d CPUs: %w", len(maps), err), r.Close())
	}
	return r, nil
}

func (r *Rings) open(maps []*ebpf.Map) (err error) {
	if r.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return fmt.Errorf("eventfd: %w", err)
	}
	if r.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return fmt.Errorf("epoll: %w", err)
	}
	if err := r.poll(r.wake); err != nil {
		return err
	}
	for cpu, m := range maps {
		ring, err := openRing(m)
		if err != nil {
			return fmt.Errorf("CPU %d: %w", cpu, err)
		}
		r.streams = append(r.streams, &stream{cpu: cpu, ring: ring})
		if err := r.poll(m.FD()); err != nil {
			return fmt.Errorf("CPU %d: %w", cpu, err)
		}
	}
	return nil
}

func (r *Rings) poll(fd int) error {
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}
	if err := unix.EpollCtl(r.epoll, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
		return fmt.Errorf("epoll: %w", err)
	}
	return nil
}

// Close frees the rings' memory here. Records not read are lost to this reader,
// not to another one.
func (r *Rings) Close() error {
	var errs []error
	for _, s := range r.streams {
		errs = append(errs, s.ring.close())
	}
	for _, fd := range []*int{&r.epoll, &r.wake} {
		if *fd >= 0 {
			errs = append(errs, unix.Close(*fd))
			*fd = -1
		}
	}
	r.streams = nil
	return errors.Join(errs...)
}

// Wait returns when there are records to Read, Wake was called, or the timeout
// has passed (never, where it is below zero). It gives the first record's
// successors a few milliseconds to come along. While records come it waits so
// long that no ring gets full, but no longer than gather.
func (r *Rings) Wait(timeout, gather time.Duration) error {
	if r.busy || r.pending() {
		r.busy = false
		r.sleep(shorter(timeout, max(min(gather, r.pace, r.filled()), batch)))
		return nil
	}
	var events [1]unix.EpollEvent
	n, err := unix.EpollWait(r.epoll, events[:], milliseconds(timeout))
	switch {
	case errors.Is(err, unix.EINTR), n == 0 && err == nil:
		return nil
	case err != nil:
		return fmt.Errorf("waiting for records: %w", err)
	}
	r.began = time.Now()
	if events[0].Fd == int32(r.wake) {
		var count [8]byte
		_, _ = unix.Read(r.wake, count[:]) // takes the wake-up back
	}
	r.sleep(shorter(timeout, batch))
	return nil
}

// Settle waits until the programs that are under way have written. It is for
// when no others begin.
func (r *Rings) Settle() { time.Sleep(settle) }

// Filling reports whether some ring should be read soon, as it is a quarter
// full.
func (r *Rings) Filling() bool {
	for _, s := range r.streams {
		if s.ring.available() > s.ring.size()/4 {
			return true
		}
	}
	return false
}

// measure notes how fast the rings fill.
func (r *Rings) measure() {
	elapsed := min(time.Since(r.began), time.Second)
	r.pace = time.Second
	for _, s := range r.streams {
		if n := s.ring.available(); n > 0 {
			r.pace = min(r.pace, elapsed*time.Duration(s.ring.size()/4)/time.Duration(n))
		}
	}
}

// filled is how long it takes a burst to fill a ring.
func (r *Rings) filled() time.Duration {
	size := math.MaxInt32
	for _, s := range r.streams {
		size = min(size, s.ring.size())
	}
	return time.Duration(size) * time.Second / burst
}

// Wake ends the Wait that is going on, or else the next one.
func (r *Rings) Wake() {
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	// It fails only where the counter is full, which wakes too.
	_, _ = unix.Write(r.wake, one[:])
	select {
	case r.woken <- struct{}{}:
	default: // so it is already
	}
}

// pending reports whether records are waiting to be old enough.
func (r *Rings) pending() bool {
	for _, s := range r.streams {
		if len(s.window) > 0 || s.ring.available() > 0 {
			return true
		}
	}
	return false
}

// sleep waits for Wake or until the timeout has passed. While records come this
// happens many times a second: a goroutine that waits costs the scheduler less
// than a thread that does in the kernel.
func (r *Rings) sleep(timeout time.Duration) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-r.woken:
	case <-timer.C:
	}
}

func shorter(a, b time.Duration) time.Duration {
	if a < 0 {
		return b
	}
	return min(a, b)
}

// milliseconds rounds up, so that a wait is never cut to none.
func milliseconds(d time.Duration) int {
	if d < 0 {
		return -1
	}
	return int(min((d+time.Millisecond-1)/time.Millisecond, math.MaxInt32))
}

// Read passes on the records that are there, by ascending time, but those of the
// last few milliseconds, which an older one might still follow. The bytes are
// valid until visit returns. An error of visit ends the reading and is returned.
func (r *Rings) Read(visit func(cpu int, data []byte) error) error {
	limit := uint64(math.MaxUint64)
	if len(r.streams) > 1 && !r.opts.ByCPU {
		now, err := monotonic()
		if err != nil {
			return err
		}
		limit = now - uint64(settle)
	}
	return r.read(limit, visit)
}

// Flush passes on all records that were written before it was called. It is for
// the end, when the programs have stopped.
func (r *Rings) Flush(visit func(cpu int, data []byte) error) error {
	now, err := monotonic()
	if err != nil {
		return err
	}
	return r.read(now, visit)
}

func (r *Rings) read(limit uint64, visit func(cpu int, data []byte) error) error {
	r.measure()
	defer func() {
		r.began = time.Now()
		for _, s := range r.streams {
			s.release()
			r.busy = r.busy || s.passed
			s.passed = false
		}
	}()
	if r.opts.ByCPU || len(r.streams) == 1 {
		for _, s := range r.streams {
			if err := (&merge{s}).read(limit, visit); err != nil {
				return err
			}
		}
		return nil
	}
	m := merge(append([]*stream(nil), r.streams...))
	return m.read(limit, visit)
}

// monotonic is the clock that the programs read.
func monotonic() (uint64, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return 0, fmt.Errorf("reading the clock: %w", err)
	}
	return uint64(now.Nano()), nil
}

// merge is a heap of the streams that have records, by the time of the first.
type merge []*stream

func (m *merge) read(limit uint64, visit func(cpu int, data []byte) error) error {
	some := (*m)[:0]
	for _, s := range *m {
		if s.fill(); len(s.window) > 0 {
			some = append(some, s)
		}
	}
	*m = some
	heap.Init(m)
	for len(*m) > 0 && (*m)[0].window[0].time <= limit {
		s := (*m)[0]
		if err := s.run(m.bound(limit), visit); err != nil {
			return err
		}
		if len(s.window) == 0 {
			heap.Pop(m)
		} else {
			heap.Fix(m, 0)
		}
	}
	return nil
}

// bound is up to which time the records of the first stream are next.
func (m merge) bound(limit uint64) uint64 {
	for i := 1; i < min(len(m), 3); i++ {
		limit = min(limit, m[i].window[0].time)
	}
	return limit
}

func (m merge) Len() int           { return len(m) }
func (m merge) Less(i, j int) bool { return m[i].window[0].time < m[j].window[0].time }
func (m merge) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *merge) Push(x any)        { *m = append(*m, x.(*stream)) }
func (m *merge) Pop() any {
	s := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return s
}

// windowSize is how many records of a ring are looked at to find the oldest. A
// program that an interrupt's program interrupts writes after it, with a time
// before it.
const windowSize = 4

// stream is the ring of one CPU, and its next records sorted by time.
type stream struct {
	cpu    int
	ring   *ring
	window []timed
	passed bool // some were passed on
}

type timed struct {
	time     uint64
	position uint64 // in the ring
	data     []byte
}

// fill takes records from the ring until the window is full or the ring empty.
func (s *stream) fill() {
	for len(s.window) < windowSize {
		data, position := s.ring.read()
		if data == nil {
			return
		}
		t := timed{position: position, data: data} // too short to have a time: whoever gets it will complain
		if len(data) >= record.HeaderSize {
			t.time = binary.NativeEndian.Uint64(data[record.TimeOffset:])
		}
		s.window = append(s.window, t)
		for i := len(s.window) - 1; i > 0 && s.window[i].time < s.window[i-1].time; i-- {
			s.window[i], s.window[i-1] = s.window[i-1], s.window[i]
		}
	}
}

// run passes on the records up to a time.
func (s *stream) run(limit uint64, visit func(cpu int, data []byte) error) error {
	for len(s.window) > 0 && s.window[0].time <= limit {
		t := s.window[0]
		s.passed = true
		s.window = s.window[:copy(s.window, s.window[1:])]
		if err := visit(s.cpu, t.data); err != nil {
			return err
		}
		s.fill()
		if s.ring.next-s.ring.released > uint64(s.ring.size()/8) {
			s.release()
		}
	}
	return nil
}

// release gives the memory of the records that were passed on back to the
// programs.
func (s *stream) release() {
	position := s.ring.next
	for _, t := range s.window {
		position = min(position, t.position)
	}
	s.ring.release(position)
}
