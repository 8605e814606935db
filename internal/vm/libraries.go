package vm

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// libraries adds the dynamic linker and the shared libraries that an executable
// of the host needs, so that it runs in the guest as well. Other files need
// nothing.
func (t *tree) libraries(executable string) error {
	f, err := elf.Open(executable)
	if err != nil {
		return nil // no ELF file
	}
	linker := interpreter(f)
	f.Close()
	if linker == "" {
		return nil
	}
	list, err := exec.Command(linker, "--list", executable).Output()
	if err != nil {
		return fmt.Errorf("the shared libraries of %s: %w", executable, err)
	}
	// The linker finds them where the host's does.
	for _, name := range append(libraryPaths(string(list)), linker, "/etc/ld.so.cache") {
		if _, err := os.Stat(name); err != nil || t.has(name) {
			continue
		}
		if err := t.file(name, name, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// libraryPaths returns the paths in the linker's listing, whose lines are
// "NAME => PATH (ADDRESS)" or, for the linker itself, "PATH (ADDRESS)".
func libraryPaths(list string) []string {
	var paths []string
	for line := range strings.Lines(list) {
		if _, after, ok := strings.Cut(line, "=>"); ok {
			line = after
		}
		path, _, _ := strings.Cut(strings.TrimSpace(line), " (")
		if strings.HasPrefix(path, "/") {
			paths = append(paths, path)
		}
	}
	return paths
}
