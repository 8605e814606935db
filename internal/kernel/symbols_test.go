package kernel

import (
	"os"
	"testing"
)

func BenchmarkParseSymbols(b *testing.B) {
	text, err := os.ReadFile("/proc/kallsyms")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parseSymbols(text); err != nil {
			b.Fatal(err)
		}
	}
}
