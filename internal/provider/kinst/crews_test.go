package kinst

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kinst/internal/isa"
	"kinst/internal/provider"
)

// newCrew returns a crew of one probe, of that name.
func newCrew(name string) *crew {
	probe := &provider.Probe{Desc: provider.Desc{Name: name}, Target: &target{}}
	return &crew{probes: []member{{new(plan), probe}}}
}

// TestSums has a function whose first piece, 0, is executed as often as 1 and 2
// together, 2 as often as 3 and 4, and 5 as often as 1 and 2, as 0 is.
func TestSums(t *testing.T) {
	of := make(map[int]*crew)
	names := []string{"a", "b", "c", "d", "e", "f"}
	crews := make([]*crew, len(names))
	for class, name := range names {
		crews[class] = newCrew(name)
		of[class] = crews[class]
	}
	for _, sum := range []isa.Sum{
		{Class: 0, Of: []int{1, 2}},
		{Class: 2, Of: []int{3, 4}},
		{Class: 2, Of: []int{0, 5}}, // has a sum
		{Class: 1, Of: []int{0, 3}}, // is one of what 0 is made of
		{Class: 5, Of: []int{2, 6}}, // there is no probe in 6
		{Class: 5, Of: []int{1, 2}},
		{Class: 7, Of: []int{1, 2}},
	} {
		add(of, sum)
	}
	armWanting(crews)
	check := func(want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, counters(crews)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	check("bde", "b", "de", "d", "e", "bde")

	// The kernel refuses e, of which 2 is made.
	crews[4].probes, crews[4].armed = nil, false
	withdraw(crews)
	if n := wanting(crews); n != 1 {
		t.Errorf("%d want a probe", n)
	}
	armWanting(crews)
	check("bc", "b", "c", "d", "", "bc")

	// And c too: nothing tells how often 0 and 5 fire.
	crews[2].probes, crews[2].armed = nil, false
	withdraw(crews)
	armWanting(crews)
	check("a", "b", "", "d", "", "f")
}

func armWanting(crews []*crew) {
	for _, c := range crews {
		c.armed = c.armed || c.wants()
	}
}

// counters returns for each crew the names of the probes that count for it.
func counters(crews []*crew) []string {
	var all []string
	for _, c := range crews {
		names := ""
		for _, p := range c.counters() {
			names += p.Desc.Name
		}
		all = append(all, names)
	}
	return all
}
