// Arming measures how long it takes to put a probe on every instruction of a
// function and to take all out again, in a guest of each kernel: for kinst, for
// bpftrace on the same sites, for one perf kprobe per site, and for the same
// lines written to kprobe_events by cat, which is the kernel's floor. It fails
// when kinst is beyond its limits.
//
//	go run ./bench/arming [-kinst PATH] [-bound DURATION] [-functions PATTERN] [KERNEL...]
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"kinst/bench/internal/guest"
	"kinst/internal/arm"
	"kinst/internal/kernel"
	"kinst/internal/vm"
)

// Limits.
const (
	mostOfFloor     = 1.3 // times the floor that arming itself takes
	bpftraceAtLeast = 15  // times less than bpftrace that kinst takes for 200 sites
	perfAtLeast     = 50  // times less than perf kprobes for 1,300 sites
	// per200 is how much longer a run with 200 sites may take than one without.
	per200 = 2 * time.Second
)

var (
	kinst = flag.String("kinst", "./kinst", "`path` of the command")
	only  = flag.String("functions", "", "measure only what the `pattern` names, whole")
	bound = flag.Duration("bound", 150*time.Second, "how long a peer may arm before it is stopped")
)

// Where the commands are in the guest.
const (
	guestKinst    = "/opt/kinst"
	guestBpftrace = "/opt/bpftrace"
)

func main() { guest.Main(measure, files) }

func files() ([]vm.File, error) {
	bpftrace, err := exec.LookPath("bpftrace")
	if err != nil {
		return nil, fmt.Errorf("%w: scripts/install bpftrace:bpftrace", err)
	}
	return []vm.File{{Host: *kinst, Guest: guestKinst}, {Host: bpftrace, Guest: guestBpftrace}}, nil
}

// A job is what is to be armed.
type job struct {
	functions string // a pattern
	most      int    // sites; 0 for all
}

var jobs = []job{
	{"vfs_read", 1}, {"do_sys_openat2", 0}, {"vfs_read", 0}, {"vfs_[g-l]*", 0}, {"copy_process", 0},
}

// measure prints a table for each job.
func measure() (within bool, err error) {
	// Peers take a descriptor or two for each site, beside those of maps.
	const files = 1 << 16
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: files, Max: files}); err != nil {
		return false, err
	}
	k, err := kernel.Open()
	if err != nil {
		return false, err
	}
	s, err := arm.Open(k)
	if err != nil {
		return false, err
	}
	defer s.Close()
	fmt.Printf("\n%s\n%6s  %-15s %9s %9s %9s %9s\n", k.Release(), "sites", "with", "starting", "arming", "disarming", "total")
	within = true
	if *only != "" {
		jobs = []job{{*only, 0}}
	}
	if err := writeScript(); err != nil {
		return false, err
	}
	for _, job := range jobs {
		sites, err := guest.Sites(k, job.functions)
		if err != nil {
			return false, err
		}
		if sites, err = guest.Accepted(s, sites); err != nil {
			return false, err
		}
		if job.most > 0 {
			sites = sites[2:][:job.most]
		}
		ok, err := compare(k, s, job.functions, sites, job.most == 0)
		if err != nil {
			return false, err
		}
		within = within && ok
	}
	return within, nil
}

// A result is how long the parts of a run took.
type result struct {
	starting  time.Duration // of a run that arms nothing
	arming    time.Duration // until all is armed, starting included
	disarming time.Duration // from there to the end, but for the pause
	stopped   string        // why it did not come to its end
}

func (r result) total() time.Duration { return r.arming + r.disarming }

// pause is how long all is armed before it is taken out: longer than the kernel
// takes to replace breakpoints by jumps, which it begins once they are in.
const pause = 3 * time.Second

// A way is one to arm sites and take them out again.
type way struct {
	name   string
	run    func() (result, error)
	rounds int // how often it is measured; those beyond the first half after all other ways
}

// compare measures every way on the same sites. Whole says that they are all
// those of the functions.
func compare(k *kernel.Kernel, s *arm.Session, functions string, sites []arm.Site, whole bool) (within bool, err error) {
	description := fmt.Sprintf("kinst::%s:", functions)
	if !whole {
		description += fmt.Sprint(sites[0].Offset)
	}
	ways := []way{
		{"cat", func() (result, error) { return floor(k, sites) }, 1},
		{"internal/arm", func() (result, error) { return armed(s, sites) }, 1},
		{"kinst", func() (result, error) { return runKinst(description, "sites=all", "@ = count();") }, 3},
		{"kinst, counting", func() (result, error) {
			return runKinst(description, "sites=blocks", "@[probename] = count();")
		}, 7},
		{"bpftrace", func() (result, error) { return runBpftrace(sites) }, 1},
		{"perf kprobes", func() (result, error) { return perfKprobes(sites) }, 1},
	}
	results, err := measured(ways)
	if err != nil {
		return false, fmt.Errorf("%d sites: %w", len(sites), err)
	}
	for _, way := range ways {
		r := results[way.name]
		fmt.Printf("%6d  %-15s %9s %9s %9s %9s %s\n", len(sites), way.name,
			seconds(r.starting), seconds(r.arming), seconds(r.disarming), seconds(r.total()), r.stopped)
	}
	ofFloor, err := overFloor(k, s, sites)
	return judge(len(sites), results, ofFloor), err
}

