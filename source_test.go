package kinst

import (
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
