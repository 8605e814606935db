package codegen

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"kinst/internal/record"
)

var expressions = flag.Int("expressions", 2000, "how many random expressions TestRandomExpressions compares with gcc's")

// operands are the variables of the expressions, and what they hold.
var operands = []struct {
	name, ctype string
	value       int64
}{
	{"c0", "char", -128}, {"c1", "char", 127}, {"uc0", "unsigned char", 255},
	{"s0", "short", -32768}, {"us0", "unsigned short", 65535},
	{"i0", "int", -2147483648}, {"i1", "int", 2147483647}, {"i2", "int", -1}, {"i3", "int", 0}, {"i4", "int", 77},
	{"u0", "unsigned int", 4294967295}, {"u1", "unsigned int", 2147483648}, {"u2", "unsigned int", 3},
	{"l0", "long", -9223372036854775808}, {"l1", "long", 9223372036854775807}, {"l2", "long", -5},
	{"ul0", "unsigned long", -1}, {"ul1", "unsigned long", -9223372036854775808}, {"ul2", "unsigned long", 1000000007},
	{"ll0", "long long", 4294967296}, {"b0", "_Bool", 1},
}

// evaluateC returns the values that gcc gives the expressions, as 64 bits.
func evaluateC(t *testing.T, exprs []string) []int64 {
	t.Helper()
	var src bytes.Buffer
	src.WriteString("#include <stdio.h>\n")
	for _, v := range operands {
		value := strconv.FormatUint(uint64(v.value), 10) + "ul"
		fmt.Fprintf(&src, "volatile %s %s = (%s)%s;\n", v.ctype, v.name, v.ctype, value)
	}
	src.WriteString("int main(void)\n{\n")
	for _, e := range exprs {
		fmt.Fprintf(&src, "\tprintf(\"%%ld\\n\", (long)(%s));\n", e)
	}
	src.WriteString("\treturn 0;\n}\n")
	dir := t.TempDir()
	file, bin := filepath.Join(dir, "e.c"), filepath.Join(dir, "e")
	if err := os.WriteFile(file, src.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-O0", "-w", "-fwrapv", "-o", bin, file).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	out, err := exec.Command(bin).Output()
	if err != nil {
		t.Fatal(err)
	}
	var values []int64
	for _, line := range strings.Fields(string(out)) {
		v, err := strconv.ParseInt(line, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
	}
	if len(values) != len(exprs) {
		t.Fatalf("gcc gave %d values for %d expressions", len(values), len(exprs))
	}
	return values
}

// evaluateD returns the values that the kernel gives the expressions.
func evaluateD(t *testing.T, exprs []string) []int64 {
	t.Helper()
	const batch = 25
	var decls, set strings.Builder
	for _, v := range operands {
		fmt.Fprintf(&decls, "%s %s;\n", v.ctype, v.name)
		fmt.Fprintf(&set, "\t%s = (%s)%dul;\n", v.name, v.ctype, uint64(v.value))
	}
	var values []int64
	for len(exprs) > 0 {
		n := min(batch, len(exprs))
		src := decls.String() + "BEGIN {\n" + set.String() + "}\n"
		for _, e := range exprs[:n] {
			src += fmt.Sprintf("BEGIN { trace((long)(%s)); }\n", e)
		}
		exprs = exprs[n:]
		r := load(t, src)
		r.fire()
		got := r.records()
		if len(got) != n {
			t.Fatalf("%d records of %d\n%s", len(got), n, src)
		}
		for _, rec := range got {
			values = append(values, int64(binary.NativeEndian.Uint64(rec[record.HeaderSize:])))
		}
		r.close()
	}
	return values
}

func compareWithGCC(t *testing.T, exprs []string) {
	t.Helper()
	want, got := evaluateC(t, exprs), evaluateD(t, exprs)
	wrong := 0
	for i, e := range exprs {
		if got[i] != want[i] {
			if wrong++; wrong <= 20 {
				t.Errorf("%s = %d; gcc says %d", e, got[i], want[i])
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d expressions differ", wrong, len(exprs))
	}
}

// TestOperators compares every operator on every pair of operands with gcc.
func TestOperators(t *testing.T) {
	var exprs []string
	for _, a := range operands {
		for _, op := range []string{"-", "~", "!", "+"} {
			exprs = append(exprs, op+a.name)
		}
		for _, ctype := range []string{"char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long", "unsigned long", "_Bool"} {
			exprs = append(exprs, fmt.Sprintf("(%s)%s", ctype, a.name))
		}
		for _, n := range []int{0, 1, 31, 63} {
			if n > 31 && !strings.Contains(a.ctype, "long") {
				continue
			}
			exprs = append(exprs, fmt.Sprintf("%s << %d", a.name, n), fmt.Sprintf("%s >> %d", a.name, n))
		}
		for _, b := range operands {
			for _, op := range []string{"+", "-", "*", "&", "|", "^", "==", "!=", "<", "<=", ">", ">=", "&&", "||"} {
				exprs = append(exprs, fmt.Sprintf("%s %s %s", a.name, op, b.name))
			}
			exprs = append(exprs, fmt.Sprintf("i4 > 5 ? %s : %s", a.name, b.name))
			overflow := a.value == -2147483648 || a.value == -9223372036854775808
			if b.value != 0 && !(overflow && b.value == -1) {
				exprs = append(exprs, fmt.Sprintf("%s / %s", a.name, b.name), fmt.Sprintf("%s %% %s", a.name, b.name))
			}
		}
	}
	compareWithGCC(t, exprs)
}

// TestOverflowingDivision is about the quotients that C leaves undefined and
// that trap on x86: they wrap around.
func TestOverflowingDivision(t *testing.T) {
	got := evaluateD(t, []string{"i0 / i2", "i0 % i2", "l0 / i2", "l0 % i2", "i0 / -1", "l0 / -1", "i0 % -1"})
	want := []int64{-2147483648, 0, -9223372036854775808, 0, -2147483648, -9223372036854775808, 0}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("division %d: %d, want %d", i, got[i], want[i])
		}
	}
}

// TestElidedMoves is about labels between which there is a move that takes no
// instruction.
func TestElidedMoves(t *testing.T) {
	compareWithGCC(t, []string{"(((i3, 'a') ? ((short)(ul2) ? (0x7fffffff || i0) : l2) : c0) >> (i0 & 31))"})
}

// TestRandomExpressions compares random expressions with gcc.
func TestRandomExpressions(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	g := expressionGenerator{rand.New(rand.NewPCG(seed, 0))}
	var exprs []string
	for range *expressions {
		exprs = append(exprs, g.expr(2+g.IntN(4)))
	}
	compareWithGCC(t, exprs)
}

// An expressionGenerator makes expressions that mean the same in C and in D,
// and are defined in C.
type expressionGenerator struct{ *rand.Rand }

func (g expressionGenerator) expr(depth int) string {
	if depth == 0 {
		return g.operand()
	}
	x, y := g.expr(depth-1), g.expr(g.IntN(depth))
	switch g.IntN(12) {
	case 0:
		return fmt.Sprintf("(%s / ((%s & 63) | 1))", x, y)
	case 1:
		return fmt.Sprintf("(%s %% ((%s & 1023) | 1))", x, y)
	case 2:
		return fmt.Sprintf("(%s << (%s & 31))", x, y)
	case 3:
		return fmt.Sprintf("(%s >> (%s & 31))", x, y)
	case 4:
		return fmt.Sprintf("(%s ? %s : %s)", g.expr(g.IntN(depth)), x, y)
	case 5:
		return g.pick("-", "~", "!") + "(" + x + ")"
	case 6:
		return "(" + g.pick("char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long") + ")(" + x + ")"
	case 7:
		return fmt.Sprintf("(%s, %s)", y, x)
	case 8:
		return fmt.Sprintf("(%s %s %s)", x, g.pick("&&", "||"), y)
	case 9:
		return fmt.Sprintf("(%s %s %s)", x, g.pick("==", "!=", "<", "<=", ">", ">="), y)
	}
	return fmt.Sprintf("(%s %s %s)", x, g.pick("+", "-", "*", "&", "|", "^"), y)
}

func (g expressionGenerator) operand() string {
	switch g.IntN(4) {
	case 0:
		return g.pick("0", "1", "2", "7", "255", "65536", "2147483647", "0x7fffffff", "0x80000000", "0xffffffff", "2147483648", "4294967295u",
			"0x123456789abcdefl", "9223372036854775807", "0xffffffffffffffff", "1ul", "'a'")
	}
	return operands[g.IntN(len(operands))].name
}

func (g expressionGenerator) pick(list ...string) string { return list[g.IntN(len(list))] }
