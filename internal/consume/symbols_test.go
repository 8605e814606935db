package consume

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A call that does not return may be the last of its function: where it would
// return to is another one's beginning. Where the innermost frame stands is no
// such place.
func TestStackTexts(t *testing.T) {
	c := &Consumer{opts: Options{Kernel: fakeSymbols{}}}
	for _, test := range []struct {
		frames []uint64
		want   []string
	}{
		{nil, nil},
		{[]uint64{0x1000, 0x1205, 0, 0x1300}, []string{"vmlinux`fn_10", "vmlinux`fn_12+0x5"}},
		{[]uint64{0x1000, 0x1200, 0x1105}, []string{"vmlinux`fn_10", "vmlinux`fn_11+0x100", "vmlinux`fn_11+0x5"}},
		{[]uint64{0x1000, 0x8000}, []string{"vmlinux`fn_10", "ext4`fn_80"}},
		{[]uint64{0x1000, 0xf000, 0x10000}, []string{"vmlinux`fn_10", "ext4`0xf000", "0x10000"}},
	} {
		var data []byte
		for _, addr := range test.frames {
			data = binary.NativeEndian.AppendUint64(data, addr)
		}
		if diff := cmp.Diff(test.want, slices.Collect(stackTexts(data, c.kernelSymbol))); diff != "" {
			t.Errorf("%#x: %s", test.frames, diff)
		}
	}
}
