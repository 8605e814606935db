package consume

import (
	"slices"
	"strings"

	"kinst/internal/record"
)

// flow is the state of -F: how deep the calls are, and the record that waits
// for its successor, because the last clause of a return is what unindents.
type flow struct {
	indent  int
	last    *event // printed last; its data is not kept
	pending *event
}

type flowKind int

const (
	flowNone flowKind = iota
	flowEntry
	flowReturn
)

// flowOf says whether a probe is an entry or a return, and with which arrow it
// is shown.
func flowOf(p *record.Probe) (kind flowKind, arrow string) {
	syscall := p.Provider == "syscall"
	switch {
	case p.Name == "entry" || strings.HasSuffix(p.Name, "-entry"):
		if syscall {
			return flowEntry, " => "
		}
		return flowEntry, " -> "
	case p.Name == "return" || strings.HasSuffix(p.Name, "-return"):
		if syscall {
			return flowReturn, " <= "
		}
		return flowReturn, " <- "
	}
	return flowNone, "| "
}

// flowEvent prints a record under -F. Several clauses of one firing indent and
// unindent once: the first of an entry, the last of a return.
func (c *Consumer) flowEvent(e event) error {
	if p := c.flow.pending; p != nil {
		c.flow.pending = nil
		sameFiring := p.index == e.index && p.clause != e.clause
		if err := c.printFlow(*p, sameFiring); err != nil {
			return err
		}
	}
	if kind, _ := flowOf(e.probe); kind == flowReturn {
		e.data = slices.Clone(e.data)
		c.flow.pending = &e
		return nil
	}
	return c.printFlow(e, false)
}

// flushFlow prints the record that waits for a successor.
func (c *Consumer) flushFlow() error {
	p := c.flow.pending
	if p == nil {
		return nil
	}
	c.flow.pending = nil
	return c.printFlow(*p, false)
}

// printFlow prints a record; more tells that another clause of the same firing
// follows.
func (c *Consumer) printFlow(e event, more bool) error {
	f := &c.flow
	kind, arrow := flowOf(e.probe)
	switch {
	case kind == flowEntry && f.last != nil && f.last.index == e.index && f.last.clause != e.clause,
		kind == flowReturn && more:
		kind, arrow = flowNone, "| "
	}
	if kind == flowReturn {
		f.indent = max(f.indent-2, 0)
	}
	indent := f.indent
	if kind == flowEntry {
		f.indent += 2
	}
	f.last = &event{index: e.index, clause: e.clause}
	return c.print(e, arrow, indent)
}

// appendFlow renders the column FUNCTION of -F.
func appendFlow(b []byte, p *record.Probe, arrow string, indent int) []byte {
	begin := len(b)
	b = appendBlanks(b, indent)
	b = append(b, arrow...)
	b = append(b, p.Function...)
	if arrow == "| " {
		b = append(b, ':')
		b = append(b, p.Name...)
	}
	b = appendBlanks(b, 41-(len(b)-begin))
	return append(b, ' ')
}
