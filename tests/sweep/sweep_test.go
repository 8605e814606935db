package sweep

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kinst"
	"kinst/internal/isa"
	"kinst/internal/kernel"
	"kinst/internal/vm/vmtest"
)

var (
	functions = flag.Int("functions", 4, "trace so many functions")
	seed      = flag.Uint64("seed", 1, "choose them by this `number`")
)

func TestMain(m *testing.M) { vmtest.Main(m) }

const (
	// batchSites is about how many instructions are traced at a time.
	batchSites = 1500
	// watching is how long they are.
	watching = 400 * time.Millisecond
)

// TestSweep traces every instruction of a sample of functions, half of which
// the workload is known to execute. The kernel must take every probe that is
// offered and stay well, the workload's own results must be right, and the
// counts must agree with each other.
func TestSweep(t *testing.T) {
	arch, err := isa.Native()
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	log := openLog(t)
	s := &sweep{arch: arch, kernel: k, work: startWorkload(t), left: make(map[string]int)}
	var batch []*kernel.Listing
	sites := 0
	for _, f := range s.sample(t, *functions) {
		l, err := k.Listing(arch, f)
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		batch = append(batch, l)
		sites += len(l.Insts)
		if sites >= batchSites {
			s.trace(t, batch)
			log.check(t, batch)
			batch, sites = nil, 0
		}
	}
	if len(batch) > 0 {
		s.trace(t, batch)
		log.check(t, batch)
	}
	s.report(t)
}

// someExecuted is functions that the workload executes. The function tracer,
// which tells more of them, takes a minute under emulation.
var someExecuted = map[string]bool{
	"vfs_read": true, "do_filp_open": true, "pipe_write": true, "tcp_v4_rcv": true, "handle_mm_fault": true,
	"try_to_wake_up": true, "hrtimer_start_range_ns": true, "do_exit": true,
}

// sample chooses n functions whose names are theirs alone: one half among those
// that are executed, the other among all.
func (s *sweep) sample(t *testing.T, n int) []kernel.Function {
	all, err := s.kernel.Functions("", "")
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]int)
	for _, f := range all {
		names[f.Name]++
	}
	all = slices.DeleteFunc(all, func(f kernel.Function) bool { return names[f.Name] > 1 })
	executed := someExecuted
	if n > len(executed) {
		executed = traced(t, s.work)
	}
	rnd := rand.New(rand.NewPCG(*seed, 0))
	rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var chosen, others []kernel.Function
	for _, f := range all {
		if executed[f.Name] && len(chosen) < n/2 {
			chosen = append(chosen, f)
		} else {
			others = append(others, f)
		}
	}
	chosen = append(chosen, others[:n-len(chosen)]...)
	rnd.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
	return chosen
}

// A sweep is what has been seen so far.
type sweep struct {
	arch   *isa.Arch
	kernel *kernel.Kernel
	work   *workload

	functions, insts, armed int
	executed, executedInsts int
	classes, sums           int            // that were compared
	skipped                 int            // functions of which the kernel skipped hits
	left                    map[string]int // instructions by why they cannot be probed
}

// trace traces functions at once. Where the kernel had to skip hits, the counts
// do not agree: there it traces each function for itself.
func (s *sweep) trace(t *testing.T, batch []*kernel.Listing) {
	start := time.Now()
	defer func() {
		t.Logf("%d functions so far, %v for the last %d, to %s", s.functions, time.Since(start).Round(time.Second), len(batch), batch[len(batch)-1].Function.Name)
	}()
	counts, skipped := s.count(t, batch)
	for _, l := range batch {
		mine, lost := counts, skipped
		if skipped && len(batch) > 1 {
			mine, lost = s.count(t, []*kernel.Listing{l})
		}
		s.note(l, mine)
		if lost {
			s.skipped++
			continue
		}
		s.compare(t, l, mine)
	}
}

// A place is a function's name and an offset in it.
type place struct {
	function string
	offset   uint64
}

var (
	row     = regexp.MustCompile(`^\s+(\S+)\s+(\d+)\s+(\d+)$`)
	refused = regexp.MustCompile(`:\d+ is left out`)
)

