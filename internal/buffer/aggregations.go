package buffer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"kinst/internal/aggregate"
	"kinst/internal/record"
)

// Aggregations reads the maps that the programs aggregate into: hashes whose
// values have a row for each CPU, per-CPU hashes where such values would be
// large, hashes with one row where that is too large for those, and per-CPU
// arrays for aggregations by site. Its methods belong to one goroutine; the
// programs go on meanwhile.
//
// Clearing must not lose what a program adds at that moment, so nothing is
// written to the maps: what had been seen is remembered and taken away from what
// is seen later. Only minima and maxima, which cannot be subtracted, are removed
// and start again.
type Aggregations struct {
	stores []*store
	maxAge time.Duration
}

// NewAggregations takes one map per aggregation, nil for those without any; it
// does not take ownership of them.
func NewAggregations(aggs []*record.Agg, maps []*ebpf.Map) (*Aggregations, error) {
	if len(aggs) != len(maps) {
		return nil, fmt.Errorf("%d maps for %d aggregations", len(maps), len(aggs))
	}
	cpus, err := ebpf.PossibleCPU()
	if err != nil {
		return nil, fmt.Errorf("counting the CPUs: %w", err)
	}
	a := &Aggregations{}
	for i, agg := range aggs {
		s := &store{agg: agg, m: maps[i], cpus: cpus}
		row := 8 * agg.Words
		if s.m != nil && s.m.Type() == ebpf.Hash {
			s.cpus = max(int(s.m.ValueSize())/row, 1) // in one value, or with one row for all
			row *= s.cpus
		}
		if m := maps[i]; m != nil && (int(m.KeySize()) != agg.KeySize || int(m.ValueSize()) != row) {
			return nil, fmt.Errorf("the map of @%s has keys of %d bytes and values of %d, not %d and %d",
				agg.Name, m.KeySize(), m.ValueSize(), agg.KeySize, row)
		}
		a.stores = append(a.stores, s)
	}
	return a, nil
}

// Keep lets Snapshot return, for so long, what it has returned before. By default
// it does not.
func (a *Aggregations) Keep(maxAge time.Duration) {
	a.maxAge = maxAge
	for _, s := range a.stores {
		s.kept = kept{}
	}
}

// Snapshot merges the values of all CPUs as they are now. Keys are in the order
// of the map. The key of an aggregation by site is the probe's index.
func (a *Aggregations) Snapshot(agg int) (*aggregate.Table, error) {
	s := a.stores[agg]
	if a.maxAge == 0 {
		return s.snapshot()
	}
	if s.kept.table == nil || time.Since(s.kept.at) >= a.maxAge {
		now := time.Now()
		t, err := s.snapshot()
		if err != nil {
			return nil, err
		}
		s.kept = kept{t, now}
	}
	return s.kept.table.Clone(), nil
}

// Clear forgets the values, but not the keys.
func (a *Aggregations) Clear(agg int) error {
	a.stores[agg].kept = kept{}
	return a.stores[agg].clear()
}

// Remove forgets keys of a Snapshot; without any, all keys.
func (a *Aggregations) Remove(agg int, keys [][]byte) error {
	a.stores[agg].kept = kept{}
	return a.stores[agg].remove(keys)
}

// store is one aggregation.
type store struct {
	agg  *record.Agg
	m    *ebpf.Map
	cpus int
	past past
	kept kept
}

// kept is a snapshot that may be shown again.
type kept struct {
	table *aggregate.Table
	at    time.Time
}

// past is what was seen before the last clear() or trunc(), by key.
type past struct {
	rows  *aggregate.Table
	index map[string]pastRow
}

type pastRow struct {
	row int
	// gone keys are not shown until something new is seen of them.
	gone bool
}

func (s *store) snapshot() (*aggregate.Table, error) {
	t, err := s.read()
	if err == nil && len(s.past.index) > 0 {
		s.sincePast(t)
	}
	return t, err
}

// read merges the values of all CPUs, whatever happened before.
func (s *store) read() (*aggregate.Table, error) {
	t := aggregate.NewTable(s.agg, 0)
	if s.m == nil {
		return t, nil
	}
	if s.agg.StandIns != nil {
		return t, s.readStandIns(t)
	}
	err := s.each(func(key []byte, values []int64) {
		if s.agg.BySite {
			binary.NativeEndian.PutUint32(key, binary.NativeEndian.Uint32(key)+s.agg.FirstProbe)
		}
		words := t.Append(key)
		for ; len(values) > 0; values = values[s.agg.Words:] {
			aggregate.Merge(s.agg, words, values[:s.agg.Words])
		}
		if aggregate.Samples(s.agg, words) == 0 {
			t.Drop()
		}
	})
	if err != nil {
		return nil, fmt.Errorf("reading the aggregation @%s: %w", s.agg.Name, err)
	}
	return t, nil
}

