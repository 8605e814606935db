// Arm measures how long it takes to arm and to disarm every instruction of a
// function, in a guest of each kernel: the time of a run that does no more, less
// that of a run which arms nothing. It fails when 200 instructions take longer
// than the limit.
//
//	go run ./bench/arm [-n RUNS] [-kinst PATH] [KERNEL...]
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"kinst/internal/vm"
)

// limit is how long 200 instructions may take, both ways, under software
// emulation.
const limit = 2 * time.Second

const function = "vfs_read"

func main() {
	runs := flag.Int("n", 5, "`runs`; the median counts")
	kinst := flag.String("kinst", "./kinst", "`path` of the command")
	flag.Parse()
	kernels := flag.Args()
	if len(kernels) == 0 {
		kernels = []string{"6.1", "6.12"}
	}
	ok := true
	fmt.Printf("%-8s %6s %10s %10s %12s\n", "kernel", "sites", "empty run", "both ways", "200 sites")
	for _, name := range kernels {
		within, err := measure(name, *kinst, *runs)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		ok = ok && within
	}
	if !ok {
		fmt.Fprintf(os.Stderr, "200 sites take more than %v\n", limit)
		os.Exit(1)
	}
}

// measure prints the figures of one kernel and reports whether they are within
// the limit.
func measure(kernel, kinst string, runs int) (bool, error) {
	script := fmt.Sprintf(`
kinst -l -n kinst::%[1]s: | sed 1d | wc -l
for i in $(seq %[2]d); do
	a=$(cut -d' ' -f1 /proc/uptime)
	kinst -q -n 'BEGIN {exit(0);}' >/dev/null || exit
	b=$(cut -d' ' -f1 /proc/uptime)
	kinst -q -x sites=all -n 'BEGIN {exit(0);}' -n 'kinst::%[1]s: {@ = count();}' >/dev/null || exit
	c=$(cut -d' ' -f1 /proc/uptime)
	echo $a $b $c
done >/tmp/times 2>/tmp/errors || { cat /tmp/errors >&2; exit 1; }
cat /tmp/times
`, function, runs)
	var stdout, stderr bytes.Buffer
	status, err := vm.Run(context.Background(), vm.Config{
		Kernel: kernel, Binary: kinst, Program: "/bin/sh", Args: []string{"-c", script},
	}, &stdout, &stderr)
	if err != nil || status != 0 {
		return false, fmt.Errorf("kernel %s: status %d, %v: %s", kernel, status, err, &stderr)
	}
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	var sites int
	if _, err := fmt.Sscan(lines[0], &sites); err != nil || sites == 0 {
		return false, fmt.Errorf("kernel %s: %q is no number of sites", kernel, lines[0])
	}
	var empty, both []time.Duration
	for _, line := range lines[1:] {
		var a, b, c float64
		if _, err := fmt.Sscan(line, &a, &b, &c); err != nil {
			return false, fmt.Errorf("kernel %s: %q are no times", kernel, line)
		}
		empty = append(empty, seconds(b-a))
		both = append(both, seconds(c-b)-seconds(b-a))
	}
	per200 := median(both) * 200 / time.Duration(sites)
	fmt.Printf("%-8s %6d %10v %10v %12v\n", kernel, sites, median(empty), median(both), per200.Round(time.Millisecond))
	return per200 <= limit, nil
}

func seconds(s float64) time.Duration { return time.Duration(s*100) * 10 * time.Millisecond }

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
