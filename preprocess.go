package kinst

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"

	"kinst/internal/dlang/syntax"
)

// stdin is what the preprocessor calls its standard input.
const stdin = "<stdin>"

// preprocess runs the C preprocessor on a script. It gets the script from its
// standard input, without an interpreter line, which it would not understand.
func (s *Session) preprocess(src Source) (string, error) {
	text := src.Text
	if strings.HasPrefix(text, "#!") {
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			text = text[i:]
		} else {
			text = ""
		}
	}
	cmd := exec.Command(s.settings.Cpppath, s.cppArgs()...)
	cmd.Stdin = strings.NewReader(lineMarker(src.Name) + text)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return "", fmt.Errorf("failed to compile script %s: the preprocessor %s ended with %v", src.Name, s.settings.Cpppath, err)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("failed to compile script %s: there is no preprocessor %s; install the package cpp, or name one with -x cpppath=PATH", src.Name, s.settings.Cpppath)
	case err != nil:
		return "", fmt.Errorf("failed to compile script %s: failed to run the preprocessor: %w", src.Name, err)
	}
	return string(out), nil
}

// lineMarker tells the preprocessor the name of the script, for its own messages
// and for __FILE__. Names that it would have to be told in C's escapes are left
// out.
func lineMarker(name string) string {
	if name == "-" || strings.ContainsAny(name, "\"\\\n") {
		return ""
	}
	return fmt.Sprintf("# 1 \"%s\"\n", name)
}

// cppArgs are the preprocessor's arguments. The C that -X asks for is chosen by
// the options of GNU cpp that come nearest.
func (s *Session) cppArgs() []string {
	set := s.settings
	args := []string{"-D__SUNW_D=1", fmt.Sprintf("-D__SUNW_D_VERSION=%#x", versionNumber(set.Version))}
	switch set.Stdc {
	case "c":
		args = append(args, "-std=c11")
	case "s":
		args = append(args, "-traditional-cpp")
	}
	args = append(args, set.Cppargs...)
	if set.Cpphdrs {
		args = append(args, "-H")
	}
	return append(args, "-")
}

// included returns a file that the preprocessor's output refers to, for the
// places of errors.
func (s *Session) included(src Source, name string) *syntax.Source {
	file := &syntax.Source{Name: name}
	if name == stdin || name == src.Name {
		file.Name, file.Text = src.Name, src.Text
	} else if text, err := os.ReadFile(name); err == nil {
		file.Text = string(text)
	}
	s.texts[file] = src
	return file
}
