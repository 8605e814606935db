package vm

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
)

var amd64 = hostMachine{
	qemu:          "qemu-system-x86_64",
	debianPackage: "qemu-system-x86",
	machine:       "pc",
	console:       "ttyS0",
	serial:        []string{"/dev/ttyS1", "/dev/ttyS2", "/dev/ttyS3"},
	image:         "vmlinuz-",
	release:       bzImageRelease,
	// Haswell is the newest that emulation has everything of that kernels
	// insist on; with -cpu max some do not boot. QEMU warns of what it lacks
	// unless told to leave it out.
	emulatedCPU: "Haswell-v4,-pcid,-x2apic,-tsc-deadline,-invpcid,-spec-ctrl",
	// That model has the faults of its time. A guest has no secrets to protect
	// from itself, and with page tables of its own for the kernel a tenth of the
	// time goes into changing them.
	kernelWords: "pti=off mds=off",
}

// bzImageRelease returns the release that a bzImage's header names, after the
// kernel's Documentation/arch/x86/boot.rst.
func bzImageRelease(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("kernel image: %w", err)
	}
	defer f.Close()
	const (
		magicAt       = 0x202 // "HdrS"
		releaseAt     = 0x20e // offset of the release, less 0x200
		headerLength  = 0x210
		releaseLength = 256
	)
	header := make([]byte, headerLength)
	if _, err := f.ReadAt(header, 0); err != nil || string(header[magicAt:magicAt+4]) != "HdrS" {
		return "", fmt.Errorf("%s is no bootable kernel image (a bzImage)", path)
	}
	at := binary.LittleEndian.Uint16(header[releaseAt:])
	if at == 0 {
		return "", nil
	}
	text := make([]byte, releaseLength)
	n, _ := f.ReadAt(text, int64(at)+0x200)
	text, _, _ = bytes.Cut(text[:n], []byte{0})
	release, _, _ := strings.Cut(string(text), " ")
	return release, nil
}
