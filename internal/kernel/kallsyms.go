package kernel

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unsafe"
)

// kallsyms is the kernel's own table of its symbols, from which /proc/kallsyms
// is printed (kernel/kallsyms.c). To print it takes the kernel several times
// as long as reading the table takes us. Names stay as the table has them,
// compressed, until somebody asks for one: most runs ask for a few of all.
type kallsyms struct {
	names      []byte // of each symbol: how many bytes follow, which are numbers of tokens
	tokenTable []byte // texts, each with a zero behind it
	tokenIndex []byte // of 256 tokens: where in tokenTable, 2 bytes
	offsets    []byte // of each symbol: 4 bytes
	count      int

	offsetsAddr uint64
	base        uint64 // what offsets count from; 0 where they count from themselves

	tokens [256]string
}

// Limits that no kernel comes near, in bytes.
const (
	maxKallsymsNames  = 64 << 20
	maxKallsymsTokens = 1 << 16
	maxKallsymsCount  = 4 << 20
	maxKallsymsName   = 512 // KSYM_NAME_LEN, also of a token, and in tokens
)

// coreSymbols reads the symbols of the kernel proper from its memory.
func (c *kcore) coreSymbols() (*Symbols, error) {
	info := c.info()
	table, err := readKallsyms(c, info)
	if err != nil {
		return nil, err
	}
	syms, err := table.symbols(info["_stext"])
	if err != nil {
		return nil, err
	}
	return newSymbols(&Symbols{syms: syms, table: table, modules: []string{VMLinux}, source: c.source()}), nil
}

