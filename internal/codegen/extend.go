package codegen

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// laterConstants is how many bytes of string constants the units that Extend
// brings may have.
const laterConstants = 64 << 10

// grows reports whether Extend may bring more units.
func (c *compiler) grows() bool {
	return slices.ContainsFunc(c.units, func(u *Unit) bool { return u.Later })
}

// Extend adds units to a program that has been loaded: of user processes, with
// clauses for which there are units for later. Their programs come behind the
// others in l.Programs and what they record behind the rest of the layout; they
// share the variables and aggregations. On an error there is no program more.
func (p *Program) Extend(l *Loaded, units []*Unit) error {
	before := len(l.Programs)
	for _, u := range units {
		if err := p.extend(l, u); err != nil {
			for _, prog := range l.Programs[before:] {
				err = errors.Join(err, prog.Close())
			}
			l.Programs = l.Programs[:before]
			return err
		}
	}
	return nil
}

// extend adds one unit, cut as finely as it takes.
func (p *Program) extend(l *Loaded, u *Unit) error {
	c := p.compiler
	number, records := len(c.units), len(c.layout.Clauses)
	c.units = append(c.units, u)
	for cut, budget := range budgets {
		c.layout.Clauses = c.layout.Clauses[:records]
		parts, err := c.unit(number, budget)
		if err == nil {
			err = c.checkLimits()
		}
		if err != nil {
			return compileError(u, err)
		}
		specs, last := programSpecs(u, number, parts), cut+1 == len(budgets)
		if tooLong(specs) && !last {
			continue
		}
		if err = l.extend(c, number, specs); err == nil || !tooMuch(err) || last {
			return err
		}
	}
	return nil
}

// extend loads the program of one more unit.
func (l *Loaded) extend(c *compiler, number int, specs []*ebpf.ProgramSpec) error {
	if err := l.writeConstants(&c.globals); err != nil {
		return err
	}
	for _, spec := range specs {
		for i := range spec.Instructions {
			if ins := &spec.Instructions[i]; ins.IsLoadFromMap() {
				if err := l.provide(c, ins.Reference()); err != nil {
					return err
				}
			}
		}
	}
	before := len(l.Programs)
	err := l.loadUnit(number, specs)
	if err != nil && len(l.Programs) > before {
		err = errors.Join(err, l.Programs[before].Close())
		l.Programs = l.Programs[:before]
	}
	return err
}

// provide makes sure that a map is there and, of scratch memory, large enough.
// Programs that run have theirs to themselves, so that others may go on with a
// smaller map.
func (l *Loaded) provide(c *compiler, name string) error {
	spec := c.maps[name]
	if name == piecesMap {
		spec.ValueSize = uint32(c.scratchSize())
	}
	old := l.maps[name]
	if old != nil && (name != piecesMap || old.ValueSize() >= spec.ValueSize) {
		return nil
	}
	if old != nil {
		l.outgrown = append(l.outgrown, old)
	}
	return l.loadMap(name, spec)
}

// writeConstants writes the string constants that have been added.
func (l *Loaded) writeConstants(g *globals) error {
	m := l.maps[globalsMap]
	size := int(m.ValueSize())
	if g.size() > size {
		return limit("the probes that have been added since tracing began need more than %d bytes of string constants", laterConstants)
	}
	if len(g.bytes) == l.constants {
		return nil
	}
	memory, err := unix.Mmap(m.FD(), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("mapping the global variables into memory: %w", err)
	}
	copy(memory[l.constants:], g.bytes[l.constants:])
	l.constants = len(g.bytes)
	return unix.Munmap(memory)
}
