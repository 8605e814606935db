package aggregate

import (
	"math"
	"sync"

	"kinst/internal/record"
)

// A Bucket is one line of a distribution.
type Bucket struct {
	// Limit says how Value bounds the bucket's numbers.
	Limit Limit
	Value int64
}

// A Limit is how a bucket's value bounds its numbers.
type Limit int

const (
	From    Limit = iota // up from Value, to the next bucket (quantize below zero: down from Value)
	Below                // everything below Value
	AtLeast              // everything from Value on
)

// The buckets of quantize: one for zero in the middle, and one for each power
// of two on both sides.
const (
	QuantizeBuckets = 127
	QuantizeZero    = 63
)

// Buckets are the buckets of a distribution, in the order of the words that
// follow the number of values.
func Buckets(agg *record.Agg) []Bucket {
	switch agg.Func {
	case record.Quantize:
		return quantizeBuckets()
	case record.Lquantize:
		return lquantizeBuckets(agg)
	case record.Llquantize:
		return llquantizeBuckets(agg)
	}
	return nil
}

// Words is how many words a value of an aggregating function has.
func Words(agg *record.Agg) int {
	switch agg.Func {
	case record.Count:
		return 1
	case record.Sum, record.Min, record.Max, record.Avg:
		return 2
	case record.Stddev:
		return 2 + squareParts
	}
	return 1 + len(Buckets(agg))
}

var quantizeBuckets = sync.OnceValue(func() []Bucket {
	b := make([]Bucket, QuantizeBuckets)
	for i := range b {
		switch {
		case i < QuantizeZero:
			b[i].Value = -1 << (QuantizeZero - 1 - i)
		case i > QuantizeZero:
			b[i].Value = 1 << (i - QuantizeZero - 1)
		}
	}
	return b
})

func lquantizeBuckets(agg *record.Agg) []Bucket {
	b := make([]Bucket, 0, agg.Levels+2)
	b = append(b, Bucket{Below, agg.Base})
	for i := range agg.Levels {
		b = append(b, Bucket{From, agg.Base + i*agg.Step})
	}
	return append(b, Bucket{AtLeast, agg.Base + agg.Levels*agg.Step})
}

// llquantizeBuckets counts in steps that grow with each power of the factor:
// from Factor^Base to Factor^(Limit+1), Step steps to each magnitude (fewer
// where the magnitude has not so many integers).
func llquantizeBuckets(agg *record.Agg) []Bucket {
	value := int64(1)
	for range agg.Base {
		value *= agg.Factor
	}
	b := []Bucket{{Below, value}}
	for order := agg.Base; order <= agg.Limit; order++ {
		next := saturate(value, agg.Factor)
		step := max(next/agg.Step, 1)
		for ; value < next; value += step {
			b = append(b, Bucket{From, value})
			if value > math.MaxInt64-step {
				break
			}
		}
		value = next
	}
	return append(b, Bucket{AtLeast, value})
}

func saturate(a, b int64) int64 {
	if a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}
