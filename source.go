package kinst

import (
	"fmt"
	"strings"

	"kinst/internal/dlang/syntax"
)

// A SourceKind is how a piece of D names its probes: by which flag of
// dtrace(1) it was given.
type SourceKind int

const (
	Names     SourceKind = iota // -n: [[[provider:]module:]function:]name ...
	Script                      // -s: a whole program
	Providers                   // -P: provider
	Modules                     // -m: [provider:]module
	Functions                   // -f: [[provider:]module:]function
	IDs                         // -i: the ID of a probe
)

// String returns the kind as dtrace(1)'s messages name it.
func (k SourceKind) String() string {
	return [...]string{"probe", "script", "provider", "module", "function", "probe-id"}[k]
}

// A Source is a piece of D.
type Source struct {
	Kind SourceKind
	Name string // of a script's file, for messages
	Text string
}

// A CompileError is what is wrong with a source.
type CompileError struct {
	Source Source
	Errors syntax.ErrorList
	tags   bool
}

// Error returns the first error, with its place.
func (e *CompileError) Error() string { return e.Detail(false) }

// Detail returns every error with its place and, if carets is set, its line of
// the source with a caret below.
func (e *CompileError) Detail(carets bool) string {
	var b strings.Builder
	for i, err := range e.Errors {
		if i > 0 {
			b.WriteByte('\n')
		}
		if e.tags && err.Tag != "" {
			fmt.Fprintf(&b, "[%s] ", err.Tag)
		}
		b.WriteString(place(err.Pos))
		b.WriteString(err.Msg)
		if carets {
			b.WriteString(caret(err.Pos))
		}
	}
	return b.String()
}

// place returns a position as a prefix: of a script by its line, of a program
// on the command line only where it has several.
func place(pos syntax.Pos) string {
	switch {
	case !pos.IsValid():
		return ""
	case pos.Source.Name == "" && !strings.Contains(strings.TrimSpace(pos.Source.Text), "\n"):
		return ""
	}
	return fmt.Sprintf("line %d: ", pos.Line)
}

// caret returns the line of a position and a caret below its column.
func caret(pos syntax.Pos) string {
	if !pos.IsValid() {
		return ""
	}
	lines := strings.Split(pos.Source.Text, "\n")
	if pos.Line > len(lines) || pos.Column < 1 || pos.Column > len(lines[pos.Line-1])+1 {
		return "" // the preprocessor renumbered the lines
	}
	line := lines[pos.Line-1]
	blank := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, line[:pos.Column-1])
	return fmt.Sprintf("\n    %s\n    %s^", line, blank)
}
