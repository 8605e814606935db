package kinst_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kinst"
)

// build compiles a program of testdata/user and returns its path.
func build(t *testing.T, source string, flags ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), strings.TrimSuffix(source, filepath.Ext(source)))
	compiler := "gcc"
	if filepath.Ext(source) == ".cc" {
		compiler = "g++"
	}
	args := append([]string{"-O2", "-pthread", "-o", name, filepath.Join("testdata/user", source)}, flags...)
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, out)
	}
	return name
}

// A tracing is a program run under tracing.
type tracing struct {
	out   string   // what the D program printed
	notes []string // what was left out
	ended string   // how the process ended
}

// trace runs a command and a D program on it, quietly.
func trace(t *testing.T, d, command string) *tracing {
	t.Helper()
	tr, err := tryTrace(t, d, command)
	if err != nil {
		t.Fatalf("%s on %s: %v", d, command, err)
	}
	return tr
}

func tryTrace(t *testing.T, d, command string) (tr *tracing, err error) {
	t.Helper()
	p, err := kinst.StartCommand(command)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	tr = new(tracing)
	settings := kinst.NewSettings()
	settings.Quiet = true
	s, err := kinst.Open(kinst.Options{
		Settings:  settings,
		Processes: []*kinst.Process{p},
		Warn:      func(text string) { t.Errorf("%s: %s", d, text) },
		Note:      func(text string) { tr.notes = append(tr.notes, text) },
		Ended:     func(how string) { tr.ended = how },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	ctx := context.Background()
	program, err := s.Compile(ctx, kinst.Source{Kind: kinst.Names, Text: d})
	if err != nil {
		return nil, err
	}
	if err := s.Start(ctx, program); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if _, err := s.Consume(ctx, &out); err != nil {
		return nil, err
	}
	tr.out = strings.TrimSpace(strings.ReplaceAll(out.String(), strconv.Itoa(p.PID), "PID"))
	return tr, nil
}

// counts reads an aggregation with one key.
func counts(t *testing.T, out string) map[string]int {
	t.Helper()
	m := make(map[string]int)
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) != 2 {
			continue
		}
		n, err := strconv.Atoi(f[1])
		if err != nil {
			t.Fatalf("%q is not a count", line)
		}
		m[f[0]] = n
	}
	return m
}

// offsets are those of a function's instructions, and of some of them, as
// objdump has it.
func offsets(t *testing.T, path, function, pattern string) []string {
	t.Helper()
	out, err := exec.Command("objdump", "-d", "--no-show-raw-insn", "--disassemble="+function, path).Output()
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`^\s+([0-9a-f]+):\t(.*)`)
	wanted := regexp.MustCompile(pattern)
	var first uint64
	var found []string
	for text := range strings.Lines(string(out)) {
		m := line.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		addr, err := strconv.ParseUint(m[1], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		if first == 0 {
			first = addr
		}
		if wanted.MatchString(m[2]) {
			found = append(found, strconv.FormatUint(addr-first, 10))
		}
	}
	return found
}

func TestUserFunctions(t *testing.T) {
	calls := build(t, "calls.c")
	returns := offsets(t, calls, "pick", `^(ret|jmp .*<add>)`)
	if len(returns) != 3 {
		t.Fatalf("objdump finds pick to return at %v, want 3 places", returns)
	}
	for _, test := range []struct{ name, d, args, want string }{
		{
			"entry", `pid$target:a.out:add:entry {printf("%s` + "`" + `%s %d %d;", probemod, probefunc, arg0, arg1);}`, "add 3",
			"calls`add 0 1;calls`add 1 1;calls`add 2 1;",
		}, {
			"return", `pid$target:a.out:add:return {printf("%s %d;", probename, arg1);}`, "add 3",
			"return 1;return 2;return 3;",
		}, {
			"arguments on the stack", `pid$target::nine:entry {printf("%d %d %d %d", arg0, arg5, arg6, arg8);}`, "nine",
			"1 6 7 9",
		}, {
			"places of return", `pid$target:a.out:pick:return {@[arg0] = count();}`, "pick", "",
		}, {
			"threads", `pid$target:a.out:add:entry {@[tid] = count();} END {printa("%@d ", @);}`, "threads 500",
			"500 500 500 500",
		}, {
			"a forked child is another process", `pid$target:a.out:add:entry {@ = count();}`, "fork 100", "100",
		}, {
			"the program that it executes is the one that was asked about", `pid$target:a.out:add:entry {@ = count();}`, "exec 100", "200",
		}, {
			"registers", `pid$target:a.out:add:0 {printf("%d;", uregs[R_RDI]);}`, "add 2", "0;1;",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := trace(t, test.d, calls+" "+test.args).out
			if test.want != "" && got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if test.want == "" { // pick returns 10, then add(1, 1), then twice what it is given, times 3
				want := map[string]int{}
				for _, offset := range returns {
					want[offset] = 1
				}
				for offset, n := range counts(t, got) {
					if want[offset] == 0 || n < 1 || n > 2 {
						t.Errorf("return at %s counted %d times; the returns are at %v", offset, n, returns)
					}
					delete(want, offset)
				}
				if len(want) > 0 {
					t.Errorf("returns that were not seen: %v", want)
				}
			}
		})
	}
}

