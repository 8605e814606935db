package consume

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"kinst/internal/dformat"
	"kinst/internal/record"
)

// printIndent is how far print() indents the members of a structure.
const printIndent = 4

// appendPrint renders a value as print() does: its type, and the members with
// their types and names, integers in hexadecimal.
func (c *Consumer) appendPrint(b []byte, t *record.Type, data []byte) []byte {
	b = append(b, typeName(t)...)
	b = append(b, ' ')
	b = c.appendPrinted(b, t, data, 0)
	if t.Kind != record.Struct {
		b = append(b, '\n')
	}
	return b
}

// typeName is a type's name; of an anonymous one the keyword, with the blank that
// a name would follow.
func typeName(t *record.Type) string {
	name, _, _ := strings.Cut(t.Name, "{")
	return name
}

// appendPrinted renders a value whose type and name have been rendered, which
// were indented by depth.
func (c *Consumer) appendPrinted(b []byte, t *record.Type, data []byte, depth int) []byte {
	if checkType(t) != nil { // an __int128, say
		return appendLongHex(b, data)
	}
	switch t.Kind {
	case record.Int:
		if isChar(t) {
			return appendChar(b, data[0])
		}
		return appendHexValue(b, zeroExtended(integer(t, data), t.Size))
	case record.Pointer:
		return appendHexValue(b, integer(t, data))
	case record.Enum:
		return appendEnumerator(b, t, data)
	case record.Float:
		return dformat.Spec{Plus: true, Precision: 7}.AppendFloat(b, float(t, data), 'e')
	case record.Struct:
		b = append(b, "{\n"...)
		for _, m := range t.Members {
			b = c.appendMember(b, m, data, depth+1)
		}
		return append(appendBlanks(b, printIndent*depth), '}')
	case record.Array:
		return c.appendArray(b, t, data, depth)
	}
	if text, ok := c.text(t, data); ok {
		return appendQuoted(b, text, depth)
	}
	return c.appendValue(b, t, data, quietColumns)
}

func (c *Consumer) appendMember(b []byte, m record.Member, data []byte, depth int) []byte {
	at := m.BitOffset / 8
	if m.Type == nil || at < 0 || m.Bits == 0 && at+width(m.Type) > len(data) {
		return b
	}
	b = appendBlanks(b, printIndent*depth)
	name := typeName(m.Type)
	b = append(b, name...)
	if m.Name != "" {
		if !strings.HasSuffix(name, "*") && !strings.HasSuffix(name, " ") {
			b = append(b, ' ')
		}
		b = append(b, m.Name...)
		if m.Bits != 0 {
			b = append(b, " :"...)
			b = strconv.AppendInt(b, int64(m.Bits), 10)
		}
		b = append(b, " ="...)
	}
	b = append(b, ' ')
	if m.Bits != 0 {
		b = appendHexValue(b, bitField(data, m.BitOffset, m.Bits))
	} else {
		b = c.appendPrinted(b, m.Type, data[at:at+width(m.Type)], depth)
	}
	return append(b, '\n')
}

func (c *Consumer) appendArray(b []byte, t *record.Type, data []byte, depth int) []byte {
	elem := t.Elem
	if elem == nil || elem.Size <= 0 {
		return c.appendValue(b, t, data, quietColumns)
	}
	if text, ok := charArray(elem, data); ok {
		return appendQuoted(b, text, depth)
	}
	n := min(t.Len, len(data)/elem.Size)
	b = append(b, "[ "...)
	for i := range n {
		value := data[i*elem.Size : (i+1)*elem.Size]
		if elem.Kind == record.Struct {
			b = append(b, '\n')
			b = appendBlanks(b, printIndent*(depth+1))
			b = append(b, typeName(elem)...)
			b = append(b, ' ')
		}
		b = c.appendPrinted(b, elem, value, depth+1)
		if i < n-1 {
			b = append(b, ", "...)
		}
	}
	if elem.Kind == record.Struct {
		b = append(b, '\n')
		return append(appendBlanks(b, printIndent*depth), ']')
	}
	return append(b, " ]"...)
}

// charArray is the string in an array of char: printable characters up to a NUL.
func charArray(elem *record.Type, data []byte) (text []byte, ok bool) {
	if !isChar(elem) {
		return nil, false
	}
	end := bytes.IndexByte(data, 0)
	if end < 0 {
		return nil, false
	}
	for _, ch := range data[:end] {
		if ch < ' ' || ch > '~' {
			return nil, false
		}
	}
	return data[:end], true
}

func isChar(t *record.Type) bool { return t.Kind == record.Int && t.Size == 1 && t.Signed }

// appendQuoted renders a string: with brackets, as the array that it is, unless
// it is all there is to print.
func appendQuoted(b, text []byte, depth int) []byte {
	if depth == 0 {
		b = append(b, '"')
		b = append(b, text...)
		return append(b, '"')
	}
	b = append(b, `[ "`...)
	b = append(b, text...)
	return append(b, `" ]`...)
}

func appendChar(b []byte, ch byte) []byte {
	b = append(b, '\'')
	switch {
	case ' ' <= ch && ch <= '~':
		b = append(b, ch)
	case ch == 0:
		b = append(b, '\\', '0')
	default:
		b = append(b, '\\', '0'+ch>>6, '0'+ch>>3&7, '0'+ch&7)
	}
	return append(b, '\'')
}

func appendHexValue(b []byte, v uint64) []byte {
	return dformat.Spec{Alternate: true, Precision: -1}.AppendUnsigned(b, v, 'x')
}

// appendLongHex renders an integer of any size.
func appendLongHex(b, data []byte) []byte {
	if !bigEndian {
		data = bytes.Clone(data)
		slices.Reverse(data)
	}
	return append(append(b, "0x"...), hex.EncodeToString(data)...)
}

func appendEnumerator(b []byte, t *record.Type, data []byte) []byte {
	v := int64(integer(t, data))
	if name, ok := enumerator(t, v); ok {
		return append(b, name...)
	}
	return strconv.AppendInt(b, v, 10)
}

func enumerator(t *record.Type, v int64) (name string, ok bool) {
	for _, e := range t.Enumerators {
		if e.Value == v {
			return e.Name, true
		}
	}
	return "", false
}

// bitField reads a member of so many bits, which may lie across 9 bytes.
func bitField(data []byte, offset, bits int) uint64 {
	var v uint64
	for i := range min(bits, 64) {
		at := offset + i
		if at/8 >= len(data) {
			break
		}
		bit := at % 8
		if bigEndian {
			bit = 7 - bit
			v = v<<1 | uint64(data[at/8]>>bit&1)
			continue
		}
		v |= uint64(data[at/8]>>bit&1) << i
	}
	return v
}

// bigEndian tells that the machine counts bits from the most significant one.
var bigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1
