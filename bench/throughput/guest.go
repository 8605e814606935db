package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"kinst/bench/internal/guest"
	"kinst/bench/internal/peer"
	"kinst/internal/kernel"
	"kinst/internal/vm"
)

// compareInGuest runs this program in a guest, with the tools.
func compareInGuest(kernel, kinst string, single bool) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cfg := vm.Config{
		Kernel: kernel, Binary: kinst, Memory: 2048, Program: "/bin/bench",
		Args:  []string{"-inguest", fmt.Sprintf("-single=%v", single), kernel},
		Env:   []string{"KINST_BENCH_TRIALS=" + os.Getenv("KINST_BENCH_TRIALS")},
		Files: []vm.File{{Host: self, Guest: "/bin/bench"}},
	}
	if path, err := exec.LookPath("bpftrace"); err == nil {
		libraries, err := librariesOf(path)
		if err != nil {
			return err
		}
		for _, file := range append(libraries, path) {
			cfg.Files = append(cfg.Files, vm.File{Host: file, Guest: file})
		}
	}
	status, err := vm.Run(context.Background(), cfg, os.Stdout, os.Stderr)
	if err == nil && status != 0 {
		err = fmt.Errorf("the benchmark in the guest of %s ended with status %d", kernel, status)
	}
	return err
}

// librariesOf returns what a program is linked with dynamically, its
// interpreter included.
func librariesOf(path string) ([]string, error) {
	out, err := exec.Command("ldd", path).Output()
	if err != nil {
		return nil, fmt.Errorf("ldd %s: %w", path, err)
	}
	var files []string
	for _, word := range strings.Fields(string(out)) {
		if strings.HasPrefix(word, "/") {
			files = append(files, word)
		}
	}
	return files, nil
}

// inGuest compares the tools by a probe on each instruction of a function of the
// kernel, and before, for the figures alone, by one probe on it.
func inGuest(kernel string, single bool) error {
	sites, err := everySite()
	if err != nil {
		return err
	}
	if single {
		fmt.Printf("%-12s one probe on vfs_read\n", kernel)
		err := compareCalibrated(kernel, rounds, guestTools("kinst::vfs_read:0", []string{"kprobe:vfs_read"}))
		if err != nil && !errors.Is(err, errTooSlow) {
			return err
		}
	}
	fmt.Printf("%-12s a probe on each instruction of vfs_read\n", kernel)
	// The others take long to put in so many.
	return compareCalibrated(kernel, 1, guestTools("kinst::vfs_read:", sites))
}

// compareCalibrated compares tools when it has found out how many lines each is
// due.
func compareCalibrated(where string, rounds int, tools []tool) error {
	for i := range tools {
		if err := tools[i].calibrate(); err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		fmt.Printf("%-12s %-30s %14d lines for each read\n", where, tools[i].name, tools[i].each)
	}
	return compare(where, rounds, tools)
}

// calibrate finds out how many lines a tool writes for each read, and how many for
// the reads that the load begins with, from two loads that are easy for it.
func (t *tool) calibrate() error {
	few, fewLines, err1 := once(*t, 5)
	many, manyLines, err2 := once(*t, 15)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	t.each = (manyLines - fewLines) / max(many.events-few.events, 1)
	t.extra = fewLines - t.each*few.events
	if t.each < 1 || t.extra < 0 || manyLines != t.each*many.events+t.extra {
		return fmt.Errorf("%s: %d reads make %d lines, and %d reads %d, which is not so many each", t.name, few.events, fewLines, many.events, manyLines)
	}
	return nil
}

// guestTools are those that are there, with a probe on what own describes to
// kinst and others to bpftrace.
func guestTools(own string, others []string) []tool {
	program := own + ` /pid == $target/ {printf("%d %d\n", pid, regs[R_RDX]);}`
	tools := []tool{{name: "kinst", read: true, args: func(file, load string) []string {
		return []string{"/bin/kinst", "-q", "-o", file, "-n", program, "-c", load}
	}}}
	if p, ok := peer.Bpftrace(); ok {
		program := strings.Join(others, ",") + ` /pid == cpid/ {printf("%d %llu\n", pid, reg("dx"));}`
		tools = append(tools, tool{name: p.Name, read: true, args: func(file, load string) []string {
			// It would look for the boundaries of instructions in a vmlinux file.
			return []string{p.Path, "--unsafe", "-o", file, "-e", program, "-c", load}
		}, env: []string{"BPFTRACE_PERF_RB_PAGES=1024"}})
	}
	return tools
}

// everySite describes the instructions of vfs_read that can be probed to
// bpftrace.
func everySite() (sites []string, err error) {
	k, err := kernel.Open()
	if err != nil {
		return nil, err
	}
	defer k.Close()
	found, err := guest.Sites(k, "vfs_read")
	for _, site := range found {
		sites = append(sites, fmt.Sprintf("kprobe:vfs_read+%d", site.Offset))
	}
	return sites, err
}
