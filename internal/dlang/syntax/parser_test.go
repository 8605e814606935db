package syntax

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var update = flag.Bool("update", false, "write the golden files anew")

// dump returns a tree as text, one node a line with its place.
func dump(n any) string {
	var b strings.Builder
	dumpValue(&b, reflect.ValueOf(n), "", 0)
	return b.String()
}

func dumpValue(b *strings.Builder, v reflect.Value, label string, depth int) {
	for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	margin := strings.Repeat("  ", depth)
	switch v.Kind() {
	case reflect.Struct:
		fmt.Fprintf(b, "%s%s%s", margin, label, v.Type().Name())
		dumpStruct(b, v, depth)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.String {
			fmt.Fprintf(b, "%s%s%q\n", margin, label, v.Interface())
			return
		}
		for i := range v.Len() {
			dumpValue(b, v.Index(i), label, depth)
		}
	}
}

// dumpStruct writes the simple fields behind the name and the others below.
func dumpStruct(b *strings.Builder, v reflect.Value, depth int) {
	for i := range v.NumField() {
		switch f := v.Field(i); value := f.Interface().(type) {
		case Pos:
			if v.Type().Field(i).Name == "At" {
				fmt.Fprintf(b, " %d:%d", value.Line, value.Column)
			}
		case string, bool, int, uint64, Token, Scope:
			if !f.IsZero() {
				format := " %s=%v"
				if f.Kind() == reflect.String {
					format = " %s=%q"
				}
				fmt.Fprintf(b, format, v.Type().Field(i).Name, value)
			}
		}
	}
	b.WriteByte('\n')
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Interface, reflect.Pointer, reflect.Slice:
			dumpValue(b, f, v.Type().Field(i).Name+": ", depth+1)
		}
	}
}

// TestTrees compares the trees of testdata/trees/*.d with those beside them.
func TestTrees(t *testing.T) {
	for _, path := range glob(t, "testdata/trees/*.d") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			_, f, errs := parseTestdata(t, path)
			for _, e := range errs {
				t.Errorf("%s %s", e.Tag, e)
			}
			got, golden := dump(f), strings.TrimSuffix(path, ".d")+".tree"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestScripts parses whole programs.
func TestScripts(t *testing.T) {
	for _, path := range glob(t, "testdata/scripts/*.d") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			_, _, errs := parseTestdata(t, path)
			for _, e := range errs {
				t.Errorf("%s %s", e.Tag, e)
			}
		})
	}
}

// TestPrintRoundTrip prints whole programs and parses what it printed: the
// trees must agree, and so must a second print.
func TestPrintRoundTrip(t *testing.T) {
	for _, path := range append(glob(t, "testdata/trees/*.d"), glob(t, "testdata/scripts/*.d")...) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, f, _ := parseTestdata(t, path)
			cfg, _ := sourceConfig(t, text)
			roundTrip(t, f, &cfg)
		})
	}
}

// sameTree compares trees but for positions, the original text of integers
// (macro variables become integers) and of descriptions.
var sameTree = cmp.Options{
	cmpopts.IgnoreTypes(Pos{}),
	cmpopts.IgnoreFields(IntLit{}, "Text"),
	cmpopts.IgnoreFields(ProbeSpec{}, "Text"),
	cmpopts.EquateEmpty(),
}

// equalTrees reports whether two trees are the same in the sense of sameTree.
// Unlike cmp it takes time linear in their size, however deep they are.
func equalTrees(a, b reflect.Value) bool {
	if a.Kind() != b.Kind() || a.IsValid() && a.Type() != b.Type() {
		return false
	}
	switch a.Kind() {
	case reflect.Interface, reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return equalTrees(a.Elem(), b.Elem())
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !equalTrees(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		for i := range a.NumField() {
			ignored := a.Type() == reflect.TypeFor[Pos]() || a.Type().Field(i).Name == "Text"
			if !ignored && !equalTrees(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	}
	return !a.IsValid() || a.Interface() == b.Interface()
}

func roundTrip(t *testing.T, f *File, cfg *Config) {
	t.Helper()
	var first, second strings.Builder
	if err := Fprint(&first, f); err != nil {
		t.Fatal(err)
	}
	g, err := Parse(&Source{Text: first.String()}, &Config{Empty: true, IsType: cfg.IsType})
	if err != nil {
		t.Fatalf("%v\n%s", err, first.String())
	}
	if !equalTrees(reflect.ValueOf(f), reflect.ValueOf(g)) {
		t.Errorf("parsed again (-want +got)\n%s\n%s", cmp.Diff(f, g, sameTree), first.String())
	}
	if err := Fprint(&second, g); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.String(), second.String()); diff != "" {
		t.Errorf("printed again (-want +got)\n%s", diff)
	}
}
