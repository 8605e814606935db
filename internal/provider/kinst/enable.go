package kinst

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cilium/ebpf"

	"kinst/internal/arm"
	"kinst/internal/kernel"
	"kinst/internal/provider"
)

// Enable arms the probes of each program. Those that the kernel refuses are
// left out, unless they were named by their offset.
func (p *Provider) Enable(ctx context.Context, enablings []provider.Enabling, progress func(done, total int)) (provider.Armed, error) {
	session, err := p.open()
	if err != nil {
		return nil, err
	}
	// Functions are read before there are probes in them.
	plans, total, err := p.plans(enablings)
	if err != nil {
		return nil, err
	}
	if len(plans) > 1 {
		defer session.Hurry(total)()
	}
	a := &armed{session: session, standIns: make(map[*provider.Probe]*provider.Probe)}
	for _, e := range enablings {
		if e.Context != p.debug {
			continue
		}
		if err := a.armBreakpoints(session, e); err != nil {
			return nil, errors.Join(err, a.Close())
		}
	}
	done := 0
	for _, plan := range plans {
		sites := len(plan.crews)
		if err := a.arm(ctx, session, plan, func(n, _ int) { progress(done+n, total) }); err != nil {
			return nil, errors.Join(err, a.Close())
		}
		done += sites
	}
	return a, nil
}

// A plan is a program and the probes to arm it at.
type plan struct {
	program *ebpf.Program
	crews   []crew
	shift   uint64 // how far behind its instruction each probe is put
}

// plans returns what is to be armed by kprobes, and how many sites that is.
func (p *Provider) plans(enablings []provider.Enabling) (plans []*plan, total int, err error) {
	for _, e := range landingLast(enablings) {
		if e.Context == p.debug {
			continue
		}
		crews, err := p.crews(e)
		if err != nil {
			return nil, 0, err
		}
		plans = append(plans, &plan{e.Program, crews, uint64(e.Context.IPBias - p.arch.ProbePC)})
		total += len(crews)
	}
	return plans, total, nil
}

// landingLast orders programs so that those whose probes are put on a later
// instruction are armed after those of that instruction: of the probes on one
// instruction the kernel runs the last one first (add_new_kprobe in
// kernel/kprobes.c).
func landingLast(enablings []provider.Enabling) []provider.Enabling {
	return slices.SortedStableFunc(slices.Values(enablings), func(a, b provider.Enabling) int {
		return cmp.Compare(a.Context.IPBias, b.Context.IPBias)
	})
}

// A crew is probes that fire equally often. One of them is armed: the first
// that the kernel takes.
type crew []*provider.Probe

// crews divides the probes of a program: into one for each run of
// instructions where to count is all that the program does, otherwise into
// crews of one.
func (p *Provider) crews(e provider.Enabling) ([]crew, error) {
	var crews []crew
	if !e.CountsOnly {
		for _, probe := range e.Probes {
			crews = append(crews, crew{probe})
		}
		return crews, nil
	}
	at := make(map[uint64]int) // address of a run's first instruction to its crew
	var runs runFinder
	for _, probe := range e.Probes {
		first, err := runs.first(p, probe)
		if err != nil {
			return nil, err
		}
		i, ok := at[first]
		if !ok {
			i = len(crews)
			at[first] = i
			crews = append(crews, nil)
		}
		crews[i] = append(crews[i], probe)
	}
	return crews, nil
}

// A runFinder finds the runs of a function's instructions. It keeps those of
// the last function.
type runFinder struct {
	listing *kernel.Listing
	runs    []int
}

// first returns the address of the first instruction of a probe's run.
func (r *runFinder) first(p *Provider, probe *provider.Probe) (uint64, error) {
	base := probe.Target.(*target).site.Base
	if r.listing == nil || r.listing.Function.Addr != base {
		f, err := p.kernel.FunctionAt(base)
		if err != nil {
			return 0, err
		}
		if r.listing, err = p.kernel.Listing(p.arch, f); err != nil {
			return 0, err
		}
		r.runs = r.listing.Runs()
	}
	i, ok := r.listing.Find(probe.Addr)
	if !ok {
		return 0, fmt.Errorf("%s: the function has changed since it was listed; try again", probe.Desc)
	}
	return r.listing.Insts[r.runs[i]].Addr, nil
}

