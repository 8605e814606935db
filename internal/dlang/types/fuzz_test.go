package types

import (
	"os"
	"path/filepath"
	"testing"

	"kinst/internal/dlang/syntax"
)

// FuzzCheck looks for programs that make the checker panic or hang.
func FuzzCheck(f *testing.F) {
	for _, pattern := range []string{"testdata/errors/*.d", "../../codegen/testdata/run/*.d", "../syntax/testdata/scripts/*.d"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := syntax.Parse(&syntax.Source{Text: text}, nil)
		if err != nil {
			return
		}
		env := testEnv(t)
		env.BTF = nil // fuzzing would search all of it for every name
		Check([]*syntax.File{file}, env)
	})
}
