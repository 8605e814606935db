package consume

import (
	"bytes"
	"encoding/binary"
	"testing"

	"kinst/internal/record"
)

var (
	typeInt    = &record.Type{Kind: record.Int, Size: 4, Signed: true, Name: "int"}
	typeUint64 = &record.Type{Kind: record.Int, Size: 8, Name: "uint64_t"}
	typeInt64  = &record.Type{Kind: record.Int, Size: 8, Signed: true, Name: "int64_t"}
	typeString = &record.Type{Kind: record.String, Size: 16, Name: "string"}
)

var vfsRead = record.Probe{ID: 81500, Provider: "kinst", Module: "vmlinux", Function: "vfs_read", Name: "9"}

// recording builds a clause of one record, and the record.
type recording struct {
	clause record.Clause
	data   []byte
}

func newRecording() *recording {
	return &recording{clause: record.Clause{Records: true}, data: make([]byte, record.HeaderSize)}
}

func (r *recording) field(t *record.Type, value []byte) record.Field {
	for len(r.data)%8 != 0 {
		r.data = append(r.data, 0)
	}
	f := record.Field{Offset: len(r.data), Type: t}
	r.data = append(r.data, value...)
	r.data = append(r.data, make([]byte, width(t)-len(value))...)
	return f
}

func (r *recording) int(t *record.Type, v int64) record.Field {
	b := binary.NativeEndian.AppendUint64(nil, uint64(v))
	return r.field(t, b[:t.Size])
}

func (r *recording) string(s string) record.Field { return r.field(typeString, []byte(s)) }

func (r *recording) action(kind record.ActionKind, fields ...record.Field) *record.Action {
	a := &record.Action{Kind: kind, Number: len(r.clause.Actions) + 1, Fields: fields}
	r.clause.Actions = append(r.clause.Actions, a)
	return a
}

func (r *recording) printf(format string, fields ...record.Field) {
	a := r.action(record.Printf, fields...)
	a.Format, a.HasFormat = format, true
}

// output prints the record as of a CPU.
func (r *recording) output(t *testing.T, cpu int, opts *Options) string {
	t.Helper()
	r.clause.Size = len(r.data)
	layout := &record.Layout{Clauses: []*record.Clause{&r.clause}, Strsize: 16}
	var out bytes.Buffer
	c, err := New(&out, layout, []record.Probe{vfsRead}, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Record(cpu, r.data); err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const heading = "CPU     ID                    FUNCTION:NAME\n"

// TestManualPage prints the line that kinst(4) of FreeBSD shows.
func TestManualPage(t *testing.T) {
	r := newRecording()
	r.printf("%#x", r.int(typeUint64, 0x827c56000))
	want := heading + "  1  81500                       vfs_read:9 0x827c56000\n"
	if got := r.output(t, 1, nil); got != want {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}
