package kinst

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/cilium/ebpf"

	"kinst/internal/buffer"
	"kinst/internal/dlang/syntax"
	"kinst/internal/record"
)

// A policy is what happens to the records that have been read: bufpolicy.
type policy struct {
	print   func(cpu int, data []byte) error
	history *buffer.History // of "ring", to be printed in the end
	size    int             // of "fill": how much of a CPU's is printed; 0 for all
	filled  map[int]int     // by CPU, in bytes
	full    bool            // tracing is to end
}

func newPolicy(set *Settings, print func(cpu int, data []byte) error) *policy {
	p := &policy{print: print}
	switch set.Bufpolicy {
	case "ring":
		p.history = buffer.NewHistory(int(set.Bufsize))
	case "fill":
		p.size, p.filled = int(set.Bufsize), make(map[int]int)
	}
	return p
}

// kernelBufsize returns the size of the kernel's buffer of a CPU. It cannot
// overwrite records, and so the last ones, which "ring" is to keep, must not find
// it full: it has its usual size at least, if that may be lowered.
func kernelBufsize(set *Settings) int64 {
	if set.Bufpolicy == "ring" && set.Bufresize != "manual" {
		return max(set.Bufsize, NewSettings().Bufsize)
	}
	return set.Bufsize
}

// add takes a record of the program.
func (p *policy) add(cpu int, data []byte) error {
	switch {
	case p.history != nil:
		return p.history.Add(cpu, data)
	case p.filled != nil:
		if p.filled[cpu]+len(data) > p.size {
			p.full = true
			return nil
		}
		p.filled[cpu] += len(data)
	}
	return p.print(cpu, data)
}

// end lets the records of END through, however many others there are.
func (p *policy) end() { p.filled = nil }

// finish prints what has been held back.
func (p *policy) finish() error {
	if p.history == nil {
		return nil
	}
	return p.history.Flush(p.print)
}

// isFault reports whether a record tells of a clause that was stopped.
func isFault(data []byte) bool {
	return len(data) >= record.ErrorSize && binary.NativeEndian.Uint32(data[record.ClauseOffset:]) == record.ClauseError
}

// checkCPU returns an error if the machine does not have the CPU of the option
// cpu: nothing would be traced, and nothing said.
func (s *Session) checkCPU() error {
	n, err := ebpf.PossibleCPU()
	if err != nil || s.settings.CPU < int64(n) {
		return err
	}
	return fmt.Errorf("the option cpu is %d, and this machine's CPUs are 0 to %d", s.settings.CPU, n-1)
}

// restrictCPU has the clauses of a file run on the CPU of the option cpu only,
// but for those whose probes fire on one CPU of all, whichever that is.
func (s *Session) restrictCPU(file *syntax.File) {
	if s.settings.CPU < 0 {
		return
	}
	for _, c := range clauses(file) {
		if firesOnce(c.Probes[0].Name) {
			continue
		}
		here := syntax.Expr(&syntax.Binary{
			At: c.Pos(), Op: syntax.EQL,
			X: &syntax.Ident{At: c.Pos(), Name: "cpu"},
			Y: &syntax.IntLit{At: c.Pos(), Value: uint64(s.settings.CPU), Decimal: true},
		})
		if c.Predicate != nil {
			here = &syntax.Binary{At: c.Pos(), Op: syntax.LAND, X: here, Y: c.Predicate}
		}
		c.Predicate = here
	}
}

func firesOnce(name string) bool {
	return name == "BEGIN" || name == "END" || name == "ERROR" || strings.HasPrefix(name, "tick-")
}
