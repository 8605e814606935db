package dformat

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// testCase is a conversion with its value.
type testCase struct {
	format           string // as D has it
	width, precision int    // of the asterisks
	kind             byte   // of C's argument: i int, l long, q long long, d double, s string
	bits             uint64
	text             string
}

func (c testCase) line() string {
	has := func(s string) int {
		if strings.Contains(c.format, s) {
			return 1
		}
		return 0
	}
	value := fmt.Sprintf("%x", c.bits)
	if c.kind == 's' {
		value = "x" + hex.EncodeToString([]byte(c.text))
	}
	dynamicWidth := 0
	if i := strings.IndexByte(c.format, '*'); i >= 0 && !strings.HasPrefix(c.format[max(i-1, 0):], ".*") {
		dynamicWidth = 1
	}
	return fmt.Sprintf("%c\t%s\t%d %d %d %d\t%s\n", c.kind, c.format, dynamicWidth, c.width, has(".*"), c.precision, value)
}

// render is what this package makes of the case.
func (c testCase) render(t *testing.T) string {
	f, err := Parse(c.format)
	if err != nil {
		t.Fatal(err)
	}
	conv := f.Conversions[0]
	spec, width, precision := conv.Spec, conv.Spec.Width, conv.Spec.Precision
	if conv.DynamicWidth {
		width = c.width
	}
	if conv.DynamicPrecision {
		precision = c.precision
	}
	if conv.DynamicWidth || conv.DynamicPrecision {
		spec = spec.Resolved(width, precision)
	}
	size := 4
	if c.kind == 'l' || c.kind == 'q' {
		size = 8
	}
	if strings.HasPrefix(conv.Verb.Name, "h") {
		size = 2
	}
	shift := 64 - 8*size
	signed, unsigned := int64(c.bits<<shift)>>shift, c.bits<<shift>>shift
	switch letter := conv.Verb.Letter; letter {
	case 'd', 'i':
		return string(spec.AppendSigned(nil, signed))
	case 'u', 'o', 'x', 'X':
		return string(spec.AppendUnsigned(nil, unsigned, letter))
	case 'c':
		return string(spec.AppendChar(nil, byte(c.bits)))
	case 's':
		return string(spec.AppendText(nil, c.text))
	default:
		return string(spec.AppendFloat(nil, math.Float64frombits(c.bits), letter))
	}
}

// randomCase combines flags, width and precision with a conversion that C has
// too, as far as C defines what that means.
func randomCase(r *rand.Rand) testCase {
	pick := func(words string) string {
		all := strings.Fields(words)
		return all[r.IntN(len(all))]
	}
	c := testCase{format: "%", bits: randomBits(r), width: r.IntN(61) - 20, precision: r.IntN(25) - 4}
	var verb, flags string
	switch r.IntN(10) {
	case 0, 1, 2:
		verb, flags = pick("d i hd hi ld li lld lli"), "-+ 0"
	case 3, 4:
		verb, flags = pick("u hu lu llu"), "-0"
	case 5, 6:
		verb, flags = pick("o x X ho hx hX lo lx lX llo llx llX"), "-#0"
	case 7, 8:
		verb, flags = pick("e E f g G"), "-+ #0"
		c.kind = 'd'
		c.bits = math.Float64bits(randomFloat(r))
	default:
		verb, flags = pick("s s c"), "-"
	}
	switch {
	case c.kind != 0:
	case verb == "s":
		c.kind = 's'
		for range r.IntN(30) {
			c.text += string(rune(1 + r.IntN(126)))
		}
		c.text = strings.ReplaceAll(c.text, "\n", "")
	case strings.HasPrefix(verb, "ll"):
		c.kind = 'q'
	case strings.HasPrefix(verb, "l"):
		c.kind = 'l'
	default:
		c.kind = 'i'
	}
	for range r.IntN(4) {
		c.format += string(flags[r.IntN(len(flags))])
	}
	switch r.IntN(3) {
	case 0:
		c.format += fmt.Sprint(1 + r.IntN(40))
	case 1:
		c.format += "*"
	}
	if verb != "c" {
		switch r.IntN(4) {
		case 0:
			c.format += fmt.Sprintf(".%d", r.IntN(25))
		case 1:
			c.format += ".*"
		case 2:
			c.format += strings.Repeat(".", r.IntN(2))
		}
	}
	c.format += verb
	return c
}

func randomBits(r *rand.Rand) uint64 {
	switch r.IntN(4) {
	case 0:
		return uint64(r.IntN(3)) - 1
	case 1:
		return uint64(r.IntN(2000)) - 1000
	case 2:
		return 1<<r.IntN(64) - uint64(r.IntN(2))
	}
	return r.Uint64()
}

