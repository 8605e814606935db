package vm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// IsInit reports whether this process is the first one of a guest that [Run]
// made. A program that is to run in such a guest asks first of all and then
// calls [Init].
func IsInit() bool {
	if os.Getpid() != 1 || len(os.Args) == 0 || os.Args[0] != initPath {
		return false
	}
	_, err := os.Stat(planPath)
	return err == nil
}

// Init does the work of a guest's first process. It does not return: the host
// ends the machine once it has everything.
func Init() {
	g := new(guest)
	if err := g.setUp(); err != nil {
		g.fail(err)
	}
	status, err := g.runProgram()
	if err != nil {
		g.fail(err)
	}
	g.report(status)
	sleepForever()
}

// A guest is the machine seen from its init.
type guest struct {
	plan                    guestPlan
	stdout, stderr, control *os.File

	mu          sync.Mutex
	program     int // process ids, 0 where there is none
	script      int
	interrupted bool // before there was a program
}

// setUp makes the bare kernel into a place where a program can run.
func (g *guest) setUp() error {
	mountAll()
	text, err := os.ReadFile(planPath)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &g.plan); err != nil {
		return err
	}
	if err := loadModules(g.plan.TransportModules); err != nil {
		fmt.Fprintln(os.Stderr, "kinst:", err) // the console; serial lines will do
	}
	if err := g.openLines(); err != nil {
		return err
	}
	fmt.Fprintln(g.control, wordHello)
	go g.listen()
	if err := raiseLoopback(); err != nil {
		return err
	}
	return loadModules(g.plan.Modules)
}

// mountAll mounts the kernel's file systems. What the kernel was built without
// is missing then.
func mountAll() {
	for _, m := range []struct{ kind, dir string }{
		{"proc", "/proc"},
		{"sysfs", "/sys"},
		{"devtmpfs", "/dev"},
		{"tracefs", "/sys/kernel/tracing"},
		{"debugfs", "/sys/kernel/debug"},
		{"securityfs", "/sys/kernel/security"},
		{"bpf", "/sys/fs/bpf"},
		{"cgroup2", "/sys/fs/cgroup"},
		{"devpts", "/dev/pts"},
		{"tmpfs", "/dev/shm"},
	} {
		if filepath.Dir(m.dir) == "/dev" {
			os.Mkdir(m.dir, 0o755)
		}
		unix.Mount(m.kind, m.dir, m.kind, 0, "")
	}
	for link, target := range map[string]string{
		"/dev/fd": "/proc/self/fd", "/dev/stdin": "fd/0", "/dev/stdout": "fd/1", "/dev/stderr": "fd/2",
	} {
		os.Symlink(target, link)
	}
	unix.Sethostname([]byte("kinst"))
}

// loadModules loads modules from their files.
func loadModules(paths []string) error {
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		err = unix.FinitModule(int(f.Fd()), "", 0)
		f.Close()
		if err != nil && !errors.Is(err, unix.EEXIST) {
			return fmt.Errorf("loading the module %s: %w", strings.TrimSuffix(filepath.Base(path), ".ko"), err)
		}
	}
	return nil
}

// raiseLoopback brings the loopback interface up, where the kernel has one.
func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, req); err != nil {
		return nil
	}
	req.SetUint16(req.Uint16() | unix.IFF_UP)
	return os.NewSyscallError("raising the loopback interface", unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req))
}

// openLines opens the lines to the host.
func (g *guest) openLines() error {
	paths := virtioPorts()
	if paths == nil {
		paths = host.serial
	}
	for i, f := range []**os.File{&g.stdout, &g.stderr, &g.control} {
		fd, err := unix.Open(paths[i], unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
		if err != nil {
			return &os.PathError{Op: "open", Path: paths[i], Err: err}
		}
		if err := makeRaw(fd); err != nil {
			return fmt.Errorf("%s: %w", paths[i], err)
		}
		*f = os.NewFile(uintptr(fd), paths[i])
	}
	return nil
}

// virtioPorts returns the device files of the virtio-serial ports, or nil where
// the kernel has no driver for them. The driver learns of the ports one by one.
func virtioPorts() []string {
	if _, err := os.Stat("/sys/bus/virtio/drivers/virtio_console"); err != nil {
		return nil
	}
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		paths := make([]string, len(lineNames))
		found := 0
		files, _ := filepath.Glob("/sys/class/virtio-ports/*/name")
		for _, file := range files {
			name, _ := os.ReadFile(file)
			for i, line := range lineNames {
				if strings.TrimSpace(string(name)) == portName(line) {
					paths[i] = filepath.Join("/dev", filepath.Base(filepath.Dir(file)))
					found++
				}
			}
		}
		if found == len(lineNames) {
			return paths
		}
	}
	return nil
}

