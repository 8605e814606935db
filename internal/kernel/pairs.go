package kernel

import (
	"encoding/binary"
	"math"
	"slices"
	"sort"
)

// This file reads the tables of the places from where the kernel makes control
// go on elsewhere: those of jump labels and of exceptions.

// A codePair is an entry of a table: a place in the text and where the kernel
// makes control go on from there, at times.
type codePair struct{ code, target uint64 }

// A pairTable is a table whose entries begin with two distances, each from
// itself: s32 code, s32 target.
type pairTable struct {
	start, stop    string // symbols around the kernel's own
	pointer, count string // members of struct module for a module's
	size           int    // of an entry, bytes
}

var (
	jumpTable      = pairTable{"__start___jump_table", "__stop___jump_table", "jump_entries", "num_jump_entries", jumpEntrySize}
	exceptionTable = pairTable{"__start___ex_table", "__stop___ex_table", "extable", "num_exentries", exceptionEntrySize}
)

// exceptionEntrySize is that of struct exception_table_entry: s32 insn, s32
// fixup, s32 data.
const exceptionEntrySize = 12

// codePairs is the entries of a table, by either address.
type codePairs struct{ byCode, byTarget []codePair }

func newCodePairs(all []codePair) *codePairs {
	return &codePairs{
		byCode:   sortedBy(all, func(p codePair) uint64 { return p.code }),
		byTarget: sortedBy(all, func(p codePair) uint64 { return p.target }),
	}
}

// sortedBy returns entries by one of their addresses. Those of a table are not
// much further from one another than 4 GB: an address and an index fit into one
// number, and numbers are sorted several times as fast as anything else.
func sortedBy(all []codePair, of func(codePair) uint64) []codePair {
	const indexBits = 24 // maxTable has fewer entries
	least := uint64(math.MaxUint64)
	for _, p := range all {
		least = min(least, of(p))
	}
	keys := make([]uint64, len(all))
	for i, p := range all {
		keys[i] = (of(p)-least)<<indexBits | uint64(i)
	}
	slices.Sort(keys)
	sorted := make([]codePair, len(all))
	for i, key := range keys {
		sorted[i] = all[key&(1<<indexBits-1)]
	}
	return sorted
}

// from returns the entries of places from begin up to end.
func (p *codePairs) from(begin, end uint64) []codePair {
	return between(p.byCode, begin, end, func(p codePair) uint64 { return p.code })
}

// to returns the entries that lead to places from begin up to end.
func (p *codePairs) to(begin, end uint64) []codePair {
	return between(p.byTarget, begin, end, func(p codePair) uint64 { return p.target })
}

func between(sorted []codePair, begin, end uint64, of func(codePair) uint64) []codePair {
	first := sort.Search(len(sorted), func(i int) bool { return of(sorted[i]) >= begin })
	last := sort.Search(len(sorted), func(i int) bool { return of(sorted[i]) >= end })
	return sorted[first:last]
}

// codePairs returns the entries of a module's table, ok false where it cannot
// be read.
func (k *Kernel) codePairs(module string, t pairTable) (pairs *codePairs, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := pairKey{module, t.start}
	if pairs, ok := k.pairs[key]; ok {
		return pairs, pairs != nil
	}
	table, addr, err := k.pairBytes(module, t)
	if err == nil {
		pairs = newCodePairs(parsePairs(table, addr, t.size))
	}
	k.pairs[key] = pairs
	return pairs, pairs != nil
}

// pairKey names a table of a module.
type pairKey struct{ module, table string }

func (k *Kernel) pairBytes(module string, t pairTable) (table []byte, addr uint64, err error) {
	if module == VMLinux {
		return k.between(t.start, t.stop)
	}
	m, err := k.moduleStruct(module)
	if err != nil {
		return nil, 0, err
	}
	return m.tableBytes(t.pointer, t.count, t.size)
}

// parsePairs reads a table that stands at addr.
func parsePairs(table []byte, addr uint64, size int) []codePair {
	pairs := make([]codePair, 0, len(table)/size)
	for at := 0; at+size <= len(table); at += size {
		code := addr + uint64(at)
		target := code + 4
		pairs = append(pairs, codePair{
			code:   code + uint64(int64(int32(binary.NativeEndian.Uint32(table[at:])))),
			target: target + uint64(int64(int32(binary.NativeEndian.Uint32(table[at+4:])))),
		})
	}
	return pairs
}
