package cli

import (
	"strings"
	"testing"
)

func TestShortened(t *testing.T) {
	long := strings.Repeat("a", 500) + strings.Repeat("ä", 50_000) + strings.Repeat("z", 500)
	for text, want := range map[string]string{
		"short":                    "short",
		strings.Repeat("l\n", 900): strings.Repeat("l\n", 900),
		"first\n" + long:           "first\n" + strings.Repeat("a", 500) + "..." + strings.Repeat("z", 500),
	} {
		if got := shortened(text); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
