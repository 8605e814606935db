package kernel

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

const tracefs = "/sys/kernel/tracing/"

// armByHand puts kprobes on every step-th instruction of the listing, and
// waits until those that can be are optimized.
func armByHand(t *testing.T, group string, l *Listing, first, step int) {
	t.Helper()
	k := open(t)
	syms, err := k.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	text, _ := syms.Data("_text")
	var lines strings.Builder
	for i := first; i < len(l.Insts); i += step {
		if l.Unprobeable(i) == "" {
			fmt.Fprintf(&lines, "p:%s/e _text+%d\n", group, l.Insts[i].Addr-text)
		}
	}
	writeFile(t, tracefs+"kprobe_events", lines.String())
	t.Cleanup(func() {
		writeFile(t, tracefs+"events/"+group+"/e/enable", "0")
		writeFile(t, tracefs+"kprobe_events", "-:"+group+"/e\n")
	})
	writeFile(t, tracefs+"events/"+group+"/e/enable", "1")
}

func sameListing(t *testing.T, was, is *Listing) {
	t.Helper()
	if len(was.Insts) != len(is.Insts) {
		t.Errorf("%d instructions, were %d", len(is.Insts), len(was.Insts))
		return
	}
	for i := range was.Insts {
		if a, b := was.Insts[i], is.Insts[i]; a.Addr != b.Addr || !bytes.Equal(a.Bytes, b.Bytes) {
			t.Errorf("+%d: % x, was at +%d: % x", b.Addr-is.Function.Addr, b.Bytes, a.Addr-was.Function.Addr, a.Bytes)
		}
	}
}

func TestListingIsWithoutProbes(t *testing.T) {
	for _, step := range []int{1, 7} {
		for _, name := range []string{"vfs_read", "do_sys_openat2"} {
			t.Run(fmt.Sprintf("%s every %d", name, step), func(t *testing.T) {
				k := open(t)
				was := list(t, k, name)
				armByHand(t, "byhand", was, step-1, step)
				live, err := k.LiveText(was.Function.Addr, int(was.End()-was.Function.Addr))
				if err != nil {
					t.Fatal(err)
				}
				differs := 0
				for _, in := range was.Insts {
					if live[in.Addr-was.Function.Addr] != in.Bytes[0] {
						differs++
					}
				}
				if differs == 0 {
					t.Fatal("the probes have changed nothing")
				}
				// From breakpoints to jumps, which takes the kernel a while.
				optimized := 0
				for end := time.Now().Add(time.Second); time.Now().Before(end); {
					sameListing(t, was, list(t, k, name))
					optimized = strings.Count(readFile(t, "/sys/kernel/debug/kprobes/list"), "[OPTIMIZED]")
				}
				t.Logf("%d of %d instructions were changed at first, then %d probes optimized", differs, len(was.Insts), optimized)
				if optimized == 0 {
					t.Error("no probe was optimized")
				}
			})
		}
	}
}

func TestListingUnderSeveralProbes(t *testing.T) {
	k := open(t)
	was := list(t, k, "vfs_read")
	armByHand(t, "first", was, 0, 2)
	armByHand(t, "second", was, 0, 3)
	sameListing(t, was, list(t, k, "vfs_read"))
	time.Sleep(300 * time.Millisecond)
	sameListing(t, was, list(t, k, "vfs_read"))
}

func TestListingUnderFunctionTracer(t *testing.T) {
	k := open(t)
	was := list(t, k, "vfs_read")
	writeFile(t, tracefs+"set_ftrace_filter", "vfs_read\n")
	writeFile(t, tracefs+"current_tracer", "function")
	defer func() {
		writeFile(t, tracefs+"current_tracer", "nop")
		writeFile(t, tracefs+"set_ftrace_filter", "!vfs_read\n")
	}()
	is := list(t, k, "vfs_read")
	sameListing(t, was, is)
	live, err := k.LiveText(was.Function.Addr, int(was.End()-was.Function.Addr))
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range was.Insts {
		if !bytes.HasPrefix(live[in.Addr-was.Function.Addr:], in.Bytes) != (in.Addr == was.entry()) {
			t.Errorf("+%d: % x, while the tracer is on % x", in.Addr-was.Function.Addr, in.Bytes, live[in.Addr-was.Function.Addr:][:in.Len])
		}
	}
}

// While probes come and go, a listing is right or an error.
func TestListingWhileProbesChange(t *testing.T) {
	k := open(t)
	was := list(t, k, "vfs_read")
	armByHand(t, "flicker", was, 0, 2)
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			writeFile(t, tracefs+"events/flicker/e/enable", fmt.Sprint(i%2))
			time.Sleep(time.Duration(i%40) * time.Millisecond)
		}
	}()
	good, unsettled := 0, 0
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end) && good < 40; {
		l, err := k.Listing(native(t), was.Function)
		if err != nil {
			t.Log(err)
			unsettled++
			continue
		}
		good++
		sameListing(t, was, l)
	}
	close(stop)
	<-done
	t.Logf("%d listings, %d times unsettled", good, unsettled)
	if good < 10 {
		t.Error("hardly any listing came about")
	}
}

// Every place that the kernel refuses has a reason known beforehand, and no
// other has.
func TestReasons(t *testing.T) {
	k := open(t)
	syms, err := k.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	text, _ := syms.Data("_text")
	reasons := map[string]int{}
	for _, name := range []string{"vfs_read", "vfs_write", "do_sys_openat2", "schedule", "__schedule", "try_to_wake_up",
		"do_syscall_64", "finish_task_switch*", "kmem_cache_alloc*", "copy_process", "tcp_sendmsg_locked", "do_exit", "exc_page_fault", "kprobe_int3_handler"} {
		functions, err := k.Functions("", name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range functions {
			l, err := k.Listing(native(t), f)
			if err != nil {
				t.Fatal(err)
			}
			for i, in := range l.Insts {
				why := l.Unprobeable(i)
				reasons[why]++
				if why == "" && i%15 != 0 {
					continue // for time's sake
				}
				err := define(fmt.Sprintf("p:reason/e _text+%d\n", in.Addr-text))
				if (err != nil) != (why != "") {
					t.Errorf("%s+%d % x: expected %q, the kernel says %v", f, in.Addr-f.Addr, in.Bytes, why, err)
				}
			}
		}
	}
	for why, n := range reasons {
		t.Logf("%d: %s", n, why)
	}
	writeFile(t, "/sys/kernel/rcu_expedited", "1")
	writeFile(t, tracefs+"kprobe_events", "-:reason/e\n")
	writeFile(t, "/sys/kernel/rcu_expedited", "0")
}
