package derived

import (
	"context"
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	"kinst/internal/arm"
	"kinst/internal/provider"
	"kinst/internal/provider/rawtp"
)

// Enable implements provider.Provider.
func (p *Provider) Enable(ctx context.Context, enablings []provider.Enabling, progress func(done, total int)) (provider.Armed, error) {
	a := new(armed)
	total := provider.Count(enablings)
	for i, e := range enablings {
		probe := e.Probes[0] // a context is one probe's
		if err := p.kernel.arm(ctx, a, probe.Target.(*origin), e.Program); err != nil {
			return nil, errors.Join(fmt.Errorf("enabling %s: %w", probe.Desc, err), a.Close())
		}
		progress(i+1, total)
	}
	return a, nil
}

// armed is programs on tracepoints, and on functions.
type armed struct {
	rawtp.Programs
	groups   []*arm.Group
	programs []*ebpf.Program // of the groups
}

func (k Kernel) arm(ctx context.Context, a *armed, o *origin, prog *ebpf.Program) error {
	if o.tracepoint != "" {
		return a.Attach(o.tracepoint, prog)
	}
	session, err := k.Arms()
	if err != nil {
		return err
	}
	group, refused, err := session.Arm(ctx, []*ebpf.Program{prog}, o.sites, nil)
	if err != nil {
		return err
	}
	a.groups = append(a.groups, group)
	a.programs = append(a.programs, prog)
	if len(refused) > 0 {
		return refused[0]
	}
	return nil
}

// Missed implements provider.Armed.
func (a *armed) Missed() (uint64, error) {
	missed, err := a.Programs.Missed()
	if err != nil {
		return missed, err
	}
	n, err := provider.RecursionMisses(a.programs)
	missed += n
	if err != nil {
		return missed, err
	}
	n, err = arm.Missed(a.groups)
	return missed + n, err
}

// Close takes the programs off.
func (a *armed) Close() error {
	errs := []error{a.Programs.Close()}
	for _, g := range a.groups {
		errs = append(errs, g.Disarm())
	}
	a.groups = nil
	return errors.Join(errs...)
}
