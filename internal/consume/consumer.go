package consume

import (
	"encoding/binary"
	"fmt"
	"io"

	"kinst/internal/aggregate"
	"kinst/internal/record"
)

// Options are the options that decide how things look, under the names they
// have with -x, and where the Consumer gets what records only point at. Their
// zero values are DTrace's defaults.
type Options struct {
	Quiet      bool
	FlowIndent bool
	RawBytes   bool
	NoDemangle bool
	DropTags   bool // names before the texts of losses
	// Encoding is of the bars: "utf8", "ascii", or "" for ascii, but utf8 with
	// AggPack.
	Encoding string

	StackIndent int // columns before each frame; 0 means 14, below 0 none

	AggSortKey    bool
	AggSortRev    bool
	AggSortKeyPos int // the key that is compared first, counted from 0
	AggSortPos    int // the aggregation of a printa() that is compared first, from 0
	AggHist       bool
	AggPack       bool
	AggZoom       bool

	// JSON writes one object per line instead of text; see json.go.
	JSON bool

	// Target is the process that %A takes bare addresses to be of.
	Target uint32
	// SpecSize bounds what one speculation may hold, in bytes; 0 means no bound.
	SpecSize int

	// Kernel and User name addresses; nil leaves them as numbers.
	Kernel KernelSymbols
	User   UserSymbols
	// Aggregations are where printa() and PrintAggregations look.
	Aggregations Aggregations
	// Message gets what is not output: losses, faults, each one line without
	// its newline and without the command's name before it. It goes to the
	// output where JSON is set.
	Message func(text string)
	// SetOption serves setopt(); of one without a value, that is "1".
	SetOption func(name, value string) error
}

// Aggregations is the store that the programs aggregate into. Aggregations are
// named by their Index.
type Aggregations interface {
	// Snapshot merges the aggregation as it is now. The caller owns the table.
	Snapshot(agg int) (*aggregate.Table, error)
	// Clear forgets the values, but not the keys.
	Clear(agg int) error
	// Remove forgets keys altogether; without any, the whole aggregation.
	Remove(agg int, keys [][]byte) error
}

// Consumer prints the records and aggregations of one session.
type Consumer struct {
	opts    Options
	layout  *record.Layout
	probes  []record.Probe
	out     output
	clauses []*clause

	heading  bool     // the column titles have been printed
	prefixes []string // by probe
	flow     flow
	specs    map[uint32]*speculation
	// overflown is how many records found no room in a speculation since that
	// was last reported.
	overflown uint64
	aggs      []aggState
	symbols   symbolCache
	exited    bool
	status    int
	scratch   []byte
	json      []byte // of a record, while nothing else needs it
}

// New returns a Consumer that writes to w. It fails where the layout does not
// fit together, which is the compiler's fault and not the user's.
func New(w io.Writer, layout *record.Layout, probes []record.Probe, opts *Options) (*Consumer, error) {
	c := &Consumer{
		layout: layout,
		out:    output{w: w},
		specs:  make(map[uint32]*speculation),
		aggs:   make([]aggState, len(layout.Aggs)),
	}
	if opts != nil {
		c.opts = *opts
	}
	for i := range c.aggs {
		c.aggs[i].normal = 1
	}
	for _, agg := range layout.Aggs {
		if err := checkAgg(agg); err != nil {
			return nil, fmt.Errorf("aggregation @%s: %w", agg.Name, err)
		}
	}
	if err := c.Extend(probes); err != nil {
		return nil, err
	}
	return c, nil
}

// Extend takes what has been added since to the layout's clauses and to the
// table of probes.
func (c *Consumer) Extend(probes []record.Probe) error {
	for _, rc := range c.layout.Clauses[len(c.clauses):] {
		cl, err := compileClause(rc, c.layout)
		if err != nil {
			return fmt.Errorf("clause %d: %w", rc.Index, err)
		}
		c.clauses = append(c.clauses, cl)
	}
	c.probes = probes
	return nil
}

