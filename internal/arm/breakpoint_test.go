package arm

import (
	"errors"
	"os"
	"testing"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

func TestBreakpointsCountEveryExecution(t *testing.T) {
	k := openKernel(t)
	s := openSession(t, k)
	l := listing(t, k, "vfs_read")
	c := newCounter(t, ebpf.PerfEvent, 0, os.Getpid())
	// The landing pad, the entry and the next: all executed equally often.
	var sites []Site
	for _, in := range l.Insts[:4] {
		sites = append(sites, Site{Module: l.Function.Module, Symbol: l.Function.Name, Base: l.Function.Addr, Offset: in.Addr - l.Function.Addr})
	}
	for _, site := range sites {
		if _, err := s.ArmBreakpoint(c.prog, site); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.ArmBreakpoint(c.prog, Site{Module: "vmlinux", Symbol: "vfs_write", Base: listing(t, k, "vfs_write").Function.Addr})
	if !errors.Is(err, ErrNoBreakpoint) {
		t.Errorf("the fifth breakpoint: %v", err)
	}
	before := make([]uint64, len(sites)) // arming has read files itself
	for i, site := range sites {
		before[i] = c.at(t, site.Addr())
	}
	readZeros(t, 1000)
	for i, site := range sites {
		if n := c.at(t, site.Addr()) - before[i]; n != 1000 {
			t.Errorf("%s executed %d times by 1000 reads", site, n)
		}
	}
}

// A breakpoint on the landing pad and a probe on the instruction behind it
// count the same: nothing jumps in between.
func TestLandingPadIsExecutedAsOftenAsWhatFollows(t *testing.T) {
	k := openKernel(t)
	s := openSession(t, k)
	for _, name := range []string{"vfs_read", "ksys_read", "fdget_pos*", "__fdget_pos", "rw_verify_area", "read_zero", "read_iter_zero"} {
		functions, err := k.Functions("vmlinux", name)
		if err != nil {
			continue // not in every version
		}
		for _, f := range functions {
			l, err := k.Listing(native(t), f)
			if err != nil {
				t.Fatal(err)
			}
			pad := newCounter(t, ebpf.PerfEvent, 0, os.Getpid())
			probe := kprobeCounter(t)
			site := Site{Module: f.Module, Symbol: f.Name, Base: f.Addr}
			g1, err := s.ArmBreakpoint(pad.prog, site)
			if err != nil {
				t.Fatal(err)
			}
			site.Offset = l.Landing(0) - f.Addr
			g2, refused := mustArm(t, s, []Site{site}, probe.prog)
			if len(refused) > 0 {
				t.Log(describe(refused))
			}
			a, b := pad.at(t, f.Addr), probe.at(t, site.Addr())
			readZeros(t, 200)
			a, b = pad.at(t, f.Addr)-a, probe.at(t, site.Addr())-b
			if err := errors.Join(g2.Disarm(), g1.Disarm()); err != nil {
				t.Error(err)
			}
			t.Logf("%s: +0 executed %d times, +%d %d times", f, a, site.Offset, b)
			if len(refused) == 0 && a != b {
				t.Errorf("%s: +0 executed %d times, +%d %d times", f, a, site.Offset, b)
			}
		}
	}
}

// Where kprobes are refused but for the blacklist, breakpoints are not.
func TestBreakpointsReachWhatKprobesDoNot(t *testing.T) {
	k := openKernel(t)
	s := openSession(t, k)
	c := newCounter(t, ebpf.PerfEvent, 0, os.Getpid())
	seen := map[string]bool{}
	for _, name := range []string{"vfs_read", "vfs_write", "ksys_read", "do_sys_openat2", "schedule", "try_to_wake_up", "do_syscall_64", "__schedule"} {
		l := listing(t, k, name)
		for i, in := range l.Insts {
			why := l.Unprobeable(i)
			if why == "" || seen[why] {
				continue
			}
			seen[why] = true
			g, err := s.ArmBreakpoint(c.prog, Site{Module: l.Function.Module, Symbol: name, Base: l.Function.Addr, Offset: in.Addr - l.Function.Addr})
			t.Logf("%s+%d: %s: %v", name, in.Addr-l.Function.Addr, why, err)
			if err == nil {
				err = g.Disarm()
			}
			if reaches := l.Breakpointable(i); reaches != (err == nil) || err != nil && !errors.Is(err, unix.EINVAL) {
				t.Errorf("%s+%d: %v", name, in.Addr-l.Function.Addr, err)
			}
		}
	}
	if len(seen) < 4 {
		t.Errorf("only %d reasons seen", len(seen))
	}
}
