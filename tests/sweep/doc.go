// Package sweep traces every instruction of a sample of the kernel's functions
// under a busy workload, and looks whether the kernel, the workload and the
// counts are as they must be.
package sweep
