package derived

import (
	"context"
	"errors"
	"strings"
	"testing"

	"kinst/internal/arm"
	"kinst/internal/isa"
	"kinst/internal/kernel"
	"kinst/internal/provider"
	"kinst/internal/provider/syscall"
)

func newKernel(t *testing.T) Kernel {
	t.Helper()
	k, err := kernel.Open()
	if err != nil {
		t.Fatal(err)
	}
	arch, err := isa.Native()
	if err != nil {
		t.Fatal(err)
	}
	return Kernel{Kernel: k, Arch: arch, Syscalls: syscall.New(k, arch),
		Arms: func() (*arm.Session, error) { return arm.Open(k) }}
}

var table = []Definition{
	{Name: "fork", From: []Source{
		{Tracepoint: "no_such_tracepoint", When: "{child}"},
		{Tracepoint: "sched_process_fork", Needs: "no_such_parameter"},
		{
			Tracepoint: "sched_process_fork",
			When:       "{child}->pid > 1",
			Args:       []Arg{{Value: "{child}", As: "psinfo_t *"}, {Value: "{parent}->pid", Type: "int"}},
		},
	}},
	{Name: "exec", From: []Source{{
		Calls: []string{"execve", "execveat"}, Returned: true,
		When: "{result} < 0 && {number} == {call:execve}",
		Args: []Arg{{Value: "-(int){result}", Type: "int"}},
	}}},
	{Name: "path", From: []Source{{
		Calls: []string{"execve"},
		Args:  []Arg{{Value: "copyinstr({arg0})", Type: "string"}},
	}}},
	{Name: "none", From: []Source{
		{Tracepoint: "no_such_tracepoint"},
		{Calls: []string{"no_such_call"}},
		{Tracepoint: "sched_process_fork", When: "{no_such_parameter}"},
	}},
}

func match(t *testing.T, p *Provider, name string) *provider.Probe {
	t.Helper()
	probes, _, err := p.Match(context.Background(), provider.Desc{Name: name})
	if err != nil || len(probes) != 1 {
		t.Fatalf("%s: %v, %v", name, probes, err)
	}
	return probes[0]
}

// TestMeaning compares the D that the probes' definitions become.
func TestMeaning(t *testing.T) {
	p := New("test", newKernel(t), table)
	for _, test := range []struct {
		name, when string
		args       string // of each what args[n] and argn are, and the type
	}{
		{"fork", "((struct task_struct *)arg1)->pid > 1",
			"xlate <psinfo_t *>(((struct task_struct *)arg1)); ((struct task_struct *)arg1); psinfo_t *\n" +
				"((struct task_struct *)arg0)->pid; ((struct task_struct *)arg0)->pid; int\n"},
		{"exec", "arg0 < 0 && (int)arg2 == 59", "-(int)arg0; -(int)arg0; int\n"},
		{"path", "", "copyinstr(arg0); ; string\n"},
	} {
		probe := match(t, p, test.name)
		if probe.Context.When != test.when {
			t.Errorf("%s: when %q, want %q", test.name, probe.Context.When, test.when)
		}
		args := ""
		for _, a := range probe.Context.Args {
			args += a.Means + "; " + a.Native + "; " + a.Type.String() + "\n"
		}
		if args != test.args {
			t.Errorf("%s: got\n%swant\n%s", test.name, args, test.args)
		}
	}
	if probe := match(t, p, "exec"); len(probe.More) != 1 || probe.Addr+probe.More[0] != 59+322 {
		t.Errorf("exec: the system calls %d and %d", probe.Addr, probe.More)
	}
}

func TestMatch(t *testing.T) {
	p := New("test", newKernel(t), table)
	probes, notes, err := p.Match(context.Background(), provider.Desc{Module: "vmlinux"})
	if err != nil || len(probes) != 3 || probes[0].Desc.String() != "test:vmlinux::fork" {
		t.Errorf("got %v, %v", probes, err)
	}
	if len(notes) != 1 || !strings.HasPrefix(notes[0], "test:::none is left out: this kernel has nothing to make it from: no tracepoint no_such_tracepoint; no system call no_such_call; nothing that passes no_such_parameter") {
		t.Errorf("notes %q", notes)
	}
	if again := match(t, p, "fork"); again != probes[0] {
		t.Error("a probe is made twice")
	}
	for _, test := range []struct {
		desc provider.Desc
		want string
	}{
		{provider.Desc{Module: "ext4"}, "the probes of the provider test have the module vmlinux and no function"},
		{provider.Desc{Function: "f"}, "the probes of the provider test have the module vmlinux and no function"},
		{provider.Desc{Name: "nonsense"}, "the provider test has fork, exec, path, none"},
		{provider.Desc{Name: "none"}, "this kernel has nothing to make it from: no tracepoint no_such_tracepoint; no system call no_such_call; nothing that passes no_such_parameter"},
	} {
		_, _, err := p.Match(context.Background(), test.desc)
		var none *provider.NoMatchError
		if !errors.As(err, &none) || none.Why != test.want {
			t.Errorf("%s: got %v, want %q", test.desc, err, test.want)
		}
	}
}
