package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"

	"kinst/bench/internal/guest"
	"kinst/internal/arm"
	"kinst/internal/kernel"
)

// floor writes the sites to kprobe_events, as cat would, and removes them.
func floor(k *kernel.Kernel, sites []arm.Site) (result, error) {
	lines, err := guest.Lines(k, "floor/e", sites)
	if err != nil {
		return result{}, err
	}
	var r result
	start := time.Now()
	if err := guest.Append(lines); err != nil {
		return r, err
	}
	r.arming = time.Since(start)
	time.Sleep(pause)
	start = time.Now()
	err = guest.Append("-:floor/e\n")
	r.disarming = time.Since(start)
	return r, err
}

// armed arms the sites as kinst does, without all that is around it.
func armed(s *arm.Session, sites []arm.Site) (result, error) {
	prog, err := empty()
	if err != nil {
		return result{}, err
	}
	defer prog.Close()
	var r result
	start := time.Now()
	g, refused, err := s.Arm(context.Background(), []*ebpf.Program{prog}, sites, nil)
	if err == nil && len(refused) > 0 {
		err = refused[0]
	}
	if err != nil {
		return r, err
	}
	r.arming = time.Since(start)
	time.Sleep(pause)
	start = time.Now()
	err = g.Disarm()
	r.disarming = time.Since(start)
	return r, err
}

// empty is the smallest program.
func empty() (*ebpf.Program, error) {
	return ebpf.NewProgram(&ebpf.ProgramSpec{
		Type: ebpf.Kprobe, License: "GPL",
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()},
	})
}

// runKinst runs the command on what a description names, with an option and an
// action: with sites=blocks and counts per probe it arms only what it needs to
// tell how often each instruction is executed.
func runKinst(description, option, action string) (result, error) {
	starting, err := timed(guestKinst, "-q", "-n", "BEGIN {}", "-c", "/bin/sh "+script)
	if err != nil {
		return result{}, err
	}
	r, err := timed(guestKinst, "-q", "-x", option, "-n", description+" {"+action+"}", "-c", "/bin/sh "+script)
	r.starting = starting.arming
	return r, err
}

func runBpftrace(sites []arm.Site) (result, error) {
	var points []string
	for _, site := range sites {
		points = append(points, fmt.Sprintf("kprobe:%s+%d", site.Symbol, site.Offset))
	}
	starting, err := timed(guestBpftrace, "-c", "/bin/sh "+script, "-e", "BEGIN {}")
	if err != nil {
		return result{}, err
	}
	// It would look for the boundaries of instructions in a vmlinux file.
	r, err := timed(guestBpftrace, "--unsafe", "-c", "/bin/sh "+script, "-e", strings.Join(points, ",")+" {@ = count();}")
	r.starting = starting.arming
	return r, err
}

// perfKprobes arms a perf kprobe for each site.
func perfKprobes(sites []arm.Site) (result, error) {
	prog, err := empty()
	if err != nil {
		return result{}, err
	}
	defer prog.Close()
	var r result
	var links []link.Link
	start := time.Now()
	for _, site := range sites {
		if time.Since(start) > *bound {
			r.stopped = fmt.Sprintf("stopped after %d sites", len(links))
			break
		}
		l, err := link.Kprobe(site.Symbol, prog, &link.KprobeOptions{Offset: site.Offset})
		if err != nil {
			return r, err
		}
		links = append(links, l)
	}
	r.arming = time.Since(start)
	time.Sleep(pause)
	start = time.Now()
	for _, l := range links {
		if err := l.Close(); err != nil {
			return r, err
		}
	}
	r.disarming = time.Since(start)
	return r, nil
}
