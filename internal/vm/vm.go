package vm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// A Config says what to run, on which kernel and with what beside it. The zero
// value of a field takes its default; Binary and Kernel may be left empty too.
type Config struct {
	// Kernel is a path to a kernel image, or a release or its beginning
	// ("6.12"), looked up by [FindKernel]. Empty: the newest one found.
	Kernel string

	// Memory is the guest's memory in MiB; 0 is [DefaultMemory].
	Memory int
	// CPUs is the number of virtual CPUs; 0 is one. Under software emulation
	// they share one thread of the host.
	CPUs int
	// CPUModel is QEMU's -cpu; empty takes one that boots every kernel.
	CPUModel string
	// Accel is "kvm", "tcg" (software emulation), "tcg,thread=multi" (each
	// virtual CPU in a thread of its own: see [Config.Unsafe]), or empty: KVM
	// where it works, else tcg.
	Accel string
	// Append is added to the kernel's command line.
	Append string

	// Binary is a static executable which calls [Init] when [IsInit] says so;
	// empty is the running one. The guest has it as /bin/kinst and as its init.
	Binary string
	// Program is the path in the guest of the program to run; empty is Binary.
	Program string
	// Args are its arguments, without its name.
	Args []string
	// Env is its environment beyond PATH, HOME, TERM and the like.
	Env []string
	// Dir is the directory it starts in, made if need be; empty is "/".
	Dir string

	// Files are taken along into the guest.
	Files []File
	// Modules names kernel modules to load at boot, with those they need, from
	// the directory of modules that belongs to the kernel image.
	Modules []string
	// Script is a shell script on the host which runs beside the program, from
	// when the program calls [NotifyReady]. Once it has ended, the program is
	// interrupted (SIGINT). Needs a static busybox on the host.
	Script string

	// BootTimeout is how long the guest may take to reach its init; 0 is five
	// minutes, which emulation on a busy host may need.
	BootTimeout time.Duration

	// Console receives the kernel's log; nil keeps the log short and drops it.
	Console io.Writer

	// Interrupts is a channel of Ctrl-C: the first is passed to the program in
	// the guest as SIGINT, the second ends the machine, and so does the first
	// while the guest boots.
	Interrupts <-chan os.Signal
}

// Unsafe reports whether the machine would be one that [ErrUnsafe] warns of.
func (c *Config) Unsafe() bool { return c.Accel == accelMultiThread && c.CPUs > 1 }

// DefaultMemory is the memory of a guest in MiB.
const DefaultMemory = 1024

func (c *Config) memory() int { return cmp.Or(c.Memory, DefaultMemory) }

// A File is a file or directory of the host and where the guest sees it.
type File struct {
	Host, Guest string
}

// Run boots a machine, runs the program in it and returns the program's exit
// status. Its output goes to stdout and stderr as it comes. Cancelling ctx ends
// the machine.
//
// With an error other than a [SignalError], there is no exit status of the
// program's, and the one returned is 1, or 130 with [ErrInterrupted]. See
// [PanicError] and [DeathError].
func Run(ctx context.Context, cfg Config, stdout, stderr io.Writer) (int, error) {
	candidates, err := accelerators(&cfg)
	if err != nil {
		return 1, err
	}
	image, err := FindKernel(cfg.Kernel)
	if err != nil {
		return 1, err
	}
	ramfs, plan, err := buildInitramfs(&cfg, image)
	if err != nil {
		return 1, err
	}
	defer ramfs.Close()

	var retry *retryError
	for _, a := range candidates {
		m, err := start(&cfg, image, ramfs, plan.Marker, a, stdout, stderr)
		if err != nil {
			return 1, err
		}
		status, err := m.run(ctx)
		if !errors.As(err, &retry) {
			return status, err
		}
	}
	return 1, retry.reason
}

// ErrInterrupted is the error of a run that interrupts ended.
var ErrInterrupted = errors.New("interrupted")

// A PanicError is a panic of the guest's kernel.
type PanicError struct {
	Reason  string // what follows "Kernel panic - not syncing: "
	Console string // the console's last lines
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("the guest's kernel panicked: %s; its last words:\n%s", e.Reason, e.Console)
}

// A DeathError is the end, or the silence, of a guest without panic and
// without exit status.
type DeathError struct {
	What    string // "the guest ended before ..."
	Console string // the last lines of the console and of QEMU
}

func (e *DeathError) Error() string {
	if e.Console == "" {
		return e.What + "; its console is empty"
	}
	return e.What + "; its last words:\n" + e.Console
}

// A SignalError is the end of the program by a signal, which comes with the
// status 128 and the signal's number. An oops of the kernel kills so.
type SignalError struct {
	Signal  syscall.Signal
	Console string // the last lines of the console
}

func (e *SignalError) Error() string {
	what := fmt.Sprintf("the program in the guest was ended by a signal (%v)", e.Signal)
	if e.Console == "" {
		return what
	}
	return what + "; the last words of the guest's console:\n" + e.Console
}

// With KVM a guest takes a second or less to reach its init, under emulation two
// or three, and much longer where the host has more to do than it has processors
// for. The trial of a KVM that is not known to work should not be long.
const (
	defaultBootTimeout = 5 * time.Minute
	trialTimeout       = 15 * time.Second
)
