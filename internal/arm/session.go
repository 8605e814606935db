package arm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/cilium/ebpf"

	"kinst/internal/kernel"
)

// A Session arms sites for one process. Its methods may be called from
// several goroutines; arming is done one group after the other.
type Session struct {
	kernel *kernel.Kernel
	dir    string   // tracefs
	events *os.File // kprobe_events, opened for appending
	owner  owner

	mu      sync.Mutex
	groups  map[*Group]struct{}
	next    int               // number of the next event
	anchors map[string]anchor // by module
}

// Open starts a session, and removes what dead sessions have left.
func Open(k *kernel.Kernel) (*Session, error) {
	dir, err := kernel.TraceFS()
	if err != nil {
		return nil, err
	}
	events, err := openEvents(dir)
	if err != nil {
		return nil, err
	}
	self, err := selfOwner()
	if err != nil {
		events.Close()
		return nil, err
	}
	s := &Session{kernel: k, dir: dir, events: events, owner: self, groups: map[*Group]struct{}{}, anchors: map[string]anchor{}}
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
	errs = append(errs, s.events.Close())
	return errors.Join(errs...)
}

// Arm puts the programs on the sites: each program, of type ebpf.Kprobe, runs
// at each execution of each site, just before the instruction. When Arm
// returns they are armed, except for those that it lists as refused: one
// refusal does not spoil the rest.
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
	g := &Group{session: s}
	refused, err := g.arm(ctx, progs, sites, progress)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("arming %d sites: %w", len(sites), err), g.disarm())
	}
	s.groups[g] = struct{}{}
	return g, refused, nil
}
