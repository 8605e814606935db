package consume

import (
	"bytes"
	"encoding/binary"
	"math"

	"kinst/internal/record"
)

// integer reads an integer of 1, 2, 4 or 8 bytes, extended by its sign.
func integer(t *record.Type, b []byte) uint64 {
	switch t.Size {
	case 1:
		if t.Signed {
			return uint64(int8(b[0]))
		}
		return uint64(b[0])
	case 2:
		v := binary.NativeEndian.Uint16(b)
		if t.Signed {
			return uint64(int16(v))
		}
		return uint64(v)
	case 4:
		v := binary.NativeEndian.Uint32(b)
		if t.Signed {
			return uint64(int32(v))
		}
		return uint64(v)
	}
	return binary.NativeEndian.Uint64(b)
}

func float(t *record.Type, b []byte) float64 {
	if t.Size == 4 {
		return float64(math.Float32frombits(binary.NativeEndian.Uint32(b)))
	}
	return math.Float64frombits(binary.NativeEndian.Uint64(b))
}

// field is the bytes of a field.
func field(f record.Field, data []byte) []byte {
	return data[f.Offset : f.Offset+width(f.Type)]
}

func cstring(b []byte) []byte {
	if end := bytes.IndexByte(b, 0); end >= 0 {
		return b[:end]
	}
	return b
}

// text is the string that a value of kind String, or a field of the probe's
// description, stands for; ok is false for other kinds.
func (c *Consumer) text(t *record.Type, b []byte) (text []byte, ok bool) {
	switch t.Kind {
	case record.String:
		return cstring(b), true
	case record.ProbeProvider, record.ProbeModule, record.ProbeFunction, record.ProbeName:
		return []byte(c.probeField(t.Kind, binary.NativeEndian.Uint32(b))), true
	}
	return nil, false
}

func (c *Consumer) probeField(kind record.Kind, index uint32) string {
	p, err := c.probe(index)
	if err != nil {
		return "?"
	}
	switch kind {
	case record.ProbeProvider:
		return p.Provider
	case record.ProbeModule:
		return p.Module
	case record.ProbeFunction:
		return p.Function
	}
	return p.Name
}

// columns is how wide values are shown: by their size for numbers, bytes for
// everything else.
type columns struct {
	numbers [9]int // by size
	bytes   int    // below zero: at the right
	quiet   bool   // numbers and strings bare, with neither blanks nor width
}

var (
	traceColumns = columns{numbers: [9]int{1: 3, 2: 5, 4: 8, 8: 16}, bytes: 33}
	quietColumns = columns{bytes: 33, quiet: true}
	keyColumns   = columns{numbers: [9]int{1: 3, 2: 5, 4: 8, 8: 16}, bytes: 50}
)

// appendValue renders a value in its type's default format: what trace() shows
// and what stands in the columns of an aggregation's keys.
func (c *Consumer) appendValue(b []byte, t *record.Type, data []byte, cols columns) []byte {
	switch t.Kind {
	case record.Int, record.Enum, record.Pointer:
		if !cols.quiet {
			b = append(b, ' ')
		}
		return appendNumber(b, integer(t, data), t.Signed, cols.numbers[t.Size])
	case record.Float:
		return c.appendFloat(b, t, data, cols)
	case record.KernelStack:
		return c.appendKernelStack(b, data, c.stackIndent(), nil)
	case record.UserStack:
		return c.appendUserStack(b, data, c.stackIndent(), nil)
	case record.KernelSymbol, record.KernelFunc, record.KernelModule,
		record.UserSymbol, record.UserFunc, record.UserModule, record.UserAddress:
		b = append(b, "  "...)
		return appendLeft(b, c.symbolText(t.Kind, data), 50)
	}
	if text, ok := c.text(t, data); ok {
		if c.opts.RawBytes {
			return appendDump(b, data)
		}
		return appendString(b, text, cols)
	}
	if text, ok := printable(data); ok && !c.opts.RawBytes {
		return appendString(b, text, cols)
	}
	return appendDump(b, data)
}

func (c *Consumer) appendFloat(b []byte, t *record.Type, data []byte, cols columns) []byte {
	spec := plain
	if !cols.quiet {
		b = append(b, ' ')
		spec.Width = cols.numbers[8]
	}
	return spec.AppendFloat(b, float(t, data), 'g')
}

func appendString(b, text []byte, cols columns) []byte {
	if cols.quiet {
		return append(b, text...)
	}
	if cols.bytes < 0 {
		b = appendBlanks(b, 1-cols.bytes-len(text))
		return append(b, text...)
	}
	b = append(b, "  "...)
	return appendLeft(b, text, cols.bytes)
}

// printable returns the string that bytes of no known kind are taken to be: at
// least one printable character or blank, then NULs to the end.
func printable(b []byte) (text []byte, ok bool) {
	for i, ch := range b {
		switch {
		case ' ' <= ch && ch <= '~', '\a' <= ch && ch <= '\r':
			continue
		case ch == 0 && i > 0 && len(bytes.Trim(b[i:], "\x00")) == 0:
			return b[:i], true
		}
		return nil, false
	}
	return b, len(b) > 0
}

// appendDump renders bytes in hexadecimal and as characters, sixteen a line.
func appendDump(b, data []byte) []byte {
	if len(data) == 0 {
		return b
	}
	const digits = "0123456789abcdef"
	b = append(b, "\n           "...)
	for i := range digits {
		b = append(b, ' ', ' ', digits[i])
	}
	b = append(b, "  0123456789abcdef\n"...)
	for at := 0; at < len(data); at += 16 {
		line := data[at:min(at+16, len(data))]
		b = append(b, "     "...)
		b = hexOffset.AppendUnsigned(b, uint64(at), 'x')
		b = append(b, ':')
		for _, ch := range line {
			b = append(b, ' ', digits[ch>>4], digits[ch&15])
		}
		b = appendBlanks(b, 3*(16-len(line))+2)
		for _, ch := range line {
			if ch < ' ' || ch > '~' {
				ch = '.'
			}
			b = append(b, ch)
		}
		b = append(b, '\n')
	}
	return b
}

func word(b []byte) uint64 { return binary.NativeEndian.Uint64(b) }
