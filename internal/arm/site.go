package arm

import (
	"fmt"

	"kinst/internal/kernel"
)

// A Site is an instruction of the kernel.
type Site struct {
	Module string // kernel.VMLinux or the module's name
	Symbol string // the function's name, for messages
	Base   uint64 // address of the function's first byte
	Offset uint64 // of the instruction's first byte from Base
	// Return says that programs run when the function returns, however it
	// does that. Offset is 0 then.
	Return bool
}

// Addr is the address of the instruction.
func (s Site) Addr() uint64 { return s.Base + s.Offset }

// String returns the site in the form of a probe description.
func (s Site) String() string {
	module := s.Module
	if module == kernel.VMLinux {
		module = ""
	}
	if s.Return {
		return fmt.Sprintf("fbt:%s:%s:return", module, s.Symbol)
	}
	return fmt.Sprintf("kinst:%s:%s:%d", module, s.Symbol, s.Offset)
}