// readStandIns reads an aggregation by site in which sites stand in for others.
func (s *store) readStandIns(t *aggregate.Table) error {
	sums := make([]int64, len(s.agg.StandIns)*s.agg.Words)
	row := func(site uint32) []int64 { return sums[int(site)*s.agg.Words:][:s.agg.Words] }
	err := s.each(func(key []byte, values []int64) {
		words := row(binary.NativeEndian.Uint32(key))
		for ; len(values) > 0; values = values[s.agg.Words:] {
			aggregate.Merge(s.agg, words, values[:s.agg.Words])
		}
	})
	if err != nil {
		return fmt.Errorf("reading the aggregation @%s: %w", s.agg.Name, err)
	}
	key := make([]byte, 4)
	for site, standIns := range s.agg.StandIns {
		binary.NativeEndian.PutUint32(key, uint32(site)+s.agg.FirstProbe)
		words := t.Append(key)
		for _, standIn := range standIns {
			aggregate.Merge(s.agg, words, row(standIn))
		}
		if aggregate.Samples(s.agg, words) == 0 {
			t.Drop()
		}
	}
	return nil
}

// sincePast takes what was seen in the past away from a table, and adds the
// keys that are only known from there.
func (s *store) sincePast(t *aggregate.Table) {
	seen := make(map[int]bool, len(s.past.index))
	t.Filter(func(key []byte, words []int64) bool {
		old, known := s.past.index[string(key)]
		if !known {
			return true
		}
		seen[old.row] = true
		if aggregate.Subtractable(s.agg.Func) {
			aggregate.Subtract(s.agg, words, s.past.rows.Value(old.row))
		}
		return !old.gone || aggregate.Samples(s.agg, words) != 0
	})
	for key, old := range s.past.index {
		if !old.gone && !seen[old.row] {
			t.Append([]byte(key))
		}
	}
}

func (s *store) clear() error {
	visible, err := s.snapshot()
	if err != nil {
		return err
	}
	show := make(map[string]bool, visible.Len())
	for row := range visible.Len() {
		show[string(visible.Key(row))] = true
	}
	return s.forget(func(key []byte) bool { return show[string(key)] })
}

// forget makes the present the past. Keys that show says so stay visible.
func (s *store) forget(show func(key []byte) bool) error {
	now, err := s.read()
	if err != nil {
		return err
	}
	var keys [][]byte
	for row := range now.Len() {
		keys = append(keys, now.Key(row))
	}
	if !aggregate.Subtractable(s.agg.Func) {
		if err := s.erase(keys); err != nil {
			return err
		}
	}
	for key := range s.past.index { // known, but no longer in the map
		if show([]byte(key)) {
			keys = append(keys, []byte(key))
		}
	}
	p := past{rows: aggregate.NewTable(s.agg, len(keys)), index: make(map[string]pastRow, len(keys))}
	for row, key := range keys {
		if _, known := p.index[string(key)]; known {
			continue
		}
		p.index[string(key)] = pastRow{row: p.rows.Len(), gone: !show(key)}
		words := p.rows.Append(key)
		if row < now.Len() && aggregate.Subtractable(s.agg.Func) {
			copy(words, now.Value(row))
		}
	}
	s.past = p
	return nil
}

func (s *store) remove(keys [][]byte) error {
	if keys == nil {
		if s.agg.BySite {
			return s.forget(func([]byte) bool { return false })
		}
		all, err := s.read()
		if err != nil {
			return err
		}
		for row := range all.Len() {
			keys = append(keys, all.Key(row))
		}
		s.past = past{}
		return s.erase(keys)
	}
	if !s.agg.BySite {
		for _, key := range keys {
			delete(s.past.index, string(key))
		}
		return s.erase(keys)
	}
	removed := make(map[string]bool, len(keys))
	for _, key := range keys {
		removed[string(key)] = true
	}
	return s.forgetOnly(removed)
}

