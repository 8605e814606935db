package kinst_test

import (
	"bufio"
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kinst"
	"kinst/internal/vm/vmtest"
)

// buildPlugin compiles the library that opens.c loads.
func buildPlugin(t *testing.T) string {
	t.Helper()
	library := filepath.Join(t.TempDir(), "libplugin.so")
	if out, err := exec.Command("gcc", "-O1", "-shared", "-fPIC", "-o", library, "testdata/user/plugin.c").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return library
}

// following runs a D program on a process, whose description may match
// nothing at first.
func following(t *testing.T, p *kinst.Process, d string, change func(*kinst.Settings), begin func()) (out, ended string) {
	t.Helper()
	settings := kinst.NewSettings()
	settings.Quiet, settings.Zdefs = true, true
	if change != nil {
		change(settings)
	}
	s, err := kinst.Open(kinst.Options{
		Settings:  settings,
		Processes: []*kinst.Process{p},
		Warn:      func(text string) { t.Errorf("%s: %s", d, text) },
		Note:      func(text string) { t.Logf("%s: %s", d, text) },
		Ended:     func(how string) { ended = how },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	program, err := s.Compile(ctx, kinst.Source{Kind: kinst.Names, Text: d})
	if err != nil {
		t.Fatalf("%s: %v", d, detail(err))
	}
	if err := s.Start(ctx, program); err != nil {
		t.Fatalf("%s: %v", d, err)
	}
	if begin != nil {
		begin()
	}
	var text bytes.Buffer
	if _, err := s.Consume(ctx, &text); err != nil {
		t.Fatalf("%s: %v", d, err)
	}
	if ctx.Err() != nil {
		t.Fatalf("%s: the process does not end", d)
	}
	return text.String(), ended
}

// followCommand is following with a command.
func followCommand(t *testing.T, command, d string, change func(*kinst.Settings)) (out, ended string) {
	t.Helper()
	p, err := kinst.StartCommand(command)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	return following(t, p, d, change, nil)
}

// interpreter is the dynamic linker that a program asks for.
func interpreter(t *testing.T, program string) string {
	t.Helper()
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	name, err := file.Section(".interp").Data()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimRight(string(name), "\x00")
}

// words is text with single blanks.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }

// TestFollowCommand counts in what a command executes and loads, exactly.
func TestFollowCommand(t *testing.T) {
	calls, opens, plugin, static := build(t, "calls.c"), build(t, "opens.c"), buildPlugin(t), build(t, "static.c")
	fixed := build(t, "calls.c", "-no-pie")
	whole := build(t, "calls.c", "-static")
	const add = `pid$target:a.out:add:entry {@ = count();}`
	const plug = `pid$target:libplugin:plug:entry {@ = count();}`
	for _, test := range []struct{ name, command, d, want string }{
		{"a program executed", `sh -c "exec ` + calls + ` add 12"`, `pid$target:calls:add:entry {@ = count();}`, "12"},
		{"one without libraries", `sh -c "exec ` + whole + ` add 12"`, add, "12"},
		{"the same again", calls + " exec 100", add, "200"},
		{"the same again at the same addresses", fixed + " exec 100", add, "200"},
		{"the same again by a shell", `sh -c "exec ` + fixed + ` exec 10"`, add, "20"},
		{"by the dynamic linker's name", interpreter(t, calls) + " " + calls + " add 6", `pid$target:calls:add:entry {@ = count();}`, "6"},
		{"by a thread", opens + " execute 9 " + calls, add, "9"},
		{"by a child", `sh -c "` + calls + ` add 5; ` + calls + ` fork 6; exec ` + calls + ` fork 7"`, add, "7"},
		{"its instructions", `sh -c "exec ` + calls + ` add 3"`, `pid$target:calls:add:return {@["r"] = count();} pid$target:calls:add:0 {@["0"] = count();}`, "0 3 r 3"},
		{"static probes", `sh -c "exec ` + static + `"`, `demo$target:::step-taken {@ = sum(arg2);} demo$target:a.out::twice {@n = count();}`, "6 6"},
		{"a library loaded", opens + " load 50 " + plugin, plug, "52"},
		{"by a thread", opens + " thread 50 " + plugin, plug, "52"},
		{"by a child too", opens + " fork 50 " + plugin, plug, "52"},
		{"again where it was", opens + " again 50 " + plugin, plug, "104"},
		{"twice at once", opens + " namespace 50 " + plugin, plug, "154"},
		{"again elsewhere", opens + " elsewhere 50 " + plugin, plug, "104"},
		{"with others", opens + " load 4 " + plugin, `pid$target::plug:entry, pid$target:a.out:load:entry {@[probemod, probefunc] = count();}`, "opens load 1 libplugin.so plug 6"},
		{"rows of the same name", calls + " exec 8", `pid$target:calls:add: /probename == "entry" || probename == "return"/ {@[probefunc, probename] = count();}`, "add entry 16 add return 16"},
		{
			"variables", opens + " load 4 " + plugin,
			`BEGIN {n = 40; last = "none";}
			pid$target:libplugin:plug:entry {n++; self->arg = arg0; name[arg0] = probefunc; last = strjoin(probefunc, "()");}
			pid$target:libplugin:plug:return /self->arg/ {@ = sum(self->arg); self->arg = 0;}
			END {printf("%d %s %s ", n, last, name[3]);}`,
			"46 plug() plug 9",
		}, {
			"records", opens + " load 2 " + plugin,
			`BEGIN {printf("begin;");} pid$target:libplugin:plug:entry {printf("%s:%s %d %s;", probemod, probename, arg0, execname);}`,
			"begin;libplugin.so:entry 1 opens;libplugin.so:entry 2 opens;libplugin.so:entry 0 opens;libplugin.so:entry 1 opens;",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, ended := followCommand(t, test.command, test.d, nil)
			if got := words(out); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if strings.Contains(ended, "status") || strings.Contains(ended, "terminated") {
				t.Error(ended)
			}
		})
	}
}

// TestFollowShows shows records of probes that were found later as others.
func TestFollowShows(t *testing.T) {
	opens, plugin := build(t, "opens.c"), buildPlugin(t)
	for _, test := range []struct {
		change func(*kinst.Settings)
		want   string
	}{
		{
			func(s *kinst.Settings) { s.Quiet = false },
			`^CPU +ID +FUNCTION:NAME\n +\d+ +[4-9]\d* +load:entry +\n( +\d+ +[4-9]\d* +plug:entry +\n){2}\n?$`,
		}, {
			func(s *kinst.Settings) { s.Oformat = "json" },
			`"function":"load".*\n.*"module":"libplugin.so","function":"plug","name":"entry".*\n.*"function":"plug"`,
		}, {
			func(s *kinst.Settings) { s.Quiet, s.Flowindent = false, true },
			`^CPU FUNCTION +\n +\d+ +-> load +\n +\d+ +-> plug +\n +\d+ +-> plug +\n`,
		},
	} {
		out, _ := followCommand(t, opens+" load 0 "+plugin, `pid$target::plug:entry, pid$target:a.out:load:entry {}`, test.change)
		if !regexp.MustCompile(test.want).MatchString(out) {
			t.Errorf("got %s, want %s", out, test.want)
		}
	}
}

// A runner is a process that waits to be told to go on.
type runner struct {
	*exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Scanner
}

func startRunner(t *testing.T, name string, args ...string) *runner {
	t.Helper()
	r := &runner{Cmd: exec.Command(name, args...)}
	stdin, err := r.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := r.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Stderr = os.Stderr
	r.stdin, r.stdout = stdin, bufio.NewScanner(stdout)
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if r.ProcessState == nil {
			_ = r.Process.Kill()
			_ = r.Wait()
		}
	})
	return r
}

