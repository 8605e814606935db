package arm

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// A Group is a set of sites that were armed together.
type Group struct {
	session     *Session
	events      []*event
	breakpoints []int // descriptors, for ArmBreakpoint
}

// eventSites is how many sites one tracefs event takes at most. Adding a site
// the kernel goes through all sites that there are, up to the first one of its
// event (find_trace_kprobe), and then through those of the event
// (has_same_kprobe). The first sites of all events are therefore defined before
// the others: the one way is as long as there are events, the other as there
// are sites in one. It also bounds the time that enabling and removing take,
// which cannot be interrupted.
const eventSites = 1000

func (g *Group) arm(ctx context.Context, progs []*ebpf.Program, sites []Site, progress func(done, total int)) ([]Refusal, error) {
	d := definition{ctx: ctx, done: func(n int) { progress(n, len(sites)) }}
	// An event has sites of one kind.
	places, returns := split(sites)
	for _, kind := range [][]Site{places, returns} {
		for part := range slices.Chunk(kind, g.session.perEvent) {
			e := g.session.newEvent(part)
			e.active = maxActive(len(returns))
			g.events = append(g.events, e)
		}
	}
	for _, e := range g.events {
		if err := e.begin(&d); err != nil {
			return nil, err
		}
	}
	for _, e := range g.events {
		if err := e.complete(&d); err != nil {
			return nil, err
		}
	}
	return d.refused, g.enable(ctx, progs)
}

// maxActive is how many invocations of a function the kernel watches at a time
// for their return, where n functions are watched. The return of those beyond
// is missed. Each takes the kernel some 100 bytes.
func maxActive(n int) int {
	const all, most, least = 1 << 16, 1 << 9, 1 << 4
	if n == 0 {
		return most
	}
	return max(least, min(most, all/n))
}

// split divides sites by what they are.
func split(sites []Site) (places, returns []Site) {
	for _, s := range sites {
		if s.Return {
			returns = append(returns, s)
		} else {
			places = append(places, s)
		}
	}
	return places, returns
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

// Hits returns how often the kernel reached the group's sites and handed them
// to the programs. A program did not run at that if another one was running on
// the CPU just then.
func (g *Group) Hits() (uint64, error) {
	at, err := g.breakpointHits()
	if err != nil {
		return 0, err
	}
	hits, _, err := profile([]*Group{g})
	return at + hits, err
}

// Missed returns how often the kernel did not run the programs although a site
// was reached: because it was handling another one's probe at the time, or
// because too many invocations of a function were waiting for their return
// (which kernels before 6.2 do not count).
func (g *Group) Missed() (uint64, error) { return Missed([]*Group{g}) }

// Missed returns what Group.Missed does, for groups of one session together.
// The kernel lists every site for that: it is asked once.
func Missed(groups []*Group) (uint64, error) {
	_, missed, err := profile(groups)
	return missed, err
}

// profile reads what the kernel says of the sites of groups.
func profile(groups []*Group) (hits, missed uint64, err error) {
	names := make(map[string]bool)
	for _, g := range groups {
		for _, e := range g.events {
			names[path.Base(e.name)] = true
		}
	}
	if len(names) == 0 {
		return 0, 0, nil
	}
	const file = "kprobe_profile"
	text, err := groups[0].session.tracefs.ReadFile(file)
	if err != nil {
		return 0, 0, fmt.Errorf("counting the hits: %w", err)
	}
	hits, missed, err = sumProfile(string(text), names)
	if err != nil {
		return 0, 0, fmt.Errorf("counting the hits: %s: %w", file, err)
	}
	return hits, missed, nil
}

// sumProfile adds up the columns of lines of the name of a site's event, its
// hits and its misses.
func sumProfile(text string, names map[string]bool) (hits, missed uint64, err error) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) != 3 || !names[fields[0]] {
			continue
		}
		h, err1 := strconv.ParseUint(fields[1], 10, 64)
		m, err2 := strconv.ParseUint(fields[2], 10, 64)
		if err := errors.Join(err1, err2); err != nil {
			return 0, 0, err
		}
		hits += h
		missed += m
	}
	return hits, missed, nil
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
	for _, fd := range g.breakpoints {
		errs = append(errs, unix.Close(fd))
	}
	g.breakpoints = nil
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