// forgetOnly makes the present of some keys the past, and leaves the others.
func (s *store) forgetOnly(keys map[string]bool) error {
	now, err := s.read()
	if err != nil {
		return err
	}
	if !aggregate.Subtractable(s.agg.Func) {
		var erased [][]byte
		for key := range keys {
			erased = append(erased, []byte(key))
		}
		if err := s.erase(erased); err != nil {
			return err
		}
	}
	if s.past.index == nil {
		s.past = past{rows: aggregate.NewTable(s.agg, len(keys)), index: make(map[string]pastRow, len(keys))}
	}
	for row := range now.Len() {
		key := string(now.Key(row))
		if !keys[key] {
			continue
		}
		old, known := s.past.index[key]
		if !known {
			old.row = s.past.rows.Len()
			s.past.rows.Append(now.Key(row))
		}
		old.gone = true
		s.past.index[key] = old
		if aggregate.Subtractable(s.agg.Func) {
			copy(s.past.rows.Value(old.row), now.Value(row))
		}
	}
	return nil
}

// erase removes keys from the map; of an array, whose keys stay, it zeroes them.
func (s *store) erase(keys [][]byte) error {
	zero := make([][]int64, s.cpus)
	for cpu := range zero {
		zero[cpu] = make([]int64, s.agg.Words)
	}
	for _, key := range keys {
		var err error
		if s.agg.BySite {
			site := binary.NativeEndian.Uint32(key) - s.agg.FirstProbe
			err = s.m.Put(site, zero)
		} else if err = s.m.Delete(key); errors.Is(err, ebpf.ErrKeyNotExist) {
			err = nil
		}
		if err != nil {
			return fmt.Errorf("removing a key of the aggregation @%s: %w", s.agg.Name, err)
		}
	}
	return nil
}

// each visits the keys of the map with the words of all CPUs, one after the
// other. Both are valid, and may be changed, until visit returns.
func (s *store) each(visit func(key []byte, values []int64)) error {
	err := s.eachBatch(visit)
	if errors.Is(err, ebpf.ErrNotSupported) {
		return s.eachSingle(visit)
	}
	return err
}

// batchBytes is how much is read with one system call.
const batchBytes = 1 << 20

// eachBatch needs BPF_MAP_LOOKUP_BATCH for the type of map: Linux 5.6 for
// per-CPU hashes, 5.13 for per-CPU arrays. It returns an error that wraps
// ebpf.ErrNotSupported, before any visit, where the kernel has it not.
func (s *store) eachBatch(visit func(key []byte, values []int64)) error {
	keySize, row := s.agg.KeySize, s.cpus*s.agg.Words
	count := max(batchBytes/(keySize+8*row), 16)
	keyType := reflect.SliceOf(reflect.ArrayOf(keySize, reflect.TypeFor[byte]()))
	var cursor ebpf.MapBatchCursor
	for first := true; ; {
		keys := reflect.MakeSlice(keyType, count, count)
		values, elements := s.batchValues(count, row)
		for {
			n, err := s.m.BatchLookup(&cursor, keys.Interface(), elements, nil)
			done := errors.Is(err, ebpf.ErrKeyNotExist)
			if errors.Is(err, unix.ENOSPC) {
				break // a bucket of the hash has more keys than that
			}
			if err != nil && !done {
				if first {
					return errors.Join(err, ebpf.ErrNotSupported)
				}
				return err
			}
			first = false
			keyBytes := unsafe.Slice((*byte)(keys.UnsafePointer()), count*keySize)
			for i := range n {
				visit(keyBytes[i*keySize:(i+1)*keySize], values[i*row:(i+1)*row])
			}
			if done {
				return nil
			}
		}
		count *= 2
	}
}

// batchValues makes room for values of so many rows: words, and what they are for
// BatchLookup, which takes those of per-CPU maps in a row but has an element for
// each key of others.
func (s *store) batchValues(count, row int) (words []int64, elements any) {
	if s.m.Type() != ebpf.Hash {
		words = make([]int64, count*row)
		return words, words
	}
	rows := reflect.MakeSlice(reflect.SliceOf(reflect.ArrayOf(row, reflect.TypeFor[int64]())), count, count)
	return unsafe.Slice((*int64)(rows.UnsafePointer()), count*row), rows.Interface()
}

// eachSingle is for kernels that cannot read in batches.
func (s *store) eachSingle(visit func(key []byte, values []int64)) error {
	key := make([]byte, s.agg.KeySize)
	values := make([]int64, s.cpus*s.agg.Words)
	var last any
	for {
		err := s.m.NextKey(last, &key)
		if errors.Is(err, ebpf.ErrKeyNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		last = append([]byte(nil), key...)
		raw, err := s.m.LookupBytes(key)
		if err != nil {
			return err
		}
		if raw == nil {
			continue
		}
		for i := range values {
			values[i] = int64(binary.NativeEndian.Uint64(raw[8*i:]))
		}
		visit(key, values)
	}
}
