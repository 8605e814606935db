package kinst_test

import (
	"fmt"
	"strings"
	"testing"

	"kinst/internal/vm"
	"kinst/internal/vm/vmtest"
)

// inGuests runs a script in a guest of each kernel, with programs of
// testdata/user, linked statically, in its root directory. Threads of the
// guest preempt one another wherever the kernel allows.
func inGuests(t *testing.T, script string, check func(t *testing.T, r vmtest.Result), sources ...string) {
	t.Helper()
	var files []vm.File
	for _, source := range sources {
		host := build(t, source, "-static")
		files = append(files, vm.File{Host: host, Guest: "/" + strings.TrimSuffix(source, ".c")})
	}
	for _, kernel := range vmtest.Kernels() {
		t.Run(kernel, func(t *testing.T) {
			t.Parallel()
			cfg := vm.Config{Binary: vmtest.Kinst(t), Files: files, Append: "preempt=full"}
			check(t, vmtest.Run(t, kernel, script, cfg))
		})
	}
}

// TestUserGuestCounts counts in threads and children, by whichever
// way the kernel has to arm uprobes.
func TestUserGuestCounts(t *testing.T) {
	inGuests(t, `
		for args in 'add 70' 'threads 500' 'fork 100'; do
			kinst -q -n 'pid$target:a.out:add:entry {@e = count();} pid$target:a.out:add:return {@r = count();}' -c "/calls $args"
		done
		kinst -Z -q -n 'pid$target:a.out:add:entry {@ = count();}' -c '/bin/sh -c "exec /calls add 30"'
		/hazards /untraced
		kinst -q -n 'pid$target:a.out::entry,pid$target:a.out::return,pid$target:a.out:main: {@ = count();}' -c '/hazards /traced' >/dev/null
		cmp /untraced /traced && echo unharmed
		kinst -q -n 'demo$target:::step-taken {@ = sum(arg2);} demo$target:::twice {@n = count();}' -c /static && echo semaphores
		mkdir -p /t && mount -t tracefs t /t && cat /t/uprobe_events
	`, func(t *testing.T, r vmtest.Result) {
		want := "70 70 2000 2000 100 100 30 unharmed 6 6 semaphores"
		if got := strings.Join(strings.Fields(r.Stdout), " "); got != want {
			t.Errorf("got %q, want %q\n%s", got, want, r.Stderr)
		}
	}, "calls.c", "hazards.c", "static.c")
}

// TestUserGuestKilled leaves nothing behind for longer than to the next
// session.
func TestUserGuestKilled(t *testing.T) {
	inGuests(t, `
		mkdir -p /t && mount -t tracefs t /t
		/calls sleep & target=$!
		kinst -q -n "pid$target:a.out:add:entry {}" & kinst=$!
		sleep 3
		kill -9 $kinst
		sleep 1
		kinst -q -n 'pid$target:a.out:add:entry {@ = count();}' -c '/calls add 5'
		wc -l </t/uprobe_events
		kill $target
	`, func(t *testing.T, r vmtest.Result) {
		if got := strings.Fields(r.Stdout); len(got) != 2 || got[0] != "5" || got[1] != "0" {
			t.Errorf("got %q, want 5 counted and 0 events left\n%s", got, r.Stderr)
		}
	}, "calls.c")
}

// TestUserGuestPreempted records whole records while threads preempt one
// another in the middle of it.
func TestUserGuestPreempted(t *testing.T) {
	const d = `pid$target:a.out:hit:entry {printf("%d %d %d %s\n", arg0, arg1, arg2, copyinstr(arg3));}`
	inGuests(t, `kinst -q -b 16m -n '`+d+`' -c /race`, func(t *testing.T, r vmtest.Result) {
		hits := make(map[string]bool)
		for line := range strings.Lines(r.Stdout) {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			var thread, n, sum int
			var name string
			_, err := fmt.Sscan(line, &thread, &n, &sum, &name)
			if err != nil || sum != thread*1000003+n || name != strings.Repeat(string(rune('a'+thread)), 150+thread) {
				t.Errorf("a record that nobody made: %q", line)
			}
			hits[fmt.Sprint(thread, " ", n)] = true
		}
		if len(hits) != 16*2000 && !strings.Contains(r.Stderr, "drops") {
			t.Errorf("%d records, want %d\n%s", len(hits), 16*2000, r.Stderr)
		}
	}, "race.c")
}
