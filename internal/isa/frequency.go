package isa

import "slices"

// A Graph is pieces of code and how control goes from each to others. A piece
// that control enters is executed to its end.
type Graph struct {
	Next    [][]int // by piece: those that may be executed next
	Entered []bool  // by piece: control may also come to it from elsewhere
	Left    []bool  // by piece: control may also go elsewhere from it
}

// Frequencies says what the numbers of executions of pieces of code have to do
// with one another.
type Frequencies struct {
	// Class gives for each piece the first of those that are executed equally
	// often.
	Class []int
	// Sums are classes that are executed as often as others together.
	Sums []Sum
}

// A Sum is a class of pieces and those of which exactly one is executed
// whenever it is.
type Sum struct {
	Class int
	Of    []int
}

// Frequencies finds out what can be said of the numbers of executions without
// knowing which ways control takes. Nothing is said across loops: what is
// executed equally often is so on the way through, however long control stays
// in a loop.
//
// Two pieces of a graph without loops are executed equally often if one
// dominates the other, and this one postdominates it: then no way from
// elsewhere to elsewhere leads through one of them alone.
func (g *Graph) Frequencies() Frequencies {
	f := newFlow(g)
	dominator := dominators(f.order, f.prev, f.entered)
	backwards := slices.Clone(f.order)
	slices.Reverse(backwards)
	postdominator := dominators(backwards, f.next, f.left)
	class := make([]int, len(g.Next))
	for _, n := range f.order {
		class[n] = n
		if d := dominator[n]; d != elsewhere && postdominator[d] == n {
			class[n] = class[d]
		}
	}
	class = firstOfClass(class)
	return Frequencies{class, f.sums(class)}
}

// firstOfClass names classes, each by any of its pieces, by the first.
func firstOfClass(class []int) []int {
	first := make(map[int]int)
	named := make([]int, len(class))
	for n, c := range class {
		if _, ok := first[c]; !ok {
			first[c] = n
		}
		named[n] = first[c]
	}
	return named
}

// A flow is a graph without its loops: the ways back are ways out and in.
type flow struct {
	next, prev    [][]int
	entered, left []bool
	order         []int // every piece behind all from where control may come to it
}

func newFlow(g *Graph) *flow {
	n := len(g.Next)
	f := &flow{make([][]int, n), make([][]int, n), slices.Clone(g.Entered), slices.Clone(g.Left), nil}
	f.cutLoops(g)
	for from, nexts := range f.next {
		for _, to := range nexts {
			f.prev[to] = append(f.prev[to], from)
		}
	}
	for i := range f.next {
		f.left[i] = f.left[i] || len(f.next[i]) == 0
		f.entered[i] = f.entered[i] || len(f.prev[i]) == 0
	}
	return f
}

// cutLoops takes over the edges of a graph but those that lead back, and finds
// an order of the pieces.
func (f *flow) cutLoops(g *Graph) {
	const (
		unseen = iota
		open   // control may come back to it from what is being visited
		closed
	)
	state := make([]byte, len(g.Next))
	type visit struct{ piece, edge int }
	var stack []visit
	enter := func(piece int) {
		state[piece] = open
		stack = append(stack, visit{piece, 0})
	}
	for root := range g.Next {
		if state[root] == unseen {
			enter(root)
		}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.edge == len(g.Next[top.piece]) {
				state[top.piece] = closed
				f.order = append(f.order, top.piece)
				stack = stack[:len(stack)-1]
				continue
			}
			from, to := top.piece, g.Next[top.piece][top.edge]
			top.edge++
			if state[to] == open {
				f.left[from], f.entered[to] = true, true
				continue
			}
			if !slices.Contains(f.next[from], to) {
				f.next[from] = append(f.next[from], to)
			}
			if state[to] == unseen {
				enter(to)
			}
		}
	}
	slices.Reverse(f.order)
}

// elsewhere dominates the pieces that no single other one does.
const elsewhere = -1

// dominators returns for each piece the last of those that are on all ways to
// it. The order has each piece behind those before it.
func dominators(order []int, before [][]int, outer []bool) []int {
	dominator := make([]int, len(order))
	depth := make([]int, len(order))
	common := func(a, b int) int {
		for a != b {
			if a == elsewhere || b == elsewhere {
				return elsewhere
			}
			if depth[a] < depth[b] {
				a, b = b, a
			}
			a = dominator[a]
		}
		return a
	}
	for _, n := range order {
		d := elsewhere
		if !outer[n] {
			d = before[n][0]
			for _, b := range before[n][1:] {
				d = common(d, b)
			}
		}
		dominator[n] = d
		if d != elsewhere {
			depth[n] = depth[d] + 1
		}
	}
	return dominator
}

// sums finds the pieces from where control can only go on to several others,
// which it comes to from nowhere else, and the other way round.
func (f *flow) sums(class []int) []Sum {
	var sums []Sum
	add := func(n int, outer bool, parts []int, back [][]int, partOuter []bool) {
		if outer || len(parts) < 2 {
			return
		}
		sum := Sum{Class: class[n]}
		for _, p := range parts {
			if partOuter[p] || len(back[p]) != 1 {
				return
			}
			sum.Of = append(sum.Of, class[p])
		}
		sums = append(sums, sum)
	}
	for n := range f.next {
		add(n, f.left[n], f.next[n], f.prev, f.entered)
		add(n, f.entered[n], f.prev[n], f.next, f.left)
	}
	return sums
}
