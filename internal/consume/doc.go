// Package consume turns what the programs wrote into text: records as they
// come, aggregations when they are asked for, losses and faults as soon as they
// are known, each in the words and columns of dtrace(1).
//
// It reads the bytes by the Layout of package record and knows nothing of where
// they come from. Every method belongs to one goroutine.
package consume
