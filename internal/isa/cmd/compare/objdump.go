package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
)

// line is an instruction as objdump lists it.
type line struct {
	section string
	symbol  string // the last one before it
	addr    uint64
	bytes   []byte
	text    string // white space normalised
}

// listing reads the output of objdump -d -w.
type listing struct {
	cmd     *exec.Cmd
	scanner *bufio.Scanner
	line    line
	bytes   [32]byte
}

// disassemble starts objdump on an image, with text in the syntax that it
// calls att or intel.
func disassemble(image, syntax string) (*listing, error) {
	cmd := exec.Command("objdump", "-d", "-w", "-M", syntax, image)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	scanner := bufio.NewScanner(out)
	scanner.Buffer(nil, 1<<20)
	return &listing{cmd: cmd, scanner: scanner}, nil
}

// next reads the next instruction; io.EOF follows the last.
func (l *listing) next() (*line, error) {
	for l.scanner.Scan() {
		text := l.scanner.Text()
		if rest, ok := strings.CutPrefix(text, "Disassembly of section "); ok {
			l.line.section = strings.TrimSuffix(rest, ":")
			continue
		}
		addr, rest, ok := strings.Cut(text, ":\t")
		if !ok {
			l.noteSymbol(text)
			continue
		}
		return &l.line, l.parse(addr, rest)
	}
	if err := l.scanner.Err(); err != nil {
		return nil, err
	}
	if err := l.cmd.Wait(); err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(l.cmd.Args, " "), err)
	}
	return nil, io.EOF
}

// noteSymbol remembers the name in "ffffffff81000000 <startup_64>:".
func (l *listing) noteSymbol(text string) {
	if _, name, ok := strings.Cut(text, " <"); ok && strings.HasSuffix(name, ">:") {
		l.line.symbol = strings.TrimSuffix(name, ">:")
	}
}

func (l *listing) parse(addr, rest string) error {
	a, err := strconv.ParseUint(strings.TrimSpace(addr), 16, 64)
	if err != nil {
		return err
	}
	raw, text, _ := strings.Cut(rest, "\t")
	n, err := hex.Decode(l.bytes[:], []byte(strings.ReplaceAll(strings.TrimSpace(raw), " ", "")))
	if err != nil {
		return fmt.Errorf("objdump: %q: %w", rest, err)
	}
	l.line.addr = a
	l.line.bytes = l.bytes[:n]
	l.line.text = normalise(text)
	return nil
}

// normalise makes every run of white space one space.
func normalise(s string) string { return strings.Join(strings.Fields(s), " ") }

// printedSymbol knows one address: the one that objdump printed a symbol for.
type printedSymbol struct {
	addr   uint64
	name   string
	offset uint64
	ok     bool
}

func (p printedSymbol) Symbol(addr uint64) (string, uint64, bool) {
	return p.name, p.offset, p.ok && addr == p.addr
}

// symbolIn finds "ffffffff81000000 <name+0x10>" in a line of objdump's.
func symbolIn(text string) printedSymbol {
	before, rest, ok := strings.Cut(text, " <")
	if !ok || !strings.HasSuffix(rest, ">") {
		return printedSymbol{}
	}
	number := before[strings.LastIndexByte(before, ' ')+1:]
	addr, err := strconv.ParseUint(number, 16, 64)
	if err != nil {
		return printedSymbol{}
	}
	name, offset := strings.TrimSuffix(rest, ">"), uint64(0)
	if i := strings.LastIndex(name, "+0x"); i >= 0 {
		if offset, err = strconv.ParseUint(name[i+3:], 16, 64); err != nil {
			return printedSymbol{}
		}
		name = name[:i]
	}
	return printedSymbol{addr, name, offset, true}
}
