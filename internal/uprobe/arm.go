package uprobe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"kinst/internal/kernel"
)

// A Site is an instruction of a file.
type Site struct {
	File   string // a name by which the kernel finds the file
	Offset uint64 // of the instruction's first byte, in the file
	// Semaphore is where the file has the counter that the kernel is to
	// increment while the site is armed, for programs that test it before
	// they make a probe's arguments; 0 if there is none.
	Semaphore uint64
}

// A Refusal is a site that the kernel would not take.
type Refusal struct {
	Index int // of the site in the list
	Err   error
}

// A Group is sites that were armed together.
type Group struct {
	closers []func() error
}

// Close takes the sites out. When it returns none is armed and the program
// runs no more for them. It is safe to call it again.
func (g *Group) Close() error { return Close(g) }

// Close closes groups. The kernel waits for grace periods of RCU, which for all
// of them are the same.
func Close(groups ...*Group) error {
	var closers []func() error
	for _, g := range groups {
		closers = append(closers, g.closers...)
		g.closers = nil
	}
	errs := make([]error, len(closers))
	var wait sync.WaitGroup
	for i, c := range closers {
		wait.Go(func() { errs[i] = c() })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// A backend is a way to arm sites of a process.
type backend struct {
	attach ebpf.AttachType
	// arm arms sites of one file, all or none.
	arm func(prog *ebpf.Program, pid int, file string, sites []Site) (closer func() error, err error)
}

// AttachType is what programs have to be loaded for to be armed.
func AttachType() ebpf.AttachType { return chosen().attach }

// Arm puts a program of type ebpf.Kprobe, loaded for AttachType, on sites of a
// process: it runs before each execution of each of them by any thread of the
// process. One refusal does not spoil the rest. On an error, which may be the
// context's, nothing stays armed. Progress is told how many sites are done.
func Arm(ctx context.Context, prog *ebpf.Program, pid int, sites []Site, progress func(done int)) (*Group, []Refusal, error) {
	a := arming{ctx: ctx, backend: chosen(), prog: prog, pid: pid, sites: sites, progress: progress, group: new(Group)}
	byFile := make(map[string][]int)
	var files []string
	for i, s := range sites {
		if byFile[s.File] == nil {
			files = append(files, s.File)
		}
		byFile[s.File] = append(byFile[s.File], i)
	}
	for _, file := range files {
		for part := range slices.Chunk(byFile[file], chunk) {
			if err := a.arm(file, part); err != nil {
				return nil, nil, errors.Join(err, a.group.Close())
			}
		}
	}
	return a.group, a.refused, nil
}

// chunk is how many sites are armed in one step, which cannot be interrupted.
const chunk = 4096

// arming is one call of Arm.
type arming struct {
	ctx      context.Context
	backend  *backend
	prog     *ebpf.Program
	pid      int
	sites    []Site
	progress func(done int)
	done     int
	group    *Group
	refused  []Refusal
}

// arm arms the sites with the given indexes. If the kernel refuses one of
// them, it says neither which nor does it take the others: they are halved
// until that one is found.
func (a *arming) arm(file string, indexes []int) error {
	if err := a.ctx.Err(); err != nil {
		return err
	}
	sites := make([]Site, len(indexes))
	for i, index := range indexes {
		sites[i] = a.sites[index]
	}
	closer, err := a.backend.arm(a.prog, a.pid, file, sites)
	switch {
	case err == nil:
		a.group.closers = append(a.group.closers, closer)
		a.done += len(indexes)
		a.progress(a.done)
		return nil
	case !isRefusal(err):
		return armError(a.pid, file, err)
	case len(indexes) == 1:
		a.refused = append(a.refused, Refusal{indexes[0], err})
		a.done++
		return nil
	}
	half := len(indexes) / 2
	if err := a.arm(file, indexes[:half]); err != nil {
		return err
	}
	return a.arm(file, indexes[half:])
}

// enotsupp is ENOTSUPP of the kernel's include/linux/errno.h, by which uprobes
// refuse an instruction. User space has no name for it.
const enotsupp = unix.Errno(524)

// isRefusal reports whether an error is about one site: an instruction that
// cannot be probed (ENOTSUPP), that is none (ENOEXEC), or a breakpoint that the
// program brings along (EEXIST).
func isRefusal(err error) bool {
	return errors.Is(err, enotsupp) || errors.Is(err, unix.ENOEXEC) || errors.Is(err, unix.EEXIST)
}

func armError(pid int, file string, err error) error {
	switch {
	case errors.Is(err, os.ErrPermission):
		err = kernel.Refused(err, unix.CAP_BPF, unix.CAP_PERFMON, unix.CAP_SYS_PTRACE)
	case errors.Is(err, os.ErrNotExist), errors.Is(err, unix.ESRCH):
		err = fmt.Errorf("the process has exited, or has not mapped the file any more (%w)", err)
	}
	return fmt.Errorf("arming probes in process %d: %w", pid, err)
}
