package cli

import (
	"bufio"
	"fmt"
	"io"

	"kinst"
)

// A probeTable prints probes as dtrace -l does.
type probeTable struct{ w *bufio.Writer }

func newProbeTable(out io.Writer) *probeTable {
	t := &probeTable{bufio.NewWriter(out)}
	fmt.Fprintf(t.w, "%5s %10s %17s %33s %s\n", "ID", "PROVIDER", "MODULE", "FUNCTION", "NAME")
	return t
}

func (t *probeTable) row(p kinst.Probe) {
	fmt.Fprintf(t.w, "%5d %10s %17s %33s %s\n", p.ID, p.Provider, p.Module, p.Function, p.Name)
}

func (t *probeTable) flush() error { return t.w.Flush() }
