package isa

// An Operand is where a number is, as an operand of an instruction: in a
// register, in memory, or nowhere, being a constant. Programs describe the
// arguments of their static probes (USDT) with it.
type Operand struct {
	Memory bool

	Register string // D's name of the register, or of a memory address's base; "" for none
	Byte     int    // of the register, where the number begins
	Index    string // of a memory address: the register that is multiplied by Scale and added
	Scale    int
	Disp     int64 // of a memory address; a constant's value

	// Symbol, unless "", is to be added to Disp. Register is the program
	// counter then, which counts for nothing: the address is absolute.
	Symbol string
}
