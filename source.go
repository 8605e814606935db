package kinst

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

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

// Label returns the name of the source in dtrace(1)'s messages: the file's, or
// the text up to the predicate and the actions.
func (s Source) Label() string {
	if s.Kind == Script {
		return s.Name
	}
	if i := strings.IndexAny(s.Text, "{/;"); i >= 0 {
		return s.Text[:i]
	}
	return s.Text
}

// A CompileError is what is wrong with a source.
type CompileError struct {
	Source Source
	Errors syntax.ErrorList
	tags   bool
	part   func(syntax.Pos) string // of a program on the command line
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
		b.WriteString(e.place(err.Pos))
		b.WriteString(err.Msg)
		if carets {
			b.WriteString(caret(err.Pos))
		}
	}
	return b.String()
}

// place returns a position as a prefix: in a script its line, with the file if
// that is another one, and in a program on the command line the part of the
// clause, or the line if there are several.
func (e *CompileError) place(pos syntax.Pos) string {
	switch {
	case !pos.IsValid():
		return ""
	case pos.Source.Name != e.Source.Name:
		return fmt.Sprintf("%q, line %d: ", pos.Source.Name, pos.Line)
	case e.Source.Kind == Script || strings.Contains(strings.TrimSpace(pos.Source.Text), "\n"):
		return fmt.Sprintf("line %d: ", pos.Line)
	case e.part != nil:
		return e.part(pos)
	}
	return ""
}

// partOf returns the part of the program that a position is in, in dtrace(1)'s
// words.
func partOf(files []*syntax.File, pos syntax.Pos) string {
	for _, f := range files {
		for _, c := range clauses(f) {
			if c.Pos().Source != pos.Source || before(pos, c.Pos()) || c.End.IsValid() && before(c.End, pos) {
				continue
			}
			switch {
			case len(c.Body) > 0 && !before(pos, start(c.Body[0])):
				return "in action list: "
			case c.Predicate != nil && !before(pos, start(c.Predicate)):
				return "in predicate: "
			}
			return ""
		}
	}
	return ""
}

// start returns where the text of a node begins: an operator's position is
// behind its left operand.
func start(n syntax.Node) syntax.Pos {
	first := n.Pos()
	syntax.Inspect(n, func(x syntax.Expr) {
		if before(x.Pos(), first) {
			first = x.Pos()
		}
	})
	return first
}

func before(a, b syntax.Pos) bool {
	return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
}

// caret returns the line of a position and a caret below its column.
func caret(pos syntax.Pos) string {
	if !pos.IsValid() {
		return ""
	}
	lines := strings.Split(strings.TrimPrefix(pos.Source.Text, syntax.ByteOrderMark), "\n")
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
	return fmt.Sprintf("\n    %s\n    %s^", harmless(line), blank)
}

// harmless replaces what would control the terminal.
func harmless(line string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, line)
}
