package kernel

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCodePairs finds entries by either address, wherever they lead, as a search
// through all of them does.
func TestCodePairs(t *testing.T) {
	const entries, base = 500, 0xffffffff83000000
	r := rand.New(rand.NewPCG(3, 4))
	var table []byte
	for range entries {
		for range 2 {
			distance := int32(r.IntN(1 << 12))
			if r.IntN(20) == 0 {
				distance = int32(r.Uint32())
			}
			table = binary.NativeEndian.AppendUint32(table, uint32(distance))
		}
		table = append(table, 1, 2, 3, 4)
	}
	all := parsePairs(table, base, exceptionEntrySize)
	if len(all) != entries {
		t.Fatalf("%d entries", len(all))
	}
	pairs := newCodePairs(all)
	code := func(p codePair) uint64 { return p.code }
	target := func(p codePair) uint64 { return p.target }
	for range 1000 {
		begin := base + uint64(r.IntN(12*entries))
		end := begin + uint64(r.IntN(200))
		for name, found := range map[string]struct {
			got []codePair
			of  func(codePair) uint64
		}{"from": {pairs.from(begin, end), code}, "to": {pairs.to(begin, end), target}} {
			want := slices.DeleteFunc(slices.Clone(all), func(p codePair) bool { return found.of(p) < begin || found.of(p) >= end })
			slices.SortStableFunc(want, func(a, b codePair) int { return int(int64(found.of(a) - found.of(b))) })
			if !slices.Equal(found.got, want) {
				t.Fatalf("%s(%#x, %#x) = %x, want %x", name, begin, end, found.got, want)
			}
		}
	}
}
