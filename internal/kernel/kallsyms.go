package kernel

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unsafe"
)

// kallsyms is the kernel's own table of its symbols, from which /proc/kallsyms
// is printed (kernel/kallsyms.c). To print it takes the kernel several times
// as long as reading the table takes us.
type kallsyms struct {
	names      []byte // of each symbol: how many bytes follow, which are numbers of tokens
	tokens     []byte // texts, each with a zero behind it
	tokenIndex []byte // of 256 tokens: where in tokens, 2 bytes
	offsets    []byte // of each symbol: 4 bytes
	count      int

	offsetsAddr uint64
	base        uint64 // what offsets count from; 0 where they count from themselves
}

// Limits that no kernel comes near, in bytes.
const (
	maxKallsymsNames  = 64 << 20
	maxKallsymsTokens = 1 << 16
	maxKallsymsCount  = 4 << 20
)

// coreSymbols reads the symbols of the kernel proper from its memory.
func (c *kcore) coreSymbols() ([]symbol, error) {
	info := c.info()
	table, err := readKallsyms(c, info)
	if err != nil {
		return nil, err
	}
	return table.symbols(info["_stext"])
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
		{&t.tokens, info["kallsyms_token_table"], int(tokens)},
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
	syms, err := t.expand()
	if err != nil {
		return nil, err
	}
	known := slices.IndexFunc(syms, func(s symbol) bool { return s.name == "_stext" })
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

// expand returns the symbols without their addresses.
func (t *kallsyms) expand() ([]symbol, error) {
	var tokens [256]string
	for i := range tokens {
		at := int(binary.NativeEndian.Uint16(t.tokenIndex[2*i:]))
		if at >= len(t.tokens) {
			return nil, fmt.Errorf("token %d of the kernel's symbols is at %d of %d bytes", i, at, len(t.tokens))
		}
		text, _, _ := bytes.Cut(t.tokens[at:], []byte{0})
		tokens[i] = string(text)
	}
	text := make([]byte, 0, 4*len(t.names))
	ends := make([]int32, t.count)
	names := t.names
	for i := range ends {
		name, rest, ok := cutName(names)
		if !ok || len(text) > maxKallsymsNames {
			return nil, fmt.Errorf("the kernel's table ends at symbol %d of %d", i, t.count)
		}
		for _, token := range name {
			text = append(text, tokens[token]...)
		}
		ends[i], names = int32(len(text)), rest
	}
	syms := make([]symbol, t.count)
	all := unsafe.String(unsafe.SliceData(text), len(text))
	begin := int32(0)
	for i, end := range ends {
		if end == begin {
			return nil, fmt.Errorf("symbol %d of the kernel has no type", i)
		}
		syms[i] = symbol{kind: all[begin], name: all[begin+1 : end]}
		begin = end
	}
	return syms, nil
}

// cutName splits off the tokens of a symbol: their number in one byte, or from
// 128 on in two, the first of which has 7 bits.
func cutName(names []byte) (name, rest []byte, ok bool) {
	if len(names) < 2 {
		return nil, nil, false
	}
	n, header := int(names[0]), 1
	if n >= 1<<7 {
		n, header = n&0x7f|int(names[1])<<7, 2
	}
	if n > len(names)-header {
		return nil, nil, false
	}
	return names[header : header+n], names[header+n:], true
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
