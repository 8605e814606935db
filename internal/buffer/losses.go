package buffer

import (
	"encoding/binary"
	"fmt"

	"github.com/cilium/ebpf"

	"kinst/internal/record"
)

// Losses reads the counters of what the programs could not record: a per-CPU
// array of uint64, indexed by record.Loss.
type Losses struct {
	counters *ebpf.Map
	reported map[lossKey]uint64
}

type lossKey struct {
	loss record.Loss
	cpu  int
}

// NewLosses does not take ownership of the map. It may be nil, of programs that
// cannot lose anything.
func NewLosses(counters *ebpf.Map) *Losses {
	return &Losses{counters: counters, reported: make(map[lossKey]uint64)}
}

// Report calls report for each kind and CPU of which there are more losses than
// at the last call.
func (l *Losses) Report(report func(cpu int, loss record.Loss, count uint64)) error {
	if l.counters == nil {
		return nil
	}
	for loss := range record.Losses {
		values, err := l.counters.LookupBytes(uint32(loss))
		if err != nil {
			return fmt.Errorf("reading the counters of losses: %w", err)
		}
		for cpu := 0; len(values) >= 8; cpu++ {
			count := binary.NativeEndian.Uint64(values)
			values = values[8:]
			key := lossKey{loss, cpu}
			if more := count - l.reported[key]; more != 0 {
				l.reported[key] = count
				report(cpu, loss, more)
			}
		}
	}
	return nil
}

// Total is how many losses of a kind were reported so far, over all CPUs.
func (l *Losses) Total(loss record.Loss) uint64 {
	total := uint64(0)
	for key, count := range l.reported {
		if key.loss == loss {
			total += count
		}
	}
	return total
}
