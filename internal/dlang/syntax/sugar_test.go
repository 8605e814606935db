package syntax

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The expected clauses are those that FreeBSD's libdtrace makes, as described
// in dt_sugar.c; only the names of the probes are left out here.
func TestDesugar(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"no if", `BEGIN /a/ { b = 1; c = 2; }`, []string{
			`/a/ b = 1; c = 2;`,
		}},
		{"if", `BEGIN { if (a) b = 1; }`, []string{
			`self->%error = 0;`,
			`/!self->%error/ this->%condition_1 = 1 && a;`,
			`/!self->%error && this->%condition_1/ b = 1;`,
		}},
		{"around if", `BEGIN { x = 1; y = 2; if (a) b = 1; z = 3; }`, []string{
			`self->%error = 0;`,
			`x = 1; y = 2;`,
			`/!self->%error/ this->%condition_1 = 1 && a;`,
			`/!self->%error && this->%condition_1/ b = 1;`,
			`/!self->%error/ z = 3;`,
		}},
		{"else", `BEGIN { if (a) b = 1; else b = 2; }`, []string{
			`self->%error = 0;`,
			`/!self->%error/ this->%condition_1 = 1 && a;`,
			`/!self->%error && this->%condition_1/ b = 1;`,
			`/!self->%error/ this->%condition_2 = 1 && !this->%condition_1;`,
			`/!self->%error && this->%condition_2/ b = 2;`,
		}},
		{"predicate", `BEGIN /p, q/ { x = 1; if (a || c) b = 1; }`, []string{
			`self->%error = 0;`,
			`/!self->%error/ this->%condition_1 = 1 && (p, q);`,
			`/!self->%error && this->%condition_1/ x = 1;`,
			`/!self->%error/ this->%condition_2 = this->%condition_1 && (a || c);`,
			`/!self->%error && this->%condition_2/ b = 1;`,
		}},
		{"nested", `BEGIN { if (a) { x = 1; if (b) y = 1; else y = 2; z = 1; } else if (c) w = 1; }`, []string{
			`self->%error = 0;`,
			`/!self->%error/ this->%condition_1 = 1 && a;`,
			`/!self->%error && this->%condition_1/ x = 1;`,
			`/!self->%error/ this->%condition_2 = this->%condition_1 && b;`,
			`/!self->%error && this->%condition_2/ y = 1;`,
			`/!self->%error/ this->%condition_3 = this->%condition_1 && !this->%condition_2;`,
			`/!self->%error && this->%condition_3/ y = 2;`,
			`/!self->%error && this->%condition_1/ z = 1;`,
			`/!self->%error/ this->%condition_4 = 1 && !this->%condition_1;`,
			`/!self->%error/ this->%condition_5 = this->%condition_4 && c;`,
			`/!self->%error && this->%condition_5/ w = 1;`,
		}},
		{"empty branches", `BEGIN { if (a) ; else { } }`, []string{
			`self->%error = 0;`,
			`/!self->%error/ this->%condition_1 = 1 && a;`,
		}},
	} {
		f, err := Parse(&Source{Text: tt.text}, nil)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var got []string
		for _, c := range Desugar(f.Decls[0].(*Clause)) {
			text := strings.Join(strings.Fields(String(c)), " ")
			text = strings.TrimPrefix(text, "BEGIN ")
			text = strings.Replace(text, "{ ", "", 1)
			got = append(got, strings.TrimSuffix(text, " }"))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.name, diff)
		}
	}
}

// TestDesugarFile looks at a program with two such clauses: what notes errors
// comes once, before the first.
func TestDesugarFile(t *testing.T) {
	f, err := Parse(&Source{Text: "int x; END { x = 2; } BEGIN { if (a) x = 1; } BEGIN { if (a) x = 1; }"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range DesugarFile(f).Decls {
		got = append(got, strings.Join(strings.Fields(String(d)), " "))
	}
	clause := []string{
		"BEGIN { self->%error = 0; }",
		"BEGIN /!self->%error/ { this->%condition_1 = 1 && a; }",
		"BEGIN /!self->%error && this->%condition_1/ { x = 1; }",
	}
	want := []string{"int x;", "END { x = 2; }", "dtrace:::ERROR { self->%error = 1; }"}
	want = append(append(want, clause...), clause...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