// readKallsyms finds the table by VMCOREINFO, which names its parts from Linux
// 6.0 on.
func readKallsyms(core *kcore, info map[string]uint64) (*kallsyms, error) {
	for _, name := range []string{"kallsyms_names", "kallsyms_token_table", "kallsyms_token_index", "kallsyms_offsets", "kallsyms_num_syms"} {
		if info[name] == 0 {
			return nil, fmt.Errorf("VMCOREINFO lacks %s", name)
		}
	}
	t := &kallsyms{offsetsAddr: info["kallsyms_offsets"]}
	var number [8]byte
	if err := core.read(info["kallsyms_num_syms"], number[:4]); err != nil {
		return nil, err
	}
	t.count = int(binary.NativeEndian.Uint32(number[:]))
	if addr := info["kallsyms_relative_base"]; addr != 0 {
		if err := core.read(addr, number[:]); err != nil {
			return nil, err
		}
		t.base = binary.NativeEndian.Uint64(number[:])
	}
	// The names stand before the tokens, with the markers between them.
	names := info["kallsyms_token_table"] - info["kallsyms_names"]
	tokens := info["kallsyms_token_index"] - info["kallsyms_token_table"]
	if t.count > maxKallsymsCount || names > maxKallsymsNames || tokens > maxKallsymsTokens {
		return nil, errors.New("the parts of the kernel's table of symbols stand in no order that is known")
	}
	for _, part := range []struct {
		to   *[]byte
		addr uint64
		size int
	}{
		{&t.names, info["kallsyms_names"], int(names)},
		{&t.tokenTable, info["kallsyms_token_table"], int(tokens)},
		{&t.tokenIndex, info["kallsyms_token_index"], 2 * 256},
		{&t.offsets, t.offsetsAddr, 4 * t.count},
	} {
		*part.to = make([]byte, part.size)
		if err := core.read(part.addr, *part.to); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// symbols returns the symbols in the order of the table. How the kernel writes
// their addresses is told by that of _stext.
func (t *kallsyms) symbols(stext uint64) ([]symbol, error) {
	if err := t.readTokens(); err != nil {
		return nil, err
	}
	syms, err := t.places()
	if err != nil {
		return nil, err
	}
	known := -1
	for i := range t.scan(syms, "_stext", true) {
		known = i
		break
	}
	if known < 0 {
		return nil, errors.New("the kernel's table of symbols lacks _stext")
	}
	for _, address := range []func(i int) uint64{t.relative, t.relativeOrAbsolute, t.selfRelative} {
		if address(known) == stext {
			for i := range syms {
				syms[i].addr = address(i)
			}
			return syms, nil
		}
	}
	return nil, errors.New("the kernel writes the addresses of its symbols in no form that is known")
}

func (t *kallsyms) readTokens() error {
	for i := range t.tokens {
		at := int(binary.NativeEndian.Uint16(t.tokenIndex[2*i:]))
		if at >= len(t.tokenTable) {
			return fmt.Errorf("token %d of the kernel's symbols is at %d of %d bytes", i, at, len(t.tokenTable))
		}
		text, _, _ := bytes.Cut(t.tokenTable[at:], []byte{0})
		if len(text) > maxKallsymsName {
			return fmt.Errorf("token %d of the kernel's symbols has %d bytes", i, len(text))
		}
		t.tokens[i] = string(text)
	}
	return nil
}

// places returns the symbols with where their names are, without their
// addresses.
func (t *kallsyms) places() ([]symbol, error) {
	syms := make([]symbol, t.count)
	at := 0
	for i := range syms {
		name, end := t.spelled(at)
		if end > len(t.names) {
			return nil, fmt.Errorf("the kernel's table ends at symbol %d of %d", i, t.count)
		}
		if len(name) > maxKallsymsName {
			return nil, fmt.Errorf("symbol %d of the kernel has %d tokens", i, len(name))
		}
		if len(name) == 0 || t.tokens[name[0]] == "" {
			return nil, fmt.Errorf("symbol %d of the kernel has no type", i)
		}
		syms[i] = symbol{kind: t.tokens[name[0]][0], at: uint32(at), token: name[0]}
		at = end
	}
	return syms, nil
}

// spelled returns the tokens of the symbol at a place, and where the next one
// is: past the end of the table if it ends before. Their number is in one byte,
// or from 128 on in two, the first of which has 7 bits.
func (t *kallsyms) spelled(at int) (tokens []byte, end int) {
	if len(t.names)-at < 2 {
		return nil, len(t.names) + 1
	}
	n, header := int(t.names[at]), 1
	if n >= 1<<7 {
		n, header = n&0x7f|int(t.names[at+1])<<7, 2
	}
	begin := at + header
	if end = begin + n; end > len(t.names) {
		return nil, end
	}
	return t.names[begin:end], end
}

// name returns the name of the symbol at a place.
func (t *kallsyms) name(at uint32) string {
	var room [128]byte
	return string(t.appendName(room[:0], at))
}

func (t *kallsyms) appendName(to []byte, at uint32) []byte {
	tokens, _ := t.spelled(int(at))
	to = append(to, t.tokens[tokens[0]][1:]...) // behind the type
	for _, token := range tokens[1:] {
		to = append(to, t.tokens[token]...)
	}
	return to
}

// allNames returns the names of many symbols.
func (t *kallsyms) allNames(syms []symbol) []string {
	text := make([]byte, 0, 4*len(t.names))
	ends := make([]int, len(syms))
	for i := range syms {
		text = t.appendName(text, syms[i].at)
		ends[i] = len(text)
	}
	all := unsafe.String(unsafe.SliceData(text), len(text))
	names := make([]string, len(syms))
	begin := 0
	for i, end := range ends {
		names[i] = all[begin:end]
		begin = end
	}
	return names
}

// scan goes through the indexes of the symbols whose name begins with text or,
// if it is asked for whole names, is text.
func (t *kallsyms) scan(syms []symbol, text string, whole bool) iter.Seq[int] {
	first := t.firstOf(text)
	return func(yield func(int) bool) {
		for i := range syms {
			if first[syms[i].token] && t.has(syms[i].at, text, whole) && !yield(i) {
				return
			}
		}
	}
}

// firstOf returns the tokens with which names can begin that begin with text.
func (t *kallsyms) firstOf(text string) (first [256]bool) {
	for i, token := range t.tokens {
		if token != "" {
			begin := token[1:]
			first[i] = strings.HasPrefix(text, begin) || strings.HasPrefix(begin, text)
		}
	}
	return first
}

// has reports whether the name of the symbol at a place begins with text, or
// is it.
func (t *kallsyms) has(at uint32, text string, whole bool) bool {
	tokens, _ := t.spelled(int(at))
	drop := 1 // the type
	for _, token := range tokens {
		part := t.tokens[token][drop:]
		drop = 0
		n := min(len(part), len(text))
		if part[:n] != text[:n] || whole && n < len(part) {
			return false
		}
		if text = text[n:]; text == "" && !whole {
			return true
		}
	}
	return text == ""
}

// pick gives each of some names the indexes of the symbols that have it. Two
// tokens tell nearly all others apart.
func (t *kallsyms) pick(syms []symbol, names map[string][]int) {
	var first [256]bool
	pairs := make([]bool, 1<<16)
	for name := range names {
		t.addPairs(name, &first, pairs)
	}
	var text []byte
	for i := range syms {
		if !first[syms[i].token] {
			continue
		}
		if tokens, _ := t.spelled(int(syms[i].at)); len(tokens) > 1 && !pairs[pair(tokens[0], tokens[1])] {
			continue
		}
		text = t.appendName(text[:0], syms[i].at)
		if found, ok := names[string(text)]; ok {
			names[string(text)] = append(found, i)
		}
	}
}

func pair(a, b byte) int { return int(a)<<8 | int(b) }

// addPairs adds the tokens, and the pairs of them, that a name can begin with.
func (t *kallsyms) addPairs(name string, first *[256]bool, pairs []bool) {
	for a, token := range t.tokens {
		if token == "" || !strings.HasPrefix(name, token[1:]) {
			continue
		}
		first[a] = true
		rest := name[len(token)-1:]
		for b, token := range t.tokens {
			if strings.HasPrefix(rest, token) {
				pairs[pair(byte(a), byte(b))] = true
			}
		}
	}
}

// ending returns the indexes of the symbols whose name ends with a text, by
// name.
func (t *kallsyms) ending(syms []symbol, suffix string) map[string][]int {
	var last [256]bool
	for i, token := range t.tokens {
		last[i] = strings.HasSuffix(token, suffix) || strings.HasSuffix(suffix, token)
	}
	found := make(map[string][]int)
	for i := range syms {
		tokens, _ := t.spelled(int(syms[i].at))
		if !last[tokens[len(tokens)-1]] {
			continue
		}
		if name := t.name(syms[i].at); strings.HasSuffix(name, suffix) {
			found[name] = append(found[name], i)
		}
	}
	return found
}

func (t *kallsyms) offset(i int) uint32 { return binary.NativeEndian.Uint32(t.offsets[4*i:]) }

// relative is the form of an address since 6.15, and always without per-CPU
// variables.
func (t *kallsyms) relative(i int) uint64 { return t.base + uint64(t.offset(i)) }

// relativeOrAbsolute is the form with CONFIG_KALLSYMS_ABSOLUTE_PERCPU.
func (t *kallsyms) relativeOrAbsolute(i int) uint64 {
	if offset := int32(t.offset(i)); offset < 0 {
		return t.base - 1 - uint64(int64(offset))
	}
	return uint64(t.offset(i))
}

// selfRelative is the form of kernels without kallsyms_relative_base.
func (t *kallsyms) selfRelative(i int) uint64 {
	return t.offsetsAddr + uint64(4*i) + uint64(int64(int32(t.offset(i))))
}

// parseInfo reads the symbols out of the text of VMCOREINFO
// (Documentation/admin-guide/kdump/vmcoreinfo.rst), lines of
//
//	SYMBOL(_stext)=ffffffff81000000
func parseInfo(text string) map[string]uint64 {
	symbols := make(map[string]uint64)
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "SYMBOL("); ok {
			name, value, _ := strings.Cut(rest, ")=")
			if addr, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64); err == nil {
				symbols[name] = addr
			}
		}
	}
	return symbols
}
