package syntax

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzParse looks for panics, for endless loops, for errors without a place,
// and for programs that do not survive printing.
func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("testdata/*/*.d")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), "script.d", "arg", uint8(0))
	}
	f.Add("syscall:::entry", "", "", uint8(3))
	f.Fuzz(func(t *testing.T, text, name, arg string, spec uint8) {
		cfg := &Config{Args: []string{name, arg}, ArgRef: true, Empty: true, Spec: Spec(spec % 4)}
		file, err := Parse(&Source{Name: name, Text: text}, cfg)
		if file == nil {
			t.Fatal("no file")
		}
		var list ErrorList
		switch {
		case err == nil && strings.Trim(name+arg, "abcxyz_019") == "":
			roundTrip(t, file, cfg) // arguments may put anything into a description
		case err == nil:
		case !errors.As(err, &list):
			t.Fatalf("%T", err)
		}
		for _, e := range list {
			if e.Msg == "" || e.Tag == "" || e.Pos.IsValid() && e.Pos.Column < 1 {
				t.Errorf("%+v", e)
			}
		}
		for _, d := range file.Decls {
			if c, ok := d.(*Clause); ok {
				for _, sub := range Desugar(c) {
					_ = String(sub)
				}
			}
		}
	})
}
