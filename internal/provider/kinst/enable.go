package kinst

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

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
	total := 0
	for _, e := range enablings {
		total += len(e.Probes)
	}
	a := new(armed)
	done := 0
	for _, e := range landingLast(enablings) {
		err := a.arm(ctx, session, e, func(n, _ int) { progress(done+n, total) })
		if err != nil {
			return nil, errors.Join(err, a.Close())
		}
		done += len(e.Probes)
	}
	return a, nil
}

// landingLast orders programs so that those of landing pads are armed after
// those of the instructions behind: of the probes on one instruction the kernel
// runs the last one first (add_new_kprobe in kernel/kprobes.c).
func landingLast(enablings []provider.Enabling) []provider.Enabling {
	return slices.SortedStableFunc(slices.Values(enablings), func(a, b provider.Enabling) int {
		return cmp.Compare(a.Probes[0].Context.IPBias, b.Probes[0].Context.IPBias)
	})
}

// armed is the probes of a session that are in the kernel.
type armed struct {
	groups   []*arm.Group
	programs []*ebpf.Program
	refused  []provider.Refusal
}

func (a *armed) arm(ctx context.Context, session *arm.Session, e provider.Enabling, progress func(done, total int)) error {
	sites := make([]arm.Site, len(e.Probes))
	probes := make(map[arm.Site]*provider.Probe, len(e.Probes))
	for i, probe := range e.Probes {
		sites[i] = probe.Target.(*target).site
		probes[sites[i]] = probe
	}
	group, refusals, err := session.Arm(ctx, []*ebpf.Program{e.Program}, sites, progress)
	if err != nil {
		return err
	}
	a.groups = append(a.groups, group)
	a.programs = append(a.programs, e.Program)
	for _, r := range refusals {
		probe := probes[r.Site]
		if probe.Target.(*target).named {
			return fmt.Errorf("%s: the kernel refuses a probe there: %w", r.Site, r.Err)
		}
		a.refused = append(a.refused, provider.Refusal{Probe: probe, Err: r.Err})
	}
	return nil
}

// Refused implements provider.Armed.
func (a *armed) Refused() []provider.Refusal { return a.refused }

// Missed implements provider.Armed.
func (a *armed) Missed() (uint64, error) {
	return provider.RecursionMisses(a.programs)
}

// Close disarms every probe.
func (a *armed) Close() error {
	var errs []error
	for _, g := range a.groups {
		errs = append(errs, g.Disarm())
	}
	a.groups = nil
	return errors.Join(errs...)
}
