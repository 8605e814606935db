package aggregate

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"kinst/internal/record"
)

// aggs is an aggregation of each function.
var aggs = []*record.Agg{
	{Func: record.Count},
	{Func: record.Sum, Signed: true},
	{Func: record.Sum},
	{Func: record.Min, Signed: true},
	{Func: record.Min},
	{Func: record.Max, Signed: true},
	{Func: record.Max},
	{Func: record.Avg, Signed: true},
	{Func: record.Stddev, Signed: true},
	{Func: record.Quantize, Signed: true},
	{Func: record.Lquantize, Signed: true, Base: -20, Limit: 30, Step: 10, Levels: 5},
	{Func: record.Llquantize, Signed: true, Factor: 10, Base: 0, Limit: 3, Step: 20},
}

func describe(agg *record.Agg) string { return fmt.Sprintf("%v signed=%v", agg.Func, agg.Signed) }

// add does to words what a program does with a value.
func add(agg *record.Agg, words []int64, v int64) {
	switch agg.Func {
	case record.Count:
		words[0]++
	case record.Sum, record.Avg:
		words[0] += v
		words[1]++
	case record.Min, record.Max:
		number, _ := Number(agg, words, 1)
		smaller := v < number
		if !agg.Signed {
			smaller = uint64(v) < uint64(number)
		}
		if words[1] == 0 || smaller == (agg.Func == record.Min) {
			words[0] = Ranked(agg, v)
		}
		words[1]++
	case record.Stddev:
		words[0] += v
		words[1]++
		square := new(big.Int).Mul(big.NewInt(v), big.NewInt(v))
		words[2] += int64(uint32(square.Uint64()))
		words[3] += int64(square.Uint64() >> 32)
		words[4] += int64(square.Rsh(square, 64).Uint64())
	default:
		words[0]++
		words[1+bucketOf(agg, v)]++
	}
}

// bucketOf finds a value's bucket by what buckets say of themselves.
func bucketOf(agg *record.Agg, v int64) int {
	buckets := Buckets(agg)
	found := 0
	for i, b := range buckets {
		switch {
		case b.Limit == Below && v < b.Value:
			return i
		case agg.Func == record.Quantize && b.Value < 0:
			if v <= b.Value {
				return i // the first, from the most negative on
			}
			found = i + 1
		case b.Limit != Below && v >= b.Value:
			found = i
		}
	}
	return found
}

func random(r *rand.Rand, agg *record.Agg) int64 {
	switch {
	case agg.Func == record.Stddev:
		return r.Int64N(1<<40) - 1<<39
	case r.IntN(2) == 0:
		return r.Int64N(100) - 50
	}
	return r.Int64N(1<<50) - 1<<49
}

// TestMerge splits values over CPUs, and must come to the same as without.
func TestMerge(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, agg := range aggs {
		n := Words(agg)
		whole, merged := make([]int64, n), make([]int64, n)
		perCPU := make([][]int64, 4)
		for cpu := range perCPU {
			perCPU[cpu] = make([]int64, n)
		}
		for range 1000 {
			v := random(r, agg)
			add(agg, whole, v)
			add(agg, perCPU[r.IntN(len(perCPU)-1)], v) // the last CPU sees none
		}
		for _, words := range perCPU {
			Merge(agg, merged, words)
		}
		if !slices.Equal(merged, whole) {
			t.Errorf("%s: merged %v, want %v", describe(agg), merged, whole)
		}
		if got := Samples(agg, merged); got != 1000 {
			t.Errorf("%s: %d samples", describe(agg), got)
		}
	}
}

// TestSubtract takes away the first half of the values.
func TestSubtract(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, agg := range aggs {
		if !Subtractable(agg.Func) {
			continue
		}
		n := Words(agg)
		whole, first, second := make([]int64, n), make([]int64, n), make([]int64, n)
		for i := range 1000 {
			v := random(r, agg)
			add(agg, whole, v)
			if i < 500 {
				add(agg, first, v)
			} else {
				add(agg, second, v)
			}
		}
		Subtract(agg, whole, first)
		if !slices.Equal(whole, second) {
			t.Errorf("%s: %v, want %v", describe(agg), whole, second)
		}
	}
}

