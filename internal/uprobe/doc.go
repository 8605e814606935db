// Package uprobe puts probes on instructions of user programs and takes them
// out, thousands at a time.
//
// A uprobe is on a byte of a file, in the memory of one process and all its
// threads: children that the process forks have a memory of their own and are
// not probed. There are two ways to arm many, and the better one that the
// kernel has is taken. A link of many uprobes (BPF_TRACE_UPROBE_MULTI) needs
// nothing but BPF and leaves nothing behind when this process is killed. On
// kernels before 6.6, and those that run its programs in the first thread of
// a process only, all sites are put on one event of tracefs. A perf event for
// each site, the most common way, takes 270 ms to close each.
package uprobe
