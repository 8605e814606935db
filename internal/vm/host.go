package vm

import (
	"fmt"
	"runtime"
)

// A hostMachine describes the virtual machine of the host's architecture.
type hostMachine struct {
	qemu          string                             // the emulator's name
	debianPackage string                             // the package it is in
	machine       string                             // QEMU's -machine
	console       string                             // the kernel's name of the first serial port
	serial        []string                           // the device files of the other serial ports, in the order of a bundle's fields
	image         string                             // how the name of a kernel image in /boot begins
	release       func(image string) (string, error) // what release an image is of
	emulatedCPU   string                             // the CPU model for software emulation
	kernelWords   string                             // of its command line
}

// machines has the architectures that a guest can have, which is the host's.
var machines = map[string]hostMachine{"amd64": amd64}

var host = machines[runtime.GOARCH]

// checkHost reports whether guests can run on this architecture at all.
func checkHost() error {
	if host.qemu == "" {
		return fmt.Errorf("virtual machines of the architecture %s are not known to kinst", runtime.GOARCH)
	}
	return nil
}
