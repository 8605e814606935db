package kernel

import "kinst/internal/isa"

// A Branch is a conditional jump that is the only way to both of its
// successors: how often they are executed adds up to how often it is.
type Branch struct {
	Jump, Taken, Next int // indexes of Listing.Insts
}

// Branches returns the conditional jumps of which that can be proved, as Runs
// proves what it says.
func (l *Listing) Branches() []Branch {
	_, to, ok1 := l.codePairs()
	blocks, ok2 := l.blocks()
	entries, ok3 := l.entries(to)
	if !ok1 || !ok2 || !ok3 || l.Rest != nil || !l.isTraceable() {
		return nil
	}
	ways := make(map[uint64]int) // within the function
	for _, b := range blocks {
		for _, e := range b.Edges {
			ways[e.Target]++
		}
	}
	var branches []Branch
	for _, b := range blocks {
		last := &b.Insts[len(b.Insts)-1]
		if !last.Kind.Is(isa.Jump | isa.Conditional) {
			continue
		}
		jump, _ := l.Find(last.Addr)
		taken, ok1 := l.Find(last.Target)
		next, ok2 := l.Find(last.End())
		isOnlyWay := func(addr uint64) bool { return ways[addr] == 1 && !entries[addr] }
		if ok1 && ok2 && isOnlyWay(last.Target) && isOnlyWay(last.End()) {
			branches = append(branches, Branch{jump, taken, next})
		}
	}
	return branches
}
