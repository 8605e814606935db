package consume

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"kinst/internal/aggregate"
	"kinst/internal/record"
)

// With the option oformat=json each line of the output is one object. Its field
// "kind" says which:
//
//	{"kind":"record","time":N,"cpu":N,"id":N,"provider":S,"module":S,
//	 "function":S,"name":S,"clause":N,"output":[ACTION...]}
//
// is a record: the time in nanoseconds of CLOCK_MONOTONIC, the CPU, the probe's
// ID and description, which clause of the program it was, counted from 0, and
// what its actions recorded:
//
//	{"action":"trace","value":VALUE}
//	{"action":"printf","text":S,"values":[VALUE...]}
//	{"action":"tracemem","bytes":HEX}
//	{"action":"print","type":S,"value":VALUE}
//	{"action":"stack","frames":[S...]}, also "ustack"
//	{"action":"symbol","value":S}
//	{"action":"printa","aggregations":[S...]}; its rows come before the record
//	{"action":"system","command":S}; what it printed comes before the record
//	{"action":"exit","status":N}
//
// A VALUE is a number, a string, an array, an object of a structure's members,
// the name of an enumerator, a string 0x... for a pointer, hexadecimal digits
// for raw bytes, an array of frames for a stack.
//
//	{"kind":"aggregation","name":S,"function":S,"keys":[VALUE...],"value":N}
//
// is one key of an aggregation; of a printa() it also has the "time", "cpu", "id"
// and "clause" of the record whose action it was, before "keys". That of a printa() of several aggregations has
// "values":[{"name":S,"function":S,"value":N}...] instead. Of a distribution
// there is no "value" but
//
//	"buckets":[{"from":N,"count":N}...]
//
// with the buckets that are not empty, the first with "below":N where it is for
// everything below, the last with "from" for everything from there on. A
// normalized value is the divided one, with "normal":N beside it.
//
//	{"kind":"system","time":N,"cpu":N,"id":N,"clause":N,"text":S}
//
// is a line that a command of system() has printed, for the record that has the
// same time, cpu, id and clause. A line longer than 64 kB is several objects.
//
//	{"kind":"drop","what":S,"cpu":N,"count":N,"text":S}
//	{"kind":"error","text":S}
//
// are losses and faults; what is one of records, aggregations, variables,
// speculations, speculations-unavailable, speculations-busy, firings, and cpu is
// left out where it is of none.

func (c *Consumer) jsonEvent(e event) error {
	// Rows of a printa(), and what setopt() or system() do, come first: the
	// record is written in one piece.
	b := c.jsonPrefix(c.json[:0], e)
	c.json = nil // a commit() comes here again
	first := true
	for i := range e.clause.actions {
		a := &e.clause.actions[i]
		if !first {
			b = append(b, ',')
		}
		n := len(b)
		b = c.jsonAction(b, e, a)
		switch {
		case len(b) > n:
			first = false
		case !first:
			b = b[:n-1]
		}
		switch a.Kind {
		case record.Printf, record.Trace, record.Tracemem, record.Print, record.Stack, record.UStack, record.Symbol:
		default:
			if err := c.act(e, a); err != nil {
				return err
			}
		}
	}
	if !e.clause.commits {
		c.out.buf = append(c.out.buf, b...)
		c.out.buf = append(c.out.buf, "]}\n"...)
	}
	c.json = b
	return c.out.flushFull()
}

func (c *Consumer) jsonPrefix(b []byte, e event) []byte {
	b = appendJSONPlace(append(b, `{"kind":"record"`...), e)
	b = appendJSONField(b, "provider", e.probe.Provider)
	b = appendJSONField(b, "module", e.probe.Module)
	b = appendJSONField(b, "function", e.probe.Function)
	b = appendJSONField(b, "name", e.probe.Name)
	b = appendJSONClause(b, e)
	return append(b, `,"output":[`...)
}

// appendJSONPlace renders when and where a record was made.
func appendJSONPlace(b []byte, e event) []byte {
	b = append(b, `,"time":`...)
	b = strconv.AppendUint(b, e.time(), 10)
	b = append(b, `,"cpu":`...)
	b = strconv.AppendInt(b, int64(e.cpu), 10)
	b = append(b, `,"id":`...)
	return strconv.AppendInt(b, int64(e.probe.ID), 10)
}

func appendJSONClause(b []byte, e event) []byte {
	b = append(b, `,"clause":`...)
	return strconv.AppendInt(b, int64(e.clause.Source), 10)
}

// jsonLines writes what a command prints, an object for each line.
type jsonLines struct {
	*Consumer
	event   event
	pending []byte // of a line whose end has not come yet
}

func (l *jsonLines) Write(p []byte) (int, error) {
	l.pending = append(l.pending, p...)
	rest := l.pending
	for {
		line, after, ended := bytes.Cut(rest, []byte{'\n'})
		if !ended && len(rest) < outputSize {
			break
		}
		l.line(line)
		rest = after
	}
	l.pending = append(l.pending[:0], rest...)
	if err := l.out.flush(); err != nil {
		return 0, fmt.Errorf("%w: %w", errOutput, err)
	}
	return len(p), nil
}

