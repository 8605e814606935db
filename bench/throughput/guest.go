package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"kinst/internal/vm"
)

// compareInGuest runs this program in a guest, with the tools.
func compareInGuest(kernel, kinst string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cfg := vm.Config{
		Kernel: kernel, Binary: kinst, Memory: 2048, Program: "/bin/bench",
		Args:  []string{"-inguest", kernel},
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

// inGuest compares the tools by a probe on a function of the kernel, and tells
// how fast kinst is with one on each of its instructions.
func inGuest(kernel string) error {
	const one = `kinst::vfs_read:0 /pid == $target/ {printf("%d %d\n", pid, regs[R_RDX]);}`
	kinst := func(name, d string) tool {
		return tool{name: name, read: true, args: func(file, load string) []string {
			return []string{"/bin/kinst", "-q", "-o", file, "-n", d, "-c", load}
		}}
	}
	tools := []tool{kinst("kinst", one)}
	if path, err := exec.LookPath("bpftrace"); err == nil {
		const program = `kprobe:vfs_read /pid == cpid/ {printf("%d %llu\n", pid, arg2);}`
		tools = append(tools, tool{"bpftrace", true, func(file, load string) []string {
			return []string{path, "-o", file, "-e", program, "-c", load}
		}, []string{"BPFTRACE_PERF_RB_PAGES=1024"}})
	}
	if err := compare(kernel, tools); err != nil {
		return err
	}
	return everyInstruction(kernel, kinst("kinst, every instruction", strings.Replace(
		strings.Replace(one, ":0 ", ": ", 1), "regs[R_RDX]", "regs[R_RIP]", 1)))
}

// everyInstruction prints how many lines a second come of a load that is slow
// enough for its probes.
func everyInstruction(where string, t tool) error {
	dir, err := os.MkdirTemp("", "kinst-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file, reported := filepath.Join(dir, "lines"), filepath.Join(dir, "load")
	args := t.args(file, fmt.Sprintf("/bin/bench -load -read -rate 0 -report %s", reported))
	out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", t.name, err, out)
	}
	r, err := readReport(reported)
	if err != nil {
		return err
	}
	lines, err := countLines(file, r.pid, "")
	if err != nil {
		return err
	}
	loss := "no loss"
	if len(out) > 0 {
		loss = "with losses: " + strings.TrimSpace(string(out))
	}
	fmt.Printf("%-12s %-30s %14.0f %s\n", where, t.name, float64(lines)/r.elapsed.Seconds(), loss)
	return nil
}