// armed is the probes of a session that are in the kernel.
type armed struct {
	session  *arm.Session
	groups   []*arm.Group
	programs []*ebpf.Program
	refused  []provider.Refusal
	standIns map[*provider.Probe]*provider.Probe

	breakpoints []*arm.Group
	runs        func() uint64 // of the programs on them
	skipped     uint64        // runs, as far as is known
}

// arm arms the first probe of each crew. Where it is refused, the next takes
// its place.
func (a *armed) arm(ctx context.Context, session *arm.Session, plan *plan, progress func(done, total int)) error {
	a.programs = append(a.programs, plan.program)
	for len(plan.crews) > 0 {
		refusals, err := a.armFirst(ctx, session, plan, progress)
		if err != nil {
			return err
		}
		var again []crew
		for _, c := range plan.crews {
			why, refused := refusals[c[0]]
			switch {
			case !refused:
				for _, probe := range c[1:] {
					a.standIns[probe] = c[0]
				}
			case c[0].Target.(*target).named:
				return fmt.Errorf("%s: the kernel refuses a probe there: %w", c[0].Target.(*target).site, why)
			default:
				a.refused = append(a.refused, provider.Refusal{Probe: c[0], Err: why})
				if len(c) > 1 {
					again = append(again, c[1:])
				}
			}
		}
		plan.crews = again
	}
	return nil
}

// armFirst arms the first probe of each crew and returns those that the kernel
// refuses, with its reasons.
func (a *armed) armFirst(ctx context.Context, session *arm.Session, plan *plan, progress func(done, total int)) (map[*provider.Probe]error, error) {
	sites := make([]arm.Site, len(plan.crews))
	probes := make(map[arm.Site]*provider.Probe, len(plan.crews))
	for i, c := range plan.crews {
		sites[i] = c[0].Target.(*target).site
		sites[i].Offset += plan.shift
		probes[sites[i]] = c[0]
	}
	group, refusals, err := session.Arm(ctx, []*ebpf.Program{plan.program}, sites, progress)
	if err != nil {
		return nil, err
	}
	a.groups = append(a.groups, group)
	refused := make(map[*provider.Probe]error, len(refusals))
	for _, r := range refusals {
		refused[probes[r.Site]] = r.Err
	}
	return refused, nil
}

// armBreakpoints puts a hardware breakpoint on each probe.
func (a *armed) armBreakpoints(session *arm.Session, e provider.Enabling) error {
	a.runs = e.Runs
	for _, probe := range e.Probes {
		group, err := session.ArmBreakpoint(e.Program, probe.Target.(*target).site)
		if err != nil {
			return err
		}
		a.breakpoints = append(a.breakpoints, group)
	}
	return nil
}

// StandIns implements provider.Substituted.
func (a *armed) StandIns() map[*provider.Probe]*provider.Probe { return a.standIns }

// Refused implements provider.Armed.
func (a *armed) Refused() []provider.Refusal { return a.refused }

// Missed implements provider.Armed. The kernel skips a hit while it handles
// another one's, or else the program while another one runs on the CPU.
func (a *armed) Missed() (uint64, error) {
	missed, err := provider.RecursionMisses(a.programs)
	if err != nil {
		return missed, err
	}
	n, err := arm.Missed(a.groups)
	missed += n
	if err != nil {
		return missed, err
	}
	n, err = a.missedBreakpoints()
	return missed + n, err
}

// missedBreakpoints returns how often breakpoints were reached and their
// programs not run.
func (a *armed) missedBreakpoints() (uint64, error) {
	if len(a.breakpoints) == 0 {
		return 0, nil
	}
	var hits uint64
	for _, g := range a.breakpoints {
		n, err := g.Hits()
		if err != nil {
			return 0, err
		}
		hits += n
	}
	time.Sleep(time.Millisecond) // what was hit just now has its program run
	if runs := a.runs(); runs < hits {
		a.skipped = max(a.skipped, hits-runs)
	}
	return a.skipped, nil
}

// Close disarms every probe.
func (a *armed) Close() error {
	var errs []error
	for _, g := range append(a.groups, a.breakpoints...) {
		errs = append(errs, g.Disarm())
	}
	a.groups, a.breakpoints = nil, nil
	return errors.Join(errs...)
}
