// Package proc is the provider of what happens to processes and threads:
// proc:vmlinux::create, exec, exit, signal-send and others, with the arguments
// that DTrace gives them.
package proc

import "kinst/internal/provider/derived"

// New returns the provider.
func New(k derived.Kernel) *derived.Provider { return derived.New("proc", k, probes) }

// clones are the system calls that make a task. In the new one they return 0.
var clones = []string{"clone", "clone3", "fork", "vfork"}

var execs = []string{"execve", "execveat"}

// reason is how a process ended, as in siginfo_t's si_code: CLD_EXITED,
// CLD_KILLED or CLD_DUMPED.
const reason = "({p}->exit_code & 0x7f) == 0 ? 1 : ({p}->exit_code & 0x80) ? 3 : 2"

var probes = []derived.Definition{
	// In the parent, which has made a process.
	{Name: "create", From: []derived.Source{{
		Tracepoint: "sched_process_fork",
		When:       "{child}->tgid == {child}->pid",
		Args:       []derived.Arg{{Value: "{child}", As: "psinfo_t *"}},
	}}},
	{Name: "exec", From: []derived.Source{{
		Calls: execs,
		Args:  []derived.Arg{{Value: "copyinstr({number} == {call:execveat} ? {arg1} : {arg0})", Type: "string"}},
	}}},
	{Name: "exec-failure", From: []derived.Source{{
		Calls: execs, Returned: true,
		When: "{result} < 0",
		Args: []derived.Arg{{Value: "-(int){result}", Type: "int"}},
	}}},
	{Name: "exec-success", From: []derived.Source{{Tracepoint: "sched_process_exec"}}},
	// In the last thread of the process. Kernels before 6.16 do not say which
	// that is: where several threads exit at once, more than one may find
	// that no other is left.
	{Name: "exit", From: []derived.Source{
		{
			Tracepoint: "sched_process_exit", Needs: "group_dead",
			When: "{group_dead}",
			Args: []derived.Arg{{Value: reason, Type: "int"}},
		},
		{
			Tracepoint: "sched_process_exit",
			When:       "{p}->signal->live.counter == 0",
			Args:       []derived.Arg{{Value: reason, Type: "int"}},
		},
	}},
	{Name: "lwp-create", From: []derived.Source{{
		Tracepoint: "sched_process_fork",
		Args:       []derived.Arg{{Value: "{child}", As: "lwpsinfo_t *"}, {Value: "{child}", As: "psinfo_t *"}},
	}}},
	{Name: "lwp-exit", From: []derived.Source{{Tracepoint: "sched_process_exit"}}},
	{Name: "lwp-start", From: []derived.Source{{
		Calls: clones, Returned: true,
		When: "{result} == 0",
	}}},
	// A signal was waited for, by sigtimedwait(2) and the like.
	{Name: "signal-clear", From: []derived.Source{{
		Calls: []string{"rt_sigtimedwait"}, Returned: true,
		When: "{result} > 0",
		Args: []derived.Arg{{Value: "(int){result}", Type: "int"}},
	}}},
	{Name: "signal-discard", From: []derived.Source{{
		Tracepoint: "signal_generate",
		When:       "{result} == 1", // TRACE_SIGNAL_IGNORED
		Args:       signalArgs,
	}}},
	// To a handler: the kernel passes the tracepoint also where there is none
	// and the signal has its default effect.
	{Name: "signal-handle", From: []derived.Source{{
		Tracepoint: "signal_deliver",
		When:       "(uint64_t){ka}->sa.sa_handler > 1", // neither SIG_DFL nor SIG_IGN
		Args: []derived.Arg{
			{Value: "{sig}", Type: "int"},
			{Value: "{info}", Type: "struct kernel_siginfo *"},
			{Value: "{ka}->sa.sa_handler", Type: "void (*)(int)"},
		},
	}}},
	{Name: "signal-send", From: []derived.Source{{Tracepoint: "signal_generate", Args: signalArgs}}},
	{Name: "start", From: []derived.Source{{
		Calls: clones, Returned: true,
		When: "{result} == 0 && pid == tid",
	}}},
}

var signalArgs = []derived.Arg{
	{Value: "{task}", As: "lwpsinfo_t *"},
	{Value: "{task}", As: "psinfo_t *"},
	{Value: "{sig}", Type: "int"},
}
