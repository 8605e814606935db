package kinst_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"kinst"
)

// arrivals notes when output arrives.
type arrivals []time.Time

func (a *arrivals) Write(b []byte) (int, error) {
	*a = append(*a, time.Now())
	return len(b), nil
}

// TestSwitchrate reads records at intervals, also where setopt() sets them, and
// hears of exit() and of a full buffer all the same.
func TestSwitchrate(t *testing.T) {
	const ticks = `tick-10ms {printf("some text\n");} tick-900ms {exit(0);}`
	for _, test := range []struct {
		name, d     string
		set         []string
		least, most int // writes
	}{
		{"default", ticks, nil, 8, 200},
		{"set", ticks, []string{"switchrate=400ms"}, 2, 6},
		{"setopt", `BEGIN {setopt("switchrate", "400ms");} ` + ticks, nil, 2, 7},
		{"longer than the run", ticks, []string{"switchrate=1min"}, 1, 4},
		{"full", `tick-200us {printf("%64d\n", 1);} tick-900ms {exit(0);}`, []string{"switchrate=1min", "bufsize=4k"}, 15, 1000},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, took := run(t, test.d, test.set...)
			if len(a) < test.least || len(a) > test.most {
				t.Errorf("%d writes, want %d to %d: %v", len(a), test.least, test.most, a)
			}
			if took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// run runs a program with options set and returns when its output came.
func run(t *testing.T, d string, set ...string) (a arrivals, took time.Duration) {
	t.Helper()
	settings := kinst.NewSettings()
	for _, text := range append(slices.Clone(set), "quiet") {
		if err := settings.Set(text); err != nil {
			t.Fatal(err)
		}
	}
	s, err := kinst.Open(kinst.Options{Settings: settings, Warn: func(text string) { t.Error(text) }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := context.Background()
	program, err := s.Compile(ctx, kinst.Source{Text: d})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(ctx, program); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if _, err := s.Consume(ctx, &a); err != nil {
		t.Fatal(err)
	}
	return a, time.Since(start)
}
