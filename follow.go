package kinst

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kinst/internal/codegen"
	"kinst/internal/dlang/syntax"
	"kinst/internal/dlang/types"
	"kinst/internal/provider"
	"kinst/internal/provider/usersites"
	"kinst/internal/tracee"
	"kinst/internal/userland"
)

// Probes in the watched processes are looked for again when one executes a
// program or loads libraries: the process is held, what is new becomes further
// units of the program, and the process goes on.

// described returns the watched process in which a description means probes, or
// nil.
func (s *Session) described(spec *syntax.ProbeSpec) *Process {
	name := strings.TrimRight(spec.Provider, "0123456789")
	pid, err := strconv.Atoi(spec.Provider[len(name):])
	if err != nil || name == "" {
		return nil
	}
	for _, p := range s.opts.Processes {
		if p.PID == pid {
			return p
		}
	}
	return nil
}

// followClause begins to follow the processes in which a clause describes
// probes, and reports whether there are any.
func (s *Session) followClause(c *syntax.Clause) bool {
	following := false
	for _, spec := range c.Probes {
		p := s.described(spec)
		if p == nil || s.listing {
			continue
		}
		if !slices.Contains(s.followed, p) {
			s.followed = append(s.followed, p)
			if err := p.follow(); err != nil {
				s.opts.Note(fmt.Sprintf("what process %d executes or loads from now on is not traced: %v", p.PID, err))
			}
		}
		following = following || p.stops() != nil
	}
	return following
}

// unfollow has the followed processes not be held any more.
func (s *Session) unfollow() {
	for _, p := range s.followed {
		if err := p.unfollow(); err != nil {
			s.opts.Warn(fmt.Sprintf("process %d: %v", p.PID, err))
		}
	}
}

// laterUnits stand for the units that following processes may bring.
func (f *front) laterUnits() []*codegen.Unit {
	var units []*codegen.Unit
	for _, c := range f.checked.Clauses {
		if c.Context != f.enablings.user || !f.enablings.later[c.Syntax] {
			continue
		}
		spec := c.Syntax.Probes[0]
		context := usersites.Context()
		context.CallArgs = true
		probe := &provider.Probe{
			Desc:    provider.Desc{Provider: spec.Provider, Module: spec.Module, Function: spec.Function, Name: spec.Name},
			Context: context,
		}
		units = append(units, &codegen.Unit{Context: context, Clauses: []*types.Clause{c}, Probes: []*provider.Probe{probe}, Later: true})
	}
	return units
}

// wakeForStops has wake called when a followed process is held.
func (s *Session) wakeForStops(wake func()) {
	for _, p := range s.followed {
		if p.stops() != nil {
			_ = p.tracee.Wake(wake) // of one that has ended there is nothing to tell
		}
	}
}

// followProcesses looks for new probes in the processes that are held, and lets
// them go on. Why it cannot have them is told.
func (r *reader) followProcesses(ctx context.Context) {
	for _, p := range r.session.followed {
		for held := true; held; {
			select {
			case stop := <-p.stops():
				err := r.follow(ctx, p, stop)
				if err != nil && !errors.Is(err, tracee.ErrEnded) && !errors.Is(err, userland.ErrNoProcess) && ctx.Err() == nil {
					r.refuse(fmt.Sprintf("what process %d has executed or loaded is not traced: %v", p.PID, err))
				}
				_ = p.tracee.Resume(stop) // unless it has been killed
			default:
				held = false
			}
		}
	}
}

// follow looks for new probes in a process that is held.
func (r *reader) follow(ctx context.Context, p *Process, stop tracee.Stop) error {
	s := r.session
	if stop.Executed {
		err := s.retire(func(pid int, _ *userland.Object) bool { return pid == p.PID })
		if err := errors.Join(err, p.tracee.Load(ctx)); err != nil {
			return err
		}
	} else if ok, err := p.tracee.Loaded(); !ok || err != nil {
		return err
	}
	now, err := s.files.Process(p.PID)
	if err != nil {
		return err
	}
	fresh := false
	for _, owner := range s.providers {
		if owner, ok := owner.(usersites.Provider); ok {
			fresh = owner.Renew(now, stop.Executed) || fresh
		}
	}
	if err := s.retire(func(pid int, o *userland.Object) bool { return pid == p.PID && now.Moved(o) }); err != nil {
		return err
	}
	if !fresh {
		return nil
	}
	units, refused := s.newUnits(ctx, p)
	if len(units) == 0 {
		return refused
	}
	err = s.extend(ctx, units)
	// Some of them may fire also where others could not be had.
	return errors.Join(refused, err, r.consumer.Extend(s.table()))
}

// retire disarms the probes in objects that are gone.
func (s *Session) retire(gone func(pid int, o *userland.Object) bool) error {
	var errs []error
	for _, a := range s.armed {
		if a, ok := a.(usersites.Armed); ok {
			errs = append(errs, a.Retire(gone))
		}
	}
	return errors.Join(errs...)
}

// newUnits makes units of the probes that the program's descriptions mean in a
// process, which are new ones. The error is of descriptions that mean what
// cannot be probed.
func (s *Session) newUnits(ctx context.Context, p *Process) ([]*codegen.Unit, error) {
	f := s.program.front
	found := &enablings{probes: make(map[*syntax.Clause][]*provider.Probe), contexts: f.enablings.contexts, user: f.enablings.user}
	var refused []error
	for _, file := range f.files {
		for _, c := range clauses(file) {
			seen := make(map[*provider.Probe]bool)
			for _, spec := range c.Probes {
				if s.described(spec) != p {
					continue
				}
				probes, err := s.match(ctx, spec, maxTraced)
				if none := (*provider.NoMatchError)(nil); err != nil && !errors.As(err, &none) {
					refused = append(refused, err)
				}
				for _, probe := range probes {
					if !seen[probe] {
						seen[probe] = true
						found.probes[c] = append(found.probes[c], probe)
					}
				}
			}
		}
	}
	units := found.units(f.checked)
	first := uint32(len(s.table()))
	for _, u := range units {
		u.First += first
	}
	return units, errors.Join(refused...)
}

// extend adds units to the program that is running, and arms their probes.
func (s *Session) extend(ctx context.Context, units []*codegen.Unit) error {
	if err := s.program.code.Extend(s.loaded, units); err != nil {
		return allowed("load BPF programs", err)
	}
	first := len(s.program.units)
	s.program.units = append(s.program.units, units...)
	s.program.counting = append(s.program.counting, make([]*provider.Counting, len(units))...)
	return s.enable(ctx, first, func(int, int) {})
}
