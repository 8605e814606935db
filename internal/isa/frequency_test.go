package isa

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFrequencies(t *testing.T) {
	for _, tt := range []struct {
		name          string
		next          [][]int
		entered, left []int
		class         []int
		sums          []Sum
	}{
		{"one after the other", [][]int{{1}, {2}, nil}, []int{0}, nil, []int{0, 0, 0}, nil},
		{"one may be entered", [][]int{{1}, {2}, nil}, []int{0, 1}, nil, []int{0, 1, 1}, nil},
		{"one may be left", [][]int{{1}, {2}, nil}, []int{0}, []int{0}, []int{0, 1, 1}, nil},
		{"if", [][]int{{1, 2}, {2}, nil}, []int{0}, nil, []int{0, 1, 0}, nil},
		{"if and else", [][]int{{1, 2}, {3}, {3}, nil}, []int{0}, nil, []int{0, 1, 2, 0},
			[]Sum{{0, []int{1, 2}}, {0, []int{1, 2}}}},
		{"else does not come back", [][]int{{1, 2}, {3}, nil, nil}, []int{0}, []int{2}, []int{0, 1, 2, 1},
			[]Sum{{0, []int{1, 2}}}},
		{"if in if", [][]int{{1, 4}, {2, 3}, {3}, {4}, nil}, []int{0}, nil, []int{0, 1, 2, 1, 0}, nil},
		{"a loop's way on is not its way in", [][]int{{1}, {1, 2}, nil}, []int{0}, nil, []int{0, 1, 2}, nil},
		{"in a loop", [][]int{{1}, {2, 3}, {4}, {4}, {1, 5}, nil}, []int{0}, nil, []int{0, 1, 2, 3, 1, 5},
			[]Sum{{1, []int{2, 3}}, {1, []int{2, 3}}}},
		{"a loop without an end", [][]int{{0}}, []int{0}, nil, []int{0}, nil},
		{"both ways to the same", [][]int{{1, 1}, nil}, []int{0}, nil, []int{0, 0}, nil},
		{"a switch", [][]int{{1, 2, 3}, nil, nil, nil}, []int{0}, nil, []int{0, 1, 2, 3}, []Sum{{0, []int{1, 2, 3}}}},
		{"several ways to one end", [][]int{{3}, {3}, {3}, nil}, []int{0, 1, 2}, nil, []int{0, 1, 2, 3}, []Sum{{3, []int{0, 1, 2}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := &Graph{tt.next, make([]bool, len(tt.next)), make([]bool, len(tt.next))}
			for _, n := range tt.entered {
				g.Entered[n] = true
			}
			for _, n := range tt.left {
				g.Left[n] = true
			}
			if diff := cmp.Diff(Frequencies{tt.class, tt.sums}, g.Frequencies()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestFrequenciesOfWalks takes ways at random through graphs made at random, and
// counts.
func TestFrequenciesOfWalks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range 5000 {
		g := randomGraph(r)
		f := g.Frequencies()
		counts := make([]int, len(g.Next))
		for range 20 {
			walk(g, r, counts)
		}
		for n, class := range f.Class {
			if n != class {
				found++
			}
			if counts[n] != counts[class] {
				t.Fatalf("%+v: %d and %d are one class; executed %v", g, n, class, counts)
			}
		}
		for _, sum := range f.Sums {
			found++
			together := 0
			for _, n := range sum.Of {
				together += counts[n]
			}
			if counts[sum.Class] != together {
				t.Fatalf("%+v: %+v; executed %v", g, sum, counts)
			}
		}
	}
	if found < 3000 {
		t.Errorf("only %d statements", found)
	}
}

func randomGraph(r *rand.Rand) *Graph {
	n := 1 + r.IntN(12)
	g := &Graph{make([][]int, n), make([]bool, n), make([]bool, n)}
	for i := range g.Next {
		for range r.IntN(3) {
			g.Next[i] = append(g.Next[i], r.IntN(n))
		}
		g.Entered[i] = i == 0 || r.IntN(8) == 0
		g.Left[i] = len(g.Next[i]) == 0 || r.IntN(8) == 0
	}
	return g
}

// walk goes from an entry until it leaves, and never stays: after many steps it
// is given up and not counted.
func walk(g *Graph, r *rand.Rand, counts []int) {
	at := r.IntN(len(g.Next))
	for !g.Entered[at] {
		at = r.IntN(len(g.Next))
	}
	way := []int{at}
	for len(way) < 1000 {
		ways := len(g.Next[at])
		if g.Left[at] {
			ways++
		}
		i := r.IntN(ways)
		if i == len(g.Next[at]) {
			for _, n := range way {
				counts[n]++
			}
			return
		}
		at = g.Next[at][i]
		way = append(way, at)
	}
}
