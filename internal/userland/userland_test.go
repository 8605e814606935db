package userland

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kinst/internal/isa"
)

func newStore(t *testing.T) *Store {
	t.Helper()
	arch, err := isa.Native()
	if err != nil {
		t.Fatal(err)
	}
	s := NewStore(arch)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// run starts a program that says that it runs and waits for its input to end.
func run(t *testing.T, name string, args ...string) (pid int) {
	t.Helper()
	cmd := exec.Command(name, args...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Wait()
	})
	if !bufio.NewScanner(stdout).Scan() {
		t.Fatalf("%s does not run", name)
	}
	return cmd.Process.Pid
}

const waiter = `
#include <stdio.h>
static __attribute__((noinline)) int local(int n) { return n + 1; }
int exported(int n) { return local(n) * 2; }
int main(void) { puts("ready"); fflush(stdout); return getchar() == exported(1); }
`

// compile compiles the program above.
func compile(t *testing.T, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	source, output := filepath.Join(dir, "waiter.c"), filepath.Join(dir, "waiter")
	if err := os.WriteFile(source, []byte(waiter), 0o666); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-O1", "-o", output, source}, flags...)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return output
}

func TestParseMapping(t *testing.T) {
	for line, want := range map[string]mapping{
		"7f5e10028000-7f5e1017e000 r-xp 00028000 fe:00 1835046                    /usr/lib/libc.so.6": {
			start: 0x7f5e10028000, end: 0x7f5e1017e000, offset: 0x28000, exec: true, device: "fe:00", inode: 1835046, path: "/usr/lib/libc.so.6"},
		"00400000-00401000 rw-p 00000000 00:00 0 ":                        {start: 0x400000, end: 0x401000, device: "00:00"},
		"00400000-00401000 r-xp 00000000 00:01 7 /tmp/a b (deleted)":      {start: 0x400000, end: 0x401000, exec: true, device: "00:01", inode: 7, path: "/tmp/a b", deleted: true},
		`00400000-00401000 r-xp 00000000 00:01 7 /tmp/a\012b`:             {start: 0x400000, end: 0x401000, exec: true, device: "00:01", inode: 7, path: "/tmp/a\nb"},
		"7fff0000-7fff1000 r-xp 00000000 00:00 0                  [vdso]": {start: 0x7fff0000, end: 0x7fff1000, exec: true, device: "00:00", path: "[vdso]"},
	} {
		got, err := parseMapping(line)
		if err != nil || got != want {
			t.Errorf("%s:\n got %+v, %v\nwant %+v", line, got, err, want)
		}
	}
}

func FuzzParseMapping(f *testing.F) {
	f.Add("7f5e10028000-7f5e1017e000 r-xp 00028000 fe:00 1835046   /usr/lib/libc.so.6")
	f.Fuzz(func(_ *testing.T, line string) { _, _ = parseMapping(line) })
}

// TestFunctions compares the functions of a library with what nm says.
func TestFunctions(t *testing.T) {
	program := compile(t)
	p, err := newStore(t).Process(run(t, program))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Unreadable) > 0 {
		t.Errorf("unreadable: %v", p.Unreadable)
	}
	if o := p.Program(); o == nil || o.Path != program || o.Name != "waiter" {
		t.Fatalf("the program is %+v", o)
	}
	found, err := p.Program().Functions("")
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]uint64)
	for _, f := range found {
		for _, name := range append(f.Aliases, f.Name) {
			got[name] = f.Addr
		}
	}
	want := make(map[string]uint64)
	for _, line := range output(t, "nm", "--defined-only", program) {
		f := strings.Fields(line)
		if strings.EqualFold(f[1], "t") {
			want[f[2]] = hex(t, f[0])
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-nm +got:\n%s", diff)
	}
}

