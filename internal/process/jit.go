package process

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// jitName stands for the file of code that was made at run time.
const jitName = "[jit]"

// symbol is a function, where it is in memory.
type symbol struct {
	addr, size uint64
	name       string
}

// jitMap is what a run-time compiler says of its code, in the file
// /tmp/perf-PID.map that perf(1) has made a custom, lines of
//
//	START SIZE name
type jitMap struct {
	symbols []symbol
	changed time.Time // of the file that was read
	size    int64
}

// symbol returns the function that an address is in.
func (j *jitMap) symbol(p *process, addr uint64) (module, name string, offset uint64) {
	s, ok := j.find(addr)
	if !ok && j.refresh(p) {
		s, ok = j.find(addr)
	}
	if !ok {
		return "", "", 0
	}
	return jitName, s.name, addr - s.addr
}

func (j *jitMap) find(addr uint64) (symbol, bool) {
	i, _ := slices.BinarySearchFunc(j.symbols, addr, func(s symbol, addr uint64) int {
		if s.addr <= addr {
			return -1
		}
		return 1
	})
	if i == 0 || addr-j.symbols[i-1].addr >= j.symbols[i-1].size {
		return symbol{}, false
	}
	return j.symbols[i-1], true
}

// refresh reads the file if it has changed. Later lines replace earlier ones:
// the compiler has used the memory again.
func (j *jitMap) refresh(p *process) bool {
	name := p.proc("root/tmp/perf-" + p.ownNumber() + ".map")
	info, err := os.Stat(name)
	if err != nil || info.ModTime().Equal(j.changed) && info.Size() == j.size {
		return false
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return false
	}
	j.changed, j.size = info.ModTime(), info.Size()
	j.symbols = parseJIT(string(text))
	return true
}

func parseJIT(text string) []symbol {
	var symbols []symbol
	for line := range strings.Lines(text) {
		start, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		size, name, ok := strings.Cut(rest, " ")
		addr, err := strconv.ParseUint(strings.TrimPrefix(start, "0x"), 16, 64)
		n, err2 := strconv.ParseUint(strings.TrimPrefix(size, "0x"), 16, 64)
		if ok && err == nil && err2 == nil {
			symbols = append(symbols, symbol{addr, n, name})
		}
	}
	slices.Reverse(symbols) // the last of equals comes first and stays
	slices.SortStableFunc(symbols, func(a, b symbol) int {
		switch {
		case a.addr < b.addr:
			return -1
		case a.addr > b.addr:
			return 1
		}
		return 0
	})
	return slices.CompactFunc(symbols, func(a, b symbol) bool { return a.addr == b.addr })
}

// ownNumber is the number that the process has in its own namespace.
func (p *process) ownNumber() string {
	status, err := os.ReadFile(p.proc("status"))
	if err == nil {
		for line := range strings.Lines(string(status)) {
			if numbers, ok := strings.CutPrefix(line, "NSpid:"); ok {
				if all := strings.Fields(numbers); len(all) > 0 {
					return all[len(all)-1]
				}
			}
		}
	}
	return strconv.FormatUint(uint64(p.pid), 10)
}
