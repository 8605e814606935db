package kinst

import (
	"cmp"
	"fmt"
	"slices"

	"kinst/internal/isa"
	"kinst/internal/kernel"
	"kinst/internal/provider"
)

// A crew is probes that fire equally often. One of them is armed, the first
// that the kernel takes, or none, if others together fire as often.
type crew struct {
	probes []member // without those that the kernel has refused
	armed  bool     // the first one is
	sum    []*crew  // those that together fire as often
}

// A member is a probe and with what it is armed.
type member struct {
	plan  *plan
	probe *provider.Probe
}

func (m member) target() *target { return m.probe.Target.(*target) }

// wants reports whether a probe of the crew is still to be armed.
func (c *crew) wants() bool { return c.sum == nil && !c.armed && len(c.probes) > 0 }

// lost reports whether how often the crew's probes fire cannot be known.
func (c *crew) lost() bool { return c.sum == nil && !c.armed && len(c.probes) == 0 }

// has reports whether a crew is what c's count is made of, or is c itself.
func (c *crew) has(other *crew) bool {
	return c == other || slices.ContainsFunc(c.sum, func(part *crew) bool { return part.has(other) })
}

// counters returns the armed probes that together fire as often as those of the
// crew.
func (c *crew) counters() []*provider.Probe {
	if c.armed {
		return []*provider.Probe{c.probes[0].probe}
	}
	var all []*provider.Probe
	for _, part := range c.sum {
		all = append(all, part.counters()...)
	}
	return all
}

// crews divides what is to be armed. Probes of which more is asked than how
// often they fire are crews of one.
func (p *Provider) crews(plans []*plan) ([]*crew, error) {
	var crews []*crew
	counting := make(map[*provider.Counting][]member)
	for _, plan := range plans {
		for _, probe := range plan.probes {
			m := member{plan, probe}
			if plan.counting != nil {
				counting[plan.counting] = append(counting[plan.counting], m)
				continue
			}
			crews = append(crews, &crew{probes: []member{m}})
		}
	}
	for _, plan := range plans { // in their order
		more, err := p.counted(counting[plan.counting], plan.counting)
		if err != nil {
			return nil, err
		}
		crews = append(crews, more...)
		delete(counting, plan.counting)
	}
	return crews, nil
}

// counted divides probes of which nothing but how often they fire is asked.
func (p *Provider) counted(members []member, counting *provider.Counting) ([]*crew, error) {
	slices.SortStableFunc(members, func(a, b member) int { return cmp.Compare(a.probe.Addr, b.probe.Addr) })
	var crews []*crew
	for len(members) > 0 {
		base := members[0].target().site.Base
		n := slices.IndexFunc(members, func(m member) bool { return m.target().site.Base != base })
		if n < 0 {
			n = len(members)
		}
		listing, err := p.listingAt(base)
		if err != nil {
			return nil, err
		}
		more, err := ofFunction(listing, members[:n], counting)
		if err != nil {
			return nil, err
		}
		crews, members = append(crews, more...), members[n:]
	}
	return crews, nil
}

// ofFunction divides the probes of one function.
func ofFunction(listing *kernel.Listing, members []member, counting *provider.Counting) ([]*crew, error) {
	var cuts isa.Kind
	if counting.Thread {
		cuts = isa.WritesMemory
	}
	frequencies := listing.Frequencies(cuts)
	var crews []*crew
	of := make(map[int]*crew) // by class
	// A probe on the entry costs the kernel a look at every function: others come
	// first in their crew.
	for _, entry := range []bool{false, true} {
		for _, m := range members {
			i, ok := listing.Find(m.probe.Addr)
			if !ok {
				return nil, fmt.Errorf("%s: the function has changed since it was listed; try again", m.probe.Desc)
			}
			if listing.IsEntry(i) != entry {
				continue
			}
			class := frequencies.Class[i]
			if of[class] == nil {
				of[class] = new(crew)
				crews = append(crews, of[class])
			}
			of[class].probes = append(of[class].probes, m)
		}
	}
	for _, sum := range frequencies.Sums {
		add(of, sum)
	}
	return crews, nil
}

// add lets a crew do without a probe of its own if others, that do not do so
// because of it, fire as often together.
func add(of map[int]*crew, sum isa.Sum) {
	c := of[sum.Class]
	if c == nil || c.sum != nil {
		return
	}
	var parts []*crew
	for _, class := range sum.Of {
		part := of[class]
		if part == nil || part.has(c) {
			return
		}
		parts = append(parts, part)
	}
	c.sum = parts
}

// withdraw lets crews want a probe of their own if how often others fire, which
// together would tell, cannot be known.
func withdraw(crews []*crew) {
	for _, c := range crews {
		if slices.ContainsFunc(c.sum, (*crew).lost) {
			c.sum = nil
		}
	}
}
