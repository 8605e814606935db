// Package buffer reads back what the programs of a session wrote: the records
// in the rings of the CPUs, in the order of their times (Rings), the
// aggregations (Aggregations), and how much was lost (Losses).
//
// Nothing is queued here beyond a few records per CPU: a reader that is slow
// lets the rings fill, and the programs count what then finds no room.
package buffer
