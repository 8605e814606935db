// Scale measures what a site costs when there are many: to list, to arm and to
// disarm, for 1,000 up to 50,000 instructions, in a guest of each kernel; beside
// it what the same sites cost the kernel alone, as one event written to
// kprobe_events. It fails when the cost of a site grows.
//
//	go run ./bench/scale [-most SITES] [KERNEL...]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"kinst/bench/internal/guest"
	"kinst/internal/arm"
	"kinst/internal/kernel"
	"kinst/internal/vm"
)

// limit is how much more a site may cost among many than among the fewest.
const limit = 1.5

var most = flag.Int("most", 20_000, "most `sites`")

func main() { guest.Main(measure, func() ([]vm.File, error) { return nil, nil }) }

var sizes = []int{1000, 5000, 20_000, 50_000}

// measure prints a line for each size: microseconds per site.
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
	floor, err := floor(k, s)
	if err != nil {
		return false, err
	}
	fmt.Printf("\n%s; microseconds per site\n%8s %8s %8s %8s %8s %8s\n", k.Release(), "sites", "listing", "floor", "arming", "ratio", "disarming")
	within = true
	least := 0.0
	for _, n := range sizes {
		if n > *most {
			break
		}
		c, err := cost(k, s, n)
		if err != nil {
			return false, err
		}
		fmt.Printf("%8d %8.0f %8.0f %8.0f %8.2f %8.0f\n", n, c.listing, floor, c.arming, c.arming/floor, c.disarming)
		if least == 0 {
			least = c.arming
		}
		within = within && c.arming <= limit*least
	}
	return within, nil
}

// A siteCost is microseconds per site.
type siteCost struct{ listing, arming, disarming float64 }

// cost measures n sites.
func cost(k *kernel.Kernel, s *arm.Session, n int) (c siteCost, err error) {
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Type: ebpf.Kprobe, License: "GPL",
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()},
	})
	if err != nil {
		return c, err
	}
	defer prog.Close()
	var sites []arm.Site
	var g *arm.Group
	var errs [3]error
	c.listing = per(n, func() { sites, errs[0] = guest.Sample(k, n) })
	if errs[0] != nil || len(sites) < n {
		return c, errors.Join(errs[0], fmt.Errorf("%d sites of %d", len(sites), n))
	}
	c.arming = per(n, func() { g, _, errs[1] = s.Arm(context.Background(), []*ebpf.Program{prog}, sites, nil) })
	if errs[1] != nil {
		return c, errs[1]
	}
	c.disarming = per(n, func() { errs[2] = g.Disarm() })
	return c, errs[2]
}

// per is the microseconds that f takes for each of n sites.
func per(n int, f func()) float64 {
	start := time.Now()
	f()
	return float64(time.Since(start).Microseconds()) / float64(n)
}

// floor is what the fewest sites take as one event written to kprobe_events. One
// event of more costs the kernel more for each (trace_kprobe_has_same_kprobe).
func floor(k *kernel.Kernel, s *arm.Session) (float64, error) {
	sites, err := guest.Sample(k, sizes[0])
	if err != nil {
		return 0, err
	}
	if sites, err = guest.Accepted(s, sites); err != nil {
		return 0, err
	}
	lines, err := guest.Lines(k, "floor/e", sites)
	if err != nil {
		return 0, err
	}
	cost := per(len(sites), func() { err = guest.Append(lines) })
	return cost, errors.Join(err, guest.Append("-:floor/e\n"))
}
