// Package profile is the provider of timed probes: tick-N fires on one CPU,
// profile-N on every CPU, at the rate or interval N.
//
// The clock is the kernel's software event cpu-clock, a high-resolution timer
// per CPU.
package profile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"kinst/internal/kernel"
	"kinst/internal/provider"
)

// MinInterval is the shortest interval between two firings on a CPU: that of
// the 5,000 Hz that DTrace allows.
const MinInterval = 200 * time.Microsecond

// units are the suffixes of N and the interval of one; "hz" and no suffix
// mean a rate.
var units = []struct {
	suffix   string
	interval time.Duration
}{
	{"nsec", time.Nanosecond}, {"ns", time.Nanosecond},
	{"usec", time.Microsecond}, {"us", time.Microsecond},
	{"msec", time.Millisecond}, {"ms", time.Millisecond},
	{"sec", time.Second}, {"s", time.Second},
	{"min", time.Minute}, {"m", time.Minute},
	{"hour", time.Hour}, {"h", time.Hour},
	{"day", 24 * time.Hour}, {"d", 24 * time.Hour},
	{"hz", 0}, {"", 0},
}

// clock is a probe's target.
type clock struct {
	interval time.Duration
	everyCPU bool
}

// A Provider is the profile provider of one session.
type Provider struct {
	probes map[string]*provider.Probe
}

var _ provider.Provider = (*Provider)(nil)

// Name returns "profile".
func (*Provider) Name() string { return "profile" }

// Match makes the probe that the description's name spells. Globs match
// nothing: there is a probe for every number.
func (p *Provider) Match(_ context.Context, d provider.Desc) ([]*provider.Probe, []string, error) {
	if !provider.Matches(d.Module, "") || !provider.Matches(d.Function, "") {
		return nil, nil, provider.NoMatch("the probes of the provider profile have neither module nor function")
	}
	c, err := parse(d.Name)
	if err != nil {
		return nil, nil, err
	}
	probe := p.probes[d.Name]
	if probe == nil {
		probe = &provider.Probe{
			Desc:    provider.Desc{Provider: "profile", Name: d.Name},
			Context: &provider.Context{Hook: provider.HookPerfEvent, PCArgs: true},
			Target:  c,
		}
		if p.probes == nil {
			p.probes = make(map[string]*provider.Probe)
		}
		p.probes[d.Name] = probe
	}
	return []*provider.Probe{probe}, nil, nil
}

// parse reads a name such as tick-500ms or profile-97.
func parse(name string) (clock, error) {
	kind, n, ok := strings.Cut(name, "-")
	if !ok || kind != "tick" && kind != "profile" {
		return clock{}, provider.NoMatch("the provider profile has tick-N and profile-N")
	}
	digits := len(n) - len(strings.TrimLeft(n, "0123456789"))
	value, err := strconv.ParseInt(n[:digits], 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return clock{}, provider.NoMatch("%q has a number that is too large", name)
	}
	if err != nil || value == 0 {
		return clock{}, provider.NoMatch("%q has no number above zero after %s-", name, kind)
	}
	interval, ok := intervalOf(value, strings.ToLower(n[digits:]))
	if !ok {
		return clock{}, provider.NoMatch("%q ends in no unit; the units are ns us ms s m h d and hz", name)
	}
	if interval < MinInterval {
		return clock{}, fmt.Errorf("profile:::%s: an interval of %v is too short; the shortest is %v (5000hz)", name, interval, MinInterval)
	}
	return clock{interval, kind == "profile"}, nil
}

func intervalOf(value int64, suffix string) (time.Duration, bool) {
	for _, u := range units {
		if suffix != u.suffix {
			continue
		}
		if u.interval == 0 {
			return time.Second / time.Duration(value), true
		}
		if value > math.MaxInt64/int64(u.interval) {
			return math.MaxInt64, true
		}
		return time.Duration(value) * u.interval, true
	}
	return 0, false
}

// Enable implements provider.Provider.
func (*Provider) Enable(_ context.Context, enablings []provider.Enabling, _ func(done, total int)) (provider.Armed, error) {
	a := new(armed)
	for _, e := range enablings {
		a.programs = append(a.programs, e.Program)
		for _, p := range e.Probes {
			if err := a.start(e.Program, p.Target.(clock)); err != nil {
				return nil, errors.Join(fmt.Errorf("enabling profile:::%s: %w", p.Name, err), a.Close())
			}
		}
	}
	return a, nil
}

// armed is the perf events that tick.
type armed struct {
	provider.PerfEvents
	programs []*ebpf.Program
}

func (a *armed) start(prog *ebpf.Program, c clock) error {
	cpus, err := kernel.OnlineCPUs()
	if err != nil {
		return err
	}
	if !c.everyCPU {
		cpus = cpus[:1]
	}
	return a.Start(unix.PerfEventAttr{
		Type:   unix.PERF_TYPE_SOFTWARE,
		Config: unix.PERF_COUNT_SW_CPU_CLOCK,
		Sample: uint64(c.interval.Nanoseconds()),
	}, cpus, prog)
}

// Refused returns nothing: a clock that cannot be had is an error.
func (*armed) Refused() []provider.Refusal { return nil }

// Missed returns how many ticks came while another program ran on the CPU.
func (a *armed) Missed() (uint64, error) { return provider.RecursionMisses(a.programs) }
