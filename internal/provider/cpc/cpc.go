// Package cpc is the provider of counted events: EVENT-MODE-N fires on a CPU
// each time that N more events of a kind have happened there, in user code, in
// the kernel, or in both. The counters are those of the processor and of the
// kernel that perf_event_open(2) gives access to.
package cpc

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"kinst/internal/kernel"
	"kinst/internal/provider"
)

const name = "cpc"

// modes are when events are counted.
var modes = map[string]uint64{
	"all":    0,
	"user":   unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	"kernel": unix.PerfBitExcludeUser | unix.PerfBitExcludeHv,
}

// counter is a probe's target.
type counter struct {
	event
	period uint64 // events from one firing to the next
	bits   uint64 // of unix.PerfEventAttr
}

// A Provider is the cpc provider of one session.
type Provider struct {
	probes  map[string]*provider.Probe
	devices string // where the processor's own events are described
}

var _ provider.Provider = (*Provider)(nil)

// New returns a provider.
func New() *Provider {
	return &Provider{make(map[string]*provider.Probe), "/sys/bus/event_source/devices"}
}

// Name returns "cpc".
func (*Provider) Name() string { return name }

// Match makes the probe that the description's name spells. Globs match
// nothing: there is a probe for every number.
func (p *Provider) Match(_ context.Context, d provider.Desc) ([]*provider.Probe, []string, error) {
	if !provider.Matches(d.Module, "") || !provider.Matches(d.Function, "") {
		return nil, nil, provider.NoMatch("the probes of the provider cpc have neither module nor function")
	}
	if probe := p.probes[d.Name]; probe != nil {
		return []*provider.Probe{probe}, nil, nil
	}
	c, err := p.parse(d.Name)
	if err != nil {
		return nil, nil, err
	}
	context := &provider.Context{Hook: provider.HookPerfEvent, PCArgs: true}
	if c.exact {
		context.Counter = provider.CountEvents
	}
	probe := &provider.Probe{Desc: provider.Desc{Provider: name, Name: d.Name}, Context: context, Target: c}
	p.probes[d.Name] = probe
	return []*provider.Probe{probe}, nil, nil
}

// parse reads a name such as cache_misses-user-10000.
func (p *Provider) parse(text string) (counter, error) {
	parts := strings.Split(text, "-")
	if len(parts) != 3 {
		return counter{}, provider.NoMatch("the provider cpc has EVENT-MODE-N, such as page_faults-all-100")
	}
	bits, ok := modes[parts[1]]
	if !ok {
		return counter{}, provider.NoMatch("%q says when to count by %q; it can be all, user or kernel", text, parts[1])
	}
	period, err := strconv.ParseUint(parts[2], 10, 63)
	if err != nil || period == 0 {
		return counter{}, provider.NoMatch("%q ends in no number above zero", text)
	}
	e, err := p.event(parts[0])
	if err != nil {
		return counter{}, err
	}
	if period < e.least {
		return counter{}, fmt.Errorf("cpc:::%s: %d is too small a number of events from one firing to the next; it can be %d or more", text, period, e.least)
	}
	return counter{e, period, bits}, nil
}

// Enable implements provider.Provider.
func (*Provider) Enable(_ context.Context, enablings []provider.Enabling, _ func(done, total int)) (provider.Armed, error) {
	cpus, err := kernel.OnlineCPUs()
	if err != nil {
		return nil, err
	}
	a := new(armed)
	for _, e := range enablings {
		a.programs = append(a.programs, e.Program)
		for _, p := range e.Probes {
			if err := a.start(e, p.Target.(counter), cpus); err != nil {
				return nil, errors.Join(fmt.Errorf("enabling cpc:::%s: %w", p.Name, err), a.Close())
			}
		}
	}
	return a, nil
}

// armed is the events that are counted.
type armed struct {
	counters []running
	programs []*ebpf.Program
	runs     func() uint64 // of the programs of exact events
}

type running struct {
	counter
	*provider.PerfEvents
}

func (a *armed) start(e provider.Enabling, c counter, cpus []int) error {
	r := running{c, new(provider.PerfEvents)}
	a.counters = append(a.counters, r)
	if c.exact {
		a.runs = e.Runs
	}
	attr := unix.PerfEventAttr{Type: c.kind, Config: c.config[0], Ext1: c.config[1], Ext2: c.config[2], Sample: c.period, Bits: c.bits}
	if c.kind != unix.PERF_TYPE_SOFTWARE {
		attr.Bits |= unix.PerfBitPinned
	}
	err := r.Start(attr, cpus, e.Program)
	switch {
	case err == nil:
		_, err = r.Overflows(c.period)
		return err
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENODEV), errors.Is(err, unix.EINVAL):
		return fmt.Errorf("this processor, or this virtual machine, does not count such events (%w)", err)
	}
	return err
}

// Refused returns nothing: an event that cannot be counted is an error.
func (*armed) Refused() []provider.Refusal { return nil }

// Missed returns how many firings the kernel skipped because another program
// ran on the CPU.
func (a *armed) Missed() (uint64, error) {
	missed, err := provider.RecursionMisses(a.programs)
	if err != nil || a.runs == nil {
		return missed, err
	}
	var due uint64
	for _, c := range a.counters {
		if !c.exact {
			continue
		}
		n, err := c.Overflows(c.period)
		if err != nil {
			return missed, err
		}
		due += n
	}
	if runs := a.runs(); runs < due {
		missed += due - runs
	}
	return missed, nil
}

// Close implements provider.Armed.
func (a *armed) Close() error {
	var errs []error
	for _, c := range a.counters {
		errs = append(errs, c.Close())
	}
	a.counters = nil
	return errors.Join(errs...)
}
