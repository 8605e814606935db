package types

// An Arg is the type of one argument of a probe, args[n].
type Arg struct {
	Name string
	Type *Type
	// Means, if it is not empty, is the D expression that args[n] stands for,
	// of arg0, arg1, ...; its type is then the expression's. It may use the
	// library: `xlate <psinfo_t *>((struct task_struct *)arg1)`.
	Means string
}

// A Context is what a kind of probe offers to a clause that it runs.
type Context struct {
	// Registers says that there is a register file: regs[].
	Registers bool
	// Errno says that a system call is about to return arg0.
	Errno bool
	// Args are the types of args[], in order.
	Args []Arg
}
