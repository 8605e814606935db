package codegen

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"

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
	Threads  []*ebpf.Map     // hashes of thread-local variables, whose keys begin with an int32: the thread's ID, or below zero

	parts []*ebpf.Program // those of programs that had to be cut, but the first ones
	maps  map[string]*ebpf.Map

	constants int         // bytes of the globals that are in the map
	outgrown  []*ebpf.Map // what programs use where others use a larger one
}

// Load puts the program into the kernel. No probe runs it yet. Where the
// verifier finds a unit's program too much to look through, it is cut into
// parts. Where there is no memory for a buffer it is halved, and resized told
// what it has come to; if that is nil, it is an error.
func (p *Program) Load(resized func(b Buffer, size int)) (*Loaded, error) {
	// Before 5.11 the memory of maps counted as locked memory.
	if err := rlimit.RemoveMemlock(); err != nil {
		return nil, fmt.Errorf("raising the limit of locked memory for BPF maps: %w", err)
	}
	lowered := make(map[Buffer]int)
	for {
		l, unit, err := p.load()
		var short *memoryError
		switch {
		case err == nil:
			for b := range buffers {
				if size, ok := lowered[b]; ok {
					resized(b, size)
				}
			}
			return l, nil
		case unit >= 0 && p.cuts[unit]+1 < len(budgets):
			p.cuts[unit]++
		case resized != nil && errors.As(err, &short) && p.opts.halve(short.buffer):
			lowered[short.buffer] = *p.opts.size(short.buffer)
		default:
			return nil, err
		}
		if again := p.compile(); again != nil {
			return nil, errors.Join(err, again)
		}
	}
}

// load tries to put the program into the kernel. If a unit's program is too
// much for the verifier, it returns the unit; else -1.
func (p *Program) load() (_ *Loaded, unit int, err error) {
	if err := p.opts.checkMemory(p.Maps); err != nil {
		return nil, -1, err
	}
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
			return nil, -1, err
		}
	}
	l.constants = len(p.compiler.globals.bytes)
	if l.Control, err = openControl(l.maps[globalsMap]); err != nil {
		return nil, -1, err
	}
	for unit, specs := range p.Programs {
		if err := l.loadUnit(unit, specs); err != nil {
			if !tooMuch(err) {
				unit = -1
			}
			return nil, unit, err
		}
	}
	for cpu := 0; l.maps[ringMap(cpu)] != nil; cpu++ {
		l.Rings = append(l.Rings, l.maps[ringMap(cpu)])
	}
	l.Losses = l.maps[lossesMap]
	for _, name := range p.threads {
		l.Threads = append(l.Threads, l.maps[name])
	}
	l.Aggs = make([]*ebpf.Map, len(p.Layout.Aggs))
	for i := range l.Aggs {
		l.Aggs[i] = l.maps[aggMap(i)]
	}
	return l, -1, nil
}

// tooMuch reports whether the verifier gave up a program for its length: of
// all ways through it, or of the branches that it had to put off.
func tooMuch(err error) bool { return errors.Is(err, unix.E2BIG) || errors.Is(err, unix.EFAULT) }

// loadUnit loads the program of a unit and its further parts.
func (l *Loaded) loadUnit(unit int, specs []*ebpf.ProgramSpec) error {
	for part, spec := range specs {
		prog, err := l.loadProgram(spec)
		if err != nil {
			return err
		}
		if part == 0 {
			l.Programs = append(l.Programs, prog)
			continue
		}
		l.parts = append(l.parts, prog)
		if err := l.maps[partsMap(unit)].Put(uint32(part), prog); err != nil {
			return fmt.Errorf("program %s: making it callable: %w", spec.Name, err)
		}
	}
	return nil
}

func (l *Loaded) loadMap(name string, spec *ebpf.MapSpec) error {
	m, err := ebpf.NewMap(spec)
	if err != nil {
		return mapError(name, spec, err)
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
			return mapError(ringMap(cpu), spec.InnerMap, err)
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

func (l *Loaded) loadProgram(spec *ebpf.ProgramSpec) (*ebpf.Program, error) {
	spec = spec.Copy()
	for i := range spec.Instructions {
		ins := &spec.Instructions[i]
		if !ins.IsLoadFromMap() {
			continue
		}
		if err := ins.AssociateMap(l.maps[ins.Reference()]); err != nil {
			return nil, fmt.Errorf("program %s: map %s: %w", spec.Name, ins.Reference(), err)
		}
	}
	// The verifier's log takes as long as the program itself: it is asked for
	// when it is needed.
	prog, err := ebpf.NewProgramWithOptions(spec, ebpf.ProgramOptions{LogDisabled: true})
	if err != nil && !tooMuch(err) {
		prog, err = ebpf.NewProgram(spec)
	}
	if err != nil && refusesWrites(err) {
		return nil, ErrWrites
	}
	if err != nil {
		return nil, fmt.Errorf("loading the program %s of %d instructions into the kernel: %w", spec.Name, len(spec.Instructions), err)
	}
	return prog, nil
}

// ErrWrites is that the kernel does not let this process's programs write to
// the memory of processes.
var ErrWrites = errors.New("copyout() and copyoutstr() are not possible: the kernel does not let BPF programs of this process write to the memory of processes")

// refusesWrites reports whether the verifier refused a program for its writing
// to a process, as it does where the kernel is locked down or CAP_SYS_ADMIN is
// missing.
func refusesWrites(err error) bool {
	var v *ebpf.VerifierError
	return errors.As(err, &v) && slices.ContainsFunc(v.Log, func(line string) bool {
		return strings.Contains(line, "bpf_probe_write_user#") &&
			(strings.Contains(line, "cannot use helper") || strings.Contains(line, "unknown func"))
	})
}

// Close takes the program out of the kernel, as far as no probe holds it.
func (l *Loaded) Close() error {
	var errs []error
	for _, p := range append(l.Programs, l.parts...) {
		errs = append(errs, p.Close())
	}
	for _, m := range l.maps {
		errs = append(errs, m.Close())
	}
	for _, m := range l.outgrown {
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