// end writes what is left when the command has ended.
func (l *jsonLines) end() {
	if len(l.pending) > 0 {
		l.line(l.pending)
	}
}

func (l *jsonLines) line(text []byte) {
	b := appendJSONPlace(append(l.out.buf, `{"kind":"system"`...), l.event)
	b = appendJSONClause(b, l.event)
	b = appendJSONField(b, "text", string(text))
	l.out.buf = append(b, "}\n"...)
}

// jsonAction renders an action, or nothing where it has no output.
func (c *Consumer) jsonAction(b []byte, e event, a *action) []byte {
	value := func(name string, f record.Field) []byte {
		b = append(b, `,"`...)
		b = append(b, name...)
		b = append(b, `":`...)
		return c.appendJSONValue(b, f.Type, field(f, e.data))
	}
	switch a.Kind {
	case record.Trace:
		b = append(b, `{"action":"trace"`...)
		b = value("value", a.Fields[0])
	case record.Symbol:
		b = append(b, `{"action":"symbol"`...)
		b = value("value", a.Fields[0])
	case record.Stack:
		b = append(b, `{"action":"stack"`...)
		b = value("frames", a.Fields[0])
	case record.UStack:
		b = append(b, `{"action":"ustack"`...)
		b = value("frames", a.Fields[0])
	case record.Print:
		b = append(b, `{"action":"print"`...)
		b = appendJSONField(b, "type", a.Fields[0].Type.Name)
		b = value("value", a.Fields[0])
	case record.Tracemem:
		b = append(b, `{"action":"tracemem"`...)
		b = appendJSONField(b, "bytes", hex.EncodeToString(tracemem(a, e.data)))
	case record.Printf:
		b = append(b, `{"action":"printf"`...)
		b = appendJSONField(b, "text", string(c.appendFormat(nil, a.format, a.Fields, e.data, nil)))
		b = append(b, `,"values":[`...)
		for i, f := range a.Fields {
			if i > 0 {
				b = append(b, ',')
			}
			b = c.appendJSONValue(b, f.Type, field(f, e.data))
		}
		b = append(b, ']')
	case record.Printa:
		b = append(b, `{"action":"printa","aggregations":[`...)
		for i, index := range a.Aggs {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSONString(b, c.layout.Aggs[index].Name)
		}
		b = append(b, ']')
	case record.System:
		b = append(b, `{"action":"system"`...)
		b = appendJSONField(b, "command", c.formatted(e, a))
	case record.Exit:
		b = append(b, `{"action":"exit"`...)
		b = value("status", a.Fields[0])
	default:
		return b
	}
	return append(b, '}')
}

// appendJSONValue renders a VALUE.
func (c *Consumer) appendJSONValue(b []byte, t *record.Type, data []byte) []byte {
	if checkType(t) != nil {
		return appendJSONString(b, hex.EncodeToString(data))
	}
	switch t.Kind {
	case record.Int:
		if t.Signed {
			return strconv.AppendInt(b, int64(integer(t, data)), 10)
		}
		return strconv.AppendUint(b, integer(t, data), 10)
	case record.Enum:
		v := int64(integer(t, data))
		if name, ok := enumerator(t, v); ok {
			return appendJSONString(b, name)
		}
		return strconv.AppendInt(b, v, 10)
	case record.Pointer:
		b = append(b, '"')
		b = appendHex(b, integer(t, data))
		return append(b, '"')
	case record.Float:
		return appendJSONFloat(b, float(t, data))
	case record.KernelStack:
		return c.appendJSONStack(b, data, c.kernelSymbol)
	case record.UserStack:
		pid := uint32(word(data))
		return c.appendJSONStack(b, data[8:], func(addr uint64) symbol { return c.userSymbol(pid, addr) })
	case record.KernelSymbol, record.KernelFunc, record.KernelModule,
		record.UserSymbol, record.UserFunc, record.UserModule, record.UserAddress:
		return appendJSONString(b, c.symbolText(t.Kind, data))
	case record.Struct:
		return c.appendJSONStruct(b, t, data)
	case record.Array:
		return c.appendJSONArray(b, t, data)
	}
	if text, ok := c.text(t, data); ok {
		return appendJSONString(b, string(text))
	}
	return appendJSONString(b, hex.EncodeToString(data))
}

func (c *Consumer) appendJSONStack(b, frames []byte, lookup func(uint64) symbol) []byte {
	b = append(b, '[')
	first := true
	for text := range stackTexts(frames, lookup) {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = appendJSONString(b, text)
	}
	return append(b, ']')
}

