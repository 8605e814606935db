package vm

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
)

// A qemu is a running QEMU. It dies with the host's process, whatever that one
// dies of.
type qemu struct {
	process *os.Process
	gone    chan struct{} // closed when it has ended
	once    sync.Once
}

// The descriptors that QEMU inherits: the initramfs, then the lines in the order
// of lines.each.
const (
	fdInitramfs = 3
	fdLines     = 4
)

// qemuArgs returns QEMU's arguments.
func qemuArgs(cfg *Config, image *Kernel, a accelerator) []string {
	cpus := max(cfg.CPUs, 1)
	args := []string{
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-nic", "none",
		"-machine", host.machine, "-accel", a.option(cfg), "-cpu", a.cpuModel(cfg),
		"-smp", strconv.Itoa(cpus), "-m", strconv.Itoa(cfg.memory()),
		"-kernel", image.Path, "-initrd", fmt.Sprintf("/proc/self/fd/%d", fdInitramfs),
		"-append", kernelCommandLine(cfg),
	}
	fd := fdLines
	chardev := func(kind, id string) {
		backend := fmt.Sprintf("file,id=%s,path=/proc/self/fd/%d", id, fd)
		if kind == "control" {
			backend = fmt.Sprintf("socket,id=%s,fd=%d", id, fd)
		}
		args = append(args, "-chardev", backend)
		fd++
	}
	chardev("console", "console")
	args = append(args, "-serial", "chardev:console", "-device", "virtio-serial-pci")
	for i, kind := range lineNames {
		chardev(kind, "virtio."+kind)
		args = append(args, "-device", fmt.Sprintf("virtserialport,nr=%d,chardev=virtio.%s,name=%s", i+1, kind, portName(kind)))
	}
	for _, kind := range lineNames {
		chardev(kind, "serial."+kind)
		args = append(args, "-serial", "chardev:serial."+kind)
	}
	return args
}

// lineNames names the lines of a bundle, in the order of its fields.
var lineNames = []string{"stdout", "stderr", "control"}

// portName is the name that the guest sees of a line's virtio-serial port.
func portName(line string) string { return "kinst." + line }

// kernelCommandLine returns the kernel's command line. The kernel ends the
// machine on a panic: QEMU takes the reboot for a stop.
func kernelCommandLine(cfg *Config) string {
	s := "console=" + host.console + " panic=-1 rdinit=" + initPath
	if cfg.Console == nil {
		s += " quiet"
	}
	if host.kernelWords != "" {
		s += " " + host.kernelWords
	}
	if cfg.Append != "" {
		s += " " + cfg.Append
	}
	return s
}

// startQEMU starts QEMU. Its own messages go to log.
func startQEMU(args []string, ramfs *os.File, lines *lines, log io.Writer) (*qemu, error) {
	path, err := exec.LookPath(host.qemu)
	if err != nil {
		return nil, fmt.Errorf("a virtual machine needs %s, which is not installed: apt-get install %s", host.qemu, host.debianPackage)
	}
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{ramfs}
	lines.each(func(l *line) { cmd.ExtraFiles = append(cmd.ExtraFiles, l.qemu) })
	// A session of its own, so that the terminal's Ctrl-C does not reach it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}

	q := &qemu{gone: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The death signal comes when the thread that started QEMU ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		q.process = cmd.Process
		started <- err
		if err != nil {
			return
		}
		cmd.Wait()
		close(q.gone)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting a virtual machine: %w", err)
	}
	lines.each(func(l *line) { l.qemu.Close() })
	return q, nil
}

// kill ends QEMU and waits until it has ended.
func (q *qemu) kill() {
	q.once.Do(func() { q.process.Kill() })
	<-q.gone
}
