package profile

import (
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		name string
		want clock
	}{
		{"tick-1s", clock{time.Second, false}},
		{"tick-1sec", clock{time.Second, false}},
		{"tick-500ms", clock{500 * time.Millisecond, false}},
		{"tick-97", clock{time.Second / 97, false}},
		{"tick-10hz", clock{100 * time.Millisecond, false}},
		{"tick-1day", clock{24 * time.Hour, false}},
		{"profile-997", clock{time.Second / 997, true}},
		{"profile-1m", clock{time.Minute, true}},
		{"profile-5000", clock{200 * time.Microsecond, true}},
	} {
		if got, err := parse(test.name); err != nil || got != test.want {
			t.Errorf("%s: got %v, %v, want %v", test.name, got, err, test.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, test := range []struct{ name, want string }{
		{"", "has tick-N and profile-N"},
		{"tock-1s", "has tick-N and profile-N"},
		{"tick-", "has no number"},
		{"tick-0", "has no number"},
		{"tick-s", "has no number"},
		{"tick-1fortnight", "ends in no unit"},
		{"tick-99999999999999999999s", "has a number that is too large"},
		{"tick-5001", "the shortest is 200µs"},
		{"profile-1ns", "the shortest is 200µs"},
	} {
		_, err := parse(test.name)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: got %v, want %q", test.name, err, test.want)
		}
	}
}
