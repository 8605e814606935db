package rawtp

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

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
	return New(k)
}

// TestNames compares the probes with tracefs: every event of the kernel's own
// is there once, and has its format.
func TestNames(t *testing.T) {
	tracefs, err := kernel.TraceFS()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(tracefs + "/available_events")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, line := range bytes.Fields(text) {
		system, name, _ := strings.Cut(string(line), ":")
		format, err := os.ReadFile(tracefs + "/events/" + system + "/" + name + "/format")
		if system == "syscalls" || err != nil || bytes.Contains(format, []byte("__probe_")) {
			continue // of a system call, or defined by somebody
		}
		want = append(want, string(line))
	}
	var got []string
	bare := 0
	for _, p := range probetest.Match(t, newProvider(t), provider.Desc{}) {
		if _, err := os.Stat(tracefs + "/events/" + p.Module + "/" + p.Name); err != nil {
			bare++
			continue
		}
		got = append(got, p.Module+":"+p.Name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %d tracepoints, want %d\ngot:  %q\nwant: %q", len(got), len(want), got, want)
	}
	if bare == 0 {
		t.Error("the kernel has tracepoints without events, but there are no probes of them")
	}
}

func TestMatch(t *testing.T) {
	p := newProvider(t)
	for _, test := range []struct {
		desc provider.Desc
		want []string
	}{
		{provider.Desc{Name: "sched_switch"}, []string{"rawtp:sched::sched_switch"}},
		{provider.Desc{Module: "sched", Name: "sched_process_*[cx]*"}, []string{
			"rawtp:sched::sched_process_exec", "rawtp:sched::sched_process_exit"}},
		{provider.Desc{Name: "pelt_se_tp"}, []string{"rawtp:vmlinux::pelt_se_tp"}},
	} {
		var got []string
		for _, probe := range probetest.Match(t, p, test.desc) {
			got = append(got, probe.Desc.String())
		}
		slices.Sort(got)
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
		{provider.Desc{Function: "vfs_read"}, "the probes of the provider rawtp have no function"},
		{provider.Desc{Module: "sched", Name: "nonsense"}, "the kernel has no tracepoint nonsense in sched"},
		{provider.Desc{Name: "nonsense"}, "the kernel has no tracepoint nonsense in *"},
	} {
		_, _, err := p.Match(context.Background(), test.desc)
		var none *provider.NoMatchError
		if !errors.As(err, &none) || none.Why != test.want {
			t.Errorf("%s: got %v, want %q", test.desc, err, test.want)
		}
	}
}

func TestTypes(t *testing.T) {
	p := newProvider(t)
	for _, test := range []struct{ name, want string }{
		{"sched_process_fork", "parent struct task_struct *, child struct task_struct *"},
		{"sys_enter", "regs struct pt_regs *, id long"},
		{"block_bio_queue", "bio struct bio *"},
	} {
		c, err := probetest.Match(t, p, provider.Desc{Name: test.name})[0].ContextFor(provider.Uses{Args: true})
		if err != nil {
			t.Fatal(err)
		}
		var args []string
		for _, a := range c.Args {
			args = append(args, a.Name+" "+a.Type.String())
		}
		if got := strings.Join(args, ", "); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
		if len(c.Places) != len(c.Args) {
			t.Errorf("%s: %d places of %d arguments", test.name, len(c.Places), len(c.Args))
		}
	}
}

// TestAllTypes finds the arguments of every tracepoint.
func TestAllTypes(t *testing.T) {
	for _, probe := range probetest.Match(t, newProvider(t), provider.Desc{}) {
		if _, err := probe.ContextFor(provider.Uses{Args: true}); err != nil {
			t.Errorf("%s: %v", probe.Desc, err)
		}
	}
}

// TestCounts renames this thread a number of times.
func TestCounts(t *testing.T) {
	p := newProvider(t)
	probe := typed(t, probetest.Match(t, p, provider.Desc{Name: "task_rename"})[0])
	armed, counts := probetest.Enable(t, p, os.Getpid(), probe)
	for range 100 {
		if err := unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(unsafe.StringData("rawtp\x00"))), 0, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := armed.Close(); err != nil {
		t.Fatal(err)
	}
	c := counts()[probe]
	if c.N != 100 {
		t.Errorf("the thread was renamed %d times, want 100", c.N)
	}
	if int64(c.Args[0]) >= 0 || int64(c.Args[1]) >= 0 {
		t.Errorf("the arguments are no addresses of the kernel: %#x", c.Args)
	}
	if missed, err := armed.Missed(); missed != 0 || err != nil {
		t.Errorf("missed %d, %v", missed, err)
	}
}

// typed is a copy of a probe that has its arguments.
func typed(t testing.TB, p *provider.Probe) *provider.Probe {
	t.Helper()
	c, err := p.ContextFor(provider.Uses{Args: true})
	if err != nil {
		t.Fatal(err)
	}
	with := *p
	with.Context = c
	return &with
}

// TestEnableNothing tells what is wrong with a tracepoint that is not there.
func TestEnableNothing(t *testing.T) {
	p := newProvider(t)
	probe := p.probe("sched", "nonsense", kernel.VMLinux)
	c := probetest.NewCounter(t, probe.Context, []*provider.Probe{probe}, 0)
	_, err := p.Enable(context.Background(), []provider.Enabling{{Program: c.Program, Context: probe.Context, Probes: []*provider.Probe{probe}}}, func(int, int) {})
	if !errors.Is(err, unix.ENOENT) || !strings.HasPrefix(err.Error(), "enabling rawtp:sched::nonsense: attaching to the raw tracepoint nonsense: ") {
		t.Errorf("got %v", err)
	}
}
