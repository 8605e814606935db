// Vm measures what a virtual machine of kinst costs: the time from the command
// to the first line of output beside the bare boot of the same kernel with a
// busybox initramfs, and how fast output streams. It fails when the first
// exceeds its limit.
//
//	go run ./bench/vm [-n RUNS] [-kinst PATH] [KERNEL...]
package main

import (
	"bufio"
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/u-root/u-root/pkg/cpio"

	"kinst/internal/vm"
)

// limit is how many times the bare boot the first output of kinst may take.
const limit = 2.5

func main() {
	runs := flag.Int("n", 5, "`runs` of each kind; the median counts")
	kinst := flag.String("kinst", "./kinst", "`path` of the command")
	flag.Parse()
	kernels := flag.Args()
	if len(kernels) == 0 {
		kernels = []string{"6.1", "6.12"}
	}
	ok := true
	fmt.Printf("%-28s %10s %10s %6s %12s\n", "kernel", "bare boot", "kinst vm", "ratio", "lines/s")
	for _, name := range kernels {
		within, err := measure(name, *kinst, *runs)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		ok = ok && within
	}
	if !ok {
		fmt.Fprintf(os.Stderr, "the first output takes more than %g times the bare boot\n", limit)
		os.Exit(1)
	}
}

// measure prints the figures of one kernel and reports whether they are within
// the limit. The kinds of run alternate, so that a busy host slows both.
func measure(name, kinst string, runs int) (bool, error) {
	kernel, err := vm.FindKernel(name)
	if err != nil {
		return false, err
	}
	ramfs, err := busyboxInitramfs()
	if err != nil {
		return false, err
	}
	defer os.Remove(ramfs)
	var bare, whole []time.Duration
	for range runs {
		b, err := firstOutput("qemu-system-x86_64", "-M", "pc", "-accel", "tcg", "-cpu", "Haswell-v4", "-m", "1024",
			"-nodefaults", "-display", "none", "-no-reboot", "-nic", "none", "-serial", "stdio",
			"-kernel", kernel.Path, "-initrd", ramfs, "-append", "console=ttyS0 quiet panic=-1")
		if err != nil {
			return false, fmt.Errorf("bare boot of %s: %w", kernel.Release, err)
		}
		w, err := firstOutput(kinst, "vm", "--accel", "tcg", "-k", kernel.Path, "--", "-q", "-n", `BEGIN {printf("first\n"); exit(0);}`)
		if err != nil {
			return false, fmt.Errorf("kinst vm on %s: %w", kernel.Release, err)
		}
		bare, whole = append(bare, b), append(whole, w)
	}
	rate, err := lineRate(kernel, kinst)
	if err != nil {
		return false, err
	}
	b, w := median(bare), median(whole)
	ratio := w.Seconds() / b.Seconds()
	fmt.Printf("%-28s %8.2f s %8.2f s %6.2f %12.0f\n", kernel.Release, b.Seconds(), w.Seconds(), ratio, rate)
	return ratio <= limit, nil
}

// firstOutput returns the time until a command prints the line "first".
func firstOutput(name string, args ...string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	for s := bufio.NewScanner(out); s.Scan(); {
		if strings.TrimSpace(s.Text()) == "first" {
			return time.Since(start), nil
		}
	}
	return 0, fmt.Errorf("no output: %s", strings.TrimSpace(stderr.String()))
}

// lineRate returns how many lines of a trace's size reach the host in a second.
func lineRate(kernel *vm.Kernel, kinst string) (float64, error) {
	const lines = 500_000
	cfg := vm.Config{
		Kernel: kernel.Path, Binary: kinst, Accel: "tcg", Program: "/bin/dd",
		Args: []string{"if=/lines", "bs=64k", "status=none"},
	}
	dir, err := os.MkdirTemp("", "kinst-bench-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	text := filepath.Join(dir, "lines")
	const line = "  0  81500                       vfs_read:9 0x827c56000\n"
	if err := os.WriteFile(text, []byte(strings.Repeat(line, lines)), 0o644); err != nil {
		return 0, err
	}
	cfg.Files = []vm.File{{Host: text, Guest: "/lines"}}
	var clock stopwatch
	status, err := vm.Run(context.Background(), cfg, &clock, os.Stderr)
	if err != nil || status != 0 {
		return 0, fmt.Errorf("streaming lines: status %d: %w", status, err)
	}
	if clock.bytes != lines*len(line) {
		return 0, fmt.Errorf("streaming lines: %d bytes arrived of %d", clock.bytes, lines*len(line))
	}
	return lines / clock.last.Sub(clock.first).Seconds(), nil
}

// A stopwatch takes the time between the first and the last bytes written to it.
type stopwatch struct {
	bytes       int
	first, last time.Time
}

func (s *stopwatch) Write(b []byte) (int, error) {
	s.last = time.Now()
	if s.bytes == 0 {
		s.first = s.last
	}
	s.bytes += len(b)
	return len(b), nil
}

// busyboxInitramfs writes an initramfs with busybox and an init that prints
// "first", and returns its name.
func busyboxInitramfs() (string, error) {
	path, err := exec.LookPath("busybox")
	if err != nil {
		return "", err
	}
	busybox, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp("", "kinst-bench-")
	if err != nil {
		return "", err
	}
	defer f.Close()
	w := cpio.Newc.Writer(f)
	err = cpio.WriteRecords(w, []cpio.Record{
		cpio.Directory("dev", 0o755),
		cpio.CharDev("dev/console", 0o600, 5, 1),
		cpio.Directory("bin", 0o755),
		cpio.StaticRecord(busybox, cpio.Info{Name: "bin/busybox", Mode: cpio.S_IFREG | 0o755}),
		cpio.Symlink("bin/sh", "busybox"),
		cpio.StaticFile("init", "#!/bin/sh\necho first\nexec sleep 1000\n", 0o755),
	})
	return f.Name(), cmp.Or(err, cpio.WriteTrailer(w))
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}
