package kernel

import (
	"encoding/binary"
	"testing"
)

func TestFindRawEvent(t *testing.T) {
	var table []byte
	for _, row := range [][4]uint64{{0x100, 0x1000, 2, 0}, {0x200, 0x2000, 1<<32 | 5, 0}} {
		for _, word := range row {
			table = binary.NativeEndian.AppendUint64(table, word)
		}
	}
	if e, ok := findRawEvent(table, 0x200); !ok || e != (rawEvent{0x2000, 5}) {
		t.Errorf("got %#v, %t", e, ok)
	}
	for _, tracepoint := range []uint64{0x300, 0x1000} {
		if e, ok := findRawEvent(table, tracepoint); ok {
			t.Errorf("%#x: got %#v", tracepoint, e)
		}
	}
	if e, ok := findRawEvent(table[:40], 0x200); ok {
		t.Errorf("in a table that is cut off: got %#v", e)
	}
}