// Record prints one record. Errors of the output are returned, and records that
// the layout does not explain.
func (c *Consumer) Record(cpu int, data []byte) error {
	if len(data) < record.HeaderSize {
		return fmt.Errorf("a record of %d bytes, less than its header has", len(data))
	}
	index := binary.NativeEndian.Uint32(data[record.ClauseOffset:])
	probeIndex := binary.NativeEndian.Uint32(data[record.ProbeOffset:])
	probe, err := c.probe(probeIndex)
	if err != nil {
		return err
	}
	if index == record.ClauseError {
		return c.fault(cpu, probe, data)
	}
	if index >= uint32(len(c.clauses)) {
		return fmt.Errorf("a record of clause %d: there are %d", index, len(c.clauses))
	}
	cl := c.clauses[index]
	if len(data) < cl.Size {
		return fmt.Errorf("a record of %d bytes: clause %d has %d", len(data), index, cl.Size)
	}
	e := event{cpu: cpu, probe: probe, index: probeIndex, clause: cl, data: data[:cl.Size]}
	if cl.speculates {
		c.speculate(e)
		return nil
	}
	return c.event(e)
}

// Flush writes out what Record has printed so far. In between, the output is
// held back to be written in large pieces.
func (c *Consumer) Flush() error {
	if err := c.flushFlow(); err != nil {
		return err
	}
	return c.out.flush()
}

// Exited returns the status that exit() was called with, and whether it was.
func (c *Consumer) Exited() (status int, ok bool) { return c.status, c.exited }

// SetOptions changes the options while the program runs, as setopt() does.
func (c *Consumer) SetOptions(change func(*Options)) { change(&c.opts) }

func (c *Consumer) probe(index uint32) (*record.Probe, error) {
	if index >= uint32(len(c.probes)) {
		return nil, fmt.Errorf("a record of probe %d: there are %d", index, len(c.probes))
	}
	return &c.probes[index], nil
}

// event is a record that has been checked.
type event struct {
	cpu    int
	probe  *record.Probe
	index  uint32 // the probe's
	clause *clause
	data   []byte
}

// time is when the probe fired, on CLOCK_MONOTONIC, in nanoseconds.
func (e event) time() uint64 { return word(e.data[record.TimeOffset:]) }

func (c *Consumer) event(e event) error {
	if c.opts.JSON {
		return c.jsonEvent(e)
	}
	if c.opts.FlowIndent {
		return c.flowEvent(e)
	}
	return c.print(e, "", 0)
}

// print prints a record: its prefix, what its actions say, a newline.
func (c *Consumer) print(e event, arrow string, indent int) error {
	if !e.clause.commits {
		c.printPrefix(e, arrow, indent)
	}
	for i := range e.clause.actions {
		if err := c.act(e, &e.clause.actions[i]); err != nil {
			return err
		}
	}
	if !e.clause.commits && !c.opts.Quiet {
		c.out.buf = append(c.out.buf, '\n')
	}
	return c.out.flushFull()
}

// printPrefix prints the columns before the traced data, and their titles
// before the first record.
func (c *Consumer) printPrefix(e event, arrow string, indent int) {
	b := c.out.buf
	if !c.heading {
		c.heading = true
		switch {
		case c.opts.FlowIndent:
			b = fmt.Appendf(b, "%3s %-41s\n", "CPU", "FUNCTION")
		case !c.opts.Quiet:
			b = fmt.Appendf(b, "%3s %6s %32s\n", "CPU", "ID", "FUNCTION:NAME")
		}
	}
	switch {
	case c.opts.FlowIndent:
		b = appendRight(b, int64(e.cpu), 3)
		b = append(b, ' ')
		b = appendFlow(b, e.probe, arrow, indent)
	case !c.opts.Quiet:
		b = appendRight(b, int64(e.cpu), 3)
		b = append(b, c.columns(e.index)...)
	}
	c.out.buf = b
}

// columns are the columns of a probe, rendered once.
func (c *Consumer) columns(index uint32) string {
	if more := len(c.probes) - len(c.prefixes); more > 0 {
		c.prefixes = append(c.prefixes, make([]string, more)...)
	}
	if c.prefixes[index] == "" {
		p := &c.probes[index]
		c.prefixes[index] = fmt.Sprintf(" %6d %32s ", p.ID, p.Function+":"+p.Name)
	}
	return c.prefixes[index]
}

func (c *Consumer) message(format string, args ...any) {
	if c.opts.Message != nil {
		c.opts.Message(fmt.Sprintf(format, args...))
	}
}
