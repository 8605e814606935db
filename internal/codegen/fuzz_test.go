package codegen

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kinst/internal/dlang/syntax"
	"kinst/internal/dlang/types"
	"kinst/internal/isa"
	"kinst/internal/provider"
)

// FuzzCompile looks for programs that the checker accepts and the compiler or
// the kernel does not.
func FuzzCompile(f *testing.F) {
	paths, err := filepath.Glob("testdata/run/*.d")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, p := range strings.Split(string(text), "\n\n") {
			src, _, _ := strings.Cut(p, "\n= ")
			f.Add(src)
		}
	}
	arch, err := isa.Native()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := syntax.Parse(&syntax.Source{Text: text}, nil)
		if err != nil {
			return
		}
		context := &types.Context{}
		p, err := types.Check([]*syntax.File{file}, &types.Env{
			Arch:        arch,
			Contexts:    func(*syntax.Clause) []*types.Context { return []*types.Context{context} },
			Destructive: true,
		})
		if err != nil || len(p.Clauses) == 0 {
			return
		}
		unit := &Unit{Context: beginProbe.Context, Clauses: p.Clauses, Probes: []*provider.Probe{beginProbe}}
		code, err := Compile([]*Unit{unit}, Options{Arch: arch, Bufsize: 1 << 12, Aggsize: 1 << 12, Dynvarsize: 1 << 12})
		var limit *LimitError
		if errors.As(err, &limit) {
			return
		}
		if err != nil {
			t.Fatalf("%s\n%v", text, err)
		}
		l, err := code.Load(nil)
		if err != nil {
			t.Fatalf("%s\n%s", text, verdict(code, err))
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
