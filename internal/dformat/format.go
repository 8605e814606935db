package dformat

import (
	"fmt"
	"strings"

	"kinst/internal/record"
)

// A Format is a parsed format string.
type Format struct {
	Source      string
	Conversions []*Conversion
	Tail        string // the text after the last conversion
}

// A Conversion is one % of a format.
type Conversion struct {
	Number int    // counted from 1, as error messages name it
	Prefix string // the text between the conversion before and this one
	Verb   *Verb
	Spec   Spec

	// An int argument precedes the value: the width, the precision, or, in
	// this order, both.
	DynamicWidth, DynamicPrecision bool
	// Aggregation is set by %@: the value is the aggregation's, not a key.
	Aggregation bool
}

// Literal reports whether the conversion is %%, which takes no argument.
func (c *Conversion) Literal() bool { return c.Verb.Takes == Nothing }

// Arguments is how many arguments the conversion takes from the argument list,
// the dynamic width and precision included.
func (c *Conversion) Arguments() int {
	n := 0
	if c.DynamicWidth {
		n++
	}
	if c.DynamicPrecision {
		n++
	}
	if !c.Literal() && !c.Aggregation {
		n++
	}
	return n
}

// String is the conversion as errors name it: %, size prefix and letter.
func (c *Conversion) String() string { return "%" + c.Verb.Name }

// Parse reads a format string. The error names the conversion by its number.
func Parse(source string) (*Format, error) {
	f := &Format{Source: source}
	rest := source
	for {
		at := strings.IndexByte(rest, '%')
		if at < 0 {
			f.Tail = rest
			return f, nil
		}
		c := &Conversion{
			Number: len(f.Conversions) + 1,
			Prefix: rest[:at],
			Spec:   Spec{Precision: -1},
		}
		var err error
		if rest, err = c.parse(rest[at+1:]); err != nil {
			return nil, fmt.Errorf("format conversion #%d %w", c.Number, err)
		}
		f.Conversions = append(f.Conversions, c)
	}
}

// parse reads what follows the %, and returns what follows the conversion.
// Flags, width, precision and size prefixes may come in any order, as in
// libdtrace.
func (c *Conversion) parse(s string) (rest string, err error) {
	if strings.HasPrefix(s, "%") {
		c.Verb = Lookup("%")
		return s[1:], nil
	}
	dot, size := false, ""
	for i := 0; i < len(s); i++ {
		switch b := s[i]; b {
		case '#':
			c.Spec.Alternate = true
		case '+':
			c.Spec.Plus = true
		case ' ':
			c.Spec.Space = true
		case '\'':
			c.Spec.Group = true
		case '-':
			c.Spec.Left = true
		case '@':
			c.Aggregation = true
		case '?':
			c.Spec.Width = pointerDigits
		case '.':
			if dot {
				return "", fmt.Errorf("has more than one '.'")
			}
			dot = true
			c.Spec.Precision = 0
		case '*':
			dynamic, what := &c.DynamicWidth, "width"
			if dot {
				dynamic, what = &c.DynamicPrecision, "precision"
			}
			if *dynamic {
				return "", fmt.Errorf("has more than one '*' for the %s", what)
			}
			*dynamic = true
		case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			if b == '0' && !dot {
				c.Spec.Zero = true
				continue
			}
			n, digits := number(s[i:])
			if n > maxNumber {
				return "", fmt.Errorf("has a width or precision above %d", maxNumber)
			}
			i += digits - 1
			if dot {
				c.Spec.Precision = n
			} else {
				c.Spec.Width = n
			}
		case '$':
			return "", fmt.Errorf("uses a positional argument (%%n$), which D does not have")
		case '%':
			return "", fmt.Errorf("combines %%%% with flags")
		case 'h', 'l', 'L', 'w':
			size += string(b)
		default:
			name := size + string(b)
			if c.Verb = Lookup(name); c.Verb == nil {
				return "", fmt.Errorf("is undefined: %%%s", name)
			}
			return s[i+1:], nil
		}
	}
	return "", fmt.Errorf("ends before its letter: %q", "%"+s)
}

// pointerDigits is the width that %? stands for: an address in hexadecimal.
const pointerDigits = 16

// maxNumber bounds the widths and precisions, so that a slip of the pen does
// not print megabytes of blanks.
const maxNumber = 1 << 16

// number reads the decimal number that s begins with.
func number(s string) (n, digits int) {
	for digits < len(s) && '0' <= s[digits] && s[digits] <= '9' {
		if n <= maxNumber {
			n = n*10 + int(s[digits]-'0')
		}
		digits++
	}
	return n, digits
}

// A Class is the kind of argument that a conversion takes.
type Class int

const (
	Nothing       Class = iota // %%
	Integer                    // any integer or enumeration
	SmallInteger               // an integer no larger than int
	SizedInteger               // an integer of exactly Verb.Size bytes
	Address                    // a pointer or an integer
	KernelAddress              // the same, or sym(), func(), mod()
	UserAddress                // the same, or uaddr(), usym(), ufunc(), umod()
	Float                      // a floating-point value
	LongDouble                 // the same, of 16 bytes
	String                     // a string or an array of char
	WideString                 // an array of 32-bit integers
	Stack                      // stack() or ustack()
	Time                       // nanoseconds: an integer of 8 bytes
	Port                       // an integer of 2 bytes
)