func (r *runner) line(t *testing.T, want string) {
	t.Helper()
	if !r.stdout.Scan() || r.stdout.Text() != want {
		t.Fatalf("got %q, want %q", r.stdout.Text(), want)
	}
}

func (r *runner) goOn(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(r.stdin, "\n"); err != nil {
		t.Fatal(err)
	}
}

// grab has another process trace this runner, and waits until it does.
func (r *runner) grab(t *testing.T, d string) (tracer *runner) {
	t.Helper()
	tracer = startRunner(t, vmtest.Kinst(t), "-Zqn", `BEGIN {printf("begun\n");} `+d, "-p", fmt.Sprint(r.Process.Pid))
	tracer.line(t, "begun")
	return tracer
}

// TestFollowProcess counts in what a process executes and loads that ran
// before.
func TestFollowProcess(t *testing.T) {
	calls, opens, plugin, static := build(t, "calls.c"), build(t, "opens.c"), buildPlugin(t), build(t, "static.c")
	for _, test := range []struct{ how, file, d, want string }{
		{"wait-load", plugin, `pid$target:libplugin:plug:entry {@ = count();}`, "52"},
		{"wait-thread", plugin, `pid$target:libplugin:plug:entry {@ = count();}`, "52"},
		{"wait-fork", plugin, `pid$target:libplugin:plug:entry {@ = count();}`, "52"},
		{"wait-execute", calls, `pid$target:calls:add:entry {@ = count();}`, "50"},
		{"wait-execute", static, `demo$target:::step-taken {@ = count();}`, "3"},
	} {
		r := startRunner(t, opens, test.how, "50", test.file)
		r.line(t, "ready")
		tracer := r.grab(t, test.d)
		r.goOn(t)
		var out strings.Builder
		for tracer.stdout.Scan() {
			fmt.Fprintln(&out, tracer.stdout.Text())
		}
		if err := errors.Join(tracer.Wait(), r.Wait()); err != nil {
			t.Errorf("%s: %v", test.how, err)
		}
		if got := words(out.String()); got != test.want {
			t.Errorf("%s: got %q, want %q", test.how, got, test.want)
		}
	}
}

