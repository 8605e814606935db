package tracee

import (
	"context"
	"errors"
	"fmt"

	"kinst/internal/isa"
	"kinst/internal/uprobe"
	"kinst/internal/userland"
)

// Load lets the dynamic linker of a process that is held before the first
// instruction of its program work until it has loaded the libraries, of which
// nothing has been executed then. In a program that has none, all is loaded. Of
// a linker that does not tell, the program's entry point is the first that is
// known, where the libraries have been initialised too. The process is held
// again.
func (t *Tracee) Load(ctx context.Context) error {
	if err := t.load(ctx); err != nil {
		return fmt.Errorf("failed to let process %d load its libraries: %w", t.PID, err)
	}
	return nil
}

func (t *Tracee) load(ctx context.Context) error {
	t.dropLinker() // of the program before
	at, err := t.watch(true)
	if err != nil || !at {
		return err
	}
	for {
		if err := t.Resume(Stop{tid: t.PID}); err != nil {
			return err
		}
		select {
		case <-t.stops:
		case <-t.ended:
			return ErrEnded
		case <-ctx.Done():
			return ctx.Err()
		}
		if ok, err := t.loaded(); ok || err != nil {
			return err
		}
	}
}

// WatchLibraries has a process that runs be held from now on when it loads
// libraries.
func (t *Tracee) WatchLibraries() error {
	_, err := t.watch(false)
	return err
}

// Loaded reports whether the libraries are there, and not about to be loaded.
func (t *Tracee) Loaded() (bool, error) {
	if t.linker == nil {
		return true, nil
	}
	return t.loaded()
}

// watch arms what stops the process when libraries are loaded, or if it is about
// to start and the linker does not tell, at the program's first instruction. It
// reports whether there is such a place.
func (t *Tracee) watch(starts bool) (bool, error) {
	arch, err := isa.Native()
	if err != nil {
		return false, err
	}
	store := userland.NewStore(arch)
	defer store.Close()
	p, err := store.Process(t.PID)
	if err != nil {
		return false, err
	}
	program := p.Program()
	if program == nil {
		return false, errors.Join(p.Unreadable...)
	}
	if program.Foreign() != "" {
		return false, nil
	}
	object, addr := program, program.Entry()
	t.loaded = func() (bool, error) { return true, nil }
	if linker, err := p.Linker(); err == nil {
		object, addr, t.loaded = linker.Object, linker.Notify.Addr, linker.Loaded
	} else if len(p.Objects) == 1 || !starts {
		return false, nil
	}
	stop, err := siteAt(object, addr)
	if err != nil {
		return false, err
	}
	t.linker, err = uprobe.StopAt(t.PID, []uprobe.Site{stop})
	return err == nil, err
}

func siteAt(o *userland.Object, vaddr uint64) (uprobe.Site, error) {
	offset, ok := o.Offset(vaddr)
	if !ok {
		return uprobe.Site{}, fmt.Errorf("%#x is not in the text of %s", vaddr, o.Path)
	}
	return uprobe.Site{File: o.Link(), Offset: offset}, nil
}
