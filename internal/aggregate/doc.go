// Package aggregate knows what the words of an aggregation's value mean: how
// those of several CPUs become one, what was added since a moment, which of two
// values is greater, which bucket of a distribution stands for which numbers.
//
// The layout of the words is package record's; where they come from is package
// buffer's business, how they look on the screen is package consume's.
package aggregate
