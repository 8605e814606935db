package tests

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A nop is a jump label or a static call that leads nowhere just now: kprobes
// are refused there, and what follows it is executed as often, with the same
// registers, unless a branch leads there.
type nop struct{ function, offset, next string }

// marked matches such an instruction in a listing without bytes.
var marked = regexp.MustCompile(`(?m)^! .*<\+(\d+)>:\t(?:nop.*|xchg   %ax,%ax)\t! it is a (?:jump label|static call)`)

// nops finds those of some functions.
func nops(t *testing.T, functions ...string) (found []nop) {
	t.Helper()
	for _, f := range functions {
		listing := kinst(t, "disas", "-b", f)
		lines := strings.Split(listing, "\n")
		for i, line := range lines[:len(lines)-1] {
			m, next := marked.FindStringSubmatch(line), inst.FindStringSubmatch(lines[i+1])
			if m != nil && next != nil && !regexp.MustCompile(`\tj[^m]\w* .*<`+f+`\+`+next[1]+`>`).MatchString(listing) {
				found = append(found, nop{f, m[1], next[1]})
			}
		}
	}
	return found
}

const copyZeros = "dd if=/dev/zero of=/dev/null bs=4321 count=300"

// TestBreakpoints traces what kprobes are refused on.
func TestBreakpoints(t *testing.T) {
	executed := 0
	for some := range slices.Chunk(nops(t, "kmem_cache_free", "handle_mm_fault"), 4) {
		executed += compareNops(t, some)
	}
	if executed == 0 {
		t.Error("none of them was executed")
	}
}

// compareNops traces up to four nops and what follows each, and returns how
// many were executed.
func compareNops(t *testing.T, nops []nop) (executed int) {
	var program strings.Builder
	for _, n := range nops {
		registers := []string{"RAX", "RBX", "RCX", "RDX", "RSI", "RDI", "RBP", "RSP", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15"}
		for i, r := range registers {
			registers[i] = fmt.Sprintf("regs[R_%s]", r)
		}
		fmt.Fprintf(&program, `kinst::%[1]s:%[2]s,kinst::%[1]s:%[3]s /execname == "dd" && self->n < 2000/ {
			self->n++;
			@[probefunc, probename] = count();
			printf("%%s %%d:%[4]s\n", probefunc, regs[R_RIP]%[5]s);
		}`, n.function, n.offset, n.next, strings.Repeat(" %x", len(registers)), " - (uint64_t)&`"+n.function+", "+strings.Join(registers, ", "))
	}
	out := kinst(t, "-q", "-n", program.String(), "-c", copyZeros)
	for _, n := range nops {
		here := linesOf(out, n.function+" "+n.offset+":")
		there := linesOf(out, n.function+" "+n.next+":")
		if strings.Join(here, "\n") != strings.Join(there, "\n") {
			t.Errorf("%s+%s and what follows it, +%s, are not executed alike:\n%d: %.300q\n%d: %.300q",
				n.function, n.offset, n.next, len(here), here, len(there), there)
		}
		if len(here) > 0 {
			executed++
			t.Logf("%s+%s was executed %d times", n.function, n.offset, len(here))
		}
	}
	return executed
}

// linesOf returns the rest of the lines that begin with a prefix, in the order
// of their contents.
func linesOf(text, prefix string) (lines []string) {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			lines = append(lines, strings.TrimSpace(rest))
		}
	}
	slices.Sort(lines) // an interrupt between two instructions may execute both
	return lines
}

// TestFifthBreakpoint: there are four, and which probes take one is said
// under -v.
func TestFifthBreakpoint(t *testing.T) {
	found := nops(t, "kmem_cache_free", "handle_mm_fault", "exit_mmap", "try_to_wake_up", "vm_mmap_pgoff", "dequeue_task_fair", "mprotect_fixup", "tcp_sendmsg_locked")
	if len(found) < 5 {
		t.Fatalf("only %d instructions that kprobes are refused on", len(found))
	}
	var probes []string
	for _, n := range found[:5] {
		probes = append(probes, fmt.Sprintf("kinst::%s:%s", n.function, n.offset))
	}
	run := func(n int) (string, error) {
		out, err := kinstCommand("-v", "-q", "-n", strings.Join(probes[:n], ",")+", BEGIN {exit(0);}").CombinedOutput()
		return string(out), err
	}
	out, err := run(4)
	if err != nil || strings.Count(out, "takes a hardware breakpoint: ") != 4 {
		t.Errorf("four: %v\n%s", err, out)
	}
	out, err = run(5)
	want := probes[4] + ": a hardware breakpoint: all hardware breakpoints of the processor, four on x86, are in use"
	if err == nil || !strings.Contains(out, want) {
		t.Errorf("five: %v\n%s", err, out)
	}
}
