// Package kernel knows the running kernel: its symbols and modules, the text
// of its functions as it stands in memory, which places of that text cannot
// be probed and why, and what the kernel and this process's privileges allow.
//
// Everything is read when it is first asked for and at no other time. Nothing
// here changes the kernel.
package kernel
