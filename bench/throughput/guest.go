package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"kinst/bench/internal/peer"
	"kinst/internal/isa"
	"kinst/internal/kernel"
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

// inGuest compares the tools by probes on the first instructions of a function
// of the kernel, and by one probe. It tells how fast kinst is with one on each of
// its instructions.
func inGuest(kernel string) error {
	offsets, err := firstInstructions()
	if err != nil {
		return err
	}
	fmt.Printf("%-12s one probe on vfs_read\n", kernel)
	one := compare(kernel, guestTools(nil))
	fmt.Printf("%-12s a probe on each of the first %d instructions of vfs_read\n", kernel, len(offsets))
	several := compare(kernel, guestTools(offsets))
	return errors.Join(one, several,
		everyInstruction(kernel, kinstTool("kinst, every instruction", "kinst::vfs_read:", "regs[R_RIP]", 1)))
}

func kinstTool(name, probes, value string, each int) tool {
	program := fmt.Sprintf(`%s /pid == $target/ {printf("%%d %%d\n", pid, %s);}`, probes, value)
	return tool{name: name, read: true, each: each, args: func(file, load string) []string {
		return []string{"/bin/kinst", "-q", "-o", file, "-n", program, "-c", load}
	}}
}

// guestTools are those that are there, with probes at offsets of vfs_read, or
// at its beginning if there are none.
func guestTools(offsets []uint64) []tool {
	own, others := []string{"kinst::vfs_read:0"}, []string{"kprobe:vfs_read"}
	if offsets != nil {
		own, others = nil, nil
	}
	for _, offset := range offsets {
		own = append(own, fmt.Sprintf("kinst::vfs_read:%d", offset))
		others = append(others, fmt.Sprintf("kprobe:vfs_read+%d", offset))
	}
	tools := []tool{kinstTool("kinst", strings.Join(own, ","), "regs[R_RDX]", len(own))}
	if p, ok := peer.Bpftrace(); ok {
		program := strings.Join(others, ",") + ` /pid == cpid/ {printf("%d %llu\n", pid, reg("dx"));}`
		tools = append(tools, tool{p.Name, true, len(others), func(file, load string) []string {
			// It would look for the boundaries of instructions in a vmlinux file.
			return []string{p.Path, "--unsafe", "-o", file, "-e", program, "-c", load}
		}, []string{"BPFTRACE_PERF_RB_PAGES=1024"}})
	}
	return tools
}

// firstInstructions returns the offsets of the instructions of vfs_read that are
// executed one after the other each time, behind the function tracer's nop.
func firstInstructions() (offsets []uint64, err error) {
	k, err := kernel.Open()
	if err != nil {
		return nil, err
	}
	defer k.Close()
	arch, err := isa.Native()
	if err != nil {
		return nil, err
	}
	functions, err := k.Functions(kernel.VMLinux, "vfs_read")
	if err != nil {
		return nil, err
	}
	l, err := k.Listing(arch, functions[0])
	if err != nil {
		return nil, err
	}
	first := 0
	for l.IsEntry(first) {
		first++
	}
	for i, run := range l.Runs() {
		if run == first && l.Unprobeable(i) == "" {
			offsets = append(offsets, l.Insts[i].Addr-l.Function.Addr)
		}
	}
	return offsets, nil
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
