// Package sched is the provider of what the scheduler does:
// sched:vmlinux::on-cpu, off-cpu, enqueue, wakeup and others, with the
// arguments that DTrace gives them.
package sched

import "kinst/internal/provider/derived"

// New returns the provider.
func New(k derived.Kernel) *derived.Provider { return derived.New("sched", k, probes) }

// current is the thread that runs.
var current = []derived.Arg{{Value: "curthread", As: "lwpsinfo_t *"}, {Value: "curthread", As: "psinfo_t *"}}

// task are the thread and the process of a task.
func task(d string) []derived.Arg {
	return []derived.Arg{{Value: d, As: "lwpsinfo_t *"}, {Value: d, As: "psinfo_t *"}}
}

var probes = []derived.Definition{
	{Name: "dequeue", From: []derived.Source{{
		Functions: []string{"dequeue_task_*"},
		Args:      append(task("{p}"), derived.Arg{Value: "(int){rq}->cpu", As: "cpuinfo_t *"}),
	}}},
	// Args[3] says that it comes to the head of the queue.
	{Name: "enqueue", From: []derived.Source{{
		Functions: []string{"enqueue_task_*"},
		Args: append(task("{p}"),
			derived.Arg{Value: "(int){rq}->cpu", As: "cpuinfo_t *"},
			derived.Arg{Value: "({flags} & 0x10) != 0", Type: "int"}), // ENQUEUE_HEAD
	}}},
	{Name: "off-cpu", From: []derived.Source{{Tracepoint: "sched_switch", Args: task("{next}")}}},
	// In the thread that has begun to run, which older kernels have no
	// tracepoint for.
	{Name: "on-cpu", From: []derived.Source{
		{Tracepoint: "sched_exit_tp", When: "{is_switch}"},
		{Functions: []string{"finish_task_switch*"}},
	}},
	{Name: "preempt", From: []derived.Source{{Tracepoint: "sched_switch", When: "{preempt}"}}},
	{Name: "remain-cpu", From: []derived.Source{{Tracepoint: "sched_exit_tp", When: "!{is_switch}"}}},
	{Name: "sleep", From: []derived.Source{
		{Tracepoint: "sched_switch", Needs: "prev_state", When: "!{preempt} && {prev_state} != 0"},
		{Tracepoint: "sched_switch", When: "!{preempt} && xlate <lwpsinfo_t *>({prev})->pr_state != 0"},
	}},
	{Name: "surrender", From: []derived.Source{{Calls: []string{"sched_yield"}, Args: current}}},
	{Name: "tick", From: []derived.Source{{Functions: []string{"sched_tick", "scheduler_tick"}, Args: current}}},
	{Name: "wakeup", From: []derived.Source{{Tracepoint: "sched_waking", Args: task("{p}")}}},
}
