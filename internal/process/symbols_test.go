package process

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A waiter is a running testdata/wait.c, and where its functions are.
type waiter struct {
	cmd   *exec.Cmd
	stdin io.Closer
	path  string
	addrs map[string]uint64
}

func (w *waiter) pid() uint32 { return uint32(w.cmd.Process.Pid) }

// stop ends the process and waits until it is gone.
func (w *waiter) stop() {
	w.stdin.Close()
	_ = w.cmd.Wait() // again at the test's end
}

func startWaiter(t *testing.T, flags ...string) *waiter {
	t.Helper()
	w := &waiter{path: filepath.Join(t.TempDir(), "waiter"), addrs: make(map[string]uint64)}
	args := append([]string{"-O1", "-o", w.path, "testdata/wait.c"}, flags...)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	w.cmd = exec.Command(w.path)
	var err error
	if w.stdin, err = w.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.stop)
	lines := bufio.NewScanner(stdout)
	for len(w.addrs) < 3 && lines.Scan() {
		addr, name, _ := strings.Cut(lines.Text(), " ")
		if w.addrs[name], err = strconv.ParseUint(addr, 0, 64); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// expect checks a symbol; file is the last name of the module's path.
func expect(t *testing.T, s *Symbols, pid uint32, addr uint64, file, name string, offset uint64) {
	t.Helper()
	gotModule, gotName, gotOffset := s.UserSymbol(pid, addr)
	got := fmt.Sprintf("%s`%s+%#x", filepath.Base(gotModule), gotName, gotOffset)
	if want := fmt.Sprintf("%s`%s+%#x", file, name, offset); got != want {
		t.Errorf("%#x of process %d is %s, want %s", addr, pid, got, want)
	}
}

func TestFunctions(t *testing.T) {
	for _, flags := range [][]string{{"-pie", "-fPIE"}, {"-no-pie"}} {
		t.Run(flags[0], func(t *testing.T) {
			w := startWaiter(t, flags...)
			var s Symbols
			expect(t, &s, w.pid(), w.addrs["local_function"], "waiter", "local_function", 0)
			expect(t, &s, w.pid(), w.addrs["global_function"]+3, "waiter", "global_function", 3)
			expect(t, &s, w.pid(), w.addrs["getenv"]+8, "libc.so.6", "getenv", 8)
			expect(t, &s, w.pid(), 0x10, ".", "", 0)
		})
	}
}

// TestStripped finds what is left, and no function where none is known.
func TestStripped(t *testing.T) {
	w := startWaiter(t, "-s", "-rdynamic")
	var s Symbols
	expect(t, &s, w.pid(), w.addrs["global_function"], "waiter", "global_function", 0)
	expect(t, &s, w.pid(), w.addrs["local_function"], "waiter", "", 0)
}

// TestExited names addresses of a process that has gone.
func TestExited(t *testing.T) {
	w := startWaiter(t)
	var s Symbols
	expect(t, &s, w.pid(), w.addrs["global_function"], "waiter", "global_function", 0)
	w.stop()
	time.Sleep(2 * fresh)
	expect(t, &s, w.pid(), w.addrs["local_function"]+1, "waiter", "local_function", 1)
	// A file that had not been read is found by its name.
	expect(t, &s, w.pid(), w.addrs["getenv"], "libc.so.6", "getenv", 0)
}

// TestDeleted names addresses of a program whose file is no more.
func TestDeleted(t *testing.T) {
	w := startWaiter(t)
	if err := os.Remove(w.path); err != nil {
		t.Fatal(err)
	}
	var s Symbols
	expect(t, &s, w.pid(), w.addrs["global_function"], "waiter", "global_function", 0)
}

// TestReplaced does not take the symbols of another file with the same name.
func TestReplaced(t *testing.T) {
	w := startWaiter(t)
	var s Symbols
	s.process(w.pid())
	w.stop()
	if err := os.Remove(w.path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.path, []byte("another"), 0o666); err != nil {
		t.Fatal(err)
	}
	expect(t, &s, w.pid(), w.addrs["global_function"], "waiter", "", 0)
}

// TestWatch names addresses of processes that are only asked for when they have
// gone: one that executed a program, and a child of it that did not.
func TestWatch(t *testing.T) {
	w := startWaiter(t)
	var s Symbols
	if err := s.Watch(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	cmd := exec.Command("setarch", "-R", w.path, "fork") // at the same addresses each time
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var child uint32
	for line := range strings.Lines(string(out)) {
		addr, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseUint(addr, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		switch name {
		case "child":
			child = uint32(n)
		case "getenv":
			expect(t, &s, uint32(cmd.Process.Pid), n, "libc.so.6", name, 0)
		default:
			expect(t, &s, uint32(cmd.Process.Pid), n, "waiter", name, 0)
			if child == 0 {
				t.Fatal("the child comes first")
			}
			expect(t, &s, child, n, "waiter", name, 0)
		}
	}
}

func TestGo(t *testing.T) {
	pc := reflect.ValueOf(TestGo).Pointer()
	var s Symbols
	expect(t, &s, uint32(os.Getpid()), uint64(pc), filepath.Base(os.Args[0]), runtime.FuncForPC(pc).Name(), 0)
}

func TestVDSO(t *testing.T) {
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	var s Symbols
	for _, m := range parseMaps(text) {
		if m.path != vdsoName {
			continue
		}
		for addr := m.start; addr < m.end; addr += 16 {
			if _, name, _ := s.UserSymbol(uint32(os.Getpid()), addr); strings.Contains(name, "clock_gettime") {
				return
			}
		}
		t.Errorf("no clock_gettime in the %d bytes of the vdso", m.end-m.start)
	}
}

func TestJIT(t *testing.T) {
	code, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Munmap(code); err != nil {
			t.Error(err)
		}
	}()
	base := uint64(reflect.ValueOf(code).Pointer())
	file := fmt.Sprintf("/tmp/perf-%d.map", os.Getpid())
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	defer os.Remove(file)
	var s Symbols
	pid := uint32(os.Getpid())
	expect(t, &s, pid, base, ".", "", 0)
	write(fmt.Sprintf("%x 20 first function\n%x 10 second\nnonsense\n", base, base+0x40))
	expect(t, &s, pid, base+0x1f, jitName, "first function", 0x1f)
	expect(t, &s, pid, base+0x20, ".", "", 0)
	expect(t, &s, pid, base+0x40, jitName, "second", 0)
	write(fmt.Sprintf("%x 20 first function\n%x 10 second\n%x 80 third\n", base, base+0x40, base+0x40))
	expect(t, &s, pid, base+0x60, jitName, "third", 0x20)
}

func TestStartTime(t *testing.T) {
	stat := "17 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 777 20"
	if got := startTime([]byte(stat)); got != "777" {
		t.Errorf("%q", got)
	}
	for _, odd := range []string{"", ")", "1 (x", "1 (x) S 1"} {
		if got := startTime([]byte(odd)); got != "" {
			t.Errorf("%q of %q", got, odd)
		}
	}
}

func TestEvict(t *testing.T) {
	var s Symbols
	clock := time.Unix(0, 0)
	s.now = func() time.Time { clock = clock.Add(time.Second); return clock }
	for pid := range uint32(2 * maxProcesses) {
		s.process(1<<30 + pid)
	}
	if n := len(s.processes); n > maxProcesses {
		t.Errorf("%d processes are kept", n)
	}
	if s.processes[1<<30+2*maxProcesses-1] == nil {
		t.Error("the last process was forgotten")
	}
}

func FuzzMaps(f *testing.F) {
	f.Add([]byte("7f12a4200000-7f12a4355000 r-xp 00026000 fe:01 131085    /usr/lib/libc.so.6\n"))
	f.Add([]byte("- r-xp  \n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, m := range parseMaps(text) {
			if m.path != "" && m.path[0] != '/' && m.path != vdsoName {
				t.Errorf("the path %q", m.path)
			}
		}
		parseJIT(string(text))
		startTime(text)
	})
}
