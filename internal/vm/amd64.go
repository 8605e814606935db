package vm

// host is what a machine of this architecture is made of.
var host = hostMachine{
	qemu:          "qemu-system-x86_64",
	debianPackage: "qemu-system-x86",
	machine:       "pc",
	console:       "ttyS0",
	serial:        []string{"/dev/ttyS1", "/dev/ttyS2", "/dev/ttyS3"},
	image:         "vmlinuz-",
	// Haswell is the newest that emulation has everything of that kernels
	// insist on; with -cpu max some do not boot.
	emulatedCPU: "Haswell-v4",
}
