// Package tracee holds user processes by ptrace(2) where their code changes:
// before they execute the first instruction of a program, and when their dynamic
// linker has loaded libraries and executed nothing of them yet.
//
// Processes notice nothing of it, nor do their parents: their threads are seized
// (PTRACE_SEIZE), signals are passed on and stops of job control are kept. If
// this process dies the kernel lets them go on.
package tracee
