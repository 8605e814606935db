package kinst

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// mapped lists the files that a process has mapped.
func mapped(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func compileC(t *testing.T, output string, args ...string) {
	t.Helper()
	if out, err := exec.Command("gcc", append([]string{"-O1", "-o", output}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
}

func startProcess(t *testing.T, command string) *Process {
	t.Helper()
	p, err := StartCommand(command)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Release)
	return p
}

func ended(t *testing.T, p *Process) string {
	t.Helper()
	select {
	case <-p.Done():
		return p.how
	case <-time.After(10 * time.Second):
		t.Fatal("the process does not end")
	}
	return ""
}

// TestStopsAtOnce: a command is stopped before it has loaded anything, and
// Load brings it to where the libraries are there and none of them has run.
func TestStopsAtOnce(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "uses")
	compileC(t, filepath.Join(dir, "liblibrary.so"), "-shared", "-fPIC", "testdata/user/library.c")
	compileC(t, program, "testdata/user/uses.c", "-L"+dir, "-llibrary", "-Wl,-rpath,"+dir)

	p := startProcess(t, program)
	if maps := mapped(t, p.PID); strings.Contains(maps, "libc.so") {
		t.Errorf("it has run before it was to:\n%s", maps)
	}
	if err := p.Load(); err != nil {
		t.Fatal(err)
	}
	maps := mapped(t, p.PID)
	if !strings.Contains(maps, "libc.so") || !strings.Contains(maps, "liblibrary.so") {
		t.Errorf("its libraries are not loaded:\n%s", maps)
	}
	if n := constructed(t, p.PID, filepath.Join(dir, "liblibrary.so")); n != 0 {
		t.Errorf("the constructor of its library has run: %d", n)
	}
	if err := p.Load(); err != nil {
		t.Errorf("the second Load: %v", err)
	}
	if err := p.Continue(); err != nil {
		t.Fatal(err)
	}
	if how, want := ended(t, p), fmt.Sprintf("pid %d has exited", p.PID); how != want {
		t.Errorf("it %q, want %q", how, want)
	}
}

// constructed reads the variable of that name in library.c.
func constructed(t *testing.T, pid int, library string) int32 {
	t.Helper()
	out, err := exec.Command("nm", library).Output()
	if err != nil {
		t.Fatal(err)
	}
	var addr, base uint64
	for line := range strings.Lines(string(out)) {
		if strings.HasSuffix(strings.TrimSpace(line), " constructed") {
			fmt.Sscanf(line, "%x", &addr)
		}
	}
	for line := range strings.Lines(mapped(t, pid)) {
		if strings.Contains(line, library) && base == 0 {
			fmt.Sscanf(line, "%x-", &base)
		}
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	var word [4]byte
	if _, err := mem.ReadAt(word[:], int64(base+addr)); err != nil {
		t.Fatal(err)
	}
	return int32(uint32(word[0]) | uint32(word[1])<<8 | uint32(word[2])<<16 | uint32(word[3])<<24)
}

// TestLoadPrograms: programs of all kinds can be loaded and run.
func TestLoadPrograms(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexit 4\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	static, staticPIE, threads := filepath.Join(dir, "static"), filepath.Join(dir, "static-pie"), filepath.Join(dir, "threads")
	compileC(t, static, "-static", "testdata/user/calls.c")
	compileC(t, staticPIE, "-static-pie", "testdata/user/calls.c")
	compileC(t, threads, "-pthread", "testdata/user/calls.c")
	for _, test := range []struct{ command, want string }{
		{"/bin/true", "has exited"},
		{"/bin/false", "exited with status 1"},
		{script, "exited with status 4"},
		{static + " exit 3", "exited with status 3"},
		{staticPIE + " exit 3", "exited with status 3"},
		{threads + " threads 10", "has exited"},
		{threads + " abort", "terminated by SIGABRT"},
		{threads + " exec 10", "has exited"},
	} {
		p := startProcess(t, test.command)
		if err := p.Load(); err != nil {
			t.Errorf("%s: %v", test.command, err)
			continue
		}
		if err := p.Continue(); err != nil {
			t.Errorf("%s: %v", test.command, err)
			continue
		}
		if how := ended(t, p); !strings.HasSuffix(how, test.want) {
			t.Errorf("%s: it %q, want %q", test.command, how, test.want)
		}
	}
}

// TestRelease ends a process that is stopped, and one that runs.
func TestRelease(t *testing.T) {
	for _, run := range []bool{false, true} {
		p := startProcess(t, "sleep 100")
		if run {
			if err := p.Continue(); err != nil {
				t.Fatal(err)
			}
		}
		p.Release()
		if how := ended(t, p); !strings.HasSuffix(how, "terminated by SIGKILL") {
			t.Errorf("it %q", how)
		}
	}
}

func TestGrab(t *testing.T) {
	sleeper := exec.Command("sleep", "100")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	p, err := GrabProcess(sleeper.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.Load(), p.Continue()); err != nil {
		t.Error(err)
	}
	p.Release()
	select {
	case <-p.Done():
		t.Fatal("Release has ended a process that was grabbed")
	case <-time.After(50 * time.Millisecond):
	}
	if err := sleeper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if how := ended(t, p); !strings.HasSuffix(how, "has exited") {
		t.Errorf("it %q", how)
	}
	_ = sleeper.Wait()
}

func TestChangedEnvironment(t *testing.T) {
	got := changed([]string{"A=1", "AB=2", "C=3"}, []string{"A=x=y", "C", "D=", "D=4", "E"})
	if want := []string{"AB=2", "A=x=y", "D=4"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProcessRefusals(t *testing.T) {
	for command, want := range map[string]string{
		"":                "it is empty",
		"/nonexistent":    "no such file or directory",
		"no-such-command": "executable file not found",
		"/etc/passwd":     "permission denied",
		`echo "a`:         `failed to run the command "echo \"a": its quotation marks are not in pairs`,
		"echo $(id":       "or it has parentheses outside of them",
		"   ":             "it is empty",
		"echo a; echo b":  "those that are not in quotation marks are for a shell: sh -c '...' is one",
		"echo a | cat":    "are for a shell",
		"echo >file":      "are for a shell",
		"echo 2>file":     "are for a shell",
		"sleep 1 &":       "are for a shell",
	} {
		if _, err := StartCommand(command); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", command, err, want)
		}
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		var tid int
		fmt.Sscan(thread.Name(), &tid)
		if tid == os.Getpid() {
			continue
		}
		_, err := GrabProcess(tid)
		if _, gone := os.Stat("/proc/self/task/" + thread.Name()); gone != nil {
			continue // another test's, which has ended
		}
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("it is a thread of process %d: name that", os.Getpid())) {
			t.Errorf("a thread: got %v", err)
		}
	}
	const nobody = 1<<22 - 1
	if _, err := GrabProcess(nobody); err == nil || !strings.Contains(err.Error(), "there is no such process") {
		t.Errorf("no process: got %v", err)
	}
}

func TestSudoCaller(t *testing.T) {
	for _, test := range []struct {
		uid, gid string
		want     *syscall.Credential
		err      string
	}{
		{"", "", nil, ""},
		{"0", "0", nil, ""},
		{"4242", "4243", &syscall.Credential{Uid: 4242, Gid: 4243}, ""},
		{"joe", "1", nil, `SUDO_UID is "joe"`},
		{"1", "", nil, `SUDO_GID is ""`},
	} {
		got, err := sudoCaller(func(name string) string {
			return map[string]string{"SUDO_UID": test.uid, "SUDO_GID": test.gid}[name]
		})
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%q %q: %v, want %q", test.uid, test.gid, err, test.err)
		}
		if (got == nil) != (test.want == nil) || got != nil && (got.Uid != test.want.Uid || got.Gid != test.want.Gid) {
			t.Errorf("%q %q: %+v, want %+v", test.uid, test.gid, got, test.want)
		}
	}
}

// TestRunsAsSudoCaller: the command runs as who called sudo, with the
// environment as it is.
func TestRunsAsSudoCaller(t *testing.T) {
	file, err := os.CreateTemp("", "kinst-sudo-*")
	if err != nil {
		t.Fatal(err)
	}
	out := file.Name()
	defer os.Remove(out)
	if err := errors.Join(file.Chmod(0o666), file.Close()); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SUDO_UID", "65534")
	t.Setenv("SUDO_GID", "65534")
	t.Setenv("KINST_KEPT", "kept")
	p := startProcess(t, fmt.Sprintf(`sh -c 'echo $(id -u) $(id -g) $KINST_KEPT >%s'`, out))
	if err := errors.Join(p.Load(), p.Continue()); err != nil {
		t.Fatal(err)
	}
	ended(t, p)
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if want := "65534 65534 kept\n"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
