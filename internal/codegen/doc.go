// Package codegen turns checked clauses into BPF programs and the maps that
// they need, and says what the bytes mean that the programs write.
//
// All clauses of one kind of probe run in one program, in program order. A
// clause builds its record in memory of its CPU and sends it whole into the
// CPU's ring buffer. Everything that user space must know to read records and
// aggregations is in the record.Layout.
package codegen
