package arm

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
)

// A knob is a setting of the whole system, and the value that makes arming or
// disarming fast. Knobs are turned only while sites are put in or taken out,
// never while tracing.
type knob struct {
	path  string
	value string
}

// Measured for 880 sites of three functions, Linux 6.1 and 6.12 under
// software emulation (one CPU or two), milliseconds:
//
//	                          untouched      turned
//	enabling                  200 - 370      75 - 85    unoptimized
//	disabling                 160 - 290      75 - 90    unoptimized (and 10 - 115 to turn it)
//	removing the definitions  11000 - 14700  90 - 200   expedited
//	                                         12 - 30    expedited and unoptimized
//	defining                  2000 - 2300    the same with either
//
// Defining is the kernel's register_kprobe, which neither changes.
var (
	// expedited makes the kernel interrupt the other CPUs to see that they
	// are done with a site, instead of waiting until they have all passed
	// through the scheduler. Where /sys/kernel/rcu_normal is 1, as on
	// real-time systems that must not be interrupted, it has no effect.
	expedited = knob{"/sys/kernel/rcu_expedited", "1"}
	// unoptimized keeps the kernel from replacing breakpoints by jumps. It
	// does that in the background with a lock held that arming needs too. Set
	// back, it begins with it: the sites that can be are optimized while they
	// are traced.
	unoptimized = knob{"/proc/sys/debug/kprobes-optimization", "0"}
)

// fewSites is up to how many sites turning knobs is not worth it.
const fewSites = 8

// knobs turns knobs, and records who did so that they are turned back after
// the last of the sessions that need them, whatever happens to any.
type knobs struct {
	dir   string // of the state, stateDir but in tests
	owner owner

	mu   sync.Mutex
	held map[knob]int // how often the owner has turned it and not set it back
}

func newKnobs(dir string, o owner) *knobs {
	return &knobs{dir: dir, owner: o, held: make(map[knob]int)}
}

// turn sets the knobs and returns what sets them back. One that cannot be set
// is left as it is: everything works without, only slower.
func (k *knobs) turn(which ...knob) (back func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	turned := slices.DeleteFunc(slices.Clone(which), func(n knob) bool { return k.held[n] == 0 })
	if more := slices.DeleteFunc(slices.Clone(which), func(n knob) bool { return k.held[n] > 0 }); len(more) > 0 {
		turned = append(turned, k.hold(more)...)
	}
	for _, n := range turned {
		k.held[n]++
	}
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		var last []knob
		for _, n := range slices.Backward(turned) {
			if k.held[n]--; k.held[n] == 0 {
				last = append(last, n)
			}
		}
		if len(last) > 0 {
			_ = k.release(last) // the next session tries again
		}
	}
}

// hold turns knobs, or joins those who have. It returns those of which the owner
// is among the holders now.
func (k *knobs) hold(which []knob) (held []knob) {
	_ = withState(k.dir, func(s *state, save func() error) error {
		for _, n := range which {
			switch ok, err := k.add(s, n, save); {
			case err != nil:
				_ = k.drop(s, n)
			case ok:
				held = append(held, n)
			}
		}
		return nil
	})
	return held
}

// add turns a knob and makes the owner a holder, unless the knob is turned by
// nobody and has the value already.
func (k *knobs) add(s *state, n knob, save func() error) (held bool, err error) {
	if _, err := s.restore(k.owner.NS, n.path); err != nil {
		return false, err
	}
	t := s.Knobs[n.path]
	if t == nil {
		was, err := readKnob(n.path)
		if err != nil || was == n.value {
			return false, err
		}
		t = &turned{Was: was, Now: n.value}
		s.Knobs[n.path] = t
	}
	t.Holders = append(t.Holders, k.owner)
	if err := save(); err != nil {
		return false, err
	}
	return true, writeKnob(n.path, n.value)
}

// release turns knobs back unless others still need them.
func (k *knobs) release(which []knob) error {
	return withState(k.dir, func(s *state, _ func() error) error {
		var errs []error
		for _, n := range which {
			errs = append(errs, k.drop(s, n))
		}
		return errors.Join(errs...)
	})
}

// drop makes the owner a holder of a knob no more.
func (k *knobs) drop(s *state, n knob) error {
	t := s.Knobs[n.path]
	if t == nil {
		return nil
	}
	if i := slices.Index(t.Holders, k.owner); i >= 0 {
		t.Holders = slices.Delete(t.Holders, i, i+1)
	}
	_, err := s.restore(k.owner.NS, n.path)
	return err
}

// restore turns a knob back where none of its holders lives any more, and
// says so. Ns is the PID namespace of this process.
func (s *state) restore(ns uint64, path string) (restored bool, err error) {
	t := s.Knobs[path]
	if t == nil {
		return false, nil
	}
	t.Holders = slices.DeleteFunc(t.Holders, func(o owner) bool { return o.dead(ns) })
	if len(t.Holders) > 0 {
		return false, nil
	}
	delete(s.Knobs, path)
	switch now, err := readKnob(path); {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case now != t.Now:
		// Somebody else has set it meanwhile, and wants it so.
		return false, nil
	}
	if err := writeKnob(path, t.Was); err != nil {
		return false, fmt.Errorf("setting %s back to %s: %w", path, t.Was, err)
	}
	return true, nil
}
