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
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

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

// Modules names the kernel modules that guests of [Main] load at boot. A package
// sets it before it calls Main.
var Modules []string

// guestVariable is set in the environment of a test binary in a guest.
const guestVariable = "KINST_TEST_GUEST"

// InGuest reports whether the process is a test binary in a guest.
func InGuest() bool { return os.Getenv(guestVariable) != "" }

// Main runs the tests of a package in a guest of each kernel, with the package's
// testdata directory, and exits with 0 where all of them pass. With kernels
// named, it takes those instead of [Kernels]. The guests run side by side, unless
// benchmarks are asked for.
func Main(m *testing.M, kernels ...string) {
	flag.Parse()
	if InGuest() || flagValue[string]("test.list") != "" {
		os.Exit(m.Run())
	}
	if len(kernels) == 0 {
		kernels = Kernels()
	}
	ctx := context.Background()
	if limit := flagValue[time.Duration]("test.timeout"); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	reports := make([]*report, len(kernels))
	for i, kernel := range kernels {
		reports[i] = &report{kernel: kernel, done: make(chan struct{})}
		go reports[i].run(ctx)
		if flagValue[string]("test.bench") != "" {
			<-reports[i].done
		}
	}
	verdict := 0
	for _, r := range reports {
		if !r.print() {
			verdict = 1
		}
	}
	os.Exit(verdict)
}

func flagValue[T any](name string) T {
	return flag.Lookup(name).Value.(flag.Getter).Get().(T)
}

// A report is what the tests say on one kernel.
type report struct {
	kernel string
	status int
	err    error
	done   chan struct{}

	mu   sync.Mutex
	text bytes.Buffer // until it is printed
	out  io.Writer    // afterwards
}

// Write keeps text while other kernels' reports are printed.
func (r *report) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.out != nil {
		return r.out.Write(b)
	}
	return r.text.Write(b)
}

// print prints the report, waiting for its end, and returns whether the tests
// passed.
func (r *report) print() bool {
	r.mu.Lock()
	fmt.Printf("# kernel %s\n", r.kernel)
	r.out = os.Stdout
	r.text.WriteTo(r.out)
	r.mu.Unlock()
	<-r.done
	if r.err != nil {
		fmt.Printf("kernel %s: %v\n", r.kernel, r.err)
	}
	return r.err == nil && r.status == 0
}

// run runs this test binary in a guest.
func (r *report) run(ctx context.Context) {
	defer close(r.done)
	dir, err := os.Getwd()
	if err != nil {
		r.err = err
		return
	}
	cfg := vm.Config{
		Kernel: r.kernel, Modules: Modules, Dir: dir,
		Args: guestFlags(os.Args[1:]), Env: []string{guestVariable + "=" + r.kernel},
	}
	if data := filepath.Join(dir, "testdata"); isDir(data) {
		cfg.Files = append(cfg.Files, vm.File{Host: data, Guest: data})
	}
	release, err := acquire()
	if err != nil {
		r.err = err
		return
	}
	defer release()
	r.status, r.err = vm.Run(ctx, cfg, r, r)
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
	defer Acquire(t)()
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

// buildKinst builds kinst and returns a path to the open file, which has no other
// name: it is gone when the test binary ends, however that ends.
var buildKinst = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "kinst-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "kinst")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, "kinst/cmd/kinst")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building kinst: %w\n%s", err, out)
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", &os.PathError{Op: "open", Path: path, Err: err}
	}
	return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), fd), nil
})
