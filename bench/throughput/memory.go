package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Limits of what kinst may take.
const (
	peakLimit = 80 << 10 // KiB of memory for ten million records
	keysLimit = 3 * time.Second
)

// memory measures how much memory kinst takes for ten million records, and how
// long for a million keys of an aggregation: to collect them, to print them.
func memory(kinst string) error {
	dir, err := os.MkdirTemp("", "kinst-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	peak := filepath.Join(dir, "peak")
	status := fmt.Sprintf(`system("grep VmHWM /proc/%%d/status >%s", $pid);`, peak)

	records := strings.Repeat(`syscall::read:entry /pid == $target/ {trace(1);} `, 10) + `END {` + status + `}`
	if _, err := reads(kinst, 1_000_000, "-b", "4m", "-n", records); err != nil {
		return err
	}
	used, err := readPeak(peak)
	if err != nil {
		return err
	}
	fmt.Printf("%-12s %-30s %10d KiB\n", "native", "peak for 10,000,000 records", used)

	keys := `syscall::read:entry /pid == $target/ {` + strings.Repeat(`@[i++] = count(); `, 10) +
		`} END {printa(@); ` + status + `}`
	took, err := reads(kinst, 100_000, "-x", "aggsize=128m", "-n", keys)
	if err != nil {
		return err
	}
	keysUsed, err := readPeak(peak)
	if err != nil {
		return err
	}
	fmt.Printf("%-12s %-30s %14v\n", "native", "1,000,000 keys, from start to end", took.Round(10*time.Millisecond))
	fmt.Printf("%-12s %-30s %10d KiB\n", "native", "peak for 1,000,000 keys", keysUsed)
	switch {
	case used > peakLimit:
		return fmt.Errorf("ten million records take %d KiB of memory, more than %d", used, peakLimit)
	case took > keysLimit:
		return fmt.Errorf("a million keys take %v, more than %v", took, keysLimit)
	}
	return nil
}

// reads runs kinst while so many bytes are read one by one, and returns how long
// it took.
func reads(kinst string, n int, args ...string) (time.Duration, error) {
	args = append([]string{"-q", "-w", "-o", os.DevNull}, args...)
	args = append(args, "-c", fmt.Sprintf("dd if=/dev/zero of=/dev/null bs=1 count=%d status=none", n))
	start := time.Now()
	out, err := exec.Command(kinst, args...).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("kinst: %w: %s", err, out)
	}
	return time.Since(start), nil
}

// readPeak reads the line VmHWM of a process's status.
func readPeak(file string) (kibibytes int, err error) {
	text, err := os.ReadFile(file)
	if err == nil {
		_, err = fmt.Sscanf(string(text), "VmHWM: %d kB", &kibibytes)
	}
	return kibibytes, err
}