// count counts the executions of each instruction of some functions, for a
// while. Skipped says that some were not counted.
func (s *sweep) count(t *testing.T, batch []*kernel.Listing) (counts map[place]int, skipped bool) {
	var probes []string
	for _, l := range batch {
		probes = append(probes, fmt.Sprintf("kinst:%s:%s:", l.Function.Module, l.Function.Name))
	}
	settings := kinst.NewSettings()
	for _, option := range []string{"quiet", "zdefs", "sites=all"} {
		if err := settings.Set(option); err != nil {
			t.Fatal(err)
		}
	}
	session, err := kinst.Open(kinst.Options{
		Settings: settings,
		Warn: func(text string) {
			skipped = true
			if !strings.Contains(text, "skipped") && !strings.Contains(text, "matched 0 probes") {
				t.Errorf("%s: %s", probes, text)
			}
		},
		Note: func(text string) {
			if refused.MatchString(text) {
				t.Error(text)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	program, err := session.Compile(ctx, kinst.Source{Text: strings.Join(probes, ",") + " {@[probefunc, probename] = count();} BEGIN {}"})
	if err == nil {
		err = session.Start(ctx, program)
	}
	var out bytes.Buffer
	if err == nil {
		// What stops the programs is a store by this thread. On one processor no
		// other one is in the midst of a run then.
		limit, cancel := context.WithTimeout(ctx, watching)
		defer cancel()
		s.work.during(func() { _, err = session.Consume(limit, &out) })
	}
	if err2 := session.Close(); err != nil || err2 != nil {
		t.Fatalf("%s: %v, %v", probes, err, err2)
	}
	counts = make(map[place]int)
	for line := range strings.Lines(out.String()) {
		if m := row.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			offset, _ := strconv.ParseUint(m[2], 10, 64)
			counts[place{m[1], offset}], _ = strconv.Atoi(m[3])
		}
	}
	return counts, skipped
}

// note adds a function to the sums.
func (s *sweep) note(l *kernel.Listing, counts map[place]int) {
	s.functions++
	s.insts += len(l.Insts)
	hit := 0
	for i := range l.Insts {
		if why := l.Unprobeable(i); why != "" {
			s.left[why]++
			continue
		}
		s.armed++
		if counts[at(l, i)] > 0 {
			hit++
		}
	}
	s.executedInsts += hit
	if hit > 0 {
		s.executed++
	}
}

func at(l *kernel.Listing, i int) place {
	return place{l.Function.Name, l.Insts[i].Addr - l.Function.Addr}
}

// compare looks whether the instructions of a class are executed equally often,
// and those of a sum together as often as its.
func (s *sweep) compare(t *testing.T, l *kernel.Listing, counts map[place]int) {
	frequencies := l.Frequencies(0)
	armed := make(map[int]int) // by class: its first instruction that is
	for i, class := range frequencies.Class {
		if l.Unprobeable(i) != "" {
			continue
		}
		first, ok := armed[class]
		if !ok {
			armed[class] = i
			if counts[at(l, i)] > 0 {
				s.classes++
			}
			continue
		}
		if a, b := counts[at(l, first)], counts[at(l, i)]; a != b {
			t.Errorf("%s: +%d was executed %d times, +%d of the same class %d times", l.Function, at(l, first).offset, a, at(l, i).offset, b)
		}
	}
	for _, sum := range frequencies.Sums {
		s.compareSum(t, l, sum, armed, counts)
	}
}

func (s *sweep) compareSum(t *testing.T, l *kernel.Listing, sum isa.Sum, armed map[int]int, counts map[place]int) {
	all, ok := armed[sum.Class]
	if !ok {
		return
	}
	var together int
	var parts []string
	for _, class := range sum.Of {
		part, ok := armed[class]
		if !ok {
			return
		}
		n := counts[at(l, part)]
		together += n
		parts = append(parts, fmt.Sprintf("+%d %d times", at(l, part).offset, n))
	}
	n := counts[at(l, all)]
	if n != together {
		t.Errorf("%s: +%d was executed %d times, and what together is executed as often, %s", l.Function, at(l, all).offset, n, strings.Join(parts, ", "))
	}
	if n > 0 {
		s.sums++
	}
}

func (s *sweep) report(t *testing.T) {
	t.Logf("%d functions, %d instructions, of which %d were armed", s.functions, s.insts, s.armed)
	for _, why := range slices.Sorted(maps.Keys(s.left)) {
		t.Logf("%d not: %s", s.left[why], why)
	}
	t.Logf("%d functions were executed, %d instructions of theirs", s.executed, s.executedInsts)
	t.Logf("%d classes of instructions and %d sums were executed and agree", s.classes, s.sums)
	t.Logf("the kernel skipped hits of %d functions, whose counts were not compared", s.skipped)
	if s.executed < s.functions/10 || s.classes == 0 || s.sums == 0 {
		t.Error("that is too little to say anything")
	}
}
