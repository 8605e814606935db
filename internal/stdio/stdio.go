// Package stdio tells whether the process was given a standard output. Go's
// runtime puts /dev/null where there is none, before any code of a program, and
// what is printed would be lost silently.
package stdio

import "golang.org/x/sys/unix"

// flags is what fcntl(1, F_GETFD) returned when the process began: below 0 an
// error. It stays 0 where the linker was not told to begin with Start.
var flags int64

// Output returns an error if the process was started with its standard output
// closed.
func Output() error {
	if flags < 0 {
		return unix.Errno(-flags)
	}
	return nil
}