func output(t *testing.T, name string, args ...string) []string {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

func hex(t *testing.T, text string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(text, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestListing compares instructions with objdump's.
func TestListing(t *testing.T) {
	program := compile(t)
	p, err := newStore(t).Process(run(t, program))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`^ +([0-9a-f]+):\t`)
	for _, name := range []string{"local", "exported", "main", "_init", "_fini", "_start"} {
		functions, err := p.Program().Functions(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		l, err := p.Program().Listing(functions[0])
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got, want []uint64
		for _, in := range l.Insts {
			got = append(got, in.Addr)
		}
		for _, text := range output(t, "objdump", "-d", "--no-show-raw-insn", "--disassemble="+name, program) {
			if m := line.FindStringSubmatch(text); m != nil {
				want = append(want, hex(t, m[1]))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %#x, want %#x", name, got, want)
		}
	}
}

// TestSpans compares what is known of the functions of stripped files with
// what readelf says.
func TestSpans(t *testing.T) {
	for _, program := range []string{compile(t), compile(t, "-s"), "/bin/bash", "/usr/bin/gdb"} {
		p, err := newStore(t).Process(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		f := openFile(t, p, program)
		var want []span
		frame := regexp.MustCompile(` FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)`)
		for _, line := range output(t, "readelf", "--debug-dump=frames", program) {
			if m := frame.FindStringSubmatch(line); m != nil {
				want = append(want, span{hex(t, m[1]), hex(t, m[2])})
			}
		}
		slices.SortFunc(want, func(a, b span) int { return int(int64(a.start - b.start)) })
		if got := f.spans(); !slices.Equal(got, want) {
			t.Errorf("%s: %d stretches, readelf finds %d", program, len(got), len(want))
		}
	}
}

// openFile opens a file that nobody has mapped.
func openFile(t *testing.T, p *Process, name string) *File {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	f, err := NewFile(p.Objects[0].arch, file)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestStripped tells what is missing.
func TestStripped(t *testing.T) {
	for _, test := range []struct{ flags, function, want string }{
		{"-s", "local", "the file has no symbols at all"},
		{"-s -rdynamic", "local", "stripped of all symbols but those that it exports"},
		{"-s -rdynamic", "exported", ""},
		{"-g", "nosuch", "nosuch: no such function"},
	} {
		p, err := newStore(t).Process(run(t, compile(t, strings.Fields(test.flags)...)))
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Program().Functions(test.function)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s of one built with %s: %v, want %q", test.function, test.flags, err, test.want)
		}
	}
}

// TestGo finds the functions of a Go program that has no symbols.
func TestGo(t *testing.T) {
	dir := t.TempDir()
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "gowaiter")
	text := "package main\nimport \"fmt\"\n//go:noinline\nfunc add(a, b int) int { return a + b }\nfunc main() { fmt.Println(\"ready\"); fmt.Scan(new(int)); println(add(1, 2)) }\n"
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, flags := range []string{"", "-s -w"} {
		if out, err := exec.Command("go", "build", "-ldflags="+flags, "-o", program, source).CombinedOutput(); err != nil {
			t.Fatalf("go build: %v\n%s", err, out)
		}
		p, err := newStore(t).Process(run(t, program))
		if err != nil {
			t.Fatal(err)
		}
		functions, err := p.Program().Functions("main.add")
		if err != nil || len(functions) != 1 {
			t.Errorf("with flags %q: %v, %v", flags, functions, err)
		}
	}
}

// TestFilesOfOthers reads files that are deleted, replaced, or only there for
// the process.
func TestFilesOfOthers(t *testing.T) {
	deleted := compile(t)
	pid := run(t, deleted)
	if err := os.Remove(deleted); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(deleted, []byte("another"), 0o777); err != nil {
		t.Fatal(err)
	}
	private := compile(t, "-static")
	hidden := filepath.Join(t.TempDir(), "hidden")
	if err := os.Mkdir(hidden, 0o777); err != nil {
		t.Fatal(err)
	}
	mount := fmt.Sprintf("mount -t tmpfs none %s && cp %s %s/only && exec %[1]s/only", hidden, private, hidden)
	for _, pid := range []int{pid, run(t, "unshare", "-m", "sh", "-c", mount)} {
		p, err := newStore(t).Process(pid)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Unreadable) > 0 || p.Program() == nil {
			t.Errorf("process %d: unreadable: %v", pid, p.Unreadable)
			continue
		}
		o := p.Program()
		functions, err := o.Functions("exported")
		if err != nil {
			t.Errorf("%s: %v", o.Path, err)
			continue
		}
		if f, err := os.Open(o.Link()); err != nil || !isELF(f) {
			t.Errorf("%s: the kernel cannot find it as %s: %v", o.Path, o.Link(), err)
		}
		addr, ok := o.Addr(functions[0].Addr)
		back, ok2 := o.At(addr)
		if !ok || !ok2 || back != functions[0].Addr {
			t.Errorf("%s: %#x is at %#x, where there is %#x", o.Path, functions[0].Addr, addr, back)
		}
	}
}

// TestAddresses compares where functions are with what gdb says.
func TestAddresses(t *testing.T) {
	pid := run(t, compile(t))
	p, err := newStore(t).Process(pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"local", "exported", "getchar"} {
		out := output(t, "gdb", "-batch", "-p", strconv.Itoa(pid), "-ex", "info address "+name)
		m := regexp.MustCompile(`Symbol "` + name + `" is (?:a function )?at (?:address )?0x([0-9a-f]+)`).FindStringSubmatch(strings.Join(out, "\n"))
		if m == nil {
			t.Fatalf("gdb does not know %s:\n%s", name, strings.Join(out, "\n"))
		}
		i := slices.IndexFunc(p.Objects, func(o *Object) bool { _, err := o.Functions(name); return err == nil })
		if i < 0 {
			t.Errorf("no object has %s", name)
			continue
		}
		functions, _ := p.Objects[i].Functions(name)
		if got, _ := p.Objects[i].Addr(functions[0].Addr); got != hex(t, m[1]) {
			t.Errorf("%s is at %#x, want 0x%s", name, got, m[1])
		}
	}
}

func TestMatches(t *testing.T) {
	match := func(field, name string) bool {
		ok, _ := path.Match(field, name)
		return ok || field == ""
	}
	libc := &Object{Name: "libc.so.6", Path: "/usr/lib/libc.so.6"}
	program := &Object{Name: "ls", Path: "/bin/ls", Executable: true}
	for module, want := range map[string][2]bool{
		"":                   {true, true},
		"libc":               {true, false},
		"libc.so.6":          {true, false},
		"libc*":              {true, false},
		"/usr/lib/libc.so.6": {true, false},
		"lib":                {false, false},
		"a.out":              {false, true},
		"ls":                 {false, true},
	} {
		if got := [2]bool{libc.Matches(module, match), program.Matches(module, match)}; got != want {
			t.Errorf("%q: got %v, want %v", module, got, want)
		}
	}
}

// TestNoProcess says what is wrong.
func TestNoProcess(t *testing.T) {
	for pid, want := range map[int]string{1<<22 - 1: "there is no such process", 2: "it is a thread of the kernel"} {
		if _, err := newStore(t).Process(pid); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("process %d: %v, want %q", pid, err, want)
		}
	}
}

// TestForeign tells files that are not of this machine's kind.
func TestForeign(t *testing.T) {
	p, err := newStore(t).Process(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	header := make([]byte, 64)
	text, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	copy(header, text[:20]) // up to e_machine; no segments, no sections
	header[20] = 1
	arm := slices.Clone(header)
	arm[18] = 183
	narrow := make([]byte, 52)
	copy(narrow, header[:21])
	narrow[4] = 1
	for name, test := range map[string]struct {
		text []byte
		want string
	}{
		"ours":   {header, ""},
		"arm":    {arm, "its instructions are EM_AARCH64's"},
		"32-bit": {narrow, "it is a 32-bit program"},
	} {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, test.text, 0o666); err != nil {
			t.Fatal(err)
		}
		if why := openFile(t, p, file).Foreign(); !strings.Contains(why, test.want) || (why == "") != (test.want == "") {
			t.Errorf("%s: %q, want %q", name, why, test.want)
		}
	}
}

const restartable = `
#include <stdio.h>
__attribute__((noinline)) void sequence(void)
{
	__asm__ volatile(
		".pushsection __rseq_cs,\"aw\"\n"
		".balign 32\n"
		".4byte 0, 0\n"
		".8byte 1f, 2f-1f, 3f\n"
		".popsection\n"
		"nop\n"
		"1: nop\n"
		"nop\n"
		"2: nop\n"
		"3: nop\n");
}
int main(void) { sequence(); puts("ready"); fflush(stdout); return getchar(); }
`

// TestRestartable leaves out what is in a restartable sequence.
func TestRestartable(t *testing.T) {
	for _, flags := range [][]string{{"-pie"}, {"-no-pie"}} {
		dir := t.TempDir()
		source, program := filepath.Join(dir, "restartable.c"), filepath.Join(dir, "restartable")
		if err := os.WriteFile(source, []byte(restartable), 0o666); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("gcc", append(flags, "-O1", "-o", program, source)...).CombinedOutput(); err != nil {
			t.Fatalf("gcc: %v\n%s", err, out)
		}
		p, err := newStore(t).Process(run(t, program))
		if err != nil {
			t.Fatal(err)
		}
		o := p.Program()
		functions, err := o.Functions("sequence")
		if err != nil {
			t.Fatal(err)
		}
		l, err := o.Listing(functions[0])
		if err != nil {
			t.Fatal(err)
		}
		var got []bool
		for _, in := range l.Insts[:6] {
			got = append(got, strings.Contains(o.Unprobeable(in), "restartable"))
		}
		if want := []bool{false, true, true, false, false, false}; !slices.Equal(got, want) {
			t.Errorf("%v: got %v, want %v", flags, got, want)
		}
	}
}

func TestShadowStack(t *testing.T) {
	for status, want := range map[string]bool{
		"Name:\ta\nx86_Thread_features:\tshstk wrss \nx86_Thread_features_locked:\t\n": true,
		"Name:\ta\nx86_Thread_features:\t\nx86_Thread_features_locked:\tshstk\n":       false,
		"Name:\tshstk\n": false,
		"":               false,
	} {
		if got := hasShadowStack(status); got != want {
			t.Errorf("%q: got %v", status, got)
		}
	}
}
