package consume

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"kinst/internal/aggregate"
	"kinst/internal/record"
)

// barWidth is how many characters the whole of a distribution is.
const barWidth = 40

// zoom is how much of the width the highest bar takes under aggzoom.
const zoom = 0.95

// bars is what bars are measured against.
type bars struct {
	total                float64
	positives, negatives bool
}

// add takes a bar's value into account.
func (s *bars) add(v int64, zooming bool) {
	s.positives = s.positives || v > 0
	s.negatives = s.negatives || v < 0
	height := math.Abs(float64(v))
	if !zooming {
		s.total += height
		return
	}
	s.total = max(s.total, height/zoom)
}

// appendDistribution renders the table of a quantize(), lquantize() or
// llquantize(): the buckets with a value, and one more on either side.
func (c *Consumer) appendDistribution(b []byte, v aggValue) []byte {
	buckets, counts := aggregate.Buckets(v.agg), v.words[1:]
	first, last := span(v.agg, counts)
	var s bars
	for _, n := range counts[first : last+1] {
		s.add(n, c.opts.AggZoom)
	}
	b = fmt.Appendf(b, "\n%16s %41s %-9s\n", "value", "------------- Distribution -------------", "count")
	for i := first; i <= last; i++ {
		label := bucketLabel(buckets[i])
		b = appendBlanks(b, 16-len(label))
		b = append(b, label...)
		b = append(b, ' ')
		b = c.appendBar(b, counts[i], v.normal, s)
	}
	return b
}

// span is the range of buckets to show. Of a distribution without any value the
// buckets around zero are shown, or the first.
func span(agg *record.Agg, counts []int64) (first, last int) {
	last = len(counts) - 1
	for first <= last && counts[first] == 0 {
		first++
	}
	if first > last {
		switch agg.Func {
		case record.Quantize:
			return aggregate.QuantizeZero - 1, aggregate.QuantizeZero + 1
		case record.Lquantize:
			return 0, min(2, last)
		}
		return 0, min(1, last)
	}
	for counts[last] == 0 {
		last--
	}
	return max(first-1, 0), min(last+1, len(counts)-1)
}

func bucketLabel(b aggregate.Bucket) string {
	text := strconv.FormatInt(b.Value, 10)
	switch b.Limit {
	case aggregate.Below:
		return "< " + text
	case aggregate.AtLeast:
		return ">= " + text
	}
	return text
}

// appendBar renders a bar and its number, up to the end of the line. Where
// there are numbers below and above zero, the bars go both ways from the middle.
func (c *Consumer) appendBar(b []byte, v, normal int64, s bars) []byte {
	length := func(width int) int {
		if s.total == 0 {
			return 0
		}
		return min(int(math.Abs(float64(v))*float64(width)/s.total+0.5), width)
	}
	switch {
	case !s.negatives && s.positives && c.opts.Encoding == "utf8":
		b = appendBlockBar(b, math.Abs(float64(v))*barWidth/s.total)
	case !s.negatives:
		n := length(barWidth)
		b = append(b, '|')
		b = appendRun(b, '@', n)
		b = appendBlanks(b, barWidth-n)
	case !s.positives:
		n := length(barWidth)
		b = appendBlanks(b, barWidth-n)
		b = appendRun(b, '@', n)
		b = append(b, '|')
	default:
		const half = barWidth / 2
		n := length(half)
		left, right := n, 0
		if v > 0 {
			left, right = 0, n
		}
		b = appendBlanks(b, half-left)
		b = appendRun(b, '@', left)
		b = append(b, '|')
		b = appendRun(b, '@', right)
		b = appendBlanks(b, half-right)
	}
	b = append(b, ' ')
	b = appendNumber(b, uint64(v/normal), true, -9)
	return append(b, '\n')
}

// appendBlockBar renders a bar of eighths of a character.
func appendBlockBar(b []byte, length float64) []byte {
	whole := min(int(length), barWidth)
	part := int((length - math.Trunc(length)) * 8)
	b = append(b, '|')
	for range whole {
		b = append(b, "\u2588"...)
	}
	if part != 0 && whole < barWidth {
		b = append(b, string(rune(0x258f-(part-1)))...)
		whole++
	}
	return appendBlanks(b, barWidth-whole)
}

func appendRun(b []byte, ch byte, n int) []byte {
	return append(b, bytes.Repeat([]byte{ch}, n)...)
}

// scale is what the rows of an aggregation share under agghist and aggpack.
type scale struct {
	kind        scaleKind
	titled      bool
	bars        bars // agghist
	first, last int  // aggpack: the range of buckets of all rows
}

type scaleKind int

