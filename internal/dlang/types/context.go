package types

// An Arg is the type of one argument of a probe, args[n].
type Arg struct {
	Name string
	Type *Type
}
