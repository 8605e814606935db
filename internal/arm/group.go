package arm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cilium/ebpf"
)

// A Group is a set of sites that were armed together.
type Group struct {
	session *Session
	events  []*event
}

// eventSites is how many sites one tracefs event takes at most. Adding a site
// the kernel goes through the sites of its event (has_same_kprobe), and
// through the events before it: few large events and many small ones both
// cost quadratic time. It also bounds the time that enabling and removing
// take, which cannot be interrupted.
const eventSites = 1000

func (g *Group) arm(ctx context.Context, progs []*ebpf.Program, sites []Site, progress func(done, total int)) ([]Refusal, error) {
	var refused []Refusal
	done := 0
	for part := range slices.Chunk(sites, eventSites) {
		e := g.session.newEvent()
		g.events = append(g.events, e)
		r, err := e.define(ctx, part, func(n int) { progress(done+n, len(sites)) })
		if err != nil {
			return nil, err
		}
		refused = append(refused, r...)
		done += len(part)
	}
	return refused, g.enable(ctx, progs)
}

func (g *Group) enable(ctx context.Context, progs []*ebpf.Program) error {
	if g.sites() > fewSites {
		defer g.session.knobs.turn(unoptimized)()
	}
	for _, e := range g.events {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := e.enable(progs); err != nil {
			return err
		}
	}
	return nil
}

// sites is how many sites the kernel has taken.
func (g *Group) sites() (n int) {
	for _, e := range g.events {
		n += e.sites
	}
	return n
}

// Disarm takes the group's sites out. When it returns none is armed and no
// program of the group runs any more.
func (g *Group) Disarm() error {
	s := g.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, armed := s.groups[g]; !armed {
		return nil
	}
	return g.disarm()
}

func (g *Group) disarm() error {
	delete(g.session.groups, g)
	if g.sites() > fewSites {
		defer g.session.knobs.turn(expedited, unoptimized)()
	}
	var errs []error
	for _, e := range g.events {
		errs = append(errs, e.disable())
	}
	for _, e := range g.events {
		errs = append(errs, e.remove())
	}
	g.events = nil
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("disarming: %w", err)
	}
	return nil
}
