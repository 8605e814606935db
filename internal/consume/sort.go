package consume

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"kinst/internal/aggregate"
	"kinst/internal/record"
)

// sortOrder is how rows follow one another: by value and then by key, or as the
// options aggsortkey, aggsortrev, aggsortkeypos and aggsortpos say.
type sortOrder struct {
	byKey   bool
	reverse bool
	keyPos  int
	aggPos  int
}

// sorted returns the rows in order.
func (g *group) sorted(o sortOrder) []uint32 {
	t := g.table
	byValue := aggregate.Comparer(t.Agg)
	byKey := g.keyComparer(g, o.keyPos)
	ranks := g.ranks(o)
	slices.SortFunc(ranks, func(a, b rank) int {
		order := cmp.Compare(a.value, b.value)
		if order == 0 && !o.byKey && !exactRank(t.Agg.Func) {
			order = byValue(t.Value(int(a.row)), t.Value(int(b.row)))
		}
		if order == 0 {
			order = cmp.Compare(a.key, b.key)
		}
		if order == 0 {
			order = byKey(int(a.row), int(b.row))
		}
		if o.reverse {
			return -order
		}
		return order
	})
	for i, r := range ranks {
		g.rows[i] = r.row
	}
	return g.rows
}

// rank is a row with numbers that decide most comparisons without a look at the
// table: there may be a million rows.
type rank struct {
	value uint64 // ordered as the values are, except for ties; 0 where keys come first
	key   uint64 // ordered as the first key is, except for ties
	row   uint32
}

func (g *group) ranks(o sortOrder) []rank {
	t := g.table
	ranks := make([]rank, len(g.rows))
	value := aggregate.Ranker(t.Agg)
	first := o.keyPos
	if first < 0 || first >= len(g.fields) {
		first = 0
	}
	for i, row := range g.rows {
		ranks[i].row = row
		if !o.byKey {
			ranks[i].value = value(t.Value(int(row)))
		}
		if len(g.fields) > 0 {
			f := g.fields[first]
			ranks[i].key = g.c.keyRank(f.Type, field(f, t.Key(int(row))))
		}
	}
	return ranks
}

// exactRank reports whether equal ranks mean equal values.
func exactRank(f record.AggFunc) bool {
	switch f {
	case record.Quantize, record.Lquantize, record.Llquantize:
		return false
	}
	return true
}

// keyRank orders values as compareField does, as far as eight bytes can tell.
func (c *Consumer) keyRank(t *record.Type, data []byte) uint64 {
	switch t.Kind {
	case record.Int, record.Enum, record.Pointer:
		v := integer(t, data)
		if t.Signed {
			v ^= 1 << 63
		}
		return v
	case record.Float:
		return 0
	case record.KernelStack, record.UserStack,
		record.KernelSymbol, record.KernelFunc, record.KernelModule,
		record.UserSymbol, record.UserFunc, record.UserModule, record.UserAddress:
		return word(data)
	}
	text, ok := c.text(t, data)
	if !ok {
		text = data
	}
	var prefix [8]byte
	copy(prefix[:], text)
	return binary.BigEndian.Uint64(prefix[:])
}

// keyComparer returns the order of the keys of g and h, field by field, the
// field at position first being the most significant.
func (g *group) keyComparer(h *group, first int) func(a, b int) int {
	n := len(g.fields)
	if first < 0 || first >= n {
		first = 0
	}
	compare := make([]func(a, b []byte) int, n)
	for i := range n {
		at := (first + i) % n
		x, y := g.fields[at], h.fields[at]
		compare[i] = func(a, b []byte) int {
			return g.c.compareField(x.Type, field(x, a), y.Type, field(y, b))
		}
	}
	return func(a, b int) int {
		ka, kb := g.table.Key(a), h.table.Key(b)
		for _, c := range compare {
			if order := c(ka, kb); order != 0 {
				return order
			}
		}
		return 0
	}
}

