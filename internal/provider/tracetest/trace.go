// Package tracetest helps to test providers as a user sees them: it runs a D
// program on a command, on the running kernel.
//
// It uses all providers, so only tests of a package's own _test package can
// import it.
package tracetest

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"testing"

	"kinst"
)

// Run traces a command with a D program until it ends, and returns what the
// program prints, PID in place of the command's process ID. Losses fail the
// test.
func Run(t testing.TB, program, command string) string {
	t.Helper()
	p, err := kinst.StartCommand(command)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	settings := kinst.NewSettings()
	settings.Quiet = true
	s, err := kinst.Open(kinst.Options{
		Settings:  settings,
		Processes: []*kinst.Process{p},
		Warn:      func(text string) { t.Errorf("%s: %s", program, text) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	ctx := context.Background()
	compiled, err := s.Compile(ctx, kinst.Source{Kind: kinst.Script, Name: "test.d", Text: program})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(ctx, compiled); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := s.Consume(ctx, &out); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(strings.ReplaceAll(out.String(), strconv.Itoa(p.PID), "PID"))
}

// Lines runs a program as Run does, and returns how often it prints each line.
func Lines(t testing.TB, program, command string) map[string]int {
	t.Helper()
	lines := make(map[string]int)
	for line := range strings.Lines(Run(t, program, command)) {
		lines[strings.TrimSpace(line)]++
	}
	return lines
}