const (
	scaleNone scaleKind = iota
	scaleHistogram
	scalePacked
)

// scaleOf measures the rows of an aggregation, if the options ask for it.
func (c *Consumer) scaleOf(g *group, rows []uint32) scale {
	agg := g.table.Agg
	switch agg.Func {
	case record.Quantize, record.Lquantize:
		if !c.opts.AggPack {
			return scale{}
		}
		return packedScale(g, rows)
	case record.Count, record.Sum, record.Avg, record.Stddev:
		if !c.opts.AggHist {
			return scale{}
		}
	default:
		return scale{}
	}
	s := scale{kind: scaleHistogram}
	for _, row := range rows {
		n, _ := aggregate.Number(agg, g.table.Value(int(row)), 1)
		s.bars.add(n, c.opts.AggZoom)
	}
	return s
}

func packedScale(g *group, rows []uint32) scale {
	s := scale{kind: scalePacked, last: len(aggregate.Buckets(g.table.Agg)) - 1}
	if g.table.Agg.Func == record.Lquantize {
		return s
	}
	first, last := s.last, 0
	for _, row := range rows {
		for i, n := range g.table.Value(int(row))[1:] {
			if n != 0 {
				first, last = min(first, i), max(last, i)
			}
		}
	}
	if first > last {
		first, last = aggregate.QuantizeZero, aggregate.QuantizeZero
	}
	if first != 0 && first != aggregate.QuantizeZero {
		first--
	}
	s.first, s.last = first, min(last+1, s.last)
	return s
}

// appendScaleTitle renders the titles of agghist's and aggpack's columns.
func (p *rowPrinter) appendScaleTitle(b []byte, g *group) []byte {
	keys := 0
	for _, f := range g.fields {
		keys++
		switch n := width(f.Type); {
		case f.Type.Kind == record.Int && n < 8:
			keys += keyColumns.numbers[n]
		default:
			keys += 16
		}
	}
	if p.scale.kind == scaleHistogram {
		title := "key"
		if keys == 0 {
			keys, title = 16, "value"
		}
		return fmt.Appendf(b, "\n%*s %41s %-9s\n", keys, title, "------------- Distribution -------------", "count")
	}
	title := ""
	if keys > 0 {
		title = "key"
	}
	low, high := p.packedWidths(g)
	b = fmt.Appendf(b, "\n%*s %*s .", keys, title, low, "min")
	b = appendRun(b, '-', p.scale.last-p.scale.first+1)
	return fmt.Appendf(b, ". %-*s | count\n", high, "max")
}

func (p *rowPrinter) packedWidths(g *group) (low, high int) {
	if g.table.Agg.Func == record.Lquantize {
		return 7, 8
	}
	buckets := aggregate.Buckets(g.table.Agg)
	return digits(buckets[p.scale.first].Value), digits(buckets[p.scale.last].Value)
}

// digits is how many characters aggpack reserves for a number.
func digits(v int64) int {
	return max(len(strconv.FormatInt(v, 10)), 4)
}

// appendPacked renders a distribution in one line, a character per bucket.
func (c *Consumer) appendPacked(b []byte, v aggValue, s scale) []byte {
	counts := v.words[1:][s.first : s.last+1]
	buckets := aggregate.Buckets(v.agg)
	var height bars
	total := int64(0)
	for _, n := range counts {
		height.add(n, c.opts.AggZoom)
		total += n
	}
	if v.agg.Func == record.Lquantize {
		b = fmt.Appendf(b, "%8s :", bucketLabel(buckets[s.first]))
	} else {
		low := buckets[s.first].Value
		b = fmt.Appendf(b, " %*d :", digits(low), low)
	}
	for _, n := range counts {
		b = c.appendPackedBar(b, n, height.total)
	}
	if v.agg.Func == record.Lquantize {
		return fmt.Appendf(b, ": %-8s | %d\n", bucketLabel(buckets[s.last]), total)
	}
	high := buckets[s.last].Value
	return fmt.Appendf(b, ": %-*d | %d\n", digits(high), high, total)
}

func (c *Consumer) appendPackedBar(b []byte, n int64, total float64) []byte {
	level := func(levels int) int { return int(math.Abs(float64(n))*float64(levels-1)/total + 0.5) }
	const below, ascii = "vvvvVV", "__xxxxXX"
	switch {
	case n == 0:
		return append(b, ' ')
	case n < 0:
		return append(b, below[min(level(len(below)), len(below)-1)])
	case c.opts.Encoding == "ascii":
		return append(b, ascii[min(level(len(ascii)), len(ascii)-1)])
	}
	return append(b, string(rune(0x2581+min(level(8), 7)))...)
}
