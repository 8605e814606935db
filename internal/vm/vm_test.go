package vm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"kinst/internal/vm"
	"kinst/internal/vm/vmtest"
)

// The test binary is also what the guests run: with this variable set it plays
// a tracer.
const roleVariable = "VM_TEST_ROLE"

func TestMain(m *testing.M) {
	role, ok := os.LookupEnv(roleVariable)
	if !ok {
		os.Exit(m.Run())
	}
	os.Exit(roles[role](os.Args[1:]))
}

var roles = map[string]func(args []string) int{
	"tracer":  traceUntilInterrupted,
	"stream":  stream,
	"machine": runMachine,
}

// traceUntilInterrupted takes a while to start, says that it traces, and ends
// when it is interrupted.
func traceUntilInterrupted([]string) int {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, unix.SIGINT)
	time.Sleep(200 * time.Millisecond)
	fmt.Println("tracing")
	vm.NotifyReady()
	<-interrupts
	fmt.Println("END")
	return 7
}

// stream writes a number of random bytes, the same ones for the same number.
func stream(args []string) int {
	n, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil {
		return 2
	}
	if _, err := io.Copy(os.Stdout, io.LimitReader(rand.NewChaCha8([32]byte{}), n)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// runMachine is a host's process that can be killed.
func runMachine(args []string) int {
	cfg := vm.Config{Kernel: args[0], Program: "/bin/sleep", Args: []string{"1000"}}
	status, err := vm.Run(context.Background(), cfg, os.Stdout, os.Stderr)
	fmt.Fprintln(os.Stderr, err)
	return status
}

func onEachKernel(t *testing.T, test func(t *testing.T, kernel string)) {
	for _, kernel := range vmtest.Kernels() {
		t.Run(kernel, func(t *testing.T) {
			t.Parallel()
			test(t, kernel)
		})
	}
}

// run runs a role in a guest.
func run(t *testing.T, cfg vm.Config, role string, args ...string) (stdout, stderr string, status int, err error) {
	t.Helper()
	defer vmtest.Acquire(t)()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cfg.Env = append(cfg.Env, roleVariable+"="+role)
	cfg.Args = args
	var out, errs bytes.Buffer
	status, err = vm.Run(ctx, cfg, &out, &errs)
	return out.String(), errs.String(), status, err
}

func writeScript(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "work.sh")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOutputsAndStatus(t *testing.T) {
	const script = `
		printf 'a\nb\r\n'
		printf 'wrong\n' >&2
		read line || echo end of input
		for f in /proc/self/maps /sys/kernel/btf/vmlinux /sys/kernel/tracing/kprobe_events \
			/sys/kernel/debug/kprobes/list /sys/kernel/security/lsm /sys/fs/bpf /sys/fs/cgroup/cgroup.procs /dev/kmsg /dev/shm
		do test -e $f || echo no $f; done
		echo x >/tmp/x && ping -c1 -W1 127.0.0.1 >/dev/null || echo no loopback
		/opt/bash -c 'echo dynamic ${BASH_VERSION:+bash}'
		exit 42`
	cfg := vm.Config{Files: []vm.File{{Host: "/bin/bash", Guest: "/opt/bash"}}}
	want := vmtest.Result{Stdout: "a\nb\r\nend of input\ndynamic bash\n", Stderr: "wrong\n", Status: 42}
	onEachKernel(t, func(t *testing.T, kernel string) {
		if diff := cmp.Diff(want, vmtest.Run(t, kernel, script, cfg)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestScriptRunsWhileProgramTraces(t *testing.T) {
	onEachKernel(t, func(t *testing.T, kernel string) {
		script := writeScript(t, "echo working; sleep 0.2; echo done; echo noise >&2\n")
		stdout, stderr, status, err := run(t, vm.Config{Kernel: kernel, Script: script}, "tracer")
		if err != nil {
			t.Fatal(err)
		}
		if want := "tracing\nworking\ndone\nEND\n"; stdout != want || stderr != "noise\n" || status != 7 {
			t.Errorf("got %q, %q, %d, want %q, %q, 7", stdout, stderr, status, want, "noise\n")
		}
	})
}

func TestScriptIsLeftOutWhenNothingTraces(t *testing.T) {
	script := writeScript(t, "echo working\n")
	stdout, _, status, err := run(t, vm.Config{Script: script}, "stream", "10")
	if err != nil || len(stdout) != 10 || status != 0 {
		t.Errorf("got %q, %d, %v", stdout, status, err)
	}
}

func TestInterrupt(t *testing.T) {
	interrupts := make(chan os.Signal, 1)
	script := writeScript(t, "echo working; sleep 100\n")
	var text string
	output := writerFunc(func(b []byte) {
		if text += string(b); strings.HasSuffix(text, "working\n") {
			interrupts <- unix.SIGINT
		}
	})
	cfg := vm.Config{Script: script, Interrupts: interrupts, Env: []string{roleVariable + "=tracer"}}
	status, err := vm.Run(t.Context(), cfg, output, io.Discard)
	if want := "tracing\nworking\nEND\n"; status != 7 || err != nil || text != want {
		t.Errorf("got %q, %d, %v, want %q, 7", text, status, err, want)
	}
}

func TestInterruptDuringBootEndsMachine(t *testing.T) {
	interrupts := make(chan os.Signal, 1)
	interrupts <- unix.SIGINT
	status, err := vm.Run(t.Context(), vm.Config{Interrupts: interrupts}, io.Discard, io.Discard)
	if status != 130 || !errors.Is(err, vm.ErrInterrupted) {
		t.Errorf("got %d, %v, want 130, %v", status, err, vm.ErrInterrupted)
	}
}

func TestSecondInterruptEndsMachine(t *testing.T) {
	interrupts := make(chan os.Signal, 2)
	// Its output is the sign that it runs; the first interrupt is ignored.
	cfg := vm.Config{
		Program: "/bin/sh", Args: []string{"-c", "trap '' INT; echo running; sleep 1000"}, Interrupts: interrupts,
	}
	status, err := vm.Run(t.Context(), cfg, writerFunc(func([]byte) {
		interrupts <- unix.SIGINT
		interrupts <- unix.SIGINT
	}), io.Discard)
	if status != 130 || !errors.Is(err, vm.ErrInterrupted) {
		t.Errorf("got %d, %v, want 130, %v", status, err, vm.ErrInterrupted)
	}
}

// A writerFunc is called with what is written.
type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) { f(b); return len(b), nil }

func TestBinaryOutput(t *testing.T) {
	for _, c := range []struct {
		transport, append string
		size              int64
	}{
		{"virtio", "", 5 << 20},
		{"serial", "initcall_blacklist=virtio_console_init module_blacklist=virtio_console", 1 << 18},
	} {
		t.Run(c.transport, func(t *testing.T) {
			onEachKernel(t, func(t *testing.T, kernel string) {
				cfg := vm.Config{Kernel: kernel, Append: c.append}
				stdout, stderr, status, err := run(t, cfg, "stream", strconv.FormatInt(c.size, 10))
				if err != nil || status != 0 || stderr != "" {
					t.Fatalf("got %q, %d, %v", stderr, status, err)
				}
				want, err := io.ReadAll(io.LimitReader(rand.NewChaCha8([32]byte{}), c.size))
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal([]byte(stdout), want) {
					t.Errorf("%d bytes arrived of %d, or others", len(stdout), c.size)
				}
			})
		})
	}
}

func TestPanic(t *testing.T) {
	onEachKernel(t, func(t *testing.T, kernel string) {
		script := writeScript(t, "echo c >/proc/sysrq-trigger\n")
		stdout, _, status, err := run(t, vm.Config{Kernel: kernel, Script: script}, "tracer")
		var panicked *vm.PanicError
		if !errors.As(err, &panicked) || status != 1 {
			t.Fatalf("got %d, %v", status, err)
		}
		if panicked.Reason != "sysrq triggered crash" || !strings.Contains(err.Error(), "sysrq_handle_crash") {
			t.Errorf("got %v", err)
		}
		if stdout != "tracing\n" {
			t.Errorf("what the program printed before is %q", stdout)
		}
	})
}

func TestGuestPowersItselfOff(t *testing.T) {
	cfg := vm.Config{Program: "/bin/sh", Args: []string{"-c", "echo before; poweroff -f; sleep 1000"}}
	var stdout bytes.Buffer
	status, err := vm.Run(t.Context(), cfg, &stdout, io.Discard)
	died, ok := errors.AsType[*vm.DeathError](err)
	if !ok || status != 1 || died.What != "the guest ended before the program did" || stdout.String() != "before\n" {
		t.Errorf("got %q, %d, %v", &stdout, status, err)
	}
}

// A kernel that panics or hangs before init is simulated by another init.
func TestBootFails(t *testing.T) {
	t.Run("panic", func(t *testing.T) {
		cfg := vm.Config{Append: "rdinit=/nothing"}
		status, err := vm.Run(t.Context(), cfg, io.Discard, io.Discard)
		panicked, ok := errors.AsType[*vm.PanicError](err)
		if !ok || status != 1 || !strings.Contains(panicked.Reason, "Unable to mount root fs") {
			t.Errorf("got %d, %v", status, err)
		}
	})
	t.Run("hang", func(t *testing.T) {
		cfg := vm.Config{Append: "rdinit=/bin/cat", BootTimeout: 2 * time.Second}
		status, err := vm.Run(t.Context(), cfg, io.Discard, io.Discard)
		if _, ok := errors.AsType[*vm.DeathError](err); !ok || status != 1 || err.Error() != "the guest did not reach its init within 2s; its console is empty" {
			t.Errorf("got %d, %v", status, err)
		}
	})
}

func TestProgramEndedBySignal(t *testing.T) {
	cfg := vm.Config{Program: "/bin/sh", Args: []string{"-c", "echo '<1>something happened' >/dev/kmsg; kill -SEGV $$"}}
	status, err := vm.Run(t.Context(), cfg, io.Discard, io.Discard)
	killed, ok := errors.AsType[*vm.SignalError](err)
	if !ok || status != 128+11 || killed.Signal != unix.SIGSEGV || !strings.Contains(err.Error(), "something happened") {
		t.Errorf("got %d, %v", status, err)
	}
}

func TestConsole(t *testing.T) {
	var console bytes.Buffer
	r := vmtest.Run(t, "", "echo out", vm.Config{Console: &console})
	if r != (vmtest.Result{Stdout: "out\n"}) {
		t.Errorf("got %+v", r)
	}
	if !strings.Contains(console.String(), "Linux version") {
		t.Errorf("the console has %q", console.String())
	}
}

// TestNothingOutlivesTheHost kills the process that runs a machine.
func TestNothingOutlivesTheHost(t *testing.T) {
	cmd := exec.Command("/proc/self/exe", "6.1")
	cmd.Env = append(os.Environ(), roleVariable+"=machine")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	qemu := waitForChild(t, cmd.Process.Pid)
	cmd.Process.Kill()
	cmd.Wait()
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", qemu))
		if err != nil || bytes.Contains(state, []byte(") Z ")) {
			return
		}
	}
	unix.Kill(qemu, unix.SIGKILL)
	t.Error("QEMU outlived its host")
}

func waitForChild(t *testing.T, pid int) int {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
		for _, list := range lists {
			text, _ := os.ReadFile(list)
			if child, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
				return child
			}
		}
	}
	t.Fatal("no QEMU was started")
	return 0
}

func TestModulesAreLoaded(t *testing.T) {
	onEachKernel(t, func(t *testing.T, kernel string) {
		cfg := vm.Config{Modules: []string{"vfat", "loop", "nls-ascii", "nls_cp437"}}
		got := vmtest.Run(t, kernel, `
			dd if=/dev/zero of=/disk bs=1M count=4 2>/dev/null
			mkdosfs /disk && mkdir /mnt && mount -t vfat -o loop /disk /mnt && echo hello >/mnt/file && cat /mnt/file
			cut -d' ' -f1 /proc/modules | grep -E '^(vfat|fat|loop)$' | sort`, cfg)
		if want := (vmtest.Result{Stdout: "hello\nfat\nloop\nvfat\n"}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

// TestAcceleratorIsFound starts without knowing whether KVM works here. Where it
// does not, the guest runs all the same, and the next one does not try again.
func TestAcceleratorIsFound(t *testing.T) {
	kernel, err := vm.FindKernel("")
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	t.Setenv("KINST_CACHE", cache)
	for range 2 {
		got := vmtest.Run(t, kernel.Path, "echo out", vm.Config{})
		if diff := cmp.Diff(vmtest.Result{Stdout: "out\n"}, got); diff != "" {
			t.Error(diff)
		}
	}
	kvm, err := os.OpenFile("/dev/kvm", os.O_RDWR, 0)
	if err != nil {
		return // no question
	}
	kvm.Close()
	verdict, err := os.ReadFile(filepath.Join(cache, "kvm"))
	if word, _, _ := strings.Cut(string(verdict), " "); err != nil || word != "works" && word != "fails" {
		t.Errorf("the verdict on KVM is %q, %v", verdict, err)
	}
}

func TestUnknownAccelerator(t *testing.T) {
	_, err := vm.Run(t.Context(), vm.Config{Accel: "magic"}, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), `"magic": kvm, tcg and tcg,thread=multi are known`) {
		t.Errorf("got %v", err)
	}
}

func TestMissingQEMU(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := vm.Run(t.Context(), vm.Config{}, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "is not installed: apt-get install qemu-system-") {
		t.Errorf("got %v", err)
	}
}

func TestUnsafe(t *testing.T) {
	for _, c := range []struct {
		cfg  vm.Config
		want bool
	}{
		{vm.Config{}, false},
		{vm.Config{CPUs: 2}, false},
		{vm.Config{CPUs: 2, Accel: "kvm"}, false},
		{vm.Config{Accel: "tcg,thread=multi"}, false},
		{vm.Config{CPUs: 2, Accel: "tcg,thread=multi"}, true},
	} {
		if got := c.cfg.Unsafe(); got != c.want {
			t.Errorf("%+v: %v", c.cfg, got)
		}
	}
}
