package arm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/cilium/ebpf"

	"kinst/internal/kernel"
)

// A Session arms sites for one process. Its methods may be called from
// several goroutines; arming is done one group after the other.
type Session struct {
	kernel   *kernel.Kernel
	tracefs  *os.Root // held open: it may be unmounted meanwhile
	events   *os.File // kprobe_events, opened for appending
	owner    owner
	knobs    *knobs
	perEvent int // sites: eventSites but in tests

	mu       sync.Mutex
	groups   map[*Group]struct{}
	guardian *guardian       // nil until it is needed
	modules  map[string]bool // that sites were armed in
}

// Open starts a session, and removes what dead sessions have left.
func Open(k *kernel.Kernel) (*Session, error) {
	dir, err := kernel.TraceFS()
	if err != nil {
		return nil, err
	}
	self, err := selfOwner()
	if err != nil {
		return nil, err
	}
	tracefs, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	events, err := openEvents(tracefs)
	if err != nil {
		tracefs.Close()
		return nil, err
	}
	s := &Session{
		kernel:   k,
		tracefs:  tracefs,
		events:   events,
		owner:    self,
		knobs:    newKnobs(stateDir, self),
		perEvent: eventSites,
		groups:   map[*Group]struct{}{},
		modules:  map[string]bool{},
	}
	// What cannot be removed now is no reason not to trace.
	_, _ = s.knobs.restoreAll()
	_, _ = removeDead(dir, s.knobs)
	return s, nil
}

// Close disarms every group of the session.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for g := range s.groups {
		errs = append(errs, g.disarm())
	}
	s.guardian.dismiss()
	s.guardian = nil
	errs = append(errs, s.events.Close(), s.tracefs.Close())
	return errors.Join(errs...)
}

// Arm puts the programs on the sites: each program, of type ebpf.Kprobe, runs
// at each execution of each site, just before the instruction, and returns 0.
// When Arm returns they are armed, except for those that it lists as refused:
// one refusal does not spoil the rest. A site that is listed twice, or two
// that have one address, are one.
//
// Progress, unless nil, is told now and then how many sites are done. When
// ctx is cancelled Arm takes out what it has put in, and returns the
// context's error.
func (s *Session) Arm(ctx context.Context, progs []*ebpf.Program, sites []Site, progress func(done, total int)) (*Group, []Refusal, error) {
	if progress == nil {
		progress = func(int, int) {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sites = distinct(sites)
	if err := s.checkModules(sites); err != nil {
		return nil, nil, fmt.Errorf("arming %d sites: %w", len(sites), err)
	}
	s.guard(len(sites))
	g := &Group{session: s}
	refused, err := g.arm(ctx, progs, sites, progress)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("arming %d sites: %w", len(sites), err), g.disarm())
	}
	s.groups[g] = struct{}{}
	return g, refused, nil
}

// guard sees to it that there is a guardian if so many sites need one.
func (s *Session) guard(sites int) {
	if sites > fewSites && s.guardian == nil {
		// Without one, the next session would clean up after this.
		s.guardian, _ = startGuardian()
	}
}

// Hurry makes it fast to put in or take out groups with so many sites in all, one
// after the other, until done is called. Each alone is fast without it; but behind
// the first the kernel would begin to optimize its sites, with a lock held that the
// next one needs.
func (s *Session) Hurry(sites int) (done func()) {
	if sites <= fewSites {
		return func() {}
	}
	s.mu.Lock()
	s.guard(sites)
	s.mu.Unlock()
	return s.knobs.turn(expedited, unoptimized)
}

// HurryOut is Hurry for taking out all groups that are in.
func (s *Session) HurryOut() (done func()) {
	s.mu.Lock()
	sites := 0
	for g := range s.groups {
		sites += g.sites()
	}
	s.mu.Unlock()
	return s.Hurry(sites)
}

// checkModules finds sites whose module has gone. The kernel would take them,
// to arm them when a module of that name is loaded.
func (s *Session) checkModules(sites []Site) error {
	checked := map[string]bool{}
	for _, site := range sites {
		if checked[site.Module] {
			continue
		}
		checked[site.Module] = true
		if err := s.kernel.CheckModule(site.Module); err != nil {
			return fmt.Errorf("%s: %w", site, err)
		}
		if site.Module != kernel.VMLinux {
			s.modules[site.Module] = true
		}
	}
	return nil
}

// Unloaded returns an error that wraps kernel.ErrNotLoaded for each module that
// has gone while sites in it were armed. The kernel has taken those out. Of each
// it tells once.
func (s *Session) Unloaded() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var gone []error
	for _, name := range slices.Sorted(maps.Keys(s.modules)) {
		if err := s.kernel.CheckModule(name); errors.Is(err, kernel.ErrNotLoaded) {
			delete(s.modules, name)
			gone = append(gone, err)
		}
	}
	return gone
}

// distinct returns the sites without those which an earlier one has the
// address of.
func distinct(sites []Site) []Site {
	type place struct {
		addr uint64
		ret  bool
	}
	seen := make(map[place]bool, len(sites))
	once := make([]Site, 0, len(sites))
	for _, site := range sites {
		at := place{site.Addr(), site.Return}
		if !seen[at] {
			seen[at] = true
			once = append(once, site)
		}
	}
	return once
}
