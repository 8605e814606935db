// Package elfnote reads ELF notes, which [debug/elf] leaves as bytes (elf(5),
// Notes).
package elfnote

import (
	"encoding/binary"
	"errors"
	"iter"
)

// A Note is one of a PT_NOTE segment or an SHT_NOTE section.
type Note struct {
	Name string // without the zero at its end
	Type uint32
	Desc []byte // a part of what was read
}

// ErrTruncated says that a note is longer than what holds it.
var ErrTruncated = errors.New("a note is longer than what holds it")

const header = 12 // bytes: sizes of name and description, type

// All goes through notes, each of which begins at a multiple of 4 bytes. An
// error, ErrTruncated, comes last and without a note.
func All(data []byte, order binary.ByteOrder) iter.Seq2[Note, error] {
	return func(yield func(Note, error) bool) {
		for len(data) >= header {
			nameSize := uint64(order.Uint32(data))
			descSize := uint64(order.Uint32(data[4:]))
			note := Note{Type: order.Uint32(data[8:])}
			data = data[header:]
			if aligned(nameSize)+descSize > uint64(len(data)) {
				yield(Note{}, ErrTruncated)
				return
			}
			name := data[:nameSize]
			if nameSize > 0 && name[nameSize-1] == 0 {
				name = name[:nameSize-1]
			}
			note.Name = string(name)
			data = data[aligned(nameSize):]
			note.Desc = data[:descSize]
			if !yield(note, nil) {
				return
			}
			data = data[min(aligned(descSize), uint64(len(data))):]
		}
	}
}

func aligned(n uint64) uint64 { return (n + 3) &^ 3 }
