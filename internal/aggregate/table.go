package aggregate

import (
	"slices"

	"kinst/internal/record"
)

// A Table is an aggregation at one moment: its keys, each with a value that is
// merged over all CPUs. It lies in two flat slices, so that a million keys are
// no burden to the garbage collector.
type Table struct {
	Agg    *record.Agg
	keys   []byte
	values []int64
	rows   int
}

// NewTable returns an empty table with room for so many rows.
func NewTable(agg *record.Agg, rows int) *Table {
	return &Table{
		Agg:    agg,
		keys:   make([]byte, 0, rows*agg.KeySize),
		values: make([]int64, 0, rows*agg.Words),
	}
}

// Clone returns a copy that shares nothing but Agg.
func (t *Table) Clone() *Table {
	return &Table{Agg: t.Agg, keys: slices.Clone(t.keys), values: slices.Clone(t.values), rows: t.rows}
}

// Len is the number of rows.
func (t *Table) Len() int { return t.rows }

// Key returns the key of a row. The table owns the bytes.
func (t *Table) Key(row int) []byte {
	at := row * t.Agg.KeySize
	return t.keys[at : at+t.Agg.KeySize : at+t.Agg.KeySize]
}

// Value returns the words of a row. The table owns them.
func (t *Table) Value(row int) []int64 {
	at := row * t.Agg.Words
	return t.values[at : at+t.Agg.Words : at+t.Agg.Words]
}

// Append adds a row for a key that the table does not have, and returns its
// words, which are zero: no value seen. Key must be Agg.KeySize bytes long.
func (t *Table) Append(key []byte) []int64 {
	t.keys = append(t.keys, key[:t.Agg.KeySize]...)
	t.rows++
	for range t.Agg.Words {
		t.values = append(t.values, 0)
	}
	return t.Value(t.rows - 1)
}

// Drop takes back the row that was appended last.
func (t *Table) Drop() {
	t.rows--
	t.keys = t.keys[:t.rows*t.Agg.KeySize]
	t.values = t.values[:t.rows*t.Agg.Words]
}

// Filter keeps the rows that keep says so, which may change the words. The rows
// that stay move together, in their order.
func (t *Table) Filter(keep func(key []byte, words []int64) bool) {
	kept := 0
	for row := range t.rows {
		key, words := t.Key(row), t.Value(row)
		if !keep(key, words) {
			continue
		}
		copy(t.Key(kept), key)
		copy(t.Value(kept), words)
		kept++
	}
	t.rows = kept
	t.keys = t.keys[:kept*t.Agg.KeySize]
	t.values = t.values[:kept*t.Agg.Words]
}
