package isa

import (
	"bufio"
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// listed is a function as objdump lists it, padding and all.
type listed struct {
	addr  uint64
	text  []byte
	lines []string // "+0x9: push %r13", white space normalised
}

// symbols are those that objdump printed.
type symbols map[uint64]string

// Symbol knows the symbols' own addresses and what is less than a page behind
// them.
func (s symbols) Symbol(addr uint64) (string, uint64, bool) {
	for off := range uint64(0x1000) {
		if name := s[addr-off]; name != "" {
			return name, off, true
		}
	}
	return "", 0, false
}

// readListing reads the output of objdump -d -w.
func readListing(t *testing.T, file string) (map[string]*listed, symbols) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	functions, syms := make(map[string]*listed), make(symbols)
	var fn *listed
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if head, ok := strings.CutSuffix(sc.Text(), ">:"); ok {
			addr, name, _ := strings.Cut(head, " <")
			fn = &listed{addr: parseHex(t, addr)}
			functions[name] = fn
			syms[fn.addr] = name
			continue
		}
		columns := strings.Split(sc.Text(), "\t")
		if len(columns) != 3 {
			continue
		}
		fn.add(t, columns)
		noteSymbol(t, syms, columns[2])
	}
	return functions, syms
}

func (fn *listed) add(t *testing.T, columns []string) {
	text, err := hex.DecodeString(strings.ReplaceAll(columns[1], " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	at := "+0x" + strconv.FormatInt(int64(len(fn.text)), 16) + ": "
	fn.lines = append(fn.lines, at+squeeze(columns[2]))
	fn.text = append(fn.text, text...)
}

// noteSymbol picks up "ffffffff81002000 <__fentry__>".
func noteSymbol(t *testing.T, syms symbols, text string) {
	before, name, ok := strings.Cut(strings.TrimSuffix(text, ">"), " <")
	if ok && !strings.Contains(name, "+") {
		syms[parseHex(t, before[strings.LastIndexByte(before, ' ')+1:])] = name
	}
}

func parseHex(t *testing.T, s string) uint64 {
	n, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// TestListing compares whole functions with objdump's listing of them.
func TestListing(t *testing.T) {
	amd64 := mustLookup(t, "amd64")
	for file, syntax := range map[string]Syntax{"testdata/listing.att": ATT, "testdata/listing.intel": Intel} {
		functions, syms := readListing(t, file)
		for name, fn := range functions {
			insts, err := Function(amd64, fn.text, fn.addr)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, in := range insts {
				at := "+0x" + strconv.FormatUint(in.Addr-fn.addr, 16) + ": "
				got = append(got, at+squeeze(amd64.Format(in, syntax, syms)))
			}
			if d := cmp.Diff(fn.lines[:len(got)], got); d != "" {
				t.Errorf("%s: %s: %s", file, name, d)
			}
			for _, rest := range fn.lines[len(got):] {
				if !strings.Contains(rest, "nop") && !strings.Contains(rest, "int3") {
					t.Errorf("%s: %s: taken for padding: %s", file, name, rest)
				}
			}
		}
	}
}

// TestListingBlocks checks the blocks of a compiled function.
func TestListingBlocks(t *testing.T) {
	amd64 := mustLookup(t, "amd64")
	functions, syms := readListing(t, "testdata/listing.att")
	fn := functions["walk"]
	insts, err := Function(amd64, fn.text, fn.addr)
	if err != nil {
		t.Fatal(err)
	}
	blocks := Blocks(amd64, insts, Flow{
		Symbol:   func(addr uint64) string { return syms[addr] },
		NoReturn: func(name string) bool { return name == "panic" },
	})
	checkBlocks(t, insts, blocks)
	kinds := map[EdgeKind]int{}
	for _, b := range blocks {
		for _, e := range b.Edges {
			kinds[e.Kind]++
		}
	}
	// One way out, one ud2 to resume behind, and no tail call, no jump table.
	if kinds[Leave] != 1 || kinds[Resume] != 1 || kinds[Tail]+kinds[Unknown]+kinds[Beyond] != 0 {
		t.Errorf("edges by kind: %v", kinds)
	}
	if last := blocks[len(blocks)-1]; len(last.Edges) != 0 {
		t.Errorf("control goes on behind panic: %v", last.Edges)
	}
}

// checkBlocks checks what must hold for the blocks of any function.
func checkBlocks(t *testing.T, insts []Inst, blocks []Block) {
	t.Helper()
	n := 0
	for i, b := range blocks {
		for _, in := range b.Insts {
			if n >= len(insts) || in.Addr != insts[n].Addr {
				t.Fatalf("block %d: %#x is out of order", i, in.Addr)
			}
			n++
		}
		for _, e := range b.Edges {
			if e.Block >= 0 && blocks[e.Block].Insts[0].Addr != e.Target {
				t.Errorf("block %d: edge %v to %#x leads to block %d", i, e.Kind, e.Target, e.Block)
			}
		}
	}
	if n != len(insts) {
		t.Errorf("%d instructions in blocks, of %d", n, len(insts))
	}
}

// FuzzFunction feeds any bytes to all that works on a function.
func FuzzFunction(f *testing.F) {
	f.Add([]byte("\xf3\x0f\x1e\xfa\x74\x01\xf0\x0f\xb1\x0f\xe8\x00\x00\x00\x00\xc3\xcc"))
	f.Add([]byte("\xeb\xfe\x90\x90"))
	amd64, err := Lookup("amd64")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		const addr = 0xffffffff81000000
		insts, _ := Function(amd64, text, addr)
		at := uint64(addr)
		for _, in := range insts {
			if in.Addr != at {
				t.Fatalf("% x: instruction at %#x, not at %#x", text, in.Addr, at)
			}
			at = in.End()
		}
		checkBlocks(t, insts, Blocks(amd64, insts, Flow{}))
		amd64.LandingPad(text)
	})
}
