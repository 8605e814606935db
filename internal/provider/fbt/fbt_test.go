package fbt

import (
	"bytes"
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kinst/internal/arm"
	"kinst/internal/isa"
	"kinst/internal/kernel"
	"kinst/internal/provider"
	"kinst/internal/provider/probetest"
	"kinst/internal/vm/vmtest"
)

func TestMain(m *testing.M) { vmtest.Main(m) }

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
	var session *arm.Session
	p := New(k, arch, func() (*arm.Session, error) {
		session, err = arm.Open(k)
		return session, err
	})
	t.Cleanup(func() {
		if session != nil {
			session.Close()
		}
	})
	return p
}

// withoutMulti has a provider do as on a kernel without kprobe.multi.
func withoutMulti(p *Provider) *Provider {
	p.multi = func() bool { return false }
	return p
}

func TestMatch(t *testing.T) {
	p := newProvider(t)
	for _, test := range []struct {
		desc provider.Desc
		want []string
	}{
		{provider.Desc{Function: "vfs_read"}, []string{"fbt:vmlinux:vfs_read:entry", "fbt:vmlinux:vfs_read:return"}},
		{provider.Desc{Module: "vmlinux", Function: "vfs_read", Name: "return"}, []string{"fbt:vmlinux:vfs_read:return"}},
		{provider.Desc{Module: "vm*", Function: "vfs_read[vl]", Name: "e*"}, []string{"fbt:vmlinux:vfs_readv:entry"}},
		{provider.Desc{Function: "vfs_rmd?r", Name: "entry"}, []string{"fbt:vmlinux:vfs_rmdir:entry"}},
	} {
		probes, _, err := p.Match(context.Background(), test.desc)
		var none *provider.NoMatchError
		if errors.As(err, &none) && len(test.want) == 1 && strings.Contains(test.want[0], "readv") {
			continue // vfs_readv is inlined in some kernels
		}
		var got []string
		for _, probe := range probes {
			got = append(got, probe.Desc.String())
		}
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, %v, want %q", test.desc, got, err, test.want)
		}
	}
}

func TestMatchNothing(t *testing.T) {
	p := newProvider(t)
	for _, test := range []struct {
		desc provider.Desc
		want string
	}{
		{provider.Desc{Function: "vfs_read", Name: "9"}, "the probes of the provider fbt are entry and return"},
		{provider.Desc{Function: "vfs_nonsense"}, "no such function"},
		{provider.Desc{Module: "no_such_module"}, "is not loaded"},
		{provider.Desc{Function: "do_syscall_64"}, "the kernel has the function on its blacklist"},
	} {
		_, _, err := p.Match(context.Background(), test.desc)
		var none *provider.NoMatchError
		if !errors.As(err, &none) || !strings.Contains(none.Why, test.want) {
			t.Errorf("%s: got %v, want %q", test.desc, err, test.want)
		}
	}
}

// suited is a copy of a probe in the context for what is used of it.
func suited(t testing.TB, p *provider.Probe, uses provider.Uses) *provider.Probe {
	t.Helper()
	c, err := p.ContextFor(uses)
	if err != nil {
		t.Fatalf("%s: %v", p.Desc, err)
	}
	q := *p
	q.Context = c
	return &q
}

// TestCounts reads a number of times, and compares how often the functions of
// the call are entered and left, with what arguments and results, in every way
// in which they can be armed.
func TestCounts(t *testing.T) {
	runtime.LockOSThread()
	for _, test := range []struct {
		name  string
		multi bool
		uses  provider.Uses
	}{
		{"multi", true, provider.Uses{Numbers: 2}},
		{"sites", false, provider.Uses{Numbers: 2}},
		{"registers", true, provider.Uses{Registers: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newProvider(t)
			if !test.multi {
				withoutMulti(p)
			}
			var probes []*provider.Probe
			for _, f := range []string{"vfs_read", "ksys_read", "__x64_sys_read", "rw_verify_area"} {
				for _, probe := range probetest.Match(t, p, provider.Desc{Function: f}) {
					probes = append(probes, suited(t, probe, test.uses))
				}
			}
			armed, counts := probetest.Enable(t, p, os.Getpid(), probes...)
			f, err := os.Open("/dev/zero")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			before := counts()
			buf := make([]byte, 100)
			for range 1000 {
				if _, err := f.Read(buf); err != nil {
					t.Fatal(err)
				}
			}
			after := counts()
			for _, probe := range probes {
				c := after[probe]
				if n := c.N - before[probe].N; n != 1000 {
					t.Errorf("%s fired %d times, want 1000", probe.Desc, n)
				}
				if probe.Function == "vfs_read" {
					if probe.Name == entry && c.Args[2] != 100 {
						t.Errorf("%s: count is %d, want 100", probe.Desc, c.Args[2])
					}
					if probe.Name == returned && c.Args[1] != 100 {
						t.Errorf("%s: the result is %d, want 100", probe.Desc, c.Args[1])
					}
				}
			}
			if missed, err := armed.Missed(); missed != 0 || err != nil {
				t.Errorf("missed %d, %v", missed, err)
			}
			if refused := armed.Refused(); len(refused) != 0 {
				t.Errorf("refused: %v", refused)
			}
			if err := armed.Close(); err != nil {
				t.Error(err)
			}
			if list := kprobes(t); list != "" {
				t.Errorf("armed after Close:\n%s", list)
			}
		})
	}
}

