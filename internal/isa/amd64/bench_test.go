package amd64

import "testing"

// listing is a piece of the kernel's vfs_read and then some, so that the mix
// of instructions is a usual one.
var listing = []byte("\xf3\x0f\x1e\xfa\x0f\x1f\x44\x00\x00\x41\x57\x41\x56\x41\x55\x41\x54\x55\x53\x48\x83\xec\x08" +
	"\x8b\x47\x44\xa8\x01\x0f\x84\x40\x01\x00\x00\x48\x89\xfb\x49\x89\xf4\x48\x85\xd2\x78\x21" +
	"\x65\x48\x8b\x04\x25\x00\xfc\x01\x00\x48\x8b\x80\x60\x09\x00\x00\xe8\x00\x00\x00\x00" +
	"\x66\x41\x83\x7c\x24\x08\x00\x0f\xb6\x4c\x24\x12\xc7\x45\xfc\xff\xff\xff\xff\x4c\x8d\x2c\xc5\x00\x00\x00\x00" +
	"\x48\x8b\x05\x12\x34\x56\x78\xf0\x48\x0f\xb1\x17\x0f\x95\xc0\x5b\x5d\x41\x5c\xc3")

func BenchmarkDecode(b *testing.B) {
	n := 0
	for b.Loop() {
		for at := 0; at < len(listing); {
			in, err := Decode(listing[at:], uint64(at))
			if err != nil {
				b.Fatal(err)
			}
			at += in.Len
			n++
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "insts/s")
}

func BenchmarkFormat(b *testing.B) {
	n := 0
	for b.Loop() {
		for at := 0; at < len(listing); {
			in, _ := Decode(listing[at:], uint64(at))
			Format(listing[at:], uint64(at), ATT, nil)
			at += in.Len
			n++
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "insts/s")
}
