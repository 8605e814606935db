package buffer

import (
	"os"
	"sync/atomic"
	"testing"
	"time"

	"kinst/internal/consume"
	"kinst/internal/record"
)

// BenchmarkStream writes records on all CPUs as fast as they can, while they are
// read, merged and printed to /dev/null. It reports how many came out a second,
// and how many did not.
func BenchmarkStream(b *testing.B) {
	p := newProgram(b, 4<<20)
	r := newRings(b, p, nil)
	layout := &record.Layout{Clauses: []*record.Clause{{
		Records: true, Size: programRecord,
		Actions: []*record.Action{{
			Kind: record.Printf, Format: "%#x", HasFormat: true,
			Fields: []record.Field{{Offset: record.HeaderSize, Type: &record.Type{Kind: record.Int, Size: 8}}},
		}},
	}}}
	out, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer out.Close()
	c, err := consume.New(out, layout, []record.Probe{{ID: 81500, Provider: "kinst", Function: "vfs_read", Name: "9"}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	losses := NewLosses(p.losses)
	count := 0
	var stopped atomic.Bool
	written := make(chan struct{})
	go func() {
		onEachCPU(b, func() {
			for !stopped.Load() {
				p.run(b, 1000)
			}
		})
		close(written)
	}()
	visit := func(cpu int, data []byte) error {
		count++
		return c.Record(cpu, data)
	}
	begin := time.Now()
	for b.Loop() {
		if err := r.Wait(time.Second, 0); err != nil {
			b.Fatal(err)
		}
		if err := r.Read(visit); err != nil {
			b.Fatal(err)
		}
	}
	took := time.Since(begin)
	stopped.Store(true)
	<-written
	if err := losses.Report(func(int, record.Loss, uint64) {}); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(count)/took.Seconds(), "records/s")
	b.ReportMetric(float64(losses.Total(record.LossRecords))/took.Seconds(), "lost/s")
}
