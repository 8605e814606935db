package sched_test

import (
	"maps"
	"strconv"
	"strings"
	"testing"

	"kinst/internal/provider/tracetest"
	"kinst/internal/vm/vmtest"
)

// TestMain runs the tests in guests, whose kernels have kprobes: some probes
// are made of functions.
func TestMain(m *testing.M) { vmtest.Main(m) }

// counts reads lines of a word and a number.
func counts(t *testing.T, program, command string) map[string]int {
	t.Helper()
	m := make(map[string]int)
	for line := range maps.Keys(tracetest.Lines(t, program, command)) {
		word, n, _ := strings.Cut(line, " ")
		m[word], _ = strconv.Atoi(n)
	}
	return m
}

// TestSleeper watches a process that sleeps ten times. The aggregations have
// no keys: those that have can lose counts where one probe fires while another
// one's program is adding to them.
func TestSleeper(t *testing.T) {
	const program = `
sched:::on-cpu /pid == $target/ { @on = count(); self->on = 1; }
sched:::off-cpu /pid == $target && self->on/ { @off = count(); self->on = 0; }
sched:::off-cpu /args[1]->pr_pid == $target/ { @next = count(); }
sched:::sleep /pid == $target/ { @sleep = count(); }
sched:::preempt /pid == $target/ { @preempt = count(); }
sched:::wakeup /args[1]->pr_pid == $target && args[0]->pr_name == "sh"/ { @wakeup = count(); }
END {
	printa("on-cpu %@d\n", @on); printa("off-cpu %@d\n", @off); printa("next %@d\n", @next);
	printa("sleep %@d\n", @sleep); printa("preempt %@d\n", @preempt); printa("wakeup %@d\n", @wakeup);
}
`
	got := counts(t, program, "sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do usleep 10000; done'")
	if got["sleep"] < 10 || got["wakeup"] < got["sleep"]-1 {
		t.Errorf("it slept %d times and was woken %d times, want 10 and more", got["sleep"], got["wakeup"])
	}
	if got["on-cpu"] != got["off-cpu"] && got["on-cpu"] != got["off-cpu"]+1 {
		t.Errorf("on-cpu %d, off-cpu %d", got["on-cpu"], got["off-cpu"])
	}
	// The first time may have been before.
	if d := got["next"] - got["on-cpu"]; d < -1 || d > 1 {
		t.Errorf("switched to %d times, but %d times on-cpu", got["next"], got["on-cpu"])
	}
	if got["off-cpu"] < got["sleep"] {
		t.Errorf("off-cpu %d, sleep %d", got["off-cpu"], got["sleep"])
	}
}

// TestQueues watches the run queues.
func TestQueues(t *testing.T) {
	const program = `
sched:::enqueue /args[1]->pr_pid == $target/ { @enqueue = count(); }
sched:::enqueue /args[1]->pr_pid == $target && args[2]->cpu_id == 0/ { @cpu0 = count(); }
sched:::dequeue /args[1]->pr_pid == $target/ { @dequeue = count(); }
sched:::tick { @tick = count(); }
END {
	printa("enqueue %@d\n", @enqueue); printa("cpu0 %@d\n", @cpu0);
	printa("dequeue %@d\n", @dequeue); printa("tick %@d\n", @tick);
}
`
	got := counts(t, program, "sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do usleep 10000; done'")
	if got["enqueue"] < 10 || got["dequeue"] < 10 || got["cpu0"] != got["enqueue"] {
		t.Errorf("queued %v", got)
	}
	if got["tick"] < 10 {
		t.Errorf("%d ticks in a tenth of a second", got["tick"])
	}
}
