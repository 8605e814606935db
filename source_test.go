package kinst

import (
	"strings"
	"testing"

	"kinst/internal/dlang/syntax"
)

// A line that is shown cannot control the terminal, and stands above its caret.
func TestCaret(t *testing.T) {
	source := &syntax.Source{Text: "\ufeffa\tb\x1b[1m = 1"}
	got := caret(syntax.Pos{Source: source, Line: 1, Column: 4})
	if want := "\n    a\tb\ufffd[1m = 1\n     \t ^"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAround(t *testing.T) {
	for _, test := range []struct {
		line   string
		offset int
		want   string
		at     int
	}{
		{"short", 3, "short", 3},
		{"0123456789", 9, "0123456789", 9},
		{"0123456789abcdef", 0, "0123456789...", 0},
		{"0123456789abcdef", 8, "...3456789abc...", 8},
		{"0123456789abcdef", 16, "...6789abcdef", 13},
		{"ääääääää", 8, "...ääääää...", 9},
	} {
		if part, at := around(test.line, test.offset, 10); part != test.want || at != test.at {
			t.Errorf("%s, %d: got %s, %d, want %s, %d", test.line, test.offset, part, at, test.want, test.at)
		}
	}
}

// A message shows of a long program what it is about.
func TestTextOfLongProgram(t *testing.T) {
	filler := strings.Repeat("BEGIN {trace(1);}\n", 50_000)
	text := filler + "BEGIN {trace(y);}\n" + filler
	source := &syntax.Source{Text: text}
	e := &CompileError{Source: Source{Text: text}, Errors: syntax.ErrorList{{Pos: syntax.Pos{Source: source, Line: 50_001, Column: 14}, Msg: "unknown"}}}
	if got := e.Text(); got != "BEGIN {trace(y);}" {
		t.Errorf("of a long program: %q", got)
	}
	text = "BEGIN {trace(" + strings.Repeat("1+", 100_000) + "y);}"
	source.Text = text
	e.Source.Text = text
	e.Errors[0].Pos.Line, e.Errors[0].Pos.Column = 1, len(text)-3
	if got, want := e.Text(), "..."+text[len(text)-maxExcerpt:]; got != want {
		t.Errorf("of a long line: %q, want %q", got, want)
	}
	if got, want := caret(e.Errors[0].Pos), "\n    ..."+text[len(text)-maxExcerpt:]+"\n    "+strings.Repeat(" ", 3+maxExcerpt-4)+"^"; got != want {
		t.Errorf("caret %q, want %q", got, want)
	}
	names := Source{Kind: Names, Text: strings.Repeat("BEGIN,", 50_000) + "END {}"}
	if got, want := names.Label(), names.Text[:maxExcerpt]+"..."; got != want {
		t.Errorf("label %q, want %q", got, want)
	}
}
