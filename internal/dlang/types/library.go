package types

import (
	"embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"kinst/internal/dlang/syntax"
)

// The library is D that every program can use: types, translators and
// constants. A file of it is read when a program names something that it
// defines.
//
//go:embed library
var libraryFiles embed.FS

// definitions maps what the library's files define to the files.
var definitions = sync.OnceValue(func() map[string]string {
	m := make(map[string]string)
	entries, err := libraryFiles.ReadDir("library")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		for _, d := range libraryFile(e.Name()).Decls {
			switch d := d.(type) {
			case *syntax.TypeDecl:
				if d.Name != "" {
					m[d.Name] = e.Name()
				}
				if s, ok := d.Type.(*syntax.StructType); ok && s.Tag != "" {
					m["struct "+s.Tag] = e.Name()
				}
			case *syntax.InlineDecl:
				m[d.Name] = e.Name()
			}
		}
	}
	return m
})

// IsLibraryType reports whether the library defines a type of that name. It does
// not look at names that do not end as the library's do.
func IsLibraryType(name string) bool {
	return strings.HasSuffix(name, "_t") && definitions()[name] != ""
}

func libraryFile(name string) *syntax.File {
	text, err := libraryFiles.ReadFile("library/" + name)
	if err != nil {
		panic(err)
	}
	file, err := syntax.Parse(&syntax.Source{Name: name, Text: string(text)}, &syntax.Config{
		IsType: func(name string) bool { return strings.HasSuffix(name, "_t") },
	})
	if err != nil {
		panic(fmt.Sprintf("types: %v", err))
	}
	return file
}

// fromLibrary reads the file of the library that defines a name, and reports
// whether that was new.
func (c *checker) fromLibrary(name string) bool {
	file := definitions()[name]
	if file == "" || slices.Contains(c.libraries, file) {
		return false
	}
	c.libraries = append(c.libraries, file)
	clause, scopes := c.clause, c.scopes
	c.clause, c.scopes = clauseState{}, nil
	c.inLibrary++
	for _, d := range libraryFile(file).Decls {
		c.decl(d)
	}
	c.inLibrary--
	c.clause, c.scopes = clause, scopes
	return true
}

// systemConstant is the value of a name of the system's headers that D
// programs may use: of an error or a signal.
func systemConstant(name string) (int64, bool) {
	switch {
	case strings.HasPrefix(name, "SIG"):
		if s := unix.SignalNum(name); s != 0 {
			return int64(s), true
		}
	case strings.HasPrefix(name, "E"):
		return errnoNumber(name)
	}
	return 0, false
}

// errnoNumber finds an error by its name.
func errnoNumber(name string) (int64, bool) {
	for n := range math.MaxUint8 {
		if unix.ErrnoName(unix.Errno(n)) == name {
			return int64(n), true
		}
	}
	return 0, false
}
