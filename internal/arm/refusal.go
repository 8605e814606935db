package arm

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// A Refusal is a site that the kernel would not take.
type Refusal struct {
	Site Site
	Err  error // a unix.Errno, or an error that wraps one with what the kernel said
}

func (r Refusal) Error() string { return r.Site.String() + ": " + r.Err.Error() }

// Unwrap returns r.Err.
func (r Refusal) Unwrap() error { return r.Err }

// refusedCommand looks in tracefs' log of errors for the last of the commands
// that was refused, and for what the kernel said of it. It returns index -1
// where none is in the log, which keeps the last eight errors of everybody.
func (s *Session) refusedCommand(commands []string) (index int, words string) {
	text, err := s.tracefs.ReadFile("error_log")
	if err != nil {
		return -1, "" // it exists since Linux 5.2
	}
	return findRefused(string(text), commands)
}

// findRefused reads entries like this one, the last of which is the latest:
//
//	[  133.123456] trace_kprobe: error: Probe point is not an instruction boundary
//	  Command: p:kinst_12_ab/s0 _text+3932161
//	                            ^
func findRefused(log string, commands []string) (index int, words string) {
	index = -1
	said := ""
	for line := range strings.Lines(log) {
		line = strings.TrimRight(line, "\n")
		if _, after, ok := strings.Cut(line, "error: "); ok && strings.HasPrefix(line, "[") {
			said = after
		}
		command, ok := strings.CutPrefix(line, "  Command: ")
		if !ok {
			continue
		}
		for i, c := range commands {
			if strings.TrimSuffix(c, "\n") == command {
				index, words = i, said
			}
		}
	}
	return index, words
}

// withWords adds to an errno what the kernel said.
func withWords(err error, words string) error {
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	if words == "" {
		return err
	}
	return fmt.Errorf("the kernel says %q (%w)", words, err)
}
