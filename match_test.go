package kinst

import (
	"math"
	"testing"
)

func TestLeadingID(t *testing.T) {
	for text, want := range map[string]int{
		"1": 1, " 20 /pid == 1/ {exit(0);}": 20, "300{": 300,
		"0x10": math.MaxInt, "010": math.MaxInt, "$1": math.MaxInt, "": math.MaxInt, "99999999999999999999": math.MaxInt,
	} {
		if got := leadingID(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// To number a probe of the first providers does not list those of the last.
func TestNumberProbes(t *testing.T) {
	s, err := Open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, id := range []string{"2", "20"} {
		probes, _, err := s.List(t.Context(), Source{Kind: IDs, Text: id})
		if err != nil {
			t.Fatal(err)
		}
		if len(probes) != 1 || len(s.probes) > 2000 {
			t.Errorf("-i %s lists %v of %d probes", id, probes, len(s.probes))
		}
	}
	few := len(s.probes)
	all, _, err := s.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(all) <= few || all[19].ID != 20 {
		t.Errorf("a list of all has %d probes, and at 20 %v", len(all), all[19])
	}
}
