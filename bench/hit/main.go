// Hit measures what a program of kinst costs each time that a probe fires, beside
// the smallest program that does the same, written by hand, and an empty one: on
// the same sites, all instructions of a function, in a guest of each kernel. It
// fails when kinst is beyond its limit.
//
//	go run ./bench/hit [-rounds N] [KERNEL...]
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"kinst/bench/internal/guest"
	"kinst/internal/arm"
	"kinst/internal/kernel"
	"kinst/internal/vm"
)

// limit is how much more than the smallest program a hit may cost.
const limit = 1.15

const function = "vfs_read"

var rounds = flag.Int("rounds", 25, "`rounds`, in each of which all programs run in turn; the shortest counts")

func main() { guest.Main(measure, func() ([]vm.File, error) { return nil, nil }) }

// A contest is a D program and the smallest program that does the same.
type contest struct {
	d     string
	small func(sites []arm.Site) (*ebpf.Program, error)
}

var contests = []contest{
	{"{@[probename] = count();}", count},
	{"/pid == 1/ {@[probename] = count();}", otherProcess},
	{"/execname == \"nobody\"/ {@[probename] = count();}", otherName},
	{"/regs[R_RDX] == 12345/ {@[probename] = count();}", otherValue},
}

// measure prints a table: nanoseconds per hit, and the ratio.
func measure() (within bool, err error) {
	k, err := kernel.Open()
	if err != nil {
		return false, err
	}
	s, err := arm.Open(k)
	if err != nil {
		return false, err
	}
	defer s.Close()
	sites, err := guest.Sites(k, function)
	if err != nil {
		return false, err
	}
	if sites, err = guest.Accepted(s, sites); err != nil {
		return false, err
	}
	fmt.Printf("\n%s, %d sites of %s; nanoseconds per hit\n%-8s %-52s %8s %8s %8s %6s\n",
		k.Release(), len(sites), function, "probes", "program", "empty", "small", "kinst", "ratio")
	within = true
	for _, optimized := range []string{"0", "1"} {
		if err := os.WriteFile("/proc/sys/debug/kprobes-optimization", []byte(optimized), 0); err != nil {
			return false, err
		}
		ok, err := onEvent(k, sites, optimized == "1")
		if err != nil {
			return false, err
		}
		within = within && ok
	}
	return within, nil
}

// onEvent measures with the sites on one event.
func onEvent(k *kernel.Kernel, sites []arm.Site, optimized bool) (within bool, err error) {
	e, err := defineEvent(k, sites)
	if err != nil {
		return false, err
	}
	defer e.remove()
	within = true
	for _, c := range contests {
		ratio, err := c.run(e, sites, optimized)
		if err != nil {
			return false, fmt.Errorf("%s: %w", c.d, err)
		}
		within = within && ratio <= limit
	}
	return within, nil
}

// run prints a line of the table.
func (c contest) run(e *event, sites []arm.Site, optimized bool) (ratio float64, err error) {
	small, err := c.small(sites)
	if err != nil {
		return 0, err
	}
	defer small.Close()
	ours, err := compiled(fmt.Sprintf("kinst::%s:[1-9]* %s", function, c.d))
	if err != nil {
		return 0, err
	}
	defer ours.Close()
	none, err := empty()
	if err != nil {
		return 0, err
	}
	defer none.Close()
	programs := []*ebpf.Program{nil, none, small, ours}
	times := make([][]float64, len(programs))
	var hits float64
	for range *rounds {
		for i, prog := range programs {
			t, n, err := e.loop(prog, optimized)
			if err != nil {
				return 0, err
			}
			times[i] = append(times[i], float64(t.Nanoseconds()))
			hits = max(hits, n)
		}
	}
	// The loop itself is not the hits' cost.
	base := slices.Min(times[0])
	cost := func(i int) float64 { return (slices.Min(times[i]) - base) / hits }
	ratio = cost(3) / cost(2)
	how := "traps"
	if optimized {
		how = "jumps"
	}
	fmt.Printf("%-8s %-52s %8.0f %8.0f %8.0f %6.2f\n", how, strings.TrimSpace(c.d), cost(1), cost(2), cost(3), ratio)
	return ratio, nil
}

// reads is how many times a loop reads.
const reads = 300

// read reads so many times from /dev/zero.
func read(n int) (time.Duration, error) {
	fd, err := unix.Open("/dev/zero", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	var buf [8]byte
	start := time.Now()
	for range n {
		if _, err := unix.Read(fd, buf[:]); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}
