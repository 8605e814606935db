package userland

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
)

// A span is a stretch of text that a file has unwinding information for: a
// function or a part of one.
type span struct{ start, end uint64 }

// readSpans reads .eh_frame, which stripped files have too. Where it cannot be
// read, the functions before that are known.
func (f *File) readSpans() []span {
	section := f.elf.Section(".eh_frame")
	if section == nil || f.elf.Class != elfClass {
		return nil
	}
	data, err := section.Data()
	if err != nil {
		return nil
	}
	r := frameReader{data: data, addr: section.Addr, order: f.elf.ByteOrder, encodings: make(map[int]byte)}
	for r.next() == nil {
		continue
	}
	slices.SortFunc(r.spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	return r.spans
}

// spanAt returns the stretch of text that an address is in.
func (f *File) spanAt(addr uint64) (span, bool) {
	spans := f.spans()
	i, _ := slices.BinarySearchFunc(spans, addr, func(s span, addr uint64) int {
		if s.start <= addr {
			return -1
		}
		return 1
	})
	if i == 0 || addr >= spans[i-1].end {
		return span{}, false
	}
	return spans[i-1], true
}

// frameReader reads the entries of .eh_frame (Linux Standard Base, Core,
// "Exception Frames"; DWARF 5, section 6.4).
type frameReader struct {
	data      []byte
	addr      uint64 // of data
	order     binary.ByteOrder
	at        int
	encodings map[int]byte // of addresses, by where the common entry (CIE) is
	spans     []span
}

var errFrames = errors.New("no entry of .eh_frame")

func (r *frameReader) next() error {
	const long = 0xffffffff
	if r.at+8 > len(r.data) {
		return errFrames
	}
	size := uint64(r.order.Uint32(r.data[r.at:]))
	if size == 0 || size == long || size < 4 || size > uint64(len(r.data)-r.at-4) {
		return errFrames
	}
	id := r.at + 4
	end := id + int(size)
	defer func() { r.at = end }()
	body := r.data[id+4 : end]
	back := int(r.order.Uint32(r.data[id:]))
	if back == 0 {
		r.encodings[r.at] = commonEncoding(body)
		return nil
	}
	r.function(body, r.addr+uint64(id)+4, r.encodings[id-back])
	return nil
}

// function reads an entry of a function, which stands at addr: the function's
// address and its size. What is encoded in ways that no compiler uses is left
// out.
func (r *frameReader) function(body []byte, addr uint64, encoding byte) {
	const (
		format = 0x0f
		pcrel  = 0x10
	)
	width, signed := encodingWidth(encoding & format)
	if width == 0 || len(body) < 2*width || encoding&^(format|pcrel) != 0 {
		return
	}
	start := r.number(body, width, signed)
	if encoding&pcrel != 0 {
		start += addr
	}
	size := r.number(body[width:], width, false)
	if size > 0 {
		r.spans = append(r.spans, span{start, start + size})
	}
}

// number reads a number of so many bytes.
func (r *frameReader) number(b []byte, width int, signed bool) uint64 {
	switch {
	case width == 8:
		return r.order.Uint64(b)
	case width == 4 && signed:
		return uint64(int64(int32(r.order.Uint32(b))))
	case width == 4:
		return uint64(r.order.Uint32(b))
	case signed:
		return uint64(int64(int16(r.order.Uint16(b))))
	}
	return uint64(r.order.Uint16(b))
}

// encodingWidth is the size of numbers of a DW_EH_PE format; 0 for those of
// variable size.
func encodingWidth(format byte) (width int, signed bool) {
	switch format {
	case 0x0, 0x4:
		return 8, false
	case 0x2:
		return 2, false
	case 0x3:
		return 4, false
	case 0xa:
		return 2, true
	case 0xb:
		return 4, true
	case 0xc:
		return 8, true
	}
	return 0, false
}

// omitted is DW_EH_PE_omit: there is no telling.
const omitted = 0xff

// commonEncoding reads how the functions' entries that belong to a common
// entry write addresses.
func commonEncoding(b []byte) byte {
	if len(b) == 0 {
		return omitted
	}
	version := b[0]
	augmentation, rest, ok := bytes.Cut(b[1:], []byte{0})
	if !ok {
		return omitted
	}
	switch {
	case len(augmentation) == 0:
		return 0
	case augmentation[0] != 'z':
		return omitted
	}
	numbers := 4 // alignments of code and data, return register, augmentation's size
	if version == 1 {
		numbers-- // the register is a byte
	}
	for i := range numbers {
		if version == 1 && i == 2 {
			rest = rest[min(1, len(rest)):]
		}
		n := slices.IndexFunc(rest, func(c byte) bool { return c < 0x80 })
		if n < 0 {
			return omitted
		}
		rest = rest[n+1:]
	}
	return augmented(augmentation, rest)
}

// augmented finds the encoding in what the letters of an augmentation stand
// for.
func augmented(letters, data []byte) byte {
	for _, c := range letters {
		switch c {
		case 'z', 'S', 'B':
			continue
		}
		if len(data) == 0 {
			return omitted
		}
		encoding := data[0]
		data = data[1:]
		switch c {
		case 'R':
			return encoding
		case 'P':
			width, _ := encodingWidth(encoding & 0x0f)
			if width == 0 || width > len(data) {
				return omitted
			}
			data = data[width:]
		case 'L':
		default:
			return omitted
		}
	}
	return 0
}