// measured returns each way's median run.
func measured(ways []way) (map[string]result, error) {
	runs := make(map[string][]result)
	measure := func(w way, rounds int) error {
		for range rounds {
			r, err := w.run()
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			runs[w.name] = append(runs[w.name], r)
		}
		return nil
	}
	for _, w := range ways {
		if err := measure(w, (w.rounds+1)/2); err != nil {
			return nil, err
		}
	}
	for _, w := range ways {
		if err := measure(w, w.rounds/2); err != nil {
			return nil, err
		}
	}
	medians := make(map[string]result)
	for name, all := range runs {
		slices.SortFunc(all, func(a, b result) int { return cmp.Compare(a.total(), b.total()) })
		medians[name] = all[len(all)/2]
	}
	return medians, nil
}

// overFloor is how many times the floor arming takes, in the median of a few
// pairs.
func overFloor(k *kernel.Kernel, s *arm.Session, sites []arm.Site) (float64, error) {
	var ratios []float64
	for range 5 {
		f, err := floor(k, sites[:min(len(sites), 200)])
		if err != nil {
			return 0, err
		}
		a, err := armed(s, sites[:min(len(sites), 200)])
		if err != nil {
			return 0, err
		}
		ratios = append(ratios, a.arming.Seconds()/f.arming.Seconds())
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2], nil
}

// judge prints the ratios and reports whether they are within the limits. Peers
// are compared with what kinst does by itself when it is to do what they do:
// count how often each instruction is executed.
func judge(sites int, results map[string]result, ofFloor float64) bool {
	extra := (results["kinst"].total() - results["kinst"].starting) * 200 / time.Duration(sites)
	ratio := func(peer, of string) float64 { return results[peer].total().Seconds() / results[of].total().Seconds() }
	for _, way := range []string{"kinst", "kinst, counting"} {
		fmt.Printf("%6d  %s takes %.1f times less than bpftrace, %.1f times less than perf kprobes\n",
			sites, way, ratio("bpftrace", way), ratio("perf kprobes", way))
	}
	fmt.Printf("%6d  arming takes %.2f times the floor\n", sites, ofFloor)
	switch {
	case sites < 100:
		return true // starting is most of it
	case sites < 1000:
		return ofFloor <= mostOfFloor && ratio("bpftrace", "kinst, counting") >= bpftraceAtLeast && extra <= per200
	}
	return ofFloor <= mostOfFloor && ratio("perf kprobes", "kinst, counting") >= perfAtLeast
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

// The script that tracers run once all is armed, and the files that it touches
// then, and when the pause is over.
const (
	script      = "/tmp/pause.sh"
	armedMark   = "/tmp/armed"
	resumedMark = "/tmp/resumed"
)

func writeScript() error {
	text := fmt.Sprintf("/bin/touch %s\n/bin/sleep %.0f\n/bin/touch %s\n", armedMark, pause.Seconds(), resumedMark)
	return os.WriteFile(script, []byte(text), 0o644)
}

// timed runs a tracer that runs the script, and stops it if that takes longer
// than the bound to begin.
func timed(name string, args ...string) (result, error) {
	os.Remove(armedMark)
	os.Remove(resumedMark)
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "BPFTRACE_MAX_PROBES=10000", "BPFTRACE_MAX_BPF_PROGS=10000")
	var r result
	start := time.Now()
	stop := time.AfterFunc(*bound, func() {
		if _, err := os.Stat(armedMark); err != nil {
			r.stopped = fmt.Sprintf("killed after %v", *bound)
			cmd.Process.Kill()
		}
	})
	out, err := cmd.CombinedOutput()
	end := time.Now()
	stop.Stop()
	if r.stopped != "" {
		r.arming = *bound
		r.disarming = end.Sub(start) - *bound
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("%w: %.300s", err, out)
	}
	armed, err1 := touched(armedMark)
	resumed, err2 := touched(resumedMark)
	if err := errors.Join(err1, err2); err != nil {
		return r, fmt.Errorf("it did not run the command: %w: %.300s", err, out)
	}
	r.arming, r.disarming = armed.Sub(start), end.Sub(resumed)
	return r, nil
}

// touched returns when a file was made.
func touched(file string) (time.Time, error) {
	var st unix.Stat_t
	err := unix.Stat(file, &st)
	return time.Unix(st.Mtim.Unix()), err
}
