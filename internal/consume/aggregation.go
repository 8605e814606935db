package consume

import (
	"fmt"
	"math"
	"slices"

	"kinst/internal/aggregate"
	"kinst/internal/dformat"
	"kinst/internal/record"
)

// aggState is what printing knows of an aggregation.
type aggState struct {
	normal  int64 // the divisor of normalize(), 1 by default
	printed bool  // some printa() has shown it
}

// aggValue is an aggregation's value for one key.
type aggValue struct {
	agg    *record.Agg
	words  []int64
	normal int64
}

// PrintAggregations prints the aggregations that no printa() has printed, as
// dtrace(1) does at its end: after an empty line, one after the other.
func (c *Consumer) PrintAggregations() error {
	if !c.opts.JSON {
		c.out.buf = append(c.out.buf, '\n')
	}
	for i, agg := range c.layout.Aggs {
		if c.aggs[i].printed || !agg.Used {
			continue
		}
		if err := c.printRows([]int{i}, nil, nil); err != nil {
			return err
		}
	}
	return c.out.flush()
}

// printa prints aggregations in the order of their values: with its format, or
// after an empty line as PrintAggregations does.
func (c *Consumer) printa(e event, a *action) error {
	for _, index := range a.Aggs {
		c.aggs[index].printed = true
	}
	if a.format == nil && !c.opts.JSON {
		c.out.buf = append(c.out.buf, '\n')
	}
	return c.printRows(a.Aggs, a.format, &e)
}

// aggregationAction does what changes an aggregation.
func (c *Consumer) aggregationAction(e event, a *action) error {
	index := a.Aggs[0]
	argument := int64(0)
	if len(a.Fields) > 0 {
		f := a.Fields[0]
		argument = int64(integer(f.Type, field(f, e.data)))
	}
	switch a.Kind {
	case record.Normalize:
		if argument <= 0 {
			c.libraryError(e, "couldn't normalize() @%s by %d: only numbers greater than 0 can divide it", c.layout.Aggs[index].Name, argument)
			return nil
		}
		c.aggs[index].normal = argument
	case record.Denormalize:
		c.aggs[index].normal = 1
	case record.Clear:
		return c.store("clear()", index, func(s Aggregations) error { return s.Clear(index) })
	case record.Trunc:
		return c.store("trunc()", index, func(s Aggregations) error { return c.trunc(s, index, argument) })
	}
	return nil
}

func (c *Consumer) store(what string, index int, do func(Aggregations) error) error {
	if c.opts.Aggregations == nil {
		return fmt.Errorf("%s of @%s: this consumer has no aggregations", what, c.layout.Aggs[index].Name)
	}
	if err := do(c.opts.Aggregations); err != nil {
		return fmt.Errorf("%s of @%s: %w", what, c.layout.Aggs[index].Name, err)
	}
	return nil
}

// trunc removes all keys but the keep greatest, or the -keep least.
func (c *Consumer) trunc(s Aggregations, index int, keep int64) error {
	if keep == 0 {
		return s.Remove(index, nil)
	}
	t, err := s.Snapshot(index)
	if err != nil {
		return err
	}
	keys := originalKeys(t)
	g := c.group(t)
	order := g.sorted(sortOrder{reverse: keep > 0})
	if keep < 0 {
		keep = -max(keep, math.MinInt64+1)
	}
	if keep >= int64(len(order)) {
		return nil
	}
	doomed := make(map[uint32]bool, len(order)-int(keep))
	for _, row := range order[keep:] {
		doomed[row] = true
	}
	row := 0
	keys = slices.DeleteFunc(keys, func([]byte) bool {
		row++
		return !doomed[g.representative(uint32(row-1))]
	})
	return s.Remove(index, keys)
}

// originalKeys copies the keys of a table before they are grouped.
func originalKeys(t *aggregate.Table) [][]byte {
	keys := make([][]byte, t.Len())
	for row := range keys {
		keys[row] = slices.Clone(t.Key(row))
	}
	return keys
}

