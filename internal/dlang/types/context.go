package types

// An Arg is the type of one argument of a probe, args[n].
type Arg struct {
	Name string
	Type *Type
}

// A Context is what a kind of probe offers to a clause that it runs.
type Context struct {
	// Registers says that there is a register file: regs[].
	Registers bool
	// Args are the types of args[], in order.
	Args []Arg
}
