package arm

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"kinst/internal/kernel"
)

// sitesOfModule returns every instruction of a module that can be probed.
func sitesOfModule(t testing.TB, k *kernel.Kernel, module string) (sites []Site) {
	t.Helper()
	functions, err := k.Functions(module, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range functions {
		l, err := k.Listing(native(t), f)
		if err != nil {
			t.Fatal(err)
		}
		for i := range l.Insts {
			if l.Unprobeable(i) == "" {
				sites = append(sites, Site{Module: f.Module, Symbol: f.Name, Base: f.Addr, Offset: l.Landing(i) - f.Addr})
			}
		}
	}
	return distinct(sites)
}

// No instruction of a module that is said to be probeable is refused.
func TestModules(t *testing.T) {
	k := openKernel(t)
	s := openSession(t, k)
	c := kprobeCounter(t)
	for _, module := range []string{"dummy", "raid6_pq"} {
		sites := sitesOfModule(t, k, module)
		if len(sites) > 600 {
			sites = sites[len(sites)-600:] // AVX-512 is last
		}
		g, refused := mustArm(t, s, sites, c.prog)
		t.Logf("%s: %d sites, %d refused", module, len(sites), len(refused))
		if len(refused) > 0 {
			t.Error(describe(refused))
		}
		if n := strings.Count(armed(t), module); n < len(sites)*9/10 {
			t.Errorf("the kernel lists %d probes in %s", n, module)
		}
		if err := g.Disarm(); err != nil {
			t.Error(err)
		}
	}
}

// What is executed in a module is counted, and its unloading while it is
// traced takes nothing down with it.
func TestModuleUnloadedWhileTraced(t *testing.T) {
	k := openKernel(t)
	s := openSession(t, k)
	c := kprobeCounter(t)
	sites := sitesOfModule(t, k, "dummy")
	g, _ := mustArm(t, s, sites, c.prog)
	if err := unix.DeleteModule("dummy", 0); err != nil {
		t.Fatal(err)
	}
	hit := 0
	for _, site := range sites {
		if c.at(t, site.Addr()) > 0 {
			hit++
		}
	}
	t.Logf("%d of %d instructions were executed by unloading", hit, len(sites))
	if hit == 0 {
		t.Error("the module's exit was not seen")
	}
	if gone := s.Unloaded(); len(gone) != 1 || !errors.Is(gone[0], kernel.ErrNotLoaded) {
		t.Errorf("what was unloaded: %v", gone)
	}
	if gone := s.Unloaded(); gone != nil {
		t.Errorf("it is told again: %v", gone)
	}
	if _, err := g.Missed(); err != nil {
		t.Error(err)
	}
	if err := g.Disarm(); err != nil {
		t.Errorf("disarming what was unloaded: %v", err)
	}
	fresh := openSession(t, openKernel(t))
	_, refused, err := fresh.Arm(context.Background(), []*ebpf.Program{c.prog}, sites[:1], nil)
	if !errors.Is(err, kernel.ErrNotLoaded) {
		t.Errorf("arming what is not loaded: %v, %v", refused, err)
	}
	// So is a session that saw it loaded.
	_, refused, err = s.Arm(context.Background(), []*ebpf.Program{c.prog}, sites[:1], nil)
	if !errors.Is(err, kernel.ErrNotLoaded) {
		t.Errorf("by a session that knew it: %v, %v", refused, err)
	}
}
