// Package userland is what kinst knows of user processes in order to probe
// them: which files they have mapped as programs and libraries, the functions
// of those files, the instructions of a function, and the probes that a file
// brings along.
//
// A process sees files by its own mounts, and may run a file that has been
// deleted or replaced. So files are opened by what is mapped
// (/proc/PID/map_files), and only where that is not allowed by their names
// (/proc/PID/root).
package userland
