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
	text := s.Text
	if i := strings.IndexAny(text, "{/;"); i >= 0 {
		text = text[:i]
	}
	text, _ = around(text, 0, maxExcerpt)
	return text
}

// maxExcerpt is how much of a source is shown in messages, bytes.
const maxExcerpt = 200

// around returns the part of a line that is about an offset, and the offset in
// it, if the line has more than most bytes. Dots stand for what is left out.
func around(line string, offset, most int) (part string, at int) {
	if len(line) <= most {
		return line, offset
	}
	start := max(min(offset-most/2, len(line)-most), 0)
	end := start + most
	for start > 0 && !utf8.RuneStart(line[start]) {
		start--
	}
	for end < len(line) && !utf8.RuneStart(line[end]) {
		end++
	}
	const dots = "..."
	part, at = line[start:end], offset-start
	if start > 0 {
		part, at = dots+part, at+len(dots)
	}
	if end < len(line) {
		part += dots
	}
	return part, at
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

// Text returns the source for messages about it: the whole if it is short, or else
// what of it the first error is about.
func (e *CompileError) Text() string {
	text := e.Source.Text
	if len(text) <= maxExcerpt {
		return text
	}
	offset := 0
	if len(e.Errors) > 0 {
		pos := e.Errors[0].Pos
		if line, ok := lineOf(pos); ok && pos.Source.Name == e.Source.Name {
			text, offset = line, pos.Column-1
		}
	}
	text, _ = around(text, offset, maxExcerpt)
	return text
}

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
	line, ok := lineOf(pos)
	if !ok {
		return ""
	}
	line, at := around(line, pos.Column-1, maxExcerpt)
	blank := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, line[:at])
	return fmt.Sprintf("\n    %s\n    %s^", harmless(line), blank)
}

// lineOf returns the line of a position, if the source has it: the preprocessor
// renumbers lines.
func lineOf(pos syntax.Pos) (line string, ok bool) {
	if !pos.IsValid() {
		return "", false
	}
	lines := strings.Split(strings.TrimPrefix(pos.Source.Text, syntax.ByteOrderMark), "\n")
	if pos.Line > len(lines) || pos.Column < 1 || pos.Column > len(lines[pos.Line-1])+1 {
		return "", false
	}
	return lines[pos.Line-1], true
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