// printRows prints the rows of one aggregation, or of several joined by key, for
// a printa() of the record by, or, where that is nil, in the end.
func (c *Consumer) printRows(aggs []int, f *format, by *event) error {
	groups := make([]*group, len(aggs))
	for i, index := range aggs {
		err := c.store("printing", index, func(s Aggregations) error {
			t, err := s.Snapshot(index)
			if err == nil {
				groups[i] = c.group(t)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	order := sortOrder{
		byKey:   c.opts.AggSortKey,
		reverse: c.opts.AggSortRev,
		keyPos:  c.opts.AggSortKeyPos,
		aggPos:  c.opts.AggSortPos,
	}
	p := &rowPrinter{Consumer: c, format: f, by: by, values: make([]aggValue, len(aggs))}
	for i, index := range aggs {
		p.values[i] = aggValue{agg: c.layout.Aggs[index], normal: c.aggs[index].normal}
	}
	if len(groups) == 1 {
		g := groups[0]
		rows := g.sorted(order)
		p.scale = c.scaleOf(g, rows)
		for _, row := range rows {
			p.values[0].words = g.table.Value(int(row))
			if err := p.print(g, int(row)); err != nil {
				return err
			}
		}
		return nil
	}
	return joined(groups, order, func(key *group, row int, words [][]int64) error {
		for i := range words {
			p.values[i].words = words[i]
		}
		return p.print(key, row)
	})
}

// rowPrinter prints the rows of a printa().
type rowPrinter struct {
	*Consumer
	format *format
	by     *event
	values []aggValue
	scale  scale
}

func (p *rowPrinter) print(g *group, row int) error {
	key := g.table.Key(row)
	switch {
	case p.opts.JSON:
		p.jsonRow(g, key, p.values)
	case p.format != nil:
		p.out.buf = p.appendFormat(p.out.buf, p.format, g.fields, key, p.values)
	default:
		p.printRow(g, key)
	}
	return p.out.flushFull()
}

// printRow prints a row in columns.
func (p *rowPrinter) printRow(g *group, key []byte) {
	b := p.out.buf
	cols := keyColumns
	if p.scale.kind != scaleNone {
		if !p.scale.titled {
			p.scale.titled = true
			b = p.appendScaleTitle(b, g)
		}
		cols.bytes = -16
	}
	for _, f := range g.fields {
		b = p.appendValue(b, f.Type, field(f, key), cols)
	}
	switch p.scale.kind {
	case scaleHistogram:
		b = append(b, ' ')
		n, _ := aggregate.Number(p.values[0].agg, p.values[0].words, 1)
		b = p.appendBar(b, n, p.values[0].normal, p.scale.bars)
	case scalePacked:
		b = p.appendPacked(b, p.values[0], p.scale)
	default:
		for _, v := range p.values {
			b = p.appendAggColumn(b, v)
		}
		b = append(b, '\n')
	}
	p.out.buf = b
}

// appendAggColumn renders a value in the last columns.
func (c *Consumer) appendAggColumn(b []byte, v aggValue) []byte {
	n, ok := aggregate.Number(v.agg, v.words, v.normal)
	if !ok {
		return c.appendDistribution(b, v)
	}
	b = append(b, ' ')
	return appendNumber(b, uint64(n), v.signed(), 16)
}

func (v aggValue) signed() bool {
	return v.agg.Func != record.Count && v.agg.Func != record.Stddev && v.agg.Signed
}

// appendAggValue renders a value under %@.
func (c *Consumer) appendAggValue(b []byte, verb *dformat.Verb, spec dformat.Spec, v aggValue) []byte {
	n, ok := aggregate.Number(v.agg, v.words, v.normal)
	if !ok {
		return c.appendDistribution(b, v)
	}
	switch verb.Letter {
	case 'd':
		if v.signed() {
			return spec.AppendSigned(b, n)
		}
		return spec.AppendUnsigned(b, uint64(n), 'u')
	case 'i':
		return spec.AppendSigned(b, n)
	case 'u', 'o', 'x', 'X':
		return spec.AppendUnsigned(b, uint64(n), verb.Letter)
	case 'e', 'E', 'f', 'g', 'G':
		return spec.AppendFloat(b, float64(n), verb.Letter)
	case 'c':
		return spec.AppendChar(b, byte(n))
	}
	switch verb.Takes {
	case dformat.Time:
		return spec.AppendText(b, timeText(verb.Name[0], uint64(n)))
	case dformat.KernelAddress:
		return spec.AppendText(b, c.kernelSymbol(uint64(n)).text(uint64(n), true))
	}
	return spec.AppendSigned(b, n)
}

// fieldsOf are the fields of an aggregation's keys as a Table has them: where
// the program indexes by site, each is the probe's index.
func fieldsOf(agg *record.Agg) []record.Field {
	if !agg.BySite {
		return agg.Keys
	}
	fields := make([]record.Field, len(agg.Keys))
	for i, f := range agg.Keys {
		fields[i] = record.Field{Type: f.Type}
	}
	return fields
}
