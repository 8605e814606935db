/* CONFIG command */
syscall:::entry
fbt::vfs_read:entry, BEGIN
/* a clause may end after its probes on a command line */
END { } tick-1s
