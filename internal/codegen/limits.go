package codegen

import "fmt"

// A LimitError is that a program needs more of something than there can be.
type LimitError struct{ text string }

func (e *LimitError) Error() string { return e.text }

func limit(format string, args ...any) error { return &LimitError{fmt.Sprintf(format, args...)} }

// Limits of the memory for one run of a program, of which each CPU has some, and
// of that for global variables.
const (
	maxScratch = 4 << 20
	maxGlobals = 64 << 20
)

// checkLimits says whether what the compiled programs need can be had.
func (c *compiler) checkLimits() error {
	if size := c.scratchSize(); size > maxScratch {
		return limit("the program needs %d bytes of memory while it runs, and %d are the most: make its strings (strsize) or objects smaller", size, maxScratch)
	}
	if size := len(c.globals.bytes); size > maxGlobals {
		return limit("the program's global variables need %d bytes, and %d are the most", size, maxGlobals)
	}
	for _, r := range c.layout.Clauses {
		if room := c.ringSize() - ringHeader; r.Size > room {
			return limit("a firing of the program records %d bytes, and a buffer has room for %d: set a larger bufsize", r.Size, room)
		}
	}
	return nil
}
