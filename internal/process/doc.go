// Package process names addresses of user processes: which file they are from,
// which of its functions, how far inside.
//
// What it finds out about a process it keeps, so that addresses of a process
// that has exited in the meantime are still named. Nothing is read before the
// first address of a process is asked for.
package process
