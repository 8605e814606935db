package consume

import (
	"fmt"

	"kinst/internal/record"
)

// A Report is a line about the tracing itself.
type Report struct {
	Kind  string // "drop" or "error"
	Text  string // the line, without the command's name and the newline
	CPU   int    // -1 if of none
	Loss  string // of a drop: what was lost
	Count uint64 // of a drop
}

func (c *Consumer) report(r Report) {
	if c.opts.JSON {
		c.jsonReport(r)
		return
	}
	c.message("%s", r.Text)
}

// Lost reports what was lost on a CPU since the last report, in DTrace's words.
func (c *Consumer) Lost(cpu int, loss record.Loss, count uint64) {
	if count == 0 {
		return
	}
	r := Report{Kind: "drop", CPU: cpu, Count: count}
	tag := "UNKNOWN"
	one, many, tail := "drop", "drops", fmt.Sprintf(" on CPU %d", cpu)
	switch loss {
	case record.LossRecords:
		r.Loss, tag = "records", "PRINCIPAL"
	case record.LossAggregations:
		r.Loss, tag = "aggregations", "AGGREGATION"
		one, many = "aggregation drop", "aggregation drops"
	case record.LossVariables:
		r.Loss, tag = "variables", "DYNAMIC"
		one, many = "dynamic variable drop", "dynamic variable drops"
	case record.LossSpeculations:
		r.Loss, tag = "speculations", "SPEC"
		one, many = "speculative drop", "speculative drops"
	case record.LossSpecBusy:
		r.Loss, tag = "speculations-unavailable", "SPECUNAVAIL"
		one, many, tail = "failed speculation", "failed speculations", " (no speculative buffer available)"
	case record.LossSpecActive:
		r.Loss, tag = "speculations-busy", "SPECBUSY"
		one, many, tail = "failed speculation", "failed speculations", " (available buffer(s) still busy)"
	default:
		r.Loss = fmt.Sprintf("loss-%d", loss)
		one, many = "other drop", "other drops"
	}
	if loss == record.LossVariables || loss == record.LossSpeculations {
		tail = ""
	}
	r.Text = c.dropTag(tag) + plural(count, one, many) + tail
	c.report(r)
}

// dropTag returns what a loss is called in libdtrace (dt_handle.c), to be put
// before its text, if the option droptags is set.
func (c *Consumer) dropTag(tag string) string {
	if !c.opts.DropTags {
		return ""
	}
	return "[DTRACEDROP_" + tag + "] "
}

// Overflown reports the records that found no room in a speculation since the
// last report.
func (c *Consumer) Overflown() {
	c.Lost(-1, record.LossSpeculations, c.overflown)
	c.overflown = 0
}

// Missed reports probe firings that the kernel skipped because a program was
// already running on that CPU, or because it ran out of return probes.
func (c *Consumer) Missed(count uint64) {
	if count == 0 {
		return
	}
	c.report(Report{Kind: "drop", CPU: -1, Loss: "firings", Count: count,
		Text: c.dropTag("FIRINGS") + plural(count, "probe firing", "probe firings") + " skipped by the kernel"})
}

func plural(n uint64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
