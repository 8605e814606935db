package types

// An Arg is the type of one argument of a probe, args[n].
type Arg struct {
	Name string
	Type *Type
	// Means, if it is not empty, is the D expression that args[n] stands for,
	// of arg0, arg1, ...; its type is then the expression's, and Type for
	// messages. It may use the library:
	// `xlate <psinfo_t *>((struct task_struct *)arg1)`.
	Means string
	// Native, if it is not empty, is the D expression that argn stands for in
	// the program, of arg0, arg1, ... as the kernel passes them: `arg1`.
	Native string
}

// A Context is what a kind of probe offers to a clause that it runs.
type Context struct {
	// Registers says that there is a register file: regs[].
	Registers bool
	// Errno says that a system call is about to return arg0.
	Errno bool
	// When, if it is not empty, is the condition under which the probe fires,
	// a D expression of arg0, arg1, ... as the kernel passes them.
	When string
	// Args are the types of args[], in order.
	Args []Arg
}
