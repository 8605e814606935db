package isa

import (
	"fmt"
	"strconv"
	"strings"
)

// parseSyscalls reads lines of a number, a name and, where it differs, the
// name of the kernel's function. The text is part of this program, so it
// panics on anything else.
func parseSyscalls(text string) []Syscall {
	var calls []Syscall
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		number, err := strconv.Atoi(fields[0])
		if err != nil || len(fields) < 2 {
			panic(fmt.Sprintf("isa: %q is no system call", line))
		}
		calls = append(calls, Syscall{number, fields[1], fields[len(fields)-1]})
	}
	return calls
}