// TestRanker holds the quick order against the exact one.
func TestRanker(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, agg := range aggs {
		compare, rank := Comparer(agg), Ranker(agg)
		distribution := agg.Func == record.Quantize || agg.Func == record.Lquantize || agg.Func == record.Llquantize
		for range 1000 {
			a, b := make([]int64, Words(agg)), make([]int64, Words(agg))
			for range r.IntN(4) {
				add(agg, a, random(r, agg))
			}
			for range r.IntN(4) {
				add(agg, b, random(r, agg))
			}
			exact, quick := compare(a, b), cmp.Compare(rank(a), rank(b))
			if exact != quick && (quick != 0 || !distribution) {
				t.Fatalf("%s: %v and %v compare as %d, their ranks as %d", describe(agg), a, b, exact, quick)
			}
			if compare(b, a) != -exact || compare(a, a) != 0 {
				t.Fatalf("%s: %v and %v are not ordered", describe(agg), a, b)
			}
		}
	}
}

func TestStddev(t *testing.T) {
	agg := &record.Agg{Func: record.Stddev, Signed: true}
	for _, test := range []struct {
		values       []int64
		normal, want int64
	}{
		{nil, 1, 0},
		{[]int64{7}, 1, 0},
		{[]int64{2, 4, 4, 4, 5, 5, 7, 9}, 1, 2},
		{[]int64{-2, -4, -4, -4, -5, -5, -7, -9}, 1, 2},
		{[]int64{2000, 4000, 4000, 4000, 5000, 5000, 7000, 9000}, 1, 2000},
		{[]int64{2000, 4000, 4000, 4000, 5000, 5000, 7000, 9000}, 1000, 2},
		{[]int64{math.MaxInt32 << 10, -math.MaxInt32 << 10}, 1, math.MaxInt32 << 10},
	} {
		words := make([]int64, Words(agg))
		for _, v := range test.values {
			add(agg, words, v)
		}
		if got, ok := Number(agg, words, test.normal); got != test.want || !ok {
			t.Errorf("the deviation of %v by %d is %d, want %d", test.values, test.normal, got, test.want)
		}
	}
}

func TestBuckets(t *testing.T) {
	for _, test := range []struct {
		agg    *record.Agg
		values map[int64]string // to the bucket's lower bound and how it bounds
	}{
		{aggs[9], map[int64]string{
			0: "0", 1: "1", 2: "2", 3: "2", 4: "4", -1: "-1", -2: "-2", -3: "-2", -4: "-4",
			math.MaxInt64: "4611686018427387904", math.MinInt64: "-4611686018427387904",
		}},
		{aggs[10], map[int64]string{-21: "<-20", -20: "-20", -11: "-20", 0: "0", 29: "20", 30: ">=30", 1000: ">=30"}},
		{aggs[11], map[int64]string{0: "<1", -5: "<1", 1: "1", 9: "9", 10: "10", 14: "10", 15: "15", 99: "95",
			100: "100", 149: "100", 150: "150", 1000: "1000", 9999: "9500", 10000: ">=10000"}},
	} {
		buckets := Buckets(test.agg)
		if len(buckets)+1 != Words(test.agg) {
			t.Errorf("%s: %d buckets and %d words", describe(test.agg), len(buckets), Words(test.agg))
		}
		for v, want := range test.values {
			b := buckets[bucketOf(test.agg, v)]
			got := map[Limit]string{From: "", Below: "<", AtLeast: ">="}[b.Limit] + fmt.Sprint(b.Value)
			if got != want {
				t.Errorf("%s: %d is in the bucket %s, want %s", describe(test.agg), v, got, want)
			}
		}
	}
}

func TestTable(t *testing.T) {
	table := NewTable(&record.Agg{KeySize: 2, Words: 2}, 0)
	for i := range 10 {
		copy(table.Append([]byte{byte(i), 'x'}), []int64{int64(i), -int64(i)})
	}
	table.Drop()
	table.Filter(func(key []byte, words []int64) bool {
		words[1] *= 10
		return key[0]%3 == 0
	})
	got := ""
	for row := range table.Len() {
		got += fmt.Sprintf("%d%c=%v ", table.Key(row)[0], table.Key(row)[1], table.Value(row))
	}
	if want := "0x=[0 0] 3x=[3 -30] 6x=[6 -60] "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
