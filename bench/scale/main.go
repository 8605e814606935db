// Scale measures what a site costs when there are many: to list, to arm and to
// disarm, for 1,000 up to 50,000 instructions, in a guest of each kernel; beside
// it what the same sites cost the kernel alone, written to kprobe_events. It fails
// when arming takes 1.3 times as long as that. Both grow: to find a probe the
// kernel goes through one of 64 lists of all of them, and it does so several times
// for each instruction of the function in which it adds another one.
//
//	go run ./bench/scale [-most SITES] [-floor SITES] [KERNEL...]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"kinst/bench/internal/guest"
	"kinst/internal/arm"
	"kinst/internal/kernel"
	"kinst/internal/vm"
)

// limit is how many times longer than the kernel alone arming may take.
const limit = 1.3

var (
	most  = flag.Int("most", 20_000, "most `sites`")
	floor = flag.Int("floor", 20_000, "most `sites` that the kernel is measured alone with")
)

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
	fmt.Printf("\n%s; microseconds per site\n%8s %8s %8s %8s %8s %9s\n", k.Release(), "sites", "listing", "floor", "arming", "ratio", "disarming")
	within = true
	for _, n := range sizes {
		if n > *most {
			break
		}
		c, err := cost(k, s, n)
		if err != nil {
			return false, err
		}
		ratio := c.arming / c.floor // NaN where the floor was not measured
		fmt.Printf("%8d %8.0f %8.0f %8.0f %8.2f %9.0f\n", n, c.listing, c.floor, c.arming, ratio, c.disarming)
		within = within && !(ratio > limit)
	}
	return within, nil
}

// A siteCost is microseconds per site. The floor is NaN where it is not measured.
type siteCost struct{ listing, floor, arming, disarming float64 }

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
	c.listing = per(n, func() { sites, err = guest.Sample(k, n) })
	if err != nil || len(sites) < n {
		return c, errors.Join(err, fmt.Errorf("%d sites of %d", len(sites), n))
	}
	var g *arm.Group
	var refused []arm.Refusal
	c.arming = per(n, func() { g, refused, err = s.Arm(context.Background(), []*ebpf.Program{prog}, sites, nil) })
	if err != nil {
		return c, err
	}
	c.disarming = per(n, func() { err = g.Disarm() })
	if err != nil {
		return c, err
	}
	c.floor, err = kernelAlone(k, s, without(sites, refused))
	return c, err
}

// without returns the sites but for those that the kernel refused.
func without(sites []arm.Site, refused []arm.Refusal) []arm.Site {
	bad := make(map[arm.Site]bool, len(refused))
	for _, r := range refused {
		bad[r.Site] = true
	}
	return slices.DeleteFunc(sites, func(s arm.Site) bool { return bad[s] })
}

// per is the microseconds that f takes for each of n sites.
func per(n int, f func()) float64 {
	start := time.Now()
	f()
	return float64(time.Since(start).Microseconds()) / float64(n)
}

// kernelAlone is what sites take that are written to kprobe_events, 1,000 to an
// event.
func kernelAlone(k *kernel.Kernel, s *arm.Session, sites []arm.Site) (float64, error) {
	if len(sites) > *floor {
		return math.NaN(), nil
	}
	var define, remove strings.Builder
	for i, part := range slices.Collect(slices.Chunk(sites, 1000)) {
		event := fmt.Sprintf("floor/e%d", i)
		lines, err := guest.Lines(k, event, part)
		if err != nil {
			return 0, err
		}
		define.WriteString(lines)
		fmt.Fprintf(&remove, "-:%s\n", event)
	}
	var err error
	cost := per(len(sites), func() { err = guest.Append(define.String()) })
	defer s.Hurry(len(sites))() // removing, which is not measured
	return cost, errors.Join(err, guest.Append(remove.String()))
}