// TestUserInstructions counts each instruction of a function that runs
// straight through.
func TestUserInstructions(t *testing.T) {
	calls := build(t, "calls.c")
	want := map[string]int{"entry": 70, "return": 70}
	for _, offset := range offsets(t, calls, "add", ".") {
		want[offset] = 70
	}
	got := counts(t, trace(t, `pid$target:a.out:add: {@[probename] = count();}`, calls+" add 70").out)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestUserReturns: a function returns as often as it is entered, also from the
// part of it that the compiler has put elsewhere, and to where it was called.
func TestUserReturns(t *testing.T) {
	cold := build(t, "cold.c")
	if parts := offsets(t, cold, "work.cold", "^ret"); len(parts) == 0 {
		t.Fatal("the compiler has made no function that returns from its unlikely part")
	}
	for _, test := range []struct{ path, args, function, want string }{
		{cold, "100", "work", "100 100"},
		{build(t, "calls.c"), "pick", "pick", "4 4"},
		{build(t, "calls.c"), "threads 30", "add", "120 120"},
		{build(t, "vector.c", "-lm"), "/dev/null", "gathers", "2 2"},
	} {
		d := fmt.Sprintf("pid$target:a.out:%s:entry {@e = count();} pid$target:a.out:%[1]s:return {@r = count();}", test.function)
		if got := strings.Join(strings.Fields(trace(t, d, test.path+" "+test.args).out), " "); got != test.want {
			t.Errorf("%s: got %q, want %q", test.function, got, test.want)
		}
	}
}

// TestUserRefusals: what cannot be had is refused, with the reason.
func TestUserRefusals(t *testing.T) {
	calls, hazards := build(t, "calls.c"), build(t, "hazards.c")
	stripped := build(t, "calls.c", "-s")
	second := offsets(t, calls, "add", ".")[1]
	locked := offsets(t, hazards, "added", "^lock")[0]
	for _, test := range []struct{ d, command, want string }{
		{`pid$target:a.out:add:1 {}`, calls + " add 1", "no instruction starts there; the nearest are at 0 and " + second},
		{`pid$target:a.out:add:0x1 {}`, calls + " add 1", "no instruction starts there; the nearest are at 0 and " + second},
		{`pid$target:a.out:add:4000 {}`, calls + " add 1", "bytes; its last instruction starts at"},
		{`pid$target:a.out:add:1f {}`, calls + " add 1", `hexadecimal ones are written with 0x, 0x1f`},
		{`pid$target:a.out:add:enter {}`, calls + " add 1", `"enter" is neither entry nor return nor an offset`},
		{`pid$target:a.out:nosuch:entry {}`, calls + " add 1", "nosuch: no such function"},
		{`pid$target:libnone:add:entry {}`, calls + " add 1", "has not loaded libnone; it has calls, libc.so.6"},
		{`pid$target:a.out:added:` + locked + ` {}`, hazards + " /dev/null", "no probe on a locked instruction"},
		{`pid$target:libc:memcpy:0 {}`, calls + " add 1", "it is an IFUNC"},
		{`pid$target:a.out:add:entry {}`, stripped + " add 1", "no such function; the file has no symbols at all"},
		{`pid$target:a.out:-:1 {}`, calls + " add 1", "0x1 is not in the text of a.out"},
		{`pid$target:a.out:-: {}`, calls + " add 1", "the function - takes an address"},
		{`pid:a.out:add:entry {}`, calls + " add 1", "name a process, as in pid123:a.out:main:entry"},
		{`pid4194303:a.out:add:entry {}`, calls + " add 1", "there is no such process"},
		{`pid2:a.out:add:entry {}`, calls + " add 1", "it is a thread of the kernel"},
		{`demo$target:::nosuch {}`, calls + " add 1", "has no static probes"},
	} {
		_, err := tryTrace(t, test.d, test.command)
		if err == nil || !strings.Contains(detail(err), test.want) {
			t.Errorf("%s: got %v, want %q", test.d, err, test.want)
		}
	}
}

// detail is a compile error's whole text.
func detail(err error) string {
	var compile *kinst.CompileError
	if errors.As(err, &compile) {
		return compile.Detail(false)
	}
	return err.Error()
}

// TestUserStripped probes by addresses what has no names.
func TestUserStripped(t *testing.T) {
	whole, stripped := build(t, "calls.c"), build(t, "calls.c", "-s")
	addr := symbol(t, whole, "add")
	d := fmt.Sprintf(`pid$target:a.out:-:%#x {@[probefunc, probename] = count();}`, addr)
	if got, want := strings.Fields(trace(t, d, stripped+" add 7").out), []string{"-", fmt.Sprintf("%#x", addr), "7"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	d = fmt.Sprintf(`pid$target:a.out:-:%#x {}`, addr+1)
	_, err := tryTrace(t, d, stripped+" add 7")
	if want := fmt.Sprintf("no instruction starts there; the nearest are at %#x and 0x", addr); err == nil || !strings.Contains(detail(err), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

// symbol returns the address of a symbol, as nm has it.
func symbol(t *testing.T, path, name string) uint64 {
	t.Helper()
	out, err := exec.Command("nm", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 3 && f[2] == name {
			addr, err := strconv.ParseUint(f[0], 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			return addr
		}
	}
	t.Fatalf("no symbol %s in %s", name, path)
	return 0
}

// TestUserUnharmed runs programs with all their instructions probed, and
// without: the results are the same.
func TestUserUnharmed(t *testing.T) {
	goProgram := filepath.Join(t.TempDir(), "goroutines")
	if out, err := exec.Command("go", "build", "-o", goProgram, "testdata/user/goroutines.go").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	const every = `pid$target:a.out:: {@ = count();}`
	const calls = `pid$target:a.out::entry, pid$target:a.out::return {@ = count();}`
	for _, test := range []struct{ name, path, d string }{
		{"AVX-512", build(t, "vector.c", "-O3", "-march=native", "-mprefer-vector-width=512", "-ffast-math", "-lm"), every},
		{"AVX2", build(t, "vector.c", "-O3", "-mavx2", "-mfma", "-ffast-math", "-lm"), every},
		{"SSE", build(t, "vector.c", "-O3", "-ffast-math", "-lm"), every},
		{"unoptimised", build(t, "vector.c", "-O0", "-lm"), every},
		{"static", build(t, "vector.c", "-O3", "-static", "-lm"), calls},
		{"not relocated", build(t, "vector.c", "-no-pie", "-lm"), every},
		{"hazards", build(t, "hazards.c"), every},
		{"exceptions", build(t, "exceptions.cc"), every},
		{"Go", goProgram, `pid$target:a.out:main.*: {@ = count();}`},
		{"libc", build(t, "vector.c", "-lm"), `pid$target:libc::entry, pid$target:libc::return {@ = count();}`},
		{"dynamic linker", build(t, "vector.c", "-lm"), `pid$target:ld-linux*:: {@ = count();}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			plain, traced := filepath.Join(dir, "plain"), filepath.Join(dir, "traced")
			if out, err := exec.Command(test.path, plain).CombinedOutput(); err != nil {
				t.Fatalf("untraced: %v\n%s", err, out)
			}
			tr := trace(t, test.d, test.path+" "+traced)
			want, err := os.ReadFile(plain)
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(traced)
			if err != nil {
				t.Errorf("%v; %s", err, tr.ended)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s; -untraced +traced:\n%s", tr.ended, diff)
			}
			if strings.Contains(tr.ended, "terminated") {
				t.Error(tr.ended)
			}
			if n, err := strconv.Atoi(tr.out); err != nil || n == 0 {
				t.Errorf("counted %q", tr.out)
			}
			for _, note := range tr.notes {
				if strings.Contains(note, "errno") {
					t.Errorf("the kernel refused what was thought to be possible: %s", note)
				}
			}
		})
	}
}

// TestUserStack: a function's caller is on the stack from its first instruction
// on.
func TestUserStack(t *testing.T) {
	calls := build(t, "calls.c", "-fno-omit-frame-pointer")
	for _, test := range []struct{ d, want string }{
		{`pid$target:a.out:add:entry {ustack(1);}`, `^calls.add$`},
		{`pid$target:a.out:add:entry {ustack(2);}`, `^calls.add calls.thread\+0x[0-9a-f]+$`},
		{`pid$target:a.out:add:entry {@[ustack(3)] = count();}`, `^calls.add calls.thread\+0x[0-9a-f]+ (calls.main|libc)[^ ]* 1$`},
		{`pid$target:a.out:add:return {ustack(1);}`, `^calls.add\+0x[0-9a-f]+$`},
	} {
		got := strings.Join(strings.Fields(trace(t, test.d, calls+" add 1").out), " ")
		if !regexp.MustCompile(test.want).MatchString(got) {
			t.Errorf("%s: got %q, want %q", test.d, got, test.want)
		}
	}
}

// TestUserStatic reads the arguments of static probes.
func TestUserStatic(t *testing.T) {
	static := build(t, "static.c")
	tr := trace(t, `
		demo$target:a.out:step:step-taken {
			printf("%d %d %d %d %s %d %d %d;", arg0, arg1, arg2, arg3, copyinstr(arg4), arg5, arg6, arg7);
		}
		demo$target:::twice {@[probefunc, arg0] = count();}`, static)
	want := `0 1099511627776 5 200 text -3 70 -6;1 1099511627776 -6 201 text -3 71 -8;2 1099511627776 7 202 text -3 72 -10;` +
		"twice 0 2 twice 1 2 twice 2 2"
	if got := strings.Join(strings.Fields(tr.out), " "); strings.ReplaceAll(got, "; ", ";") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if tr.ended != "" && strings.Contains(tr.ended, "status") {
		t.Errorf("%s: the semaphore was not set", tr.ended)
	}
	if got := trace(t, `demo$target:::step__taken {@ = count();}`, static).out; got != "3" {
		t.Errorf("by its name with underscores: counted %s, want 3", got)
	}
}