// makeRaw stops a terminal from changing what passes through it; other files
// are left alone.
func makeRaw(fd int) error {
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return nil
	}
	t.Iflag = 0
	t.Oflag = 0
	t.Lflag = 0
	t.Cflag = unix.CS8 | unix.CREAD | unix.CLOCAL | unix.B115200
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	return os.NewSyscallError("ioctl", unix.IoctlSetTermios(fd, unix.TCSETS, t))
}

// listen obeys the host.
func (g *guest) listen() {
	b := make([]byte, 1)
	for {
		if _, err := g.control.Read(b); err != nil {
			return
		}
		if b[0] == byteInterrupt {
			g.interrupt()
		}
	}
}

// interrupt does to the program what Ctrl-C does at a terminal.
func (g *guest) interrupt() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.program == 0 {
		g.interrupted = true
		return
	}
	unix.Kill(-g.program, unix.SIGINT)
}

// runProgram runs the program, and the script once the program says that it is
// ready, and returns the program's exit status.
func (g *guest) runProgram() (unix.WaitStatus, error) {
	null, err := os.OpenFile("/dev/null", os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	ready, notify, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	env := g.plan.Env
	files := []uintptr{null.Fd(), g.stdout.Fd(), g.stderr.Fd()}
	if g.plan.Script != "" {
		env = append(env, fmt.Sprintf("%s=%d", readyVariable, len(files)))
		go g.runScript(ready, null)
	}
	g.mu.Lock()
	g.program, err = syscall.ForkExec(g.plan.Program, g.plan.Args, &syscall.ProcAttr{
		Dir: g.plan.Dir, Env: env, Files: append(files, notify.Fd()), Sys: &syscall.SysProcAttr{Setsid: true},
	})
	early := g.interrupted
	g.mu.Unlock()
	if err != nil {
		return 0, fmt.Errorf("starting the program: %w", err)
	}
	if early {
		g.interrupt()
	}
	notify.Close()
	return g.reap()
}

// runScript runs the workload when the byte of [NotifyReady] comes; it never
// does when the program ends before that.
func (g *guest) runScript(ready io.Reader, null *os.File) {
	if _, err := io.ReadFull(ready, make([]byte, 1)); err != nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	pid, err := syscall.ForkExec("/bin/sh", []string{"sh", g.plan.Script}, &syscall.ProcAttr{
		Dir: g.plan.Dir, Env: g.plan.Env, Files: []uintptr{null.Fd(), g.stdout.Fd(), g.stderr.Fd()},
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		fmt.Fprintf(g.stderr, "kinst: the workload could not be started: %v\n", err)
		unix.Kill(-g.program, unix.SIGINT)
		return
	}
	g.script = pid
}

// reap collects every process that ends, as the first process must, until the
// program has.
func (g *guest) reap() (unix.WaitStatus, error) {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return 0, os.NewSyscallError("wait4", err)
		}
		g.mu.Lock()
		program, script := g.program, g.script
		if pid == program {
			g.program = 0
		}
		g.mu.Unlock()
		switch {
		case pid == script:
			g.interrupt()
		case pid == program:
			return status, nil
		}
	}
}

// report tells the host of the program's end.
func (g *guest) report(status unix.WaitStatus) {
	io.WriteString(g.stdout, g.plan.Marker)
	io.WriteString(g.stderr, g.plan.Marker)
	fmt.Fprintln(g.control, wordExit, int(status))
}

// fail tells the host, or else the console, why the program cannot run.
func (g *guest) fail(err error) {
	if g.control != nil {
		fmt.Fprintln(g.control, wordFailure, strings.ReplaceAll(err.Error(), "\n", " "))
		sleepForever()
	}
	fmt.Fprintln(os.Stderr, "kinst: init:", err)
	unix.Reboot(unix.LINUX_REBOOT_CMD_RESTART)
}

func sleepForever() {
	for {
		time.Sleep(time.Hour)
	}
}