// kprobes lists what kprobes the kernel has armed.
func kprobes(t *testing.T) string {
	dir, err := kernel.DebugFS()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(dir + "/kprobes/list")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestWhere compares where a function returns: it takes different ways out for
// different errors.
func TestWhere(t *testing.T) {
	p := newProvider(t)
	plain := probetest.Match(t, p, provider.Desc{Function: "ksys_lseek", Name: returned})
	if len(plain) == 0 {
		t.Fatal("no ksys_lseek")
	}
	probe := suited(t, plain[0], provider.Uses{Numbers: 1})
	_, counts := probetest.Enable(t, p, os.Getpid(), probe)
	if _, err := unix.Seek(-1, 0, 0); err != unix.EBADF {
		t.Fatalf("seeking in no file: %v", err)
	}
	arch, err := isa.Native()
	if err != nil {
		t.Fatal(err)
	}
	c := counts()[probe]
	pc := c.Args[0] - uint64(arch.ProbePC)
	l, err := p.kernel.Listing(arch, probe.Target.(*target).Function)
	if err != nil {
		t.Fatal(err)
	}
	i, ok := l.Find(pc)
	if !ok || !arch.ResolveKind(l.Insts[i], p.flow()).Is(isa.Return) {
		t.Errorf("%#x is no return instruction of %s at %#x", pc, probe.Function, probe.Entry)
	}
	if c.N != 1 || int64(c.Args[1]) != -int64(unix.EBADF) {
		t.Errorf("got %+v", c)
	}
}

// TestWhereUnknown names the reason why arg0 of some returns is not known.
func TestWhereUnknown(t *testing.T) {
	p := newProvider(t)
	reasons := make(map[string]int)
	for i, probe := range probetest.Match(t, p, provider.Desc{Function: "v*", Name: returned}) {
		if i%5 != 0 {
			continue
		}
		_, err := probe.ContextFor(provider.Uses{Numbers: 1})
		var none *provider.NoMatchError
		switch {
		case err == nil:
			reasons["exact"]++
		case errors.As(err, &none) && strings.Contains(none.Why, "goes on in another function"):
			reasons["tail"]++
		default:
			t.Logf("%s: %v", probe.Desc, err)
			reasons["other"]++
		}
	}
	t.Log(reasons)
	if reasons["exact"] < 2*reasons["tail"] || reasons["tail"] == 0 || reasons["other"] > reasons["tail"] {
		t.Errorf("of the returns %v", reasons)
	}
}

func TestTypes(t *testing.T) {
	p := newProvider(t)
	for _, test := range []struct{ function, side, want string }{
		{"vfs_read", entry, "struct file *file, char *buf, size_t count, loff_t *pos"},
		{"vfs_read", returned, "int offset, ssize_t result"},
		{"kfree", returned, "int offset"},
	} {
		probe := probetest.Match(t, p, provider.Desc{Function: test.function, Name: test.side})[0]
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
	inlined := probetest.Match(t, p, provider.Desc{Function: "*.isra.0", Name: entry})
	_, err := inlined[0].ContextFor(provider.Uses{Args: true})
	var none *provider.NoMatchError
	if !errors.As(err, &none) || !strings.Contains(none.Why, "the compiler made it out of") {
		t.Errorf("%s: got %v", inlined[0].Desc, err)
	}
}

// TestThousands arms the entries of all functions that the kernel can take at
// once, or of a thousand, and their returns.
func TestThousands(t *testing.T) {
	p := newProvider(t)
	for _, side := range []string{entry, returned} {
		start := time.Now()
		probes := probetest.Match(t, p, provider.Desc{Name: side})
		t.Logf("%d probes matched in %v", len(probes), time.Since(start))
		if !p.multi() {
			probes = slices.DeleteFunc(probes, func(q *provider.Probe) bool { return !strings.HasPrefix(q.Function, "vfs_") })
		}
		start = time.Now()
		var suitable []*provider.Probe
		for _, probe := range probes {
			suitable = append(suitable, suited(t, probe, provider.Uses{}))
		}
		t.Logf("%d suited in %v", len(probes), time.Since(start))
		start = time.Now()
		armed, counts := probetest.Enable(t, p, os.Getpid(), suitable...)
		t.Logf("%d armed in %v, refused: %v", len(probes), time.Since(start), armed.Refused())
		f, err := os.Open("/dev/zero")
		if err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 100)
		for range 10 {
			if _, err := f.Read(buf); err != nil {
				t.Fatal(err)
			}
		}
		f.Close()
		start = time.Now()
		if err := armed.Close(); err != nil {
			t.Fatal(err)
		}
		t.Logf("disarmed in %v", time.Since(start))
		found := false
		for q, c := range counts() {
			if q.Function == "vfs_read" {
				found = true
				if c.N < 10 {
					t.Errorf("%s fired %d times for 10 reads", q.Desc, c.N)
				}
			}
		}
		if !found {
			t.Error("no probe of vfs_read fired")
		}
		if n := len(armed.Refused()); n > len(probes)/20 {
			t.Errorf("%d of %d probes were refused", n, len(probes))
		}
	}
}

// TestLiveText sees that the probes leave the kernel's text as it was.
func TestLiveText(t *testing.T) {
	p := withoutMulti(newProvider(t))
	probe := suited(t, probetest.Match(t, p, provider.Desc{Function: "vfs_read", Name: entry})[0], provider.Uses{})
	read := func() []byte {
		text, err := p.kernel.LiveText(probe.Entry, 64)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	before := read()
	armed, _ := probetest.Enable(t, p, os.Getpid(), probe)
	if bytes.Equal(read(), before) {
		t.Error("an armed probe does not show in the text")
	}
	if err := armed.Close(); err != nil {
		t.Fatal(err)
	}
	if after := read(); !bytes.Equal(after, before) {
		t.Errorf("the text is\n% x, was\n% x", after, before)
	}
}
