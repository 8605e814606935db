package codegen

import "github.com/cilium/ebpf/asm"

// prune drops what cannot be reached, which the verifier refuses, and jumps to
// the next instruction.
func prune(list []ins) []ins {
	live := reachable(list)
	out := list[:0]
	for n := range list {
		if live[n] {
			out = append(out, list[n])
		}
	}
	return withoutIdleJumps(out)
}

// reachable marks the instructions that control can reach.
func reachable(list []ins) []bool {
	places := make(map[label]int)
	for n := range list {
		if list[n].kind == place {
			places[list[n].to] = n
		}
	}
	live := make([]bool, len(list))
	for work := []int{0}; len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for n < len(list) && !live[n] {
			live[n] = true
			i := &list[n]
			if i.kind == jump {
				work = append(work, places[i.to])
			}
			if i.kind == exit || i.isGoto() {
				break
			}
			n++
		}
	}
	return live
}

// isGoto reports whether the instruction jumps always.
func (i *ins) isGoto() bool { return i.kind == jump && i.op.JumpOp() == asm.Ja }

// withoutIdleJumps drops jumps over nothing.
func withoutIdleJumps(list []ins) []ins {
	out := make([]ins, 0, len(list))
	for n := range list {
		if list[n].isGoto() && follows(list[n+1:], list[n].to) {
			continue
		}
		out = append(out, list[n])
	}
	return out
}

// follows reports whether a label stands before the next instruction.
func follows(list []ins, l label) bool {
	for n := range list {
		if list[n].kind != place {
			return false
		}
		if list[n].to == l {
			return true
		}
	}
	return false
}
