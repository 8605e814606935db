package consume

import (
	"encoding/binary"
	"unicode/utf8"

	"kinst/internal/dformat"
	"kinst/internal/record"
)

var (
	plain     = dformat.Spec{Precision: -1}
	hexOffset = dformat.Spec{Width: 5, Precision: -1}
)

// appendFormat renders a format. The arguments are fields of data; values are
// those of the aggregations, for %@.
func (c *Consumer) appendFormat(b []byte, f *format, args []record.Field, data []byte, values []aggValue) []byte {
	for i := range f.steps {
		s := &f.steps[i]
		b = append(b, s.Prefix...)
		if s.Literal() {
			b = append(b, '%')
			continue
		}
		spec := s.Spec
		if s.width >= 0 || s.precision >= 0 {
			spec = resolve(s, args, data)
		}
		if s.Aggregation {
			b = c.appendAggValue(b, s.Verb, spec, values[s.value])
			continue
		}
		arg := args[s.value]
		b = c.appendArgument(b, s.Verb, spec, arg.Type, field(arg, data))
	}
	return append(b, f.Tail...)
}

// resolve puts the widths and precisions that came as arguments in their place.
func resolve(s *step, args []record.Field, data []byte) dformat.Spec {
	number := func(index, otherwise int) int {
		if index < 0 {
			return otherwise
		}
		return int(int32(integer(args[index].Type, field(args[index], data))))
	}
	return s.Spec.Resolved(number(s.width, s.Spec.Width), number(s.precision, s.Spec.Precision))
}

// appendArgument renders one argument as its conversion asks.
func (c *Consumer) appendArgument(b []byte, v *dformat.Verb, spec dformat.Spec, t *record.Type, data []byte) []byte {
	switch v.Takes {
	case dformat.Integer, dformat.SizedInteger, dformat.SmallInteger, dformat.Address:
		return appendInteger(b, v, spec, t, data)
	case dformat.Float, dformat.LongDouble:
		return spec.AppendFloat(b, float(t, data), v.Letter)
	case dformat.KernelAddress, dformat.UserAddress:
		return spec.AppendText(b, c.addressText(v, t, data))
	case dformat.Stack:
		return c.appendStackArgument(b, spec, t, data)
	case dformat.Time:
		return spec.AppendText(b, timeText(v.Name[0], integer(t, data)))
	case dformat.Port:
		return spec.AppendText(b, portText(uint16(integer(t, data))))
	case dformat.WideString:
		return spec.AppendText(b, wideText(data))
	}
	text, ok := c.text(t, data)
	if !ok {
		text = cstring(data)
	}
	switch v.Name {
	case "S":
		c.scratch = dformat.AppendEscaped(c.scratch[:0], text)
		text = c.scratch
	case "I":
		return spec.AppendText(b, hostText(string(text)))
	}
	return spec.AppendBytes(b, text)
}

func appendInteger(b []byte, v *dformat.Verb, spec dformat.Spec, t *record.Type, data []byte) []byte {
	n := integer(t, data)
	switch v.Letter {
	case 'd':
		if t.Signed || t.Kind == record.Enum {
			return spec.AppendSigned(b, int64(n))
		}
		return spec.AppendUnsigned(b, n, 'u')
	case 'i':
		return spec.AppendSigned(b, signExtended(n, t.Size))
	case 'c':
		if v.Takes == dformat.SizedInteger {
			return spec.AppendText(b, string(rune(int32(n))))
		}
		return spec.AppendChar(b, byte(n))
	case 's': // %C
		return spec.AppendBytes(b, dformat.AppendEscaped(nil, []byte{byte(n)}))
	}
	return spec.AppendUnsigned(b, zeroExtended(n, t.Size), v.Letter)
}

// signExtended reads the low size bytes of n as a signed number.
func signExtended(n uint64, size int) int64 {
	shift := 64 - 8*size
	return int64(n<<shift) >> shift
}

// zeroExtended reads the low size bytes of n as an unsigned number.
func zeroExtended(n uint64, size int) uint64 {
	shift := 64 - 8*size
	return n << shift >> shift
}

// addressText is what %a and %A make of an address, or of a value that is to be
// shown as a symbol anyway.
func (c *Consumer) addressText(v *dformat.Verb, t *record.Type, data []byte) string {
	switch t.Kind {
	case record.Int, record.Enum, record.Pointer:
	default:
		return c.symbolText(t.Kind, data)
	}
	addr := zeroExtended(integer(t, data), t.Size)
	if v.Takes == dformat.UserAddress {
		return c.userSymbol(c.opts.Target, addr).text(addr, true)
	}
	return c.kernelSymbol(addr).text(addr, true)
}

// appendStackArgument renders a stack under %k. The width of %-N is how far the
// frames are indented, any other is the width of each frame.
func (c *Consumer) appendStackArgument(b []byte, spec dformat.Spec, t *record.Type, data []byte) []byte {
	indent := 0
	if spec.Left {
		indent, spec.Width, spec.Left = spec.Width, 0, false
	}
	if t.Kind == record.UserStack {
		return c.appendUserStack(b, data, indent, &spec)
	}
	return c.appendKernelStack(b, data, indent, &spec)
}

// wideText is the text of an array of 32-bit characters, up to a zero.
func wideText(data []byte) string {
	var text []byte
	for ; len(data) >= 4; data = data[4:] {
		r := binary.NativeEndian.Uint32(data)
		if r == 0 {
			break
		}
		text = utf8.AppendRune(text, rune(int32(r)))
	}
	return string(text)
}
