package syscall

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"kinst/internal/isa"
	"kinst/internal/kernel"
	"kinst/internal/provider"
	"kinst/internal/provider/probetest"
)

func newProvider(t testing.TB) *Provider {
	t.Helper()
	k, err := kernel.Open()
	if err != nil {
		t.Fatal(err)
	}
	arch, err := isa.Native()
	if err != nil {
		t.Fatal(err)
	}
	return New(k, arch)
}

// TestNames compares the probes with the events in tracefs: the same calls,
// none missing.
func TestNames(t *testing.T) {
	tracefs, err := kernel.TraceFS()
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(tracefs + "/events/syscalls")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, e := range entries {
		if name, ok := strings.CutPrefix(e.Name(), "sys_enter_"); ok {
			want = append(want, name+":entry")
		} else if name, ok := strings.CutPrefix(e.Name(), "sys_exit_"); ok {
			want = append(want, name+":return")
		}
	}
	var got []string
	for _, p := range probetest.Match(t, newProvider(t), provider.Desc{}) {
		got = append(got, p.Function+":"+p.Name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %d probes, want %d\ngot:  %q\nwant: %q", len(got), len(want), got, want)
	}
}

func TestMatch(t *testing.T) {
	p := newProvider(t)
	for _, test := range []struct {
		desc provider.Desc
		want []string
	}{
		{provider.Desc{Function: "read"}, []string{"syscall:vmlinux:read:entry", "syscall:vmlinux:read:return"}},
		{provider.Desc{Module: "vmlinux", Function: "read", Name: "entry"}, []string{"syscall:vmlinux:read:entry"}},
		{provider.Desc{Module: "vm*", Function: "pread*", Name: "r*"}, []string{
			"syscall:vmlinux:pread64:return", "syscall:vmlinux:preadv:return", "syscall:vmlinux:preadv2:return"}},
	} {
		var got []string
		for _, probe := range probetest.Match(t, p, test.desc) {
			got = append(got, probe.Desc.String())
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.desc, got, test.want)
		}
	}
}

func TestMatchNothing(t *testing.T) {
	p := newProvider(t)
	for _, test := range []struct {
		desc provider.Desc
		want string
	}{
		{provider.Desc{Module: "ext4"}, "the module of the provider syscall is vmlinux"},
		{provider.Desc{Function: "read", Name: "enter"}, "the probes of the provider syscall are entry and return"},
		{provider.Desc{Function: "fstat", Name: "entry"}, "the kernel's name of fstat is newfstat"},
		{provider.Desc{Function: "sleep"}, "the kernel has no system call sleep"},
	} {
		_, _, err := p.Match(context.Background(), test.desc)
		var none *provider.NoMatchError
		if !errors.As(err, &none) || none.Why != test.want {
			t.Errorf("%s: got %v, want %q", test.desc, err, test.want)
		}
	}
}

// TestCounts makes system calls with known arguments, and compares how often
// the probes fire and what they see.
func TestCounts(t *testing.T) {
	p := newProvider(t)
	probes := probetest.Match(t, p, provider.Desc{Function: "pread64"})
	probes = append(probes, probetest.Match(t, p, provider.Desc{Function: "getpgid"})...)
	armed, counts := probetest.Enable(t, p, os.Getpid(), probes...)

	f, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	buf := make([]byte, 10)
	for range 1000 {
		if _, err := unix.Pread(int(f.Fd()), buf, 7); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if _, err := unix.Getpgid(1 << 30); err != unix.ESRCH {
			t.Fatalf("getpgid of no process: %v", err)
		}
	}
	if err := armed.Close(); err != nil {
		t.Fatal(err)
	}
	got := make(map[string]probetest.Count)
	for probe, c := range counts() {
		got[probe.Function+":"+probe.Name] = c
	}
	if c := got["pread64:entry"]; c.N != 1000 || c.Args[0] != uint64(f.Fd()) || c.Args[2] != 10 || c.Args[3] != 7 {
		t.Errorf("pread64:entry: %+v", c)
	}
	if c := got["pread64:return"]; c.N != 1000 || c.Args[0] != 10 || c.Args[1] != 10 {
		t.Errorf("pread64:return: %+v", c)
	}
	if c := got["getpgid:entry"]; c.N != 3 || c.Args[0] != 1<<30 {
		t.Errorf("getpgid:entry: %+v", c)
	}
	if c := got["getpgid:return"]; c.N != 3 || int64(c.Args[0]) != -int64(unix.ESRCH) {
		t.Errorf("getpgid:return: %+v", c)
	}
	if missed, err := armed.Missed(); missed != 0 || err != nil {
		t.Errorf("missed %d, %v", missed, err)
	}
}

// TestAll arms every probe there is.
func TestAll(t *testing.T) {
	p := newProvider(t)
	_, counts := probetest.Enable(t, p, os.Getpid(), probetest.Match(t, p, provider.Desc{})...)
	before := total(counts(), "getppid")
	for range 100 {
		unix.Getppid()
	}
	if got := total(counts(), "getppid") - before; got != 200 {
		t.Errorf("the probes of getppid fired %d times, want 200", got)
	}
}

func total(counts map[*provider.Probe]probetest.Count, function string) uint64 {
	var n uint64
	for p, c := range counts {
		if p.Function == function {
			n += c.N
		}
	}
	return n
}

func TestTypes(t *testing.T) {
	p := newProvider(t)
	for _, test := range []struct {
		function, name string
		want           string
	}{
		{"read", "entry", "unsigned int fd, char *buf, size_t count"},
		{"read", "return", "long result, long result"},
		{"getpid", "entry", ""},
		{"openat", "entry", "int dfd, char *filename, int flags, umode_t mode"},
		{"newfstat", "entry", "unsigned int fd, struct stat *statbuf"},
		{"execve", "entry", "char *filename, char **argv, char **envp"},
		{"mq_open", "entry", "char *u_name, int oflag, umode_t mode, struct mq_attr *u_attr"},
	} {
		probe := probetest.Match(t, p, provider.Desc{Function: test.function, Name: test.name})[0]
		c, err := probe.ContextFor(provider.Uses{Args: true})
		if err != nil {
			t.Fatal(err)
		}
		var args []string
		for _, a := range c.Args {
			decl := a.Type.String()
			if !strings.HasSuffix(decl, "*") {
				decl += " "
			}
			args = append(args, decl+a.Name)
		}
		if got := strings.Join(args, ", "); got != test.want {
			t.Errorf("%s: got %q, want %q", probe.Desc, got, test.want)
		}
		if again, _ := probe.ContextFor(provider.Uses{Args: true}); again != c {
			t.Errorf("%s: a second context of the same types", probe.Desc)
		}
	}
}
