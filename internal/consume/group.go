package consume

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"kinst/internal/aggregate"
	"kinst/internal/record"
)

// group is a Table whose rows are grouped by what their keys mean: rows that
// differ only in the address within one function, or in the probe where the key
// is the function's name, are one row.
type group struct {
	c      *Consumer
	table  *aggregate.Table
	fields []record.Field
	rows   []uint32          // those that stand for themselves
	member map[uint32]uint32 // the others: the row that each was merged into
}

// group makes a table's keys canonical and merges what becomes equal. It
// changes the table.
func (c *Consumer) group(t *aggregate.Table) *group {
	g := &group{c: c, table: t, fields: fieldsOf(t.Agg), rows: make([]uint32, t.Len())}
	for i := range g.rows {
		g.rows[i] = uint32(i)
	}
	canon := c.canonicalizers(t.Agg, g.fields)
	if len(canon) == 0 {
		return g
	}
	for row := range t.Len() {
		for _, canonicalize := range canon {
			canonicalize(t.Key(row))
		}
	}
	g.merge()
	return g
}

// merge adds up the rows of equal keys.
func (g *group) merge() {
	t := g.table
	slices.SortFunc(g.rows, func(a, b uint32) int {
		if c := bytes.Compare(t.Key(int(a)), t.Key(int(b))); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	kept := g.rows[:0]
	for _, row := range g.rows {
		if n := len(kept); n > 0 && bytes.Equal(t.Key(int(kept[n-1])), t.Key(int(row))) {
			aggregate.Merge(t.Agg, t.Value(int(kept[n-1])), t.Value(int(row)))
			if g.member == nil {
				g.member = make(map[uint32]uint32)
			}
			g.member[row] = kept[n-1]
			continue
		}
		kept = append(kept, row)
	}
	g.rows = kept
}

// representative is the row that stands for a row.
func (g *group) representative(row uint32) uint32 {
	if into, ok := g.member[row]; ok {
		return into
	}
	return row
}

// canonicalizers are what must be done to each key of an aggregation, none where
// keys that differ in their bytes differ in their meaning too.
func (c *Consumer) canonicalizers(agg *record.Agg, fields []record.Field) []func(key []byte) {
	if agg.BySite && len(fields) == 0 {
		return []func([]byte){func(key []byte) { clear(key) }}
	}
	if agg.BySite {
		kinds := make([]record.Kind, len(fields))
		for i, f := range fields {
			kinds[i] = f.Type.Kind
		}
		if probes := c.canonicalProbes(kinds); probes != nil {
			return []func([]byte){probes}
		}
		return nil
	}
	var canon []func([]byte)
	for _, f := range fields {
		var canonicalize func([]byte)
		switch f.Type.Kind {
		case record.ProbeProvider, record.ProbeModule, record.ProbeFunction, record.ProbeName:
			canonicalize = c.canonicalProbes([]record.Kind{f.Type.Kind})
		case record.KernelSymbol, record.KernelFunc:
			canonicalize = c.canonicalKernel
		case record.KernelModule:
			canonicalize = c.canonicalModule()
		case record.UserSymbol, record.UserFunc:
			canonicalize = c.canonicalUser
		case record.UserModule:
			canonicalize = c.canonicalObject()
		}
		if canonicalize != nil {
			canon = append(canon, func(key []byte) { canonicalize(key[f.Offset:]) })
		}
	}
	return canon
}

// canonicalProbes replaces the index of a probe by that of the first one with
// the same names. It is nil where no two probes share them.
func (c *Consumer) canonicalProbes(kinds []record.Kind) func([]byte) {
	first := make(map[[4]string]uint32, len(c.probes))
	canonical := make([]uint32, len(c.probes))
	same := true
	for i := range c.probes {
		var names [4]string
		for _, kind := range kinds {
			names[kind-record.ProbeProvider] = c.probeField(kind, uint32(i))
		}
		at, known := first[names]
		if !known {
			at = uint32(i)
			first[names] = at
		}
		canonical[i] = at
		same = same && !known
	}
	if same {
		return nil
	}
	return func(b []byte) {
		if i := binary.NativeEndian.Uint32(b); i < uint32(len(canonical)) {
			binary.NativeEndian.PutUint32(b, canonical[i])
		}
	}
}

func (c *Consumer) canonicalKernel(b []byte) {
	addr := binary.NativeEndian.Uint64(b)
	binary.NativeEndian.PutUint64(b, addr-c.kernelSymbol(addr).offset)
}

func (c *Consumer) canonicalUser(b []byte) {
	pid, addr := binary.NativeEndian.Uint32(b), binary.NativeEndian.Uint64(b[8:])
	binary.NativeEndian.PutUint64(b[8:], addr-c.userSymbol(pid, addr).offset)
}

func (c *Consumer) canonicalModule() func([]byte) {
	first := make(map[string]uint64)
	return func(b []byte) {
		addr := binary.NativeEndian.Uint64(b)
		if s := c.kernelSymbol(addr); s.module != "" {
			if _, known := first[s.module]; !known {
				first[s.module] = addr
			}
			binary.NativeEndian.PutUint64(b, first[s.module])
		}
	}
}

func (c *Consumer) canonicalObject() func([]byte) {
	type object struct {
		pid  uint32
		name string
	}
	first := make(map[object]uint64)
	return func(b []byte) {
		pid, addr := binary.NativeEndian.Uint32(b), binary.NativeEndian.Uint64(b[8:])
		if s := c.userSymbol(pid, addr); s.module != "" {
			o := object{pid, s.module}
			if _, known := first[o]; !known {
				first[o] = addr
			}
			binary.NativeEndian.PutUint64(b[8:], first[o])
		}
	}
}
