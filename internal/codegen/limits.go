package codegen

import (
	"fmt"

	"kinst/internal/dlang/syntax"
)

// A LimitError is that a program needs more of something than there can be.
type LimitError struct{ text string }

func (e *LimitError) Error() string { return e.text }

func limit(format string, args ...any) error { return &LimitError{fmt.Sprintf(format, args...)} }

// limitAt is limit for a place of the D program.
func limitAt(pos syntax.Pos, format string, args ...any) error {
	err := limit(format, args...)
	if pos.IsValid() {
		return fmt.Errorf("%s: %w", pos, err)
	}
	return err
}

// Limits of the memory for one run of a program, of which each CPU has some, and
// of that for global variables.
const (
	maxScratch = 4 << 20
	maxGlobals = 64 << 20
)

// checkLimits says whether what the compiled programs need can be had.
func (c *compiler) checkLimits() error {
	if size := c.scratchSize(); size > maxScratch {
		return limitAt(c.largest, "the program needs %d bytes of memory while it runs, and %d are the most: make its strings (strsize) or objects smaller", size, maxScratch)
	}
	if size := c.globals.size(); size > maxGlobals {
		return limit("the program's global variables need %d bytes, and %d are the most", size, maxGlobals)
	}
	for _, r := range c.layout.Clauses {
		if room := c.ringSize() - ringHeader; r.Size > room {
			return limitAt(c.clausePos(r.Source), "a firing of the program records %d bytes, and a buffer has room for %d: set a larger bufsize", r.Size, room)
		}
	}
	return nil
}

// clausePos is where a clause of the D program is.
func (c *compiler) clausePos(source int) (pos syntax.Pos) {
	for _, u := range c.units {
		for _, cl := range u.Clauses {
			if cl.Source == source {
				return cl.Syntax.Pos()
			}
		}
	}
	return pos
}
