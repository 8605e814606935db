package kernel

// A Check is one thing that tracing needs or can use.
type Check struct {
	Name     string
	OK       bool
	Required bool   // without it no instruction can be traced
	Detail   string // what was found
	Remedy   string // what to do, where it is not OK
}

// Check says what this kernel and these privileges allow.
func (k *Kernel) Check() []Check { return nil }
