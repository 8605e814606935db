package kernel

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// testTable is a table of symbols whose n-th offset is offsets[n]. Token 1 is
// "read", every other one its own letter.
func testTable(names []string, offsets ...uint32) *kallsyms {
	t := &kallsyms{count: len(offsets), offsetsAddr: 0xffffffff82000000, base: 0xffffffff81000000}
	for i := range 256 {
		t.tokenIndex = binary.NativeEndian.AppendUint16(t.tokenIndex, uint16(len(t.tokenTable)))
		token := string(rune(i))
		if i == 1 {
			token = "read"
		}
		t.tokenTable = append(t.tokenTable, token+"\x00"...)
	}
	for _, name := range names {
		n := len(name)
		if n < 1<<7 {
			t.names = append(t.names, byte(n))
		} else {
			t.names = append(t.names, byte(n&0x7f|1<<7), byte(n>>7))
		}
		t.names = append(t.names, name...)
	}
	for _, offset := range offsets {
		t.offsets = binary.NativeEndian.AppendUint32(t.offsets, offset)
	}
	return t
}

func TestKallsyms(t *testing.T) {
	long := strings.Repeat("x", 300)
	names := []string{"Acpu", "T_stext", "tvfs_\x01", "d" + long}
	text := func(cpu, stext, read, data uint64) string {
		return fmt.Sprintf("%x A cpu\n%x T _stext\n%x t vfs_read\n%x d %s\n", cpu, stext, read, data, long)
	}
	const base, table = 0xffffffff81000000, 0xffffffff82000000
	below := func(distance int32) uint32 { return uint32(-1 - distance) }
	for _, test := range []struct {
		name    string
		offsets []uint32
		want    string
	}{
		{"relative", []uint32{0x10, 0, 0x200, 0x60000000}, text(base+0x10, base, base+0x200, base+0x60000000)},
		{"absolute per-CPU", []uint32{0x10, below(0), below(0x200), below(0x70000000)}, text(0x10, base, base+0x200, base+0x70000000)},
		{"self-relative", []uint32{^uint32(0x1000000 - 1), ^uint32(0x1000000 + 4 - 1), ^uint32(0xfffe00 + 8 - 1), 0x100}, text(base, base, base+0x200, table+0x10c)},
	} {
		t.Run(test.name, func(t *testing.T) {
			table := testTable(names, test.offsets...)
			syms, err := table.symbols(base)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, s := range syms {
				fmt.Fprintf(&got, "%x %c %s\n", s.addr, s.kind, table.name(s.at))
			}
			if diff := cmp.Diff(test.want, got.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestKallsymsErrors(t *testing.T) {
	for want, table := range map[string]*kallsyms{
		"the kernel writes the addresses of its symbols in no form that is known": testTable([]string{"T_stext"}, 0x55),
		"the kernel's table of symbols lacks _stext":                              testTable([]string{"Ta"}, 0),
		"the kernel's table ends at symbol 1 of 2":                                testTable([]string{"Ta"}, 0, 0),
		"the kernel's table ends at symbol 0 of 1":                                {names: []byte{0x80}, tokenTable: []byte{0}, tokenIndex: make([]byte, 512), offsets: make([]byte, 4), count: 1},
		"symbol 0 of the kernel has no type":                                      testTable([]string{"\x00", "Ta"}, 0, 0),
		"symbol 1 of the kernel has 600 tokens":                                   testTable([]string{"Ta", "T" + strings.Repeat("x", 599)}, 0, 0),
		"token 0 of the kernel's symbols has 600 bytes":                           {tokenTable: append(bytes.Repeat([]byte("x"), 600), 0), tokenIndex: make([]byte, 512)},
		"token 0 of the kernel's symbols is at 0 of 0 bytes":                      {tokenIndex: make([]byte, 512)},
	} {
		if _, err := table.symbols(0xffffffff81000000); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestParseInfo(t *testing.T) {
	got := parseInfo("OSRELEASE=6.12.1\nSYMBOL(_stext)=ffffffff81000000\nNUMBER(phys_base)=5\nSYMBOL(x)=\nSYMBOL(y=1\nSYMBOL(z)=ffff\n")
	if diff := cmp.Diff(map[string]uint64{"_stext": 0xffffffff81000000, "z": 0xffff}, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzKallsyms(f *testing.F) {
	table := testTable([]string{"Acpu", "T_stext", "tvfs_\x01"}, 0, 0, 0)
	f.Add(table.names, table.tokenTable, table.tokenIndex, 3)
	f.Fuzz(func(t *testing.T, names, tokens, index []byte, count int) {
		if len(index) != 512 || count < 0 || count > 20 {
			return
		}
		table := &kallsyms{names: names, tokenTable: tokens, tokenIndex: index, offsets: make([]byte, 4*count), count: count}
		syms, err := table.symbols(0)
		if err == nil && len(syms) != count {
			t.Errorf("%d symbols of %d", len(syms), count)
		}
		all := table.allNames(syms)
		for i, s := range syms {
			name := table.name(s.at)
			if name != all[i] || strings.ContainsRune(name, 0) {
				t.Errorf("symbol %d is %q and %q", i, name, all[i])
			}
			one := syms[i : i+1]
			if !finds(table.scan(one, name, true)) || !finds(table.scan(one, name[:len(name)/2], false)) || finds(table.scan(one, name+"x", false)) {
				t.Errorf("symbol %q is not found by its name", name)
			}
			picked := map[string][]int{name: nil}
			if table.pick(one, picked); len(picked[name]) != 1 {
				t.Errorf("symbol %q is not picked", name)
			}
			if len(table.ending(one, name[len(name)/2:])) != 1 {
				t.Errorf("symbol %q is not found by its end", name)
			}
		}
	})
}

func finds(found iter.Seq[int]) bool {
	for range found {
		return true
	}
	return false
}