func (c *Consumer) appendJSONStruct(b []byte, t *record.Type, data []byte) []byte {
	b = append(b, '{')
	first := true
	for _, m := range t.Members {
		at := m.BitOffset / 8
		if m.Type == nil || at < 0 || m.Bits == 0 && at+width(m.Type) > len(data) {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = appendJSONString(b, m.Name)
		b = append(b, ':')
		if m.Bits != 0 {
			b = strconv.AppendUint(b, bitField(data, m.BitOffset, m.Bits), 10)
			continue
		}
		b = c.appendJSONValue(b, m.Type, data[at:at+width(m.Type)])
	}
	return append(b, '}')
}

func (c *Consumer) appendJSONArray(b []byte, t *record.Type, data []byte) []byte {
	elem := t.Elem
	if elem == nil || elem.Size <= 0 {
		return appendJSONString(b, hex.EncodeToString(data))
	}
	if text, ok := charArray(elem, data); ok {
		return appendJSONString(b, string(text))
	}
	b = append(b, '[')
	for i := range min(t.Len, len(data)/elem.Size) {
		if i > 0 {
			b = append(b, ',')
		}
		b = c.appendJSONValue(b, elem, data[i*elem.Size:(i+1)*elem.Size])
	}
	return append(b, ']')
}

// jsonRow writes a row of an aggregation.
func (p *rowPrinter) jsonRow(g *group, key []byte, values []aggValue) {
	b := append(p.out.buf, `{"kind":"aggregation"`...)
	single := len(values) == 1
	if single {
		b = appendJSONField(b, "name", values[0].agg.Name)
		b = appendJSONField(b, "function", values[0].agg.Func.String())
	}
	if p.by != nil {
		b = appendJSONClause(appendJSONPlace(b, *p.by), *p.by)
	}
	b = append(b, `,"keys":[`...)
	for i, f := range g.fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = p.appendJSONValue(b, f.Type, field(f, key))
	}
	b = append(b, ']')
	if single {
		b = appendJSONAgg(b, values[0])
	} else {
		b = append(b, `,"values":[`...)
		for i, v := range values {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, `{"name":`...)
			b = appendJSONString(b, v.agg.Name)
			b = appendJSONField(b, "function", v.agg.Func.String())
			b = appendJSONAgg(b, v)
			b = append(b, '}')
		}
		b = append(b, ']')
	}
	p.out.buf = append(b, "}\n"...)
}

// appendJSONAgg renders the fields of an aggregation's value.
func appendJSONAgg(b []byte, v aggValue) []byte {
	if v.normal != 1 {
		b = append(b, `,"normal":`...)
		b = strconv.AppendInt(b, v.normal, 10)
	}
	if n, ok := aggregate.Number(v.agg, v.words, v.normal); ok {
		b = append(b, `,"value":`...)
		if v.signed() {
			return strconv.AppendInt(b, n, 10)
		}
		return strconv.AppendUint(b, uint64(n), 10)
	}
	b = append(b, `,"buckets":[`...)
	first := true
	for i, bucket := range aggregate.Buckets(v.agg) {
		count := v.words[1+i] / v.normal
		if count == 0 {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		bound := `{"from":`
		if bucket.Limit == aggregate.Below {
			bound = `{"below":`
		}
		b = append(b, bound...)
		b = strconv.AppendInt(b, bucket.Value, 10)
		b = append(b, `,"count":`...)
		b = strconv.AppendInt(b, count, 10)
		b = append(b, '}')
	}
	return append(b, ']')
}

func (c *Consumer) jsonReport(r Report) {
	b := append(c.out.buf, `{"kind":`...)
	b = appendJSONString(b, r.Kind)
	if r.Kind == "drop" {
		b = appendJSONField(b, "what", r.Loss)
		if r.CPU >= 0 {
			b = append(b, `,"cpu":`...)
			b = strconv.AppendInt(b, int64(r.CPU), 10)
		}
		b = append(b, `,"count":`...)
		b = strconv.AppendUint(b, r.Count, 10)
	}
	b = appendJSONField(b, "text", r.Text)
	c.out.buf = append(b, "}\n"...)
}

func appendJSONField(b []byte, name, text string) []byte {
	b = append(b, ',', '"')
	b = append(b, name...)
	b = append(b, '"', ':')
	return appendJSONString(b, text)
}

// appendJSONString renders a string. Bytes that are not UTF-8 become U+FFFD.
func appendJSONString(b []byte, text string) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	for len(text) > 0 {
		ch := text[0]
		switch {
		case ch == '"' || ch == '\\':
			b = append(b, '\\', ch)
		case ch == '\n':
			b = append(b, '\\', 'n')
		case ch < ' ' || ch == 0x7f:
			b = append(b, '\\', 'u', '0', '0', digits[ch>>4], digits[ch&15])
		case ch < utf8.RuneSelf:
			b = append(b, ch)
		default:
			r, size := utf8.DecodeRuneInString(text)
			b = utf8.AppendRune(b, r)
			text = text[size:]
			continue
		}
		text = text[1:]
	}
	return append(b, '"')
}

func appendJSONFloat(b []byte, v float64) []byte {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return appendJSONString(b, strconv.FormatFloat(v, 'g', -1, 64))
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}
