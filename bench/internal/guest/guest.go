// Package guest runs a benchmark in a virtual machine of each kernel, where the
// benchmark's own binary, a static one, is the program that runs.
package guest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"kinst/internal/vm"
)

const (
	// kernelVariable tells the binary that it runs in a guest, and of which
	// kernel.
	kernelVariable = "KINST_BENCH_KERNEL"
	// memory of the guest in MiB: tools of other people are large.
	memory = 2560
)

// Main measures in a guest of each kernel that the command line names, 6.1 and
// 6.12 unless it names some. Files are taken along. Measure prints its figures
// and reports whether they are within their limits. Main does not return.
func Main(measure func() (within bool, err error), files func() ([]vm.File, error)) {
	if vm.IsInit() {
		vm.Init()
	}
	flag.Parse()
	if Kernel() != "" {
		exit(measure())
	}
	kernels := flag.Args()
	if len(kernels) == 0 {
		kernels = []string{"6.1", "6.12"}
	}
	taken, err := files()
	if err != nil {
		exit(false, err)
	}
	flags := os.Args[1 : len(os.Args)-flag.NArg()]
	all := true
	for _, kernel := range kernels {
		within, err := run(kernel, taken, flags)
		if err != nil {
			exit(false, fmt.Errorf("kernel %s: %w", kernel, err))
		}
		all = all && within
	}
	exit(all, nil)
}

// Kernel is the kernel that was asked for, in its guest; "" on the host.
func Kernel() string { return os.Getenv(kernelVariable) }

func run(kernel string, files []vm.File, flags []string) (within bool, err error) {
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	status, err := vm.Run(context.Background(), vm.Config{
		Kernel: kernel, Memory: memory, Args: flags, Files: files,
		Env: []string{kernelVariable + "=" + kernel}, Interrupts: interrupts,
	}, os.Stdout, os.Stderr)
	if err == nil && status > statusBeyond {
		err = fmt.Errorf("the benchmark in the guest ended with status %d", status)
	}
	return status == 0, err
}

// Exit statuses.
const (
	statusBeyond = 1 // figures are beyond their limits
	statusFailed = 2
)

func exit(within bool, err error) {
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(statusFailed)
	case !within:
		os.Exit(statusBeyond)
	}
	os.Exit(0)
}
