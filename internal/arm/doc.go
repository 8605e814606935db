// Package arm puts probes on instructions of the kernel and takes them out,
// thousands at a time and at the kernel's own speed.
//
// A [Session] arms groups of sites. The sites of a [Group] are kprobes of a
// few tracefs events, many of them on each, because one event with a thousand
// sites is opened, enabled and closed in one step, where a thousand perf
// kprobes need minutes. The BPF programs of the group run at each execution
// of each of its sites.
//
// Closing the group, ending the session and the death of the process, however
// it comes, all disarm. What a killed process leaves behind is inert: event
// definitions in tracefs. The next session, or [Clean], takes them out.
package arm
