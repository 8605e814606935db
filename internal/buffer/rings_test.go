package buffer

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kinst/internal/record"
)

// onEachCPU runs f on a thread of its own on each CPU.
func onEachCPU(t testing.TB, f func()) {
	t.Helper()
	var online unix.CPUSet
	if err := unix.SchedGetaffinity(0, &online); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for cpu := range len(online) * 64 {
		if !online.IsSet(cpu) {
			continue
		}
		wg.Go(func() {
			runtime.LockOSThread() // for good: the thread's affinity is changed
			var only unix.CPUSet
			only.Set(cpu)
			if err := unix.SchedSetaffinity(0, &only); err != nil {
				t.Error(err)
				return
			}
			f()
		})
	}
	wg.Wait()
}

func newRings(t testing.TB, p *program, opts *RingOptions) *Rings {
	t.Helper()
	r, err := NewRings(p.rings, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// tally checks that the records of each CPU are numbered without a gap, and all
// records in the order of time.
type tally struct {
	last   map[int]uint64
	time   uint64
	count  int
	faults []string
}

func (c *tally) visit(cpu int, data []byte) error {
	time := binary.NativeEndian.Uint64(data[record.TimeOffset:])
	number := binary.NativeEndian.Uint64(data[record.HeaderSize:])
	if time < c.time {
		c.faults = append(c.faults, fmt.Sprintf("record %d of CPU %d is %d ns older than the one before", number, cpu, c.time-time))
	}
	if c.last == nil {
		c.last = make(map[int]uint64)
	}
	if number <= c.last[cpu] {
		c.faults = append(c.faults, fmt.Sprintf("record %d of CPU %d after %d", number, cpu, c.last[cpu]))
	}
	c.time, c.last[cpu] = time, number
	c.count++
	return nil
}

func TestRingsMergeByTime(t *testing.T) {
	const perCPU = 200_000
	p := newProgram(t, 4<<20)
	r := newRings(t, p, nil)
	losses := NewLosses(p.losses)

	var c tally
	stop := make(chan struct{})
	go func() {
		onEachCPU(t, func() {
			for range perCPU / 1000 {
				p.run(t, 1000)
			}
		})
		close(stop)
		r.Wake()
	}()
	for done := false; !done; {
		select {
		case <-stop:
			done = true
		default:
		}
		if err := r.Wait(time.Second, 0); err != nil {
			t.Fatal(err)
		}
		if err := r.Read(c.visit); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Flush(c.visit); err != nil {
		t.Fatal(err)
	}
	for _, fault := range c.faults {
		t.Error(fault)
	}
	lost := 0
	if err := losses.Report(func(cpu int, loss record.Loss, count uint64) { lost += int(count) }); err != nil {
		t.Fatal(err)
	}
	if want := perCPU * len(c.last); c.count+lost != want {
		t.Errorf("%d records and %d losses do not make the %d written", c.count, lost, want)
	}
}

// TestRingsLoseWhatIsCounted writes more than the rings hold.
func TestRingsLoseWhatIsCounted(t *testing.T) {
	p := newProgram(t, 4096)
	r := newRings(t, p, nil)
	onEachCPU(t, func() { p.run(t, 1000) })
	var c tally
	if err := r.Flush(c.visit); err != nil {
		t.Fatal(err)
	}
	losses := NewLosses(p.losses)
	perCPU := make(map[int]uint64)
	if err := losses.Report(func(cpu int, loss record.Loss, count uint64) { perCPU[cpu] += count }); err != nil {
		t.Fatal(err)
	}
	for cpu, last := range c.last {
		if last+perCPU[cpu] != 1000 {
			t.Errorf("CPU %d: %d records and %d losses of 1000", cpu, last, perCPU[cpu])
		}
	}
	if got := losses.Total(record.LossRecords); got != uint64(1000*len(c.last)-c.count) {
		t.Errorf("%d losses in all", got)
	}
	if err := losses.Report(func(cpu int, loss record.Loss, count uint64) {
		t.Errorf("%d losses on CPU %d reported again", count, cpu)
	}); err != nil {
		t.Fatal(err)
	}
}

// TestRingsLatency has a record come out within the time that a human notices.
// The quickest of several must: others may have had to wait for a busy CPU.
func TestRingsLatency(t *testing.T) {
	p := newProgram(t, 4096)
	r := newRings(t, p, nil)
	best := time.Hour
	for range 20 {
		time.Sleep(5 * time.Millisecond)
		p.run(t, 1)
		begin := time.Now()
		var c tally
		for c.count == 0 {
			if err := r.Wait(time.Second, 0); err != nil {
				t.Fatal(err)
			}
			if err := r.Read(c.visit); err != nil {
				t.Fatal(err)
			}
		}
		best = min(best, time.Since(begin))
	}
	if best > 50*time.Millisecond {
		t.Errorf("a record took %v", best)
	}
}

func TestRingsWake(t *testing.T) {
	r := newRings(t, newProgram(t, 4096), nil)
	r.Wake()
	begin := time.Now()
	if err := r.Wait(-1, 0); err != nil {
		t.Fatal(err)
	}
	go func() {
		time.Sleep(20 * time.Millisecond)
		r.Wake()
	}()
	if err := r.Wait(-1, 0); err != nil {
		t.Fatal(err)
	}
	if err := r.Wait(time.Millisecond, 0); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("waking took %v", took)
	}
}

// BenchmarkRings reads what was written before: the reader's own speed.
func BenchmarkRings(b *testing.B) {
	const n = 500_000
	p := newProgram(b, 32<<20)
	r := newRings(b, p, nil)
	var reading time.Duration
	count := 0
	for b.Loop() {
		onEachCPU(b, func() { p.run(b, n) })
		begin := time.Now()
		err := r.Flush(func(cpu int, data []byte) error {
			count++
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		reading += time.Since(begin)
	}
	b.ReportMetric(float64(count)/reading.Seconds(), "records/s")
}
