package syntax

import (
	"slices"
	"strings"
	"testing"
)

// TestInspect finds every name in a program, wherever it stands.
func TestInspect(t *testing.T) {
	const text = `
inline int i = a1;
translator struct out < struct in *p > { m = a2; };
BEGIN /a3/ {
	@n[a4] = quantize(a5);
	if (a6) { x = -a7; } else { a8++; }
	trace(a9 ? a10[a11] : a12->m);
	trace(((int)a13) + sizeof (a14));
	trace(stringof(a15));
	trace(xlate <struct out>(a16).m);
}`
	f, err := Parse(&Source{Name: "test.d", Text: text}, &Config{})
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, d := range f.Decls {
		Inspect(d, func(x Expr) {
			if id, ok := x.(*Ident); ok && strings.HasPrefix(id.Name, "a") {
				got = append(got, id.Name)
			}
		})
	}
	for _, n := range strings.Fields("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16") {
		want = append(want, "a"+n)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
