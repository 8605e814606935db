package dformat

import (
	"math"
	"strconv"
)

// A Spec is how a value is laid out: flags, width and precision, with C's
// meanings.
type Spec struct {
	Left      bool // -
	Zero      bool // 0; void with -, and for integers with a precision
	Plus      bool // +
	Space     bool // space; void with +
	Alternate bool // #
	Group     bool // ': thousands separated by commas
	Width     int  // 0 if none; negative means Left and the width's absolute value
	Precision int  // -1 if none
}

// Resolved replaces width and precision by values that came as arguments: a
// negative width means left-aligned, a negative precision none.
func (s Spec) Resolved(width, precision int) Spec {
	if width < 0 {
		s.Left = true
		width = -width
	}
	if precision < 0 {
		precision = -1
	}
	s.Width = min(width, maxNumber)
	s.Precision = min(precision, maxNumber)
	return s
}

// AppendSigned renders v in decimal (%d, %i).
func (s Spec) AppendSigned(dst []byte, v int64) []byte {
	sign, magnitude := s.sign(v < 0), uint64(v)
	if v < 0 {
		magnitude = -magnitude
	}
	return s.appendInteger(dst, sign, magnitude, 10, false)
}

// AppendUnsigned renders v as letter says: u, o, x or X.
func (s Spec) AppendUnsigned(dst []byte, v uint64, letter byte) []byte {
	switch letter {
	case 'o':
		return s.appendInteger(dst, "", v, 8, false)
	case 'x':
		return s.appendInteger(dst, s.hexPrefix(v, "0x"), v, 16, false)
	case 'X':
		return s.appendInteger(dst, s.hexPrefix(v, "0X"), v, 16, true)
	}
	return s.appendInteger(dst, "", v, 10, false)
}

func (s Spec) hexPrefix(v uint64, prefix string) string {
	if s.Alternate && v != 0 {
		return prefix
	}
	return ""
}

// sign is what stands before a signed number.
func (s Spec) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case s.Plus:
		return "+"
	case s.Space:
		return " "
	}
	return ""
}

func (s Spec) appendInteger(dst []byte, prefix string, v uint64, base int, upper bool) []byte {
	if s.Width == 0 && s.Precision < 0 && base != 8 && !upper && !s.Group {
		return strconv.AppendUint(append(dst, prefix...), v, base)
	}
	var buf [96]byte
	digits := strconv.AppendUint(buf[:0], v, base)
	if upper {
		upperCase(digits)
	}
	if v == 0 && s.Precision == 0 {
		digits = digits[:0]
	}
	if s.Group && base == 10 {
		digits = group(digits)
	}
	zeros := max(s.Precision-len(digits), 0)
	if base == 8 && s.Alternate && zeros == 0 && (len(digits) == 0 || digits[0] != '0') {
		zeros = 1
	}
	pad := max(s.Width-len(prefix)-zeros-len(digits), 0)
	if s.Zero && !s.Left && s.Precision < 0 {
		zeros += pad
		pad = 0
	}
	if !s.Left {
		dst = appendRepeated(dst, ' ', pad)
	}
	dst = append(dst, prefix...)
	dst = appendRepeated(dst, '0', zeros)
	dst = append(dst, digits...)
	if s.Left {
		dst = appendRepeated(dst, ' ', pad)
	}
	return dst
}

// AppendText renders text (%s): cut to the precision, padded to the width.
func (s Spec) AppendText(dst []byte, text string) []byte {
	return appendPadded(s, dst, text)
}

// AppendBytes renders text (%s) that is not a string yet.
func (s Spec) AppendBytes(dst, text []byte) []byte {
	return appendPadded(s, dst, text)
}

func appendPadded[T string | []byte](s Spec, dst []byte, text T) []byte {
	if s.Precision >= 0 && len(text) > s.Precision {
		text = text[:s.Precision]
	}
	pad := max(s.Width-len(text), 0)
	if !s.Left {
		dst = appendRepeated(dst, ' ', pad)
	}
	dst = append(dst, text...)
	if s.Left {
		dst = appendRepeated(dst, ' ', pad)
	}
	return dst
}

// AppendChar renders one byte (%c).
func (s Spec) AppendChar(dst []byte, c byte) []byte {
	s.Precision = -1
	return appendPadded(s, dst, []byte{c})
}

