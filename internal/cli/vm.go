package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"kinst/internal/vm"
)

const vmLong = `kinst vm runs "kinst ARGS..." in a throwaway virtual machine and exits with its
status. What it prints is what the program in the guest prints. The guest has
no disk and no network; all it has of the host are kinst itself, a static
busybox where the host has one, and the files taken along with --with.

The guest starts in a directory of the same name as the current one, and files
taken along keep their path, so relative and absolute names mean the same in the
guest as on the host.

KERNEL is a path to a kernel image, or a release or its beginning, such as 6.12,
looked up in /boot and in the cache which "kinst vm fetch" fills; by default the
newest one found.

Ctrl-C is passed to the kinst in the guest. A second one ends the machine.`

const vmExample = `  kinst vm fetch 6.1 6.12
        get two kernels into the cache, installing nothing
  kinst vm -k 6.12 -- disas vfs_read
        a listing from another kernel
  kinst vm --run work.sh -- -n 'kinst::vfs_read: {@[probename] = count();}'
        count while a shell script runs as the workload
  kinst vm --with trace.d --with /usr/bin/fio -- -s trace.d -c 'fio job'
        take files along
  kinst vm --module xfs --run mount.sh -- -n 'kinst:xfs:xfs_file_read_iter:0'
        load a module of that kernel first`

// newVMCommand returns the subcommand vm.
func newVMCommand() *cobra.Command {
	var (
		cfg    vm.Config
		memory string
		with   []string
		log    bool
	)
	cmd := &cobra.Command{
		Use:           "vm [flags] -- argument...",
		Short:         "run kinst in a throwaway virtual machine",
		Long:          vmLong,
		Example:       vmExample,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New("kinst vm: what kinst shall do in the guest is missing, as in: kinst vm -- disas vfs_read")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			cfg.Args = args
			if cfg.CPUs < 1 {
				return usageError{fmt.Errorf("--smp %d: a guest has at least one CPU", cfg.CPUs)}
			}
			if cfg.Accel != "" && !slices.Contains(vm.Accelerators, cfg.Accel) {
				return usageError{fmt.Errorf("--accel %s: a guest runs on one of %s", cfg.Accel, strings.Join(vm.Accelerators, ", "))}
			}
			if cfg.Memory, err = mebibytes(memory); err != nil {
				return usageError{err}
			}
			if cfg.Dir, err = os.Getwd(); err != nil {
				return err
			}
			if cfg.Files, err = filesToTake(with); err != nil {
				return err
			}
			if log {
				cfg.Console = cmd.ErrOrStderr()
			}
			return runVM(cmd, cfg)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&cfg.Kernel, "kernel", "k", "", "`KERNEL` to boot: a path, or the beginning of a release")
	f.StringVarP(&memory, "memory", "m", strconv.Itoa(vm.DefaultMemory)+"M", "`MEM` of the guest, in MiB or with a suffix M or G")
	f.IntVar(&cfg.CPUs, "smp", 1, "`N` virtual CPUs")
	f.StringVar(&cfg.CPUModel, "cpu", "", "`MODEL` of CPU, one of QEMU's (default: one that boots every kernel)")
	f.StringArrayVar(&with, "with", nil, "take `FILE[:PATH]` along, a file or directory; may be repeated")
	f.StringArrayVar(&cfg.Modules, "module", nil, "load the kernel module `NAME` at boot; may be repeated")
	f.StringVar(&cfg.Script, "run", "", "run the shell script `SCRIPT` as the workload while kinst traces; its end ends the tracing")
	f.BoolVar(&log, "console", false, "print the guest's kernel log on the standard error")
	f.StringVar(&cfg.Append, "append", "", "add `WORDS` to the kernel's command line")
	f.StringVar(&cfg.Accel, "accel", "", "`HOW` to run the guest: kvm, tcg, or tcg,thread=multi (default: kvm where it works)")
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	cmd.AddCommand(newVMFetchCommand())
	if err := cmd.RegisterFlagCompletionFunc("kernel", completeRelease); err != nil {
		panic(err) // the flag is not defined
	}
	return cmd
}

// runVM runs the machine and turns how it ended into the command's end.
func runVM(cmd *cobra.Command, cfg vm.Config) error {
	if cfg.Unsafe() {
		fmt.Fprintf(cmd.ErrOrStderr(), "kinst vm: warning: %v\n", vm.ErrUnsafe)
	}
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, unix.SIGINT)
	defer signal.Stop(interrupts)
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	cfg.Interrupts = withoutRepeats(ctx, interrupts)

	status, err := vm.Run(ctx, cfg, cmd.OutOrStdout(), cmd.ErrOrStderr())
	if killed, ok := errors.AsType[*vm.SignalError](err); ok {
		fmt.Fprintf(cmd.ErrOrStderr(), "kinst vm: %v\n", killed)
		return exitError(status)
	}
	switch {
	case errors.Is(err, vm.ErrInterrupted):
		return exitError(status)
	case err != nil:
		return err
	case status != 0:
		return exitError(status)
	}
	return nil
}

// mebibytes reads an amount of memory.
func mebibytes(text string) (int, error) {
	digits, unit := text, 1
	switch {
	case strings.HasSuffix(text, "G"):
		digits, unit = strings.TrimSuffix(text, "G"), 1024
	case strings.HasSuffix(text, "M"):
		digits = strings.TrimSuffix(text, "M")
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n <= 0 || n > math.MaxInt32/unit {
		return 0, fmt.Errorf("-m %s: an amount of memory is a number of MiB, or a number with M or G", text)
	}
	return n * unit, nil
}

// filesToTake reads the operands of --with: FILE keeps its absolute path in the
// guest, FILE:PATH says where it goes.
func filesToTake(operands []string) ([]vm.File, error) {
	var files []vm.File
	for _, operand := range operands {
		from, to := operand, operand
		if _, err := os.Stat(operand); err != nil {
			if at := strings.LastIndexByte(operand, ':'); at > 0 {
				from, to = operand[:at], operand[at+1:]
			}
		}
		guest, err := filepath.Abs(to)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(from); err != nil {
			return nil, fmt.Errorf("--with: %w", err)
		}
		files = append(files, vm.File{Host: from, Guest: guest})
	}
	return files, nil
}

func newVMFetchCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "fetch release...",
		Short: "get kernels for the virtual machine into the cache",
		Long: `kinst vm fetch gets the newest packaged kernel of each release, image and
modules, with "apt-get download" and "dpkg -x". Nothing is installed. The cache
is $KINST_CACHE, or kinst in the user's cache directory.`,
		Example:       "  kinst vm fetch 6.1 6.12",
		Args:          someArguments("the releases of kernels, as in: kinst vm fetch 6.12"),
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return vm.Fetch(cmd.Context(), args, cmd.OutOrStdout())
		},
	}
}
