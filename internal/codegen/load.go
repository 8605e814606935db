package codegen

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"

	"kinst/internal/record"
)

// Loaded is a program in the kernel.
type Loaded struct {
	Layout   *record.Layout
	Control  *Control
	Programs []*ebpf.Program // by unit
	Rings    []*ebpf.Map     // by CPU; nil for a program that records nothing
	Aggs     []*ebpf.Map     // by record.Agg.Index; nil where nothing aggregates
	Losses   *ebpf.Map       // per-CPU array of uint64, by record.Loss; nil if nothing can be lost

	maps map[string]*ebpf.Map
}

// Load puts the program into the kernel. No probe runs it yet.
func (p *Program) Load() (_ *Loaded, err error) {
	l := &Loaded{Layout: p.Layout, maps: make(map[string]*ebpf.Map)}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	for name, spec := range p.Maps {
		if name == ringsMap {
			err = l.loadRings(spec)
		} else {
			err = l.loadMap(name, spec)
		}
		if err != nil {
			return nil, err
		}
	}
	if l.Control, err = openControl(l.maps[globalsMap]); err != nil {
		return nil, err
	}
	for _, spec := range p.Programs {
		if err := l.loadProgram(spec); err != nil {
			return nil, err
		}
	}
	for cpu := 0; l.maps[ringMap(cpu)] != nil; cpu++ {
		l.Rings = append(l.Rings, l.maps[ringMap(cpu)])
	}
	l.Losses = l.maps[lossesMap]
	l.Aggs = make([]*ebpf.Map, len(p.Layout.Aggs))
	for i := range l.Aggs {
		l.Aggs[i] = l.maps[aggMap(i)]
	}
	return l, nil
}

func (l *Loaded) loadMap(name string, spec *ebpf.MapSpec) error {
	m, err := ebpf.NewMap(spec)
	if err != nil {
		if cpu, ok := strings.CutPrefix(name, ringPrefix); ok {
			n, _ := strconv.Atoi(cpu)
			return ringError(n, spec, err)
		}
		return fmt.Errorf("creating the map %s of %d entries of %d bytes: %w", name, spec.MaxEntries, spec.ValueSize, err)
	}
	l.maps[name] = m
	return nil
}

// loadRings creates the ring buffers of many CPUs, and the map that finds them.
// The kernel waits for an RCU grace period each time that a ring is put into
// the map: they are put in at once.
func (l *Loaded) loadRings(spec *ebpf.MapSpec) error {
	if err := l.loadMap(ringsMap, spec); err != nil {
		return err
	}
	put := make(chan error)
	for cpu := range int(spec.MaxEntries) {
		ring, err := ebpf.NewMap(spec.InnerMap)
		if err != nil {
			return ringError(cpu, spec.InnerMap, err)
		}
		l.Rings = append(l.Rings, ring)
	}
	for cpu, ring := range l.Rings {
		go func() { put <- l.maps[ringsMap].Put(uint32(cpu), ring) }()
	}
	var errs []error
	for range l.Rings {
		errs = append(errs, <-put)
	}
	return errors.Join(errs...)
}

func ringError(cpu int, spec *ebpf.MapSpec, err error) error {
	return fmt.Errorf("creating a ring buffer of %d bytes for CPU %d: %w; set a smaller bufsize", spec.MaxEntries, cpu, err)
}

func (l *Loaded) loadProgram(spec *ebpf.ProgramSpec) error {
	spec = spec.Copy()
	for i := range spec.Instructions {
		ins := &spec.Instructions[i]
		if !ins.IsLoadFromMap() {
			continue
		}
		if err := ins.AssociateMap(l.maps[ins.Reference()]); err != nil {
			return fmt.Errorf("program %s: map %s: %w", spec.Name, ins.Reference(), err)
		}
	}
	prog, err := ebpf.NewProgram(spec)
	if err != nil {
		return fmt.Errorf("loading the program %s of %d instructions into the kernel: %w", spec.Name, len(spec.Instructions), err)
	}
	l.Programs = append(l.Programs, prog)
	return nil
}

// Close takes the program out of the kernel, as far as no probe holds it.
func (l *Loaded) Close() error {
	var errs []error
	for _, p := range l.Programs {
		errs = append(errs, p.Close())
	}
	for _, m := range l.maps {
		errs = append(errs, m.Close())
	}
	if l.maps[ringsMap] != nil {
		for _, r := range l.Rings {
			errs = append(errs, r.Close())
		}
	}
	errs = append(errs, l.Control.close())
	*l = Loaded{}
	return errors.Join(errs...)
}
