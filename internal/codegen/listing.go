package codegen

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"kinst/internal/dlang/syntax"
)

// Listing writes the programs, each stretch of instructions below the line of
// D that it is for.
func (p *Program) Listing(w io.Writer) error {
	for _, prog := range slices.Concat(p.Programs...) {
		fmt.Fprintf(w, "%s:\n", prog.Name)
		last := ""
		for _, ins := range prog.Instructions {
			if pos, ok := ins.Metadata.Get(positionKey{}).(syntax.Pos); ok {
				if at := line(pos); at != last {
					fmt.Fprintf(w, "; %s\n", at)
					last = at
				}
			}
			if sym := ins.Symbol(); sym != "" {
				fmt.Fprintf(w, "%s:\n", sym)
			}
			if _, err := fmt.Fprintf(w, "\t%s\n", strings.TrimSpace(fmt.Sprintf("%v", ins))); err != nil {
				return err
			}
		}
	}
	return nil
}

// line is the line of the source at a position.
func line(p syntax.Pos) string {
	if p.Source == nil {
		return ""
	}
	lines := strings.Split(p.Source.Text, "\n")
	if p.Line < 1 || p.Line > len(lines) {
		return p.String()
	}
	return strings.TrimSpace(lines[p.Line-1])
}