// A Verb is a row of the table of conversions.
type Verb struct {
	Name  string // size prefix and letter: "d", "lld", "%"
	Takes Class
	Size  int    // bytes, for SizedInteger
	Wants string // the argument's type in words, for error messages
	// Letter is the letter of C's printf that renders the value: 'd' keeps
	// the argument's own signedness, 'i' is signed, 'u' 'o' 'x' 'X' unsigned,
	// 'c' a character, 's' a string, 'e' 'E' 'f' 'g' 'G' a float.
	Letter byte
}

// Lookup finds the conversion of that name, size prefix and letter; nil if
// there is none.
func Lookup(name string) *Verb { return verbs[name] }

const (
	anyInteger = "char, short, int, long, or long long"
	anyFloat   = "float, double, or long double"
	anyString  = "char [] or string (or use stringof)"
	anyWide    = "wchar_t []"
	anyAddress = "pointer or integer"
)

// verbs is DTrace's table of conversions (the chapter "Output Formatting" of
// the DTrace Guide, and libdtrace's _dtrace_conversions).
var verbs = func() map[string]*Verb {
	m := make(map[string]*Verb)
	add := func(names string, takes Class, size int, wants string, letter byte) {
		for _, name := range strings.Fields(names) {
			v := &Verb{Name: name, Takes: takes, Size: size, Wants: wants, Letter: letter}
			if letter == 0 {
				v.Letter = name[len(name)-1]
			}
			m[name] = v
		}
	}
	add("%", Nothing, 0, "void", 0)
	add("d i o u x X", Integer, 0, anyInteger, 0)
	add("hd hi", SizedInteger, 2, "short", 'i')
	add("ho hu", SizedInteger, 2, "unsigned short", 0)
	add("hx hX", SizedInteger, 2, "short", 0)
	add("ld li", SizedInteger, 8, "long", 'i')
	add("lo lu", SizedInteger, 8, "unsigned long", 0)
	add("lx lX", SizedInteger, 8, "long", 0)
	add("lld lli", SizedInteger, 8, "long long", 'i')
	add("llo llu", SizedInteger, 8, "unsigned long long", 0)
	add("llx llX", SizedInteger, 8, "long long", 0)
	add("c", SmallInteger, 0, "char, short, or int", 'c')
	add("C", SmallInteger, 0, "char, short, or int", 's')
	add("lc wc", SizedInteger, 4, "int", 'c')
	add("s S I", String, 0, anyString, 's')
	add("ls ws", WideString, 0, anyWide, 's')
	add("p", Address, 0, anyAddress, 'x')
	add("a", KernelAddress, 0, anyAddress, 's')
	add("A", UserAddress, 0, "pointer or integer (with -p or -c), or the result of uaddr()", 's')
	add("k", Stack, 0, "stack", 's')
	add("Y T", Time, 0, "int64_t", 's')
	add("y", Time, 0, "int64_t", 's')
	add("P", Port, 2, "uint16_t", 's')
	add("e E f g G", Float, 0, anyFloat, 0)
	add("Le LE Lf Lg LG", LongDouble, 16, "long double", 0)
	return m
}()

// Accepts reports whether an argument of type t can be given to the conversion.
// Whether %A may take a bare address, which it can only with a target process,
// is for the caller to know.
func (v *Verb) Accepts(t *record.Type) bool {
	integer := t.Kind == record.Int || t.Kind == record.Enum
	switch v.Takes {
	case Integer:
		return integer
	case SmallInteger:
		return integer && t.Size <= 4
	case SizedInteger, Port:
		return integer && t.Size == v.Size
	case Time:
		return integer && t.Size == 8
	case Address:
		return integer || t.Kind == record.Pointer
	case KernelAddress:
		switch t.Kind {
		case record.KernelSymbol, record.KernelFunc, record.KernelModule:
			return true
		}
		return integer || t.Kind == record.Pointer
	case UserAddress:
		switch t.Kind {
		case record.UserSymbol, record.UserFunc, record.UserModule, record.UserAddress:
			return true
		}
		return integer || t.Kind == record.Pointer
	case Stack:
		return t.Kind == record.KernelStack || t.Kind == record.UserStack
	case String:
		switch t.Kind {
		case record.String, record.ProbeProvider, record.ProbeModule, record.ProbeFunction, record.ProbeName:
			return true
		case record.Array:
			return t.Elem != nil && t.Elem.Kind == record.Int && t.Elem.Size == 1
		}
		return false
	case WideString:
		return t.Kind == record.Array && t.Elem != nil && t.Elem.Kind == record.Int && t.Elem.Size == 4
	case Float:
		return t.Kind == record.Float
	case LongDouble:
		return t.Kind == record.Float && t.Size == 16
	}
	return false
}
