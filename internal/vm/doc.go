// Package vm runs a static program in a throwaway virtual machine: QEMU
// around a kernel image, with an initramfs made on the spot that holds the
// program, the files asked for and nothing else. There is no disk image, no
// network and nothing to install in the guest.
//
// The program is its own init: started as process 1 of such a guest
// ([IsInit]) it calls [Init], which mounts the kernel's file systems, runs the
// program again as an ordinary process and reports its exit status.
//
// The guest's standard output and standard error reach the host apart from
// each other and byte for byte, over virtio-serial ports where the kernel has
// the driver (built in, or as a module beside the kernel image), else over
// serial ports. The kernel's log goes to a serial port of its own.
package vm
