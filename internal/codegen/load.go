package codegen

import (
	"errors"
	"fmt"

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
		return fmt.Errorf("creating the map %s of %d entries of %d bytes: %w", name, spec.MaxEntries, spec.ValueSize, err)
	}
	l.maps[name] = m
	return nil
}

// loadRings creates a ring buffer for each CPU that can be there.
func (l *Loaded) loadRings(spec *ebpf.MapSpec) error {
	cpus, err := ebpf.PossibleCPU()
	if err != nil {
		return fmt.Errorf("counting the CPUs: %w", err)
	}
	spec = spec.Copy()
	spec.MaxEntries = uint32(cpus)
	for cpu := range cpus {
		ring, err := ebpf.NewMap(spec.InnerMap)
		if err != nil {
			return fmt.Errorf("creating a ring buffer of %d bytes for CPU %d: %w; set a smaller bufsize", spec.InnerMap.MaxEntries, cpu, err)
		}
		l.Rings = append(l.Rings, ring)
		spec.Contents = append(spec.Contents, ebpf.MapKV{Key: uint32(cpu), Value: ring})
	}
	return l.loadMap(ringsMap, spec)
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
	for _, r := range l.Rings {
		errs = append(errs, r.Close())
	}
	errs = append(errs, l.Control.close())
	*l = Loaded{}
	return errors.Join(errs...)
}
