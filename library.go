package kinst

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"kinst/internal/dlang/syntax"
	"kinst/internal/kernel"
	"kinst/internal/provider"
)

// A library is a file of -x libdir: inlines, types and translators that every
// program can use.
type library struct {
	name string // of the file, in its directory
	file *syntax.File
}

// libraries returns what the directories of the option libdir hold, each
// library behind those that it depends on. Those that depend on something which
// is not there are left out.
func (s *Session) libraries() ([]*syntax.File, error) {
	var libs []*library
	for _, dir := range s.settings.Libdir {
		found, err := s.readLibraries(dir)
		if err != nil {
			return nil, err
		}
		libs = append(libs, found...)
	}
	return s.orderLibraries(libs)
}

func (s *Session) readLibraries(dir string) ([]*library, error) {
	if fi, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("failed to read the libraries: %w", err)
	} else if !fi.IsDir() {
		return nil, fmt.Errorf("failed to read the libraries: %s is not a directory", dir)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.d"))
	if err != nil {
		return nil, fmt.Errorf("failed to read the libraries: %w", err)
	}
	var libs []*library
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("failed to read a library: %w", err)
		}
		src := Source{Kind: Script, Name: path, Text: string(text)}
		source := &syntax.Source{Name: path, Text: src.Text}
		s.texts[source] = src
		file, err := syntax.Parse(source, &syntax.Config{Args: s.opts.Args, IDs: syntax.ProcessIDs(), Library: true, Empty: true, IsType: s.isType})
		if err != nil {
			return nil, s.compileError(src, err)
		}
		libs = append(libs, &library{filepath.Base(path), file})
	}
	return libs, nil
}

// orderLibraries sorts libraries by what they depend on.
func (s *Session) orderLibraries(libs []*library) ([]*syntax.File, error) {
	var files []*syntax.File
	placed := make(map[string]bool)
	for len(libs) > 0 {
		left := slices.DeleteFunc(slices.Clone(libs), func(l *library) bool {
			ok, missing := s.dependencies(l, placed, libs)
			switch {
			case missing != "":
				s.opts.Note(fmt.Sprintf("the library %s is left out: there is no %s", l.name, missing))
			case ok:
				files = append(files, l.file)
				placed[l.name] = true
			default:
				return false
			}
			return true
		})
		if len(left) == len(libs) {
			return nil, errors.New("failed to order the libraries: " + left[0].name + " depends on itself, by others or alone")
		}
		libs = left
	}
	return files, nil
}

// dependencies reports whether all that a library depends on has been placed,
// or what there is none of. Libs are those that are not placed yet.
func (s *Session) dependencies(l *library, placed map[string]bool, libs []*library) (ok bool, missing string) {
	ok = true
	for _, pragma := range l.file.Pragmas {
		if pragma.Kind != "depends_on" || len(pragma.Args) < 2 {
			continue
		}
		kind, name := pragma.Args[0], pragma.Args[1]
		switch kind {
		case "library":
			if !placed[name] {
				ok = false
				if !slices.ContainsFunc(libs, func(l *library) bool { return l.name == name }) {
					return false, "library " + name
				}
			}
		case "provider":
			if !s.hasProvider(name) {
				return false, "provider " + name
			}
		case "module":
			if !s.hasModule(name) {
				return false, "module " + name
			}
		}
	}
	return ok, ""
}

// require refuses a program that depends on what is not there.
func (s *Session) require(pragma *syntax.Pragma) error {
	if len(pragma.Args) < 2 {
		return nil
	}
	class, name := pragma.Args[0], pragma.Args[1]
	if class == "provider" && s.hasProvider(name) || class == "module" && s.hasModule(name) {
		return nil
	}
	var list syntax.ErrorList
	list.Add(pragma.At, "D_PRAGMA_DEPEND", "program requires the %s %s, which is not there", class, name)
	return list
}

func (s *Session) hasProvider(name string) bool {
	return slices.ContainsFunc(s.providers, func(p provider.Provider) bool {
		return p.Name() == name || provider.Matches(p.Name(), name)
	})
}

func (s *Session) hasModule(name string) bool {
	if name == kernel.VMLinux {
		return true
	}
	loaded, err := s.kernel.Modules()
	return err == nil && slices.ContainsFunc(loaded, func(m kernel.Module) bool { return m.Name == name })
}
