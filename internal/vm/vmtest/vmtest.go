// Package vmtest runs tests in guests of [kinst/internal/vm], on every kernel
// that kinst is tested on.
//
// A package whose tests need kprobes hands its test binary over as a whole:
//
//	func TestMain(m *testing.M) { vmtest.Main(m) }
//
// A test of the command runs a shell script in a guest:
//
//	r := vmtest.Run(t, "6.12", "kinst -l -n 'kinst::vfs_read:' | wc -l", vm.Config{Binary: vmtest.Kinst(t)})
//
// A test binary that imports this package is an init for a guest; it must be
// static, so tests are run with CGO_ENABLED=0.
package vmtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kinst/internal/vm"
)

func init() {
	if vm.IsInit() {
		vm.Init()
	}
}

// Kernels returns the kernels that are tested on: 6.1 and 6.12, or what
// $KINST_TEST_KERNELS names.
func Kernels() []string {
	if list := os.Getenv("KINST_TEST_KERNELS"); list != "" {
		return strings.Fields(strings.ReplaceAll(list, ",", " "))
	}
	return []string{"6.1", "6.12"}
}

// guestVariable is set in the environment of a test binary in a guest.
const guestVariable = "KINST_TEST_GUEST"

// InGuest reports whether the process is a test binary in a guest.
func InGuest() bool { return os.Getenv(guestVariable) != "" }

// Main runs the tests of a package in a guest of each kernel, with the package's
// testdata directory, and exits with 0 where all of them pass. With kernels
// named, it takes those instead of [Kernels].
func Main(m *testing.M, kernels ...string) {
	if InGuest() || listsOnly(os.Args) {
		os.Exit(m.Run())
	}
	if len(kernels) == 0 {
		kernels = Kernels()
	}
	verdict := 0
	for _, kernel := range kernels {
		fmt.Printf("# kernel %s\n", kernel)
		status, err := runBinary(kernel)
		if err != nil {
			fmt.Fprintf(os.Stderr, "kernel %s: %v\n", kernel, err)
		}
		if status != 0 {
			verdict = 1
		}
	}
	os.Exit(verdict)
}

// runBinary runs this test binary in a guest.
func runBinary(kernel string) (int, error) {
	dir, err := os.Getwd()
	if err != nil {
		return 1, err
	}
	cfg := vm.Config{Kernel: kernel, Args: guestFlags(os.Args[1:]), Env: []string{guestVariable + "=" + kernel}, Dir: dir}
	if data := filepath.Join(dir, "testdata"); isDir(data) {
		cfg.Files = append(cfg.Files, vm.File{Host: data, Guest: data})
	}
	unlock, err := lock()
	if err != nil {
		return 1, err
	}
	defer unlock()
	return vm.Run(context.Background(), cfg, os.Stdout, os.Stderr)
}

// guestFlags leaves out the flags that name files of the host.
func guestFlags(args []string) []string {
	hostOnly := []string{"testlogfile", "gocoverdir", "coverprofile", "outputdir", "cpuprofile", "memprofile", "blockprofile", "mutexprofile", "trace"}
	return slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
		name, isTest := strings.CutPrefix(arg, "-test.")
		name, _, _ = strings.Cut(name, "=")
		return isTest && slices.Contains(hostOnly, name)
	})
}

func listsOnly(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-test.list=") })
}

func isDir(name string) bool {
	fi, err := os.Stat(name)
	return err == nil && fi.IsDir()
}

// A Result is what a script in a guest has left.
type Result struct {
	Stdout, Stderr string
	Status         int
}

// Run runs a shell script in a guest, with busybox's commands and what cfg takes
// along. The test fails when the guest does not come to its end.
func Run(t testing.TB, kernel, script string, cfg vm.Config) Result {
	t.Helper()
	cfg.Kernel = kernel
	cfg.Program = "/bin/sh"
	cfg.Args = []string{"-c", script}
	unlock, err := lock()
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	status, err := vm.Run(ctx, cfg, &stdout, &stderr)
	if err != nil {
		t.Fatalf("kernel %s: %v\nstdout:\n%s\nstderr:\n%s", kernel, err, &stdout, &stderr)
	}
	return Result{stdout.String(), stderr.String(), status}
}

// Kinst builds the kinst command, once in a test binary's life, and returns its
// path.
func Kinst(t testing.TB) string {
	t.Helper()
	path, err := buildKinst()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var buildKinst = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("KINST_TEST_BINARY"); path != "" {
		return path, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "kinst", "test", fmt.Sprintf("kinst-%d", os.Getpid()))
	cmd := exec.Command("go", "build", "-o", path, "kinst/cmd/kinst")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building kinst: %w\n%s", err, out)
	}
	return path, nil
})
