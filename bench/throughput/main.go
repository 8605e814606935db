// Throughput measures how many events a second reach a file without loss: one
// line per event, with the same fields, through kinst and through what else
// there is of bpftrace and Oracle's dtrace. First natively with a system call,
// then in a guest of each kernel with a probe on vfs_read, and with one on each of
// its instructions. It fails when kinst does not reach twice the rate of the
// better of the others, natively and on all instructions.
// Natively it also measures the memory that many records take, and the time that
// an aggregation with many keys takes.
//
//	go run ./bench/throughput [-kinst PATH] [-native=false] [-single=false] [KERNEL...]
//
// All have the same buffers, 4 MiB for each CPU.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"kinst/bench/internal/peer"
)

// target is how many times the rate of the others kinst's should be.
const target = 2

func main() {
	kinst := flag.String("kinst", "./kinst", "`path` of the command")
	native := flag.Bool("native", true, "measure natively")
	single := flag.Bool("single", true, "measure one probe in guests too, and not only one on each instruction")
	load := flag.Bool("load", false, "be the load: call getppid(2), or read(2) with -read")
	guest := flag.Bool("inguest", false, "be in a guest of the kernel that is the argument")
	flags := loadFlags()
	flag.Parse()
	if *load {
		flags.run()
		return
	}
	path, err := filepath.Abs(*kinst)
	switch {
	case *guest:
		err = inGuest(flag.Arg(0), *single)
	case err == nil:
		err = run(path, *native, *single, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kinst string, native, single bool, kernels []string) error {
	if len(kernels) == 0 {
		kernels = []string{"6.1", "6.12"}
	}
	fmt.Printf("%-12s %-30s %14s\n", "where", "what", "events/s")
	var errs []error
	if native {
		errs = append(errs, compare("native", rounds, nativeTools(kinst)), memory(kinst))
	}
	for _, kernel := range kernels {
		errs = append(errs, compareInGuest(kernel, kinst, single))
	}
	return errors.Join(errs...)
}

var errTooSlow = errors.New("less than the target")

// A tool is a tracer with a program that prints a line for each event.
type tool struct {
	name string
	read bool // the load reads
	each int  // lines that an event of the load is due
	// extra is lines that the load's start is due.
	extra int
	// args is the command that writes the lines to a file while the load runs.
	args func(file, load string) []string
	env  []string
}

// nativeTools are those that are installed here.
func nativeTools(kinst string) []tool {
	const d = `syscall::getppid:entry {printf("%d %d\n", pid, timestamp);}`
	tools := []tool{{name: "kinst", each: 1, args: func(file, load string) []string {
		return []string{kinst, "-q", "-o", file, "-n", d, "-c", load}
	}}}
	if p, ok := peer.Bpftrace(); ok {
		const program = `tracepoint:syscalls:sys_enter_getppid {printf("%d %llu\n", pid, nsecs);}`
		tools = append(tools, tool{name: p.Name, each: 1, args: func(file, load string) []string {
			return p.Args("-o", file, "-e", program, "-c", load)
		}, env: []string{"BPFTRACE_PERF_RB_PAGES=1024"}})
	}
	if p, ok := peer.DTrace(); ok {
		tools = append(tools, tool{name: p.Name, each: 1, args: func(file, load string) []string {
			return p.Args("-q", "-o", file, "-n", d, "-c", load)
		}})
	}
	return tools
}

// rounds is how often each tool has its turn.
const rounds = 5

// compare prints what each tool reaches in the median. They take turns, so that a busy machine
// slows all.
func compare(where string, rounds int, tools []tool) error {
	rates := make([][]float64, len(tools))
	for range rounds {
		for i, t := range tools {
			rate, err := lossless(t)
			if err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
			rates[i] = append(rates[i], rate)
		}
	}
	var own, best float64
	for i, t := range tools {
		slices.Sort(rates[i])
		rate := rates[i][rounds/2]
		fmt.Printf("%-12s %-30s %14.0f\n", where, t.name, rate)
		if t.name == "kinst" {
			own = rate
		} else {
			best = max(best, rate)
		}
	}
	return judge(where, own, best)
}

func judge(where string, own, best float64) error {
	if best == 0 {
		return nil
	}
	fmt.Printf("%-12s %-30s %14.2f\n", where, "kinst / the better of the rest", own/best)
	if own < target*best {
		return fmt.Errorf("%s: kinst reaches %.2f times the rate of the better of the others: %w of %d times", where, own/best, errTooSlow, target)
	}
	return nil
}

// lossless returns the highest rate at which a tool loses nothing, by halving
// the distance between one that it does not and one that it does reach.
func lossless(t tool) (float64, error) {
	const steps = 5
	rate, lost, err := trial(t, 0)
	if err != nil || !lost {
		return rate, err
	}
	low, high := 0.0, rate
	for i := 0; i < steps; i++ {
		try := (low + high) / 2
		rate, lost, err := trial(t, try/float64(t.each))
		switch {
		case err != nil:
			return 0, err
		case lost:
			high = min(try, rate)
		default:
			low = rate
		}
	}
	return low, nil
}

// trial runs a tool with the load at a rate, 0 for as fast as it can, and
// returns what the load achieved and whether events are missing in the file.
func trial(t tool, rate float64) (achieved float64, lost bool, err error) {
	r, lines, err := once(t, rate)
	return r.rate() * float64(t.each), lines < r.events*t.each+t.extra, err
}

// once runs a tool with the load once and returns what the load achieved and how
// many lines there are of it.
func once(t tool, rate float64) (r report, lines int, err error) {
	dir, err := os.MkdirTemp("", "kinst-bench-")
	if err != nil {
		return r, 0, err
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return r, 0, err
	}
	file, reported := filepath.Join(dir, "lines"), filepath.Join(dir, "load")
	load := fmt.Sprintf("%s -load -read=%v -rate %.0f -report %s", self, t.read, rate, reported)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	args := t.args(file, load)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), t.env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return r, 0, fmt.Errorf("%s: %w: %s", t.name, err, out)
	}
	if r, err = readReport(reported); err != nil {
		return r, 0, err
	}
	lines, err = countLines(file, r.pid)
	if os.Getenv("KINST_BENCH_TRIALS") != "" {
		fmt.Fprintf(os.Stderr, "%s: asked for %.0f/s: %d events at %.0f/s, %d lines\n", t.name, rate, r.events, r.rate(), lines)
	}
	return r, lines, err
}
