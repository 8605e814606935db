package buffer

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"kinst/internal/record"
)

func TestHistory(t *testing.T) {
	h := NewHistory(3*(lengthSize+record.HeaderSize+4) + 10)
	for i := range 100 {
		data := make([]byte, record.HeaderSize+i%5)
		binary.NativeEndian.PutUint64(data, uint64(i))
		if err := h.Add(i%2, data); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Add(0, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	if err := h.Add(2, []byte("short")); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	collect := func(cpu int, data []byte) error {
		if cpu == 2 {
			fmt.Fprintf(&got, "%s ", data)
			return nil
		}
		fmt.Fprintf(&got, "%d:%d+%d ", cpu, binary.NativeEndian.Uint64(data), len(data)-record.HeaderSize)
		return nil
	}
	if err := h.Flush(collect); err != nil {
		t.Fatal(err)
	}
	if want := "short 0:94+4 1:95+0 0:96+1 1:97+2 0:98+3 1:99+4 "; got.String() != want {
		t.Errorf("got %q, want %q", got.String(), want)
	}
	got.Reset()
	if err := h.Flush(collect); err != nil || got.Len() > 0 {
		t.Errorf("again: %q, %v", got.String(), err)
	}
}
