package consume

import (
	"encoding/binary"
	"fmt"
	"io"
	"testing"

	"kinst/internal/aggregate"
	"kinst/internal/record"
)

// BenchmarkRecord prints records of the usual kinds.
func BenchmarkRecord(b *testing.B) {
	empty, formatted, traced, stack := newBuilder(0), newBuilder(1), newBuilder(2), newBuilder(3)
	empty.action(record.Default)
	formatted.printf("%#x", formatted.field(typeUint64, num(0x827c56000)))
	traced.trace(typeString, []byte("systemd")).trace(typeInt, num(4096))
	stack.action(record.Stack, stack.field(typeStack, words(0x1234, 0x8000, 0x8100, 0x2345)))
	s := newSession(b, Options{Kernel: fakeSymbols{}})
	s.open(empty, formatted, traced, stack)
	s.c.out.w = io.Discard
	for name, clause := range map[string]*builder{"empty": empty, "printf": formatted, "trace": traced, "stack": stack} {
		b.Run(name, func(b *testing.B) {
			binary.NativeEndian.PutUint32(clause.data[record.ClauseOffset:], uint32(clause.clause.Index))
			for b.Loop() {
				if err := s.c.Record(0, clause.data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkMillionKeys sorts and prints an aggregation of a million keys.
func BenchmarkMillionKeys(b *testing.B) {
	const n = 1_000_000
	s := newSession(b, Options{})
	index := s.aggregation(&record.Agg{Func: record.Count, Keys: keys(typeString, typeInt)})
	table := s.store.tables[index]
	key := make([]byte, table.Agg.KeySize)
	for i := range n {
		clear(key)
		copy(key, fmt.Sprintf("process-%d", i*7919%1000))
		binary.NativeEndian.PutUint32(key[32:], uint32(i))
		table.Append(key)[0] = int64(i * 7919 % 100_003)
	}
	s.open()
	s.c.out.w = io.Discard
	s.c.opts.Aggregations = staticStore{table}
	for b.Loop() {
		if err := s.c.PrintAggregations(); err != nil {
			b.Fatal(err)
		}
	}
}

// staticStore has one table, which printing does not change.
type staticStore struct{ table *aggregate.Table }

func (s staticStore) Snapshot(int) (*aggregate.Table, error) { return s.table, nil }
func (s staticStore) Clear(int) error                        { return nil }
func (s staticStore) Remove(int, [][]byte) error             { return nil }
