// Start measures what the smallest program takes, from the start of the command
// to its end: BEGIN {exit(0)}, natively, through kinst and through what else
// there is of bpftrace and Oracle's dtrace. It fails where kinst is not 10 times
// faster than the one, and 40 times faster than the other.
//
//	go run ./bench/start [-kinst PATH]
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kinst/bench/internal/peer"
)

// rounds is how often each command has its turn; the median counts.
const rounds = 11

// A command is measured; target is how many times longer than kinst it takes.
type command struct {
	name   string
	args   []string
	target float64
	took   []time.Duration
}

func main() {
	kinst := flag.String("kinst", "./kinst", "`path` of the command")
	flag.Parse()
	if err := run(*kinst); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kinst string) error {
	path, err := filepath.Abs(kinst)
	if err != nil {
		return err
	}
	const d = "BEGIN {exit(0);}"
	commands := []*command{{name: "kinst", args: []string{path, "-q", "-n", d}}}
	if p, ok := peer.Bpftrace(); ok {
		commands = append(commands, &command{name: p.Name, args: p.Args("-e", "BEGIN {exit();}"), target: 10})
	}
	if p, ok := peer.DTrace(); ok {
		commands = append(commands, &command{name: p.Name, args: p.Args("-q", "-n", d), target: 40})
	}
	for range rounds {
		for _, c := range commands {
			if err := c.run(); err != nil {
				return err
			}
		}
	}
	return report(commands)
}

func (c *command) run() error {
	start := time.Now()
	if out, err := exec.Command(c.args[0], c.args[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(c.args, " "), err, out)
	}
	c.took = append(c.took, time.Since(start))
	return nil
}

// report prints the medians, kinst's first.
func report(commands []*command) error {
	var errs []error
	var own time.Duration
	for i, c := range commands {
		slices.Sort(c.took)
		median := c.took[rounds/2]
		if i == 0 {
			own = median
			fmt.Printf("%-10s %8.1f ms\n", c.name, ms(median))
			continue
		}
		ratio := float64(median) / float64(own)
		fmt.Printf("%-10s %8.1f ms %6.1f times\n", c.name, ms(median), ratio)
		if ratio < c.target {
			errs = append(errs, fmt.Errorf("%s takes %.1f times as long as kinst, not %.0f times", c.name, ratio, c.target))
		}
	}
	return errors.Join(errs...)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