// compareField orders two values: numbers by size, strings and bytes byte by
// byte.
func (c *Consumer) compareField(t *record.Type, a []byte, u *record.Type, b []byte) int {
	switch t.Kind {
	case record.Int, record.Enum, record.Pointer:
		x, y := integer(t, a), integer(u, b)
		if t.Signed {
			return cmp.Compare(int64(x), int64(y))
		}
		return cmp.Compare(x, y)
	case record.Float:
		return cmp.Compare(float(t, a), float(u, b))
	case record.KernelStack, record.UserStack,
		record.KernelSymbol, record.KernelFunc, record.KernelModule,
		record.UserSymbol, record.UserFunc, record.UserModule, record.UserAddress:
		return compareWords(a, b)
	}
	x, ok := c.text(t, a)
	if !ok {
		return bytes.Compare(a, b)
	}
	y, _ := c.text(u, b)
	return bytes.Compare(x, y)
}

func compareWords(a, b []byte) int {
	for ; len(a) >= 8 && len(b) >= 8; a, b = a[8:], b[8:] {
		if order := cmp.Compare(word(a), word(b)); order != 0 {
			return order
		}
	}
	return cmp.Compare(len(a), len(b))
}

// joined calls visit for each key that any of the groups has, in order, with
// the value of each group for it: zero words where one has none.
func joined(groups []*group, o sortOrder, visit func(key *group, row int, words [][]int64) error) error {
	n := len(groups)
	bundles := bundle(groups)
	none := make([][]int64, n)
	byValue := make([]func(a, b []int64) int, n)
	for i, g := range groups {
		none[i] = make([]int64, g.table.Agg.Words)
		byValue[i] = aggregate.Comparer(g.table.Agg)
	}
	words := func(bundle []int32, i int) []int64 {
		if bundle[i] < 0 {
			return none[i]
		}
		return groups[i].table.Value(int(bundle[i]))
	}
	first := o.aggPos
	if first < 0 || first >= n {
		first = 0
	}
	values := func(a, b []int32) int {
		for i := range n {
			at := (first + i) % n
			if order := byValue[at](words(a, at), words(b, at)); order != 0 {
				return order
			}
		}
		return 0
	}
	keys := func(a, b []int32) int {
		i, j := holder(a), holder(b)
		return groups[i].keyComparer(groups[j], o.keyPos)(int(a[i]), int(b[j]))
	}
	slices.SortStableFunc(bundles, func(a, b []int32) int {
		order := 0
		if !o.byKey {
			order = values(a, b)
		}
		if order == 0 {
			order = keys(a, b)
		}
		if o.reverse {
			return -order
		}
		return order
	})
	row := make([][]int64, n)
	for _, b := range bundles {
		for i := range row {
			row[i] = words(b, i)
		}
		i := holder(b)
		if err := visit(groups[i], int(b[i]), row); err != nil {
			return err
		}
	}
	return nil
}

// bundle merges groups by key: one bundle per key, with the row of each group
// or -1.
func bundle(groups []*group) [][]int32 {
	var bundles [][]int32
	for i, g := range groups {
		rows := g.sorted(sortOrder{byKey: true})
		at := 0
		var added [][]int32
		for _, row := range rows {
			order := 1
			for at < len(bundles) {
				j := holder(bundles[at])
				if order = g.keyComparer(groups[j], 0)(int(row), int(bundles[at][j])); order <= 0 {
					break
				}
				at++
			}
			if at < len(bundles) && order == 0 {
				bundles[at][i] = int32(row)
				at++
				continue
			}
			b := make([]int32, len(groups))
			for k := range b {
				b[k] = -1
			}
			b[i] = int32(row)
			added = append(added, b)
		}
		bundles = append(bundles, added...)
		slices.SortFunc(bundles, func(a, b []int32) int {
			x, y := holder(a), holder(b)
			return groups[x].keyComparer(groups[y], 0)(int(a[x]), int(b[y]))
		})
	}
	return bundles
}

// holder is the first group that has a row in the bundle.
func holder(bundle []int32) int {
	return slices.IndexFunc(bundle, func(row int32) bool { return row >= 0 })
}
