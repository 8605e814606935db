package guest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"kinst/internal/arm"
	"kinst/internal/isa"
	"kinst/internal/kernel"
)

// Sites returns the instructions of the functions that a pattern names, as far
// as nothing is known to speak against a probe.
func Sites(k *kernel.Kernel, pattern string) ([]arm.Site, error) {
	functions, err := k.Functions(kernel.VMLinux, pattern)
	if err != nil {
		return nil, err
	}
	var sites []arm.Site
	for _, f := range functions {
		more, err := sitesOf(k, f)
		if err != nil {
			return nil, err
		}
		sites = append(sites, more...)
	}
	return sites, nil
}

// Sample returns about so many sites, those of functions from all over the
// kernel, the same each time. Only small functions are among them: for each
// probe the kernel decodes the whole function (can_optimize), which in large ones
// is nearly all that a probe costs.
func Sample(k *kernel.Kernel, n int) ([]arm.Site, error) {
	functions, err := k.Functions(kernel.VMLinux, "")
	if err != nil {
		return nil, err
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(functions), func(i, j int) {
		functions[i], functions[j] = functions[j], functions[i]
	})
	var sites []arm.Site
	for _, f := range functions {
		if len(sites) >= n {
			break
		}
		if f.Extent > smallFunction {
			continue
		}
		if more, err := sitesOf(k, f); err == nil {
			sites = append(sites, more...)
		}
	}
	return sites, nil
}

// smallFunction is in bytes.
const smallFunction = 300

func sitesOf(k *kernel.Kernel, f kernel.Function) ([]arm.Site, error) {
	arch, err := isa.Native()
	if err != nil {
		return nil, err
	}
	l, err := k.Listing(arch, f)
	if err != nil {
		return nil, err
	}
	var sites []arm.Site
	for i := range l.Insts {
		// A landing pad has the address of what follows.
		if l.Unprobeable(i) == "" && l.Landing(i) == l.Insts[i].Addr {
			sites = append(sites, arm.Site{Module: f.Module, Symbol: f.Name, Base: f.Addr, Offset: l.Insts[i].Addr - f.Addr})
		}
	}
	return sites, nil
}

// Lines are the sites as kprobe_events takes them, all of one event.
func Lines(k *kernel.Kernel, event string, sites []arm.Site) (string, error) {
	var b strings.Builder
	for _, site := range sites {
		place, err := k.Place(site.Module, site.Addr())
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "p:%s %s\n", event, place)
	}
	return b.String(), nil
}

// Accepted returns the sites that the kernel takes.
func Accepted(s *arm.Session, sites []arm.Site) ([]arm.Site, error) {
	g, refused, err := s.Arm(context.Background(), nil, sites, nil)
	if err != nil {
		return nil, err
	}
	bad := make(map[arm.Site]bool)
	for _, r := range refused {
		bad[r.Site] = true
	}
	var good []arm.Site
	for _, site := range sites {
		if !bad[site] {
			good = append(good, site)
		}
	}
	return good, g.Disarm()
}

// Append writes lines to kprobe_events.
func Append(lines string) error {
	dir, err := kernel.TraceFS()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, "kprobe_events"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(lines)
	return err
}
