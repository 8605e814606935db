package aggregate

import (
	"cmp"
	"math"
	"math/big"

	"kinst/internal/record"
)

// Samples is how many values went into a row's words.
func Samples(agg *record.Agg, words []int64) int64 {
	switch agg.Func {
	case record.Sum, record.Min, record.Max, record.Avg, record.Stddev:
		return words[1]
	}
	return words[0]
}

// Merge adds what src has seen to dst.
func Merge(agg *record.Agg, dst, src []int64) {
	if agg.Func == record.Min || agg.Func == record.Max {
		dst[0] = int64(max(uint64(dst[0]), uint64(src[0])))
		dst[1] += src[1]
		return
	}
	for i, v := range src {
		dst[i] += v
	}
}

// Subtract takes away from dst what base had seen, base being an earlier state
// of dst. It has no meaning for min and max.
func Subtract(agg *record.Agg, dst, base []int64) {
	for i, v := range base {
		dst[i] -= v
	}
}

// Ranked is how a number stands in the first word of min and max, and with the
// same call a number that stands there: of two, as unsigned ones, the greater is
// the one to keep, and 0, which is in a new row, is never that.
func Ranked(agg *record.Agg, v int64) int64 { return v ^ int64(RankMask(agg)) }

// RankMask is the bits that Ranked inverts.
func RankMask(agg *record.Agg) uint64 {
	mask := uint64(0)
	if agg.Signed {
		mask = 1 << 63
	}
	if agg.Func == record.Min {
		mask = ^mask
	}
	return mask
}

// Subtractable reports whether what was seen since an earlier state can be told
// from two states.
func Subtractable(f record.AggFunc) bool { return f != record.Min && f != record.Max }

// Number is the number that stands for a row, normalized: the count, the sum,
// the mean. ok is false for distributions, which have none.
func Number(agg *record.Agg, words []int64, normal int64) (v int64, ok bool) {
	switch agg.Func {
	case record.Count, record.Sum, record.Min, record.Max:
		v := value(agg, words)
		if normal == 1 {
			return v, true
		}
		return divide(agg, v, normal), true
	case record.Avg:
		if words[1] == 0 {
			return 0, true
		}
		return divide(agg, divide(agg, words[0], normal), words[1]), true
	case record.Stddev:
		return int64(stddev(words, normal)), true
	}
	return 0, false
}

// unsigned reports whether the words of an aggregation's value are unsigned.
func unsigned(agg *record.Agg) bool { return agg.Func == record.Count || !agg.Signed }

func divide(agg *record.Agg, v, by int64) int64 {
	if unsigned(agg) {
		return int64(uint64(v) / uint64(by))
	}
	return v / by
}

// value is the number that a row of count, sum, min or max holds.
func value(agg *record.Agg, words []int64) int64 {
	if agg.Func == record.Min || agg.Func == record.Max {
		if words[1] == 0 {
			return 0
		}
		return Ranked(agg, words[0])
	}
	return words[0]
}

// stddev is the square root of the mean of the squares less the square of the
// mean, as DTrace approximates the standard deviation, with its truncations.
func stddev(words []int64, normal int64) uint64 {
	n := words[1]
	if n == 0 {
		return 0
	}
	squares, part := new(big.Int), new(big.Int)
	for i := range squareParts {
		part.SetUint64(uint64(words[2+i]))
		squares.Add(squares, part.Lsh(part, uint(32*i)))
	}
	by := big.NewInt(normal)
	squares.Quo(squares, by).Quo(squares, by).Quo(squares, big.NewInt(n))
	mean := big.NewInt(words[0] / normal / n)
	squares.Sub(squares, mean.Mul(mean, mean))
	if squares.Sign() < 0 {
		return 0 // the mean was rounded up from a negative number
	}
	return squares.Sqrt(squares).Uint64()
}

// squareParts is how many words the sum of the squares takes: the sums of their
// bits from 0 on, from 32 on and from 64 on. So additions need not carry, and can
// be made in any order, one within another.
const squareParts = 3

// Comparer returns the order of rows by value, as aggregations are sorted:
// distributions by their weighted sum, then by what they have at zero.
func Comparer(agg *record.Agg) func(a, b []int64) int {
	switch agg.Func {
	case record.Quantize, record.Lquantize, record.Llquantize:
		return distributionComparer(agg)
	case record.Stddev:
		return func(a, b []int64) int { return cmp.Compare(stddev(a, 1), stddev(b, 1)) }
	case record.Avg:
		return func(a, b []int64) int {
			x, _ := Number(agg, a, 1)
			y, _ := Number(agg, b, 1)
			return compare(agg, x, y)
		}
	}
	return func(a, b []int64) int { return compare(agg, value(agg, a), value(agg, b)) }
}

// Ranker returns what maps a row to a number that is ordered as Comparer orders
// the rows: equal numbers are equal values, but for distributions.
func Ranker(agg *record.Agg) func(words []int64) uint64 {
	const sign = 1 << 63
	switch agg.Func {
	case record.Quantize, record.Lquantize, record.Llquantize:
		weights, _ := weigh(agg)
		return func(words []int64) uint64 {
			bits := math.Float64bits(weighted(weights, words) + 0) // +0: never -0
			if bits&sign != 0 {
				return ^bits
			}
			return bits | sign
		}
	case record.Stddev:
		return func(words []int64) uint64 { return stddev(words, 1) }
	}
	flip := uint64(sign)
	if unsigned(agg) {
		flip = 0
	}
	return func(words []int64) uint64 {
		n, _ := Number(agg, words, 1)
		return uint64(n) ^ flip
	}
}

func compare(agg *record.Agg, a, b int64) int {
	if unsigned(agg) {
		return cmp.Compare(uint64(a), uint64(b))
	}
	return cmp.Compare(a, b)
}

func distributionComparer(agg *record.Agg) func(a, b []int64) int {
	weights, zero := weigh(agg)
	return func(a, b []int64) int {
		if c := cmp.Compare(weighted(weights, a), weighted(weights, b)); c != 0 || zero < 0 {
			return c
		}
		return cmp.Compare(a[1+zero], b[1+zero])
	}
}

// weigh returns the weight of each bucket, its value, and which bucket is the
// one of zero, -1 for none. What lies outside of the buckets of lquantize counts
// as if it were one beyond them.
func weigh(agg *record.Agg) (weights []float64, zero int) {
	zero = -1
	for i, b := range Buckets(agg) {
		weight := b.Value
		switch {
		case b.Limit == Below:
			weight--
		case b.Limit == AtLeast && agg.Func == record.Lquantize:
			weight++
		}
		weights = append(weights, float64(weight))
		if weight == 0 && zero < 0 {
			zero = i
		}
	}
	if agg.Func == record.Llquantize {
		zero = 0
	}
	return weights, zero
}

// weighted is the sum of the buckets' weights times their counts.
func weighted(weights []float64, words []int64) (sum float64) {
	for i, w := range weights {
		sum += w * float64(words[1+i])
	}
	return sum
}