// TestFollowLetsGo: a process that is let go of loads what it likes and is not
// stopped.
func TestFollowLetsGo(t *testing.T) {
	opens, plugin := build(t, "opens.c"), buildPlugin(t)
	r := startRunner(t, opens, "wait-thread", "5", plugin)
	r.line(t, "ready")
	p, err := kinst.GrabProcess(r.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if out, _ := following(t, p, `BEGIN {exit(0);} pid$target:libplugin:plug:entry {@ = count();}`, nil, nil); words(out) != "" {
		t.Errorf("got %q", out)
	}
	p.Release()
	for range 1000 {
		if tracerOf(t, r.Process.Pid) == "0" {
			break
		}
		time.Sleep(time.Millisecond)
	}
	r.goOn(t)
	if err := r.Wait(); err != nil {
		t.Error(err)
	}
}

// job waits for a child to stop, to be continued or to end.
func job(t *testing.T, pid int) unix.WaitStatus {
	t.Helper()
	for range 1000 {
		var status unix.WaitStatus
		got, err := unix.Wait4(pid, &status, unix.WUNTRACED|unix.WCONTINUED|unix.WNOHANG, nil)
		if err != nil && !errors.Is(err, unix.EINTR) {
			t.Fatal(err)
		}
		if got == pid {
			return status
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("nothing happens to the process")
	return 0
}

// TestFollowSignals sends signals to a process that kinst follows, and then
// kills kinst: all is as without it.
func TestFollowSignals(t *testing.T) {
	opens := build(t, "opens.c")
	for _, test := range []struct {
		how  string
		want func(unix.WaitStatus) bool
	}{
		{"wait-handle", func(s unix.WaitStatus) bool { return s.ExitStatus() == 30+int(unix.SIGINT) }},
		{"wait-pause", func(s unix.WaitStatus) bool { return s.Signaled() && s.Signal() == unix.SIGINT }},
	} {
		for _, killed := range []bool{false, true} {
			r := startRunner(t, opens, test.how, "0", "")
			r.line(t, "ready")
			pid := r.Process.Pid
			tracer := r.grab(t, `pid$target:a.out:main:entry {}`)
			if n := tracerOf(t, pid); n == "0" {
				t.Fatal("it is not traced")
			}
			r.goOn(t)
			if test.how == "wait-handle" {
				r.line(t, "handles")
			}
			stop := func() {
				_ = unix.Kill(pid, unix.SIGSTOP)
				if s := job(t, pid); !s.Stopped() || s.StopSignal() != unix.SIGSTOP {
					t.Errorf("%s, killed %v: %#x after SIGSTOP", test.how, killed, s)
				}
			}
			resume := func() {
				_ = unix.Kill(pid, unix.SIGCONT)
				if s := job(t, pid); !s.Continued() {
					t.Errorf("%s, killed %v: %#x after SIGCONT", test.how, killed, s)
				}
			}
			stop()
			resume()
			stop()
			if killed {
				_ = tracer.Process.Kill()
				_ = tracer.Wait()
				if n := tracerOf(t, pid); n != "0" {
					t.Errorf("it is traced by %s", n)
				}
			}
			resume()
			_ = unix.Kill(pid, unix.SIGINT)
			if s := job(t, pid); !test.want(s) {
				t.Errorf("%s, killed %v: %#x after SIGINT", test.how, killed, s)
			}
			if !killed {
				if err := tracer.Wait(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// TestFollowKilled kills kinst, after which the process runs on and loads what
// it likes.
func TestFollowKilled(t *testing.T) {
	opens, plugin := build(t, "opens.c"), buildPlugin(t)
	r := startRunner(t, opens, "wait-thread", "5", plugin)
	r.line(t, "ready")
	tracer := r.grab(t, `pid$target:libplugin:plug:entry {}`)
	_ = tracer.Process.Kill()
	_ = tracer.Wait()
	r.goOn(t)
	if s := job(t, r.Process.Pid); s.ExitStatus() != 0 {
		t.Errorf("it ended with %#x", s)
	}
}

// tracerOf is the thread that traces a process, or 0.
func tracerOf(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`TracerPid:\t(\d+)`).FindSubmatch(text)
	return string(m[1])
}
