package sdt

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"runtime"
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

func TestMatch(t *testing.T) {
	p := newProvider(t)
	for _, test := range []struct {
		desc provider.Desc
		want []string
	}{
		{provider.Desc{Name: "sched_switch"}, []string{"sdt:sched::sched_switch"}},
		{provider.Desc{Module: "task", Name: "task_[nr]*"}, []string{"sdt:task::task_newtask", "sdt:task::task_rename"}},
		{provider.Desc{Module: "raw_syscalls", Name: "sys_e*"}, []string{"sdt:raw_syscalls::sys_enter", "sdt:raw_syscalls::sys_exit"}},
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
		{provider.Desc{Function: "vfs_read"}, "the probes of the provider sdt have no function"},
		{provider.Desc{Module: "sched", Name: "nonsense"}, "the kernel has no event sched:nonsense"},
		{provider.Desc{Module: "syscalls"}, "the kernel has no event syscalls:*"},
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
		{"sched_process_exec", "filename string, pid pid_t, old_pid pid_t"},
		{"sys_exit", "id long, ret long"},
		{"sys_enter", "id long, args unsigned long *"},
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
	}
}

// TestCounts renames this thread a number of times, and looks at the fields of
// the event's records, and at the number of the tracepoint's executions.
func TestCounts(t *testing.T) {
	runtime.LockOSThread()
	p := newProvider(t)
	plain := probetest.Match(t, p, provider.Desc{Name: "task_rename"})[0]
	c, err := plain.ContextFor(provider.Uses{Args: true})
	if err != nil {
		t.Fatal(err)
	}
	typed := *plain
	typed.Context = c
	armed, counts := probetest.Enable(t, p, os.Getpid(), plain, &typed)
	rename(t, "before\x00")
	for range 99 {
		rename(t, "renamed\x00")
	}
	if err := armed.Close(); err != nil {
		t.Fatal(err)
	}
	if n := counts()[plain].N; n != 100 {
		t.Errorf("the tracepoint was passed %d times, want 100", n)
	}
	got := counts()[&typed]
	if got.N != 100 {
		t.Errorf("the event had %d records, want 100", got.N)
	}
	for i, a := range c.Args {
		if a.Name == "newcomm" {
			if name := binary.NativeEndian.AppendUint64(nil, got.Args[i]); string(name) != "renamed\x00" {
				t.Errorf("newcomm is %q", name)
			}
		}
	}
	if missed, err := armed.Missed(); missed != 0 || err != nil {
		t.Errorf("missed %d, %v", missed, err)
	}
}

func rename(t *testing.T, name string) {
	t.Helper()
	if err := unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(unsafe.StringData(name))), 0, 0, 0); err != nil {
		t.Fatal(err)
	}
}

// TestAll arms every tracepoint there is.
func TestAll(t *testing.T) {
	p := newProvider(t)
	probes := probetest.Match(t, p, provider.Desc{})
	c := probetest.NewCounter(t, p.untyped, probes[:1], os.Getpid())
	armed, err := p.Enable(context.Background(), []provider.Enabling{{Program: c.Program, Context: p.untyped, Probes: probes}}, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	rename(t, "all\x00")
	if n := c.Counts()[probes[0]].N; n == 0 {
		t.Error("no tracepoint was passed")
	}
	if err := armed.Close(); err != nil {
		t.Fatal(err)
	}
}
