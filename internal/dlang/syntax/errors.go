package syntax

import (
	"fmt"
	"sort"
)

// An Error is a diagnosis of a D program.
type Error struct {
	Pos Pos
	Tag string // libdtrace's name of the error: "D_SYNTAX", "D_IDENT_UNDEF"
	Msg string
}

func (e *Error) Error() string {
	if !e.Pos.IsValid() {
		return e.Msg
	}
	return fmt.Sprintf("%s: %s", e.Pos, e.Msg)
}

// An ErrorList is the diagnoses of one program.
type ErrorList []*Error

// Add appends a diagnosis.
func (l *ErrorList) Add(pos Pos, tag, format string, args ...any) {
	*l = append(*l, &Error{pos, tag, fmt.Sprintf(format, args...)})
}

// Err returns the list sorted, with the first error of each line, or nil if
// it is empty.
func (l ErrorList) Err() error {
	if len(l) == 0 {
		return nil
	}
	sort.SliceStable(l, func(i, j int) bool {
		a, b := l[i].Pos, l[j].Pos
		if a.Source != b.Source {
			return false
		}
		return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
	})
	first := l[:1:1]
	for _, e := range l[1:] {
		last := first[len(first)-1].Pos
		if !e.Pos.IsValid() || e.Pos.Source != last.Source || e.Pos.Line != last.Line {
			first = append(first, e)
		}
	}
	return first
}

func (l ErrorList) Error() string {
	switch len(l) {
	case 0:
		return "no errors"
	case 1:
		return l[0].Error()
	}
	return fmt.Sprintf("%s (and %d more errors)", l[0], len(l)-1)
}
