package arm

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// Until the first jump every instruction is executed as often as the first.
func TestEveryExecutionCounts(t *testing.T) {
	k := openKernel(t)
	s := openSession(t, k)
	l := listing(t, k, "vfs_read")
	c := kprobeCounter(t)
	g, refused := mustArm(t, s, sitesOf(t, k, "vfs_read"), c.prog)
	if len(refused) > 0 {
		t.Error(describe(refused))
	}
	readZeros(t, 1000)
	if err := g.Disarm(); err != nil {
		t.Error(err)
	}
	if a := armed(t); a != "" {
		t.Errorf("armed after Disarm:\n%s", a)
	}
	n := c.at(t, l.Landing(0))
	if n < 1000 {
		t.Fatalf("%d executions for 1000 reads", n)
	}
	for i, in := range l.Insts {
		if got := c.at(t, l.Landing(i)); got != n {
			t.Errorf("+%d executed %d times, the first %d", in.Addr-l.Function.Addr, got, n)
		}
		if in.HasTarget() || !in.FallsThrough() {
			break
		}
	}
	readZeros(t, 10)
	if got := c.at(t, l.Landing(0)); got != n {
		t.Errorf("%d executions counted after Disarm", got-n)
	}
}

func TestRefusalsDoNotSpoilTheRest(t *testing.T) {
	k := openKernel(t)
	s := openSession(t, k)
	l := listing(t, k, "vfs_read")
	f := l.Function
	var every []Site
	boundaries, good := 0, sitesOf(t, k, "vfs_read")
	for addr := l.Landing(0); addr < l.End(); addr++ {
		every = append(every, Site{Module: f.Module, Symbol: f.Name, Base: f.Addr, Offset: addr - f.Addr})
		if _, ok := l.Find(addr); ok {
			boundaries++
		}
	}
	c := kprobeCounter(t)
	var told []int
	g, refused, err := s.Arm(context.Background(), []*ebpf.Program{c.prog}, every, func(done, total int) {
		if total != len(every) {
			t.Errorf("progress of %d sites, not %d", total, len(every))
		}
		told = append(told, done)
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := len(every) - len(good); len(refused) != want {
		t.Errorf("%d of %d places refused, %d should be", len(refused), len(every), want)
	}
	middle := 0
	for _, r := range refused {
		if errors.Is(r, unix.EILSEQ) && strings.Contains(r.Error(), "not an instruction boundary") {
			middle++
		} else if !errors.Is(r, unix.EINVAL) {
			t.Errorf("%v", r)
		}
	}
	// Some breakpoints and jump labels say that they are something else first.
	if want := len(every) - boundaries; middle < want*9/10 {
		t.Errorf("%d of %d places that are no instruction were refused as such", middle, want)
	}
	if len(told) == 0 || told[len(told)-1] != len(every) {
		t.Errorf("progress ended with %v", told)
	}
	readZeros(t, 10)
	if n := c.at(t, good[2].Addr()); n < 10 {
		t.Errorf("%d executions counted of 10", n)
	}
	if err := g.Disarm(); err != nil {
		t.Error(err)
	}
}

func TestSeveralProgramsOnOneSite(t *testing.T) {
	k := openKernel(t)
	s := openSession(t, k)
	a, b := kprobeCounter(t), kprobeCounter(t)
	sites := sitesOf(t, k, "vfs_read")
	mustArm(t, s, sites, a.prog, b.prog)
	at := sites[2].Addr()
	// One is there before the other, and the test reads on its own, too.
	aBefore, bBefore := a.at(t, at), b.at(t, at)
	readZeros(t, 10)
	aRan, bRan := a.at(t, at)-aBefore, b.at(t, at)-bBefore
	if aRan != bRan || aRan < 10 {
		t.Errorf("the programs ran %d and %d times for 10 executions", aRan, bRan)
	}
}

func TestOverlappingSessions(t *testing.T) {
	k := openKernel(t)
	var counters []*counter
	sites := sitesOf(t, k, "vfs_read")
	for range 5 {
		s := openSession(t, k)
		c := kprobeCounter(t)
		mustArm(t, s, sites, c.prog)
		counters = append(counters, c)
	}
	readZeros(t, 100)
	at := sites[2].Addr()
	for i, c := range counters {
		if n := c.at(t, at); n < 100 {
			t.Errorf("session %d counts %d executions of 100", i, n)
		}
	}
}

func TestCancelTakesOut(t *testing.T) {
	k := openKernel(t)
	s := openSession(t, k)
	sites := sitesOf(t, k, "do_sys_openat2")
	sites = append(sites, sitesOf(t, k, "vfs_read")...)
	ctx, cancel := context.WithCancel(context.Background())
	c := kprobeCounter(t)
	var cancelled time.Time
	_, _, err := s.Arm(ctx, []*ebpf.Program{c.prog}, sites, func(done, total int) {
		if done > 100 && cancelled.IsZero() {
			cancel()
			cancelled = time.Now()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Arm returned %v", err)
	}
	if d := time.Since(cancelled); d > 10*time.Second {
		t.Errorf("taking out took %v", d)
	}
	if a := armed(t) + definitions(t); a != "" {
		t.Errorf("left after cancelling:\n%s", a)
	}
}

// The first sites of all events come before the others, also where the kernel
// refuses some.
func TestFirstSitesFirst(t *testing.T) {
	k := openKernel(t)
	s := openSession(t, k)
	s.perEvent = 20
	sites := sitesOf(t, k, "do_sys_openat2")
	inside := sites[1] // no instruction
	for l := listing(t, k, "do_sys_openat2"); ; inside.Offset++ {
		if _, ok := l.Find(inside.Addr()); !ok {
			break
		}
	}
	sites = slices.Insert(sites, 20, inside, inside)
	sites[21].Offset = 1 << 28
	c := kprobeCounter(t)
	g, refused := mustArm(t, s, sites, c.prog)
	if len(refused) != 2 || refused[0].Site != sites[20] || refused[1].Site != sites[21] {
		t.Errorf("refused: %s", describe(refused))
	}
	lines := strings.Split(strings.TrimSpace(definitions(t)), "\n")
	if len(lines) != len(sites)-2 {
		t.Errorf("%d sites are defined, not %d", len(lines), len(sites)-2)
	}
	first := make(map[string]bool)
	for i, line := range lines {
		name, _, _ := strings.Cut(line, " ")
		if i >= len(g.events) && !first[name] || i < len(g.events) && first[name] {
			t.Errorf("line %d of the definitions, of %d events, is %s", i, len(g.events), line)
		}
		first[name] = true
	}
	if want := (len(sites) + 19) / 20; len(g.events) != want {
		t.Errorf("%d events, not %d", len(g.events), want)
	}
}

// Somebody unmounts tracefs: what is armed keeps counting, more can be armed,
// and all is taken out.
func TestTracefsUnmounted(t *testing.T) {
	const dir = "/sys/kernel/tracing"
	k := openKernel(t)
	s := openSession(t, k)
	c := kprobeCounter(t)
	sites := sitesOf(t, k, "vfs_read")
	g, _ := mustArm(t, s, sites[:20], c.prog)
	if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
		t.Fatal(err)
	}
	mountAgain := func() {
		if err := unix.Mount("tracefs", dir, "tracefs", 0, ""); err != nil {
			t.Fatal(err)
		}
	}
	mounted := false
	t.Cleanup(func() {
		if !mounted {
			mountAgain()
		}
	})
	before := c.at(t, sites[2].Addr())
	readZeros(t, 100)
	if n := c.at(t, sites[2].Addr()) - before; n < 100 {
		t.Errorf("%d executions counted of 100", n)
	}
	if missed, err := g.Missed(); err != nil || missed != 0 {
		t.Errorf("missed %d, %v", missed, err)
	}
	// In the middle of an instruction: the kernel's words come from tracefs too.
	inside := sites[2]
	inside.Offset++
	more, refused := mustArm(t, s, []Site{sites[21], inside}, c.prog)
	if len(refused) != 1 || !strings.Contains(refused[0].Error(), "the kernel says") {
		t.Errorf("refused: %s", describe(refused))
	}
	before = c.at(t, sites[21].Addr())
	readZeros(t, 100)
	if n := c.at(t, sites[21].Addr()) - before; n < 100 {
		t.Errorf("%d executions counted of 100 at what was armed since", n)
	}
	if err := errors.Join(g.Disarm(), more.Disarm()); err != nil {
		t.Error(err)
	}
	other := openSession(t, k) // finds one of its own
	g, _ = mustArm(t, other, sites[:1], c.prog)
	if err := g.Disarm(); err != nil {
		t.Error(err)
	}
	if removed, err := Clean(); err != nil || len(removed) > 0 {
		t.Errorf("cleaning removed %v, %v", removed, err)
	}
	mountAgain()
	mounted = true
	if left := armed(t) + definitions(t); left != "" {
		t.Errorf("left:\n%.500s", left)
	}
}

func TestNoSuchKernelText(t *testing.T) {
	k := openKernel(t)
	s := openSession(t, k)
	c := kprobeCounter(t)
	_, refused := mustArm(t, s, []Site{{Module: "vmlinux", Symbol: "nowhere", Base: listing(t, k, "vfs_read").Function.Addr, Offset: 1 << 28}}, c.prog)
	if len(refused) != 1 {
		t.Fatalf("%d refusals", len(refused))
	}
	t.Log(refused[0])
	if _, _, err := s.Arm(context.Background(), []*ebpf.Program{c.prog}, []Site{{Module: "no_such_module", Symbol: "f", Base: 1}}, nil); err == nil ||
		!strings.Contains(err.Error(), "module no_such_module is not loaded") {
		t.Errorf("%v", err)
	}
}

// BenchmarkArm arms and disarms 1,000 sites, beside the kernel's floor: writing
// the same lines to kprobe_events. It reports milliseconds and the ratio.
func BenchmarkArm(b *testing.B) {
	k := openKernel(b)
	s := openSession(b, k)
	c := kprobeCounter(b)
	var sites []Site
	for _, name := range []string{"vfs_read", "vfs_write", "do_sys_openat2", "link_path_walk*", "do_mmap", "copy_process"} {
		sites = append(sites, sitesOf(b, k, name)...)
	}
	sites = takenOf(b, s, sites)[:1000]
	var lines strings.Builder
	for _, site := range sites {
		place, err := k.Place(site.Module, site.Addr())
		if err != nil {
			b.Fatal(err)
		}
		lines.WriteString("p:floor/e " + place + "\n")
	}
	var floor, arm, disarm time.Duration
	for b.Loop() {
		floor += measure(func() { appendFile(b, lines.String()) })
		back := s.knobs.turn(expedited, unoptimized)
		appendFile(b, "-:floor/e\n")
		back()

		var g *Group
		arm += measure(func() { g, _ = mustArm(b, s, sites, c.prog) })
		disarm += measure(func() {
			if err := g.Disarm(); err != nil {
				b.Error(err)
			}
		})
	}
	runs := float64(b.N)
	b.ReportMetric(float64(floor.Milliseconds())/runs, "floor-ms")
	b.ReportMetric(float64(arm.Milliseconds())/runs, "arm-ms")
	b.ReportMetric(float64(disarm.Milliseconds())/runs, "disarm-ms")
	b.ReportMetric(float64(arm)/float64(floor), "arm/floor")
}

// takenOf returns the sites that the kernel does not refuse.
func takenOf(t testing.TB, s *Session, sites []Site) []Site {
	t.Helper()
	g, refused := mustArm(t, s, sites)
	if err := g.Disarm(); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(sites, func(site Site) bool {
		return slices.ContainsFunc(refused, func(r Refusal) bool { return r.Site == site })
	})
}

func measure(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func appendFile(t testing.TB, text string) {
	t.Helper()
	f, err := os.OpenFile("/sys/kernel/tracing/kprobe_events", os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Error(err)
	}
}

// Every return counts, also through a jump to another function, and whatever
// waits for it.
func TestReturns(t *testing.T) {
	k := openKernel(t)
	s := openSession(t, k)
	f, err := k.Functions("vmlinux", "vfs_read")
	if err != nil {
		t.Fatal(err)
	}
	c := kprobeCounter(t)
	g, refused := mustArm(t, s, []Site{{Module: f[0].Module, Symbol: f[0].Name, Base: f[0].Addr, Return: true}}, c.prog)
	if len(refused) > 0 {
		t.Fatal(describe(refused))
	}
	before := c.total(t)
	readZeros(t, 1000)
	if n := c.total(t) - before; n < 1000 {
		t.Errorf("%d returns for 1000 reads", n)
	}
	if missed, err := g.Missed(); missed != 0 || err != nil {
		t.Errorf("missed %d, %v", missed, err)
	}
	if err := g.Disarm(); err != nil {
		t.Error(err)
	}
	if a := armed(t); a != "" {
		t.Errorf("armed after Disarm:\n%s", a)
	}
}

func TestMaxActive(t *testing.T) {
	for _, test := range []struct{ functions, want int }{{1, 512}, {128, 512}, {1000, 65}, {30000, 16}} {
		if got := maxActive(test.functions); got != test.want {
			t.Errorf("%d functions: %d, want %d", test.functions, got, test.want)
		}
	}
}

func TestSumProfile(t *testing.T) {
	const text = `  s12_1                                                       5               2
  s12_1                                                       5               1
  s13_1                                                       5               7
`
	if hits, missed, err := sumProfile(text, map[string]bool{"s12_1": true}); hits != 10 || missed != 3 || err != nil {
		t.Errorf("got %d, %d, %v, want 10, 3", hits, missed, err)
	}
}
