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
	plans := p.plans(enablings)
	crews, err := p.crews(plans)
	p.forget()
	if err != nil {
		return nil, err
	}
	if len(plans) > 1 {
		defer session.Hurry(wanting(crews))()
	}
	a := &armed{session: session, standIns: make(map[*provider.Probe][]*provider.Probe)}
	for _, e := range enablings {
		if e.Context != p.debug {
			continue
		}
		if err := a.armBreakpoints(session, e); err != nil {
			return nil, errors.Join(err, a.Close())
		}
	}
	for wanting(crews) > 0 {
		if err := a.armCrews(ctx, plans, crews, progress); err != nil {
			return nil, errors.Join(err, a.Close())
		}
	}
	a.standIn(crews)
	return a, nil
}

// A plan is a program and the probes that it is for.
type plan struct {
	program  *ebpf.Program
	probes   []*provider.Probe
	counting *provider.Counting
	shift    uint64  // how far behind its instruction each probe is put
	crews    []*crew // of which it is to arm one now
}

// plans returns what is to be armed by kprobes.
func (p *Provider) plans(enablings []provider.Enabling) []*plan {
	var plans []*plan
	for _, e := range landingLast(enablings) {
		if e.Context != p.debug {
			shift := uint64(e.Context.IPBias - p.arch.ProbePC)
			plans = append(plans, &plan{program: e.Program, probes: e.Probes, counting: e.Counting, shift: shift})
		}
	}
	return plans
}

// wanting is how many probes are to be armed for crews.
func wanting(crews []*crew) (n int) {
	for _, c := range crews {
		if c.wants() {
			n++
		}
	}
	return n
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

// armed is the probes of a session that are in the kernel.
type armed struct {
	session  *arm.Session
	groups   []*arm.Group
	programs []*ebpf.Program
	refused  []provider.Refusal
	standIns map[*provider.Probe][]*provider.Probe

	breakpoints []*arm.Group
	runs        func() uint64 // of the programs on them
	skipped     uint64        // runs, as far as is known
}

// armCrews arms the first probe of each crew that wants one. Where it is refused
// the next has its turn the next time.
func (a *armed) armCrews(ctx context.Context, plans []*plan, crews []*crew, progress func(done, total int)) error {
	total := 0
	for _, c := range crews {
		if c.wants() {
			plan := c.probes[0].plan
			plan.crews = append(plan.crews, c)
			total++
		}
	}
	done := 0
	for _, plan := range plans {
		if len(plan.crews) == 0 {
			continue
		}
		if err := a.arm(ctx, plan, func(n, _ int) { progress(done+n, total) }); err != nil {
			return err
		}
		done += len(plan.crews)
		plan.crews = nil
	}
	withdraw(crews)
	return nil
}

// arm arms the first probe of each of a plan's crews.
func (a *armed) arm(ctx context.Context, plan *plan, progress func(done, total int)) error {
	a.programs = append(a.programs, plan.program)
	sites := make([]arm.Site, len(plan.crews))
	at := make(map[arm.Site]*crew, len(plan.crews))
	for i, c := range plan.crews {
		sites[i] = c.probes[0].target().site
		sites[i].Offset += plan.shift
		at[sites[i]] = c
		c.armed = true
	}
	group, refusals, err := a.session.Arm(ctx, []*ebpf.Program{plan.program}, sites, progress)
	if err != nil {
		return err
	}
	a.groups = append(a.groups, group)
	for _, r := range refusals {
		c := at[r.Site]
		refused := c.probes[0]
		if refused.target().named {
			return fmt.Errorf("%s: the kernel refuses a probe there: %w", refused.target().site, r.Err)
		}
		a.refused = append(a.refused, provider.Refusal{Probe: refused.probe, Err: r.Err})
		c.probes, c.armed = c.probes[1:], false
	}
	return nil
}

// standIn notes which probes stand in for those that are not armed.
func (a *armed) standIn(crews []*crew) {
	for _, c := range crews {
		counters := c.counters()
		for i, m := range c.probes {
			if i > 0 || !c.armed {
				a.standIns[m.probe] = counters
			}
		}
	}
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
func (a *armed) StandIns() map[*provider.Probe][]*provider.Probe { return a.standIns }

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