// AppendFloat renders v as letter says: e, E, f, g or G.
func (s Spec) AppendFloat(dst []byte, v float64, letter byte) []byte {
	upper := letter == 'E' || letter == 'G'
	sign := s.sign(math.Signbit(v))
	v = math.Abs(v)
	var buf [400]byte
	digits := buf[:0]
	finite := !math.IsInf(v, 0) && !math.IsNaN(v)
	switch {
	case math.IsInf(v, 0):
		digits = append(digits, "inf"...)
	case math.IsNaN(v):
		digits = append(digits, "nan"...)
	default:
		digits = s.appendMagnitude(digits, v, letter|0x20)
	}
	if upper {
		upperCase(digits)
	}
	pad := max(s.Width-len(sign)-len(digits), 0)
	zeros := 0
	if s.Zero && !s.Left && finite {
		zeros, pad = pad, 0
	}
	if !s.Left {
		dst = appendRepeated(dst, ' ', pad)
	}
	dst = append(dst, sign...)
	dst = appendRepeated(dst, '0', zeros)
	dst = append(dst, digits...)
	if s.Left {
		dst = appendRepeated(dst, ' ', pad)
	}
	return dst
}

// appendMagnitude renders a finite v >= 0 as C does: %g takes %e or %f by the
// exponent and drops trailing zeros; # keeps them, and the decimal point.
func (s Spec) appendMagnitude(dst []byte, v float64, letter byte) []byte {
	precision := s.Precision
	if precision < 0 {
		precision = 6
	}
	verb, trim := letter, false
	if letter == 'g' {
		precision = max(precision, 1)
		exponent := decimalExponent(v, precision)
		trim = !s.Alternate
		if verb = 'e'; -4 <= exponent && exponent < precision {
			verb = 'f'
			precision -= exponent
		}
		precision--
	}
	dst = strconv.AppendFloat(dst, v, verb, precision, 64)
	mantissa, exponent := dst, ""
	for i, c := range dst {
		if c == 'e' {
			mantissa, exponent = dst[:i], string(dst[i:])
			break
		}
	}
	switch {
	case trim && precision > 0:
		n := len(mantissa)
		for mantissa[n-1] == '0' {
			n--
		}
		if mantissa[n-1] == '.' {
			n--
		}
		mantissa = mantissa[:n]
	case s.Alternate && precision == 0:
		mantissa = append(mantissa, '.')
	}
	if s.Group && verb == 'f' {
		mantissa = groupFraction(mantissa)
	}
	return append(mantissa, exponent...)
}

// decimalExponent is the exponent that %e with precision-1 digits would show.
func decimalExponent(v float64, precision int) int {
	var buf [128]byte
	text := strconv.AppendFloat(buf[:0], v, 'e', precision-1, 64)
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] == 'e' {
			n, _ := strconv.Atoi(string(text[i+1:]))
			return n
		}
	}
	return 0
}

// groupFraction groups the digits before the decimal point.
func groupFraction(text []byte) []byte {
	for i, c := range text {
		if c == '.' {
			fraction := string(text[i:])
			return append(group(text[:i]), fraction...)
		}
	}
	return group(text)
}

// group puts a comma between each three digits.
func group(digits []byte) []byte {
	commas := (len(digits) - 1) / 3
	if commas <= 0 {
		return digits
	}
	grouped := make([]byte, 0, len(digits)+commas)
	for i, c := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			grouped = append(grouped, ',')
		}
		grouped = append(grouped, c)
	}
	return grouped
}

func upperCase(text []byte) {
	for i, c := range text {
		if 'a' <= c && c <= 'z' {
			text[i] = c - 'a' + 'A'
		}
	}
}

func appendRepeated(dst []byte, c byte, n int) []byte {
	for ; n > 0; n-- {
		dst = append(dst, c)
	}
	return dst
}

// AppendEscaped renders text with everything that is not printable, quotes and
// backslashes as C escapes (%S, %C).
func AppendEscaped(dst, text []byte) []byte {
	for _, c := range text {
		switch c {
		case 0:
			dst = append(dst, '\\', '0')
		case '\a':
			dst = append(dst, '\\', 'a')
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\v':
			dst = append(dst, '\\', 'v')
		case '"', '\\':
			dst = append(dst, '\\', c)
		default:
			if ' ' <= c && c <= '~' {
				dst = append(dst, c)
			} else {
				dst = append(dst, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
			}
		}
	}
	return dst
}