func randomFloat(r *rand.Rand) float64 {
	switch r.IntN(6) {
	case 0:
		return float64(r.IntN(2001)-1000) / 8
	case 1:
		return []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 0.5, 1, 9.5, 99.99995, 999999.5}[r.IntN(10)]
	case 2:
		return math.Pow(10, float64(r.IntN(50)-25))
	case 3:
		return math.Float64frombits(r.Uint64()&^(0x7ff<<52) | uint64(r.IntN(0x7ff))<<52)
	}
	return r.NormFloat64() * 1e6
}

// TestAgreesWithC has C's printf print 10,000 random conversions.
func TestAgreesWithC(t *testing.T) {
	program := filepath.Join(t.TempDir(), "printf")
	if out, err := exec.Command("gcc", "-O1", "-o", program, "testdata/printf.c").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var input strings.Builder
	cases := make([]testCase, 10_000)
	for i := range cases {
		cases[i] = randomCase(r)
		input.WriteString(cases[i].line())
	}
	cmd := exec.Command(program)
	cmd.Stdin = strings.NewReader(input.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	// A NUL ends each; the conversions of zero to a character contain one.
	rest := out
	for _, c := range cases {
		got := c.render(t)
		want, after, found := bytes.Cut(rest, []byte{0})
		if n := strings.Count(got, "\x00"); n > 0 && len(rest) > len(got) {
			want, after = rest[:len(got)], rest[len(got)+1:]
		}
		if !found {
			t.Fatal("the output of C's printf ends early")
		}
		rest = after
		if c.glibcErrs(t) {
			continue
		}
		if got != string(want) {
			t.Errorf("%q width %d precision %d of %#x %g %q: %q, C has %q", c.format, c.width, c.precision,
				c.bits, math.Float64frombits(c.bits), c.text, got, want)
		}
	}
}

// glibcErrs reports the one case in which glibc (2.36) leaves the C standard:
// under %#g, when rounding carries into another power of ten and the value is
// then shown with an exponent, it drops the zeros that # is there to keep.
func (c testCase) glibcErrs(t *testing.T) bool {
	f, err := Parse(c.format)
	if err != nil {
		t.Fatal(err)
	}
	conv := f.Conversions[0]
	v := math.Abs(math.Float64frombits(c.bits))
	if conv.Verb.Letter|0x20 != 'g' || !conv.Spec.Alternate || math.IsInf(v, 0) || math.IsNaN(v) {
		return false
	}
	precision := conv.Spec.Precision
	if conv.DynamicPrecision {
		precision = c.precision
	}
	if precision < 0 {
		precision = 6
	}
	precision = max(precision, 1)
	exponent := decimalExponent(v, precision)
	return exponent != decimalExponent(v, 18) && exponent >= precision
}

// TestGroup is apart from C's printf, whose ' does nothing in the C locale.
func TestGroup(t *testing.T) {
	for _, test := range []struct {
		spec Spec
		v    int64
		want string
	}{
		{Spec{}, 0, "0"},
		{Spec{}, 999, "999"},
		{Spec{}, 1000, "1,000"},
		{Spec{}, -1234567890, "-1,234,567,890"},
		{Spec{Width: 12}, 1234567, "   1,234,567"},
		{Spec{Width: 12, Left: true}, 1234567, "1,234,567   "},
		{Spec{Width: 12, Zero: true}, 1234567, "0001,234,567"},
		{Spec{Plus: true}, 1000, "+1,000"},
	} {
		test.spec.Group, test.spec.Precision = true, -1
		if got := string(test.spec.AppendSigned(nil, test.v)); got != test.want {
			t.Errorf("%+v of %d: %q, want %q", test.spec, test.v, got, test.want)
		}
	}
	spec := Spec{Group: true, Precision: 2}
	if got, want := string(spec.AppendFloat(nil, 1234567.891, 'f')), "1,234,567.89"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"%d", "%-08.*lld%%", "%#x %@d", "%'?p", "%", "%5", "%.", "%99999999999d", "%hhd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		format, err := Parse(source)
		if err != nil {
			return
		}
		text := ""
		for i, c := range format.Conversions {
			if c.Number != i+1 {
				t.Errorf("conversion %d is numbered %d", i+1, c.Number)
			}
			text += c.Prefix
		}
		text += format.Tail
		if strings.Count(source, "%")-len(format.Conversions) > strings.Count(source, "%%") || len(text) > len(source) {
			t.Errorf("%q: %d conversions and the text %q", source, len(format.Conversions), text)
		}
	})
}
