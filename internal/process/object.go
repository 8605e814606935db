package process

import (
	"bytes"
	"debug/elf"
	"debug/gosym"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ulikunitz/xz"
)

// object is a file with functions: a program or a library.
type object struct {
	segments []segment
	symbols  []symbol // by address
	used     time.Time
}

// segment is a part of a file that is loaded.
type segment struct{ offset, addr, size uint64 }

// symbol is a function, at its address in the file.
type symbol struct {
	addr, size uint64
	name       string
}

// symbol returns the function at an offset in the file, and how far behind its
// beginning that is.
func (o *object) symbol(offset uint64) (name string, behind uint64) {
	for _, seg := range o.segments {
		if offset-seg.offset >= seg.size {
			continue
		}
		addr := offset - seg.offset + seg.addr
		i, found := slices.BinarySearchFunc(o.symbols, addr, func(s symbol, addr uint64) int {
			switch {
			case s.addr < addr:
				return -1
			case s.addr > addr:
				return 1
			}
			return 0
		})
		if !found {
			i--
		}
		if i < 0 {
			return "", 0
		}
		s := o.symbols[i]
		if s.size != 0 && addr-s.addr >= s.size {
			return "", 0
		}
		return s.name, addr - s.addr
	}
	return "", 0
}

// loadObject reads the symbols of a mapped file. Of one that cannot be read,
// or is no ELF file, it has none.
func loadObject(p *process, m mapping) *object {
	o := &object{}
	if m.path == vdsoName {
		if image, err := vdso(); err == nil {
			o.read(bytes.NewReader(image))
		}
		return o
	}
	f, err := openMapped(p, m)
	if err != nil {
		return o
	}
	defer f.Close()
	o.read(f)
	return o
}

// openMapped opens the file that a process has mapped, also where it has been
// deleted or is of another mount namespace, and after the process's end by its
// name, if that is still the same file.
func openMapped(p *process, m mapping) (*os.File, error) {
	if f, err := os.Open(p.proc(fmt.Sprintf("map_files/%x-%x", m.start, m.end))); err == nil {
		return f, nil
	}
	if f, err := os.Open(p.proc("root" + m.path)); err == nil {
		return f, nil
	}
	f, err := os.Open(m.path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && inode(info) != m.file.inode {
		err = fmt.Errorf("%s has been replaced", m.path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// read takes segments and symbols from an ELF file: its own symbols, and where
// it was stripped those of the separate files that distributions have.
func (o *object) read(r io.ReaderAt) {
	f, err := elf.NewFile(r)
	if err != nil {
		return
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			o.segments = append(o.segments, segment{p.Off, p.Vaddr, p.Filesz})
		}
	}
	o.add(f.Symbols)
	if len(o.symbols) == 0 {
		o.addGo(f)
		o.addMiniDebugInfo(f)
		o.addDebugFile(f)
	}
	o.add(f.DynamicSymbols)
	o.sort()
}

// add takes functions from a table of symbols.
func (o *object) add(table func() ([]elf.Symbol, error)) {
	symbols, err := table()
	if err != nil {
		return // there is no such table
	}
	for _, s := range symbols {
		switch elf.ST_TYPE(s.Info) {
		case elf.STT_FUNC, elf.STT_GNU_IFUNC:
		default:
			continue
		}
		if s.Section != elf.SHN_UNDEF && s.Value != 0 {
			o.symbols = append(o.symbols, symbol{s.Value, s.Size, s.Name})
		}
	}
}

// addGo reads the table that the Go run-time system has of its functions, which
// also stripped programs have.
func (o *object) addGo(f *elf.File) {
	section, text := f.Section(".gopclntab"), f.Section(".text")
	if section == nil || text == nil {
		return
	}
	data, err := section.Data()
	if err != nil {
		return
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, text.Addr))
	if err != nil {
		return
	}
	for _, fn := range table.Funcs {
		o.symbols = append(o.symbols, symbol{fn.Entry, fn.End - fn.Entry, fn.Name})
	}
}

// addMiniDebugInfo reads the compressed table of symbols that some
// distributions leave in stripped files.
func (o *object) addMiniDebugInfo(f *elf.File) {
	section := f.Section(".gnu_debugdata")
	if section == nil {
		return
	}
	r, err := xz.NewReader(section.Open())
	if err != nil {
		return
	}
	const limit = 64 << 20
	image, err := io.ReadAll(io.LimitReader(r, limit))
	if err != nil {
		return
	}
	if mini, err := elf.NewFile(bytes.NewReader(image)); err == nil {
		o.add(mini.Symbols)
	}
}

// addDebugFile reads the symbols of the file's debug package, if that is
// installed.
func (o *object) addDebugFile(f *elf.File) {
	id := buildID(f)
	if len(id) < 2 {
		return
	}
	name := hex.EncodeToString(id)
	debug, err := elf.Open(filepath.Join("/usr/lib/debug/.build-id", name[:2], name[2:]+".debug"))
	if err != nil {
		return
	}
	defer debug.Close()
	o.add(debug.Symbols)
}

// buildID is the description of the first note of .note.gnu.build-id.
func buildID(f *elf.File) []byte {
	section := f.Section(".note.gnu.build-id")
	if section == nil {
		return nil
	}
	note, err := section.Data()
	if err != nil || len(note) < 12 {
		return nil
	}
	nameSize, size := f.ByteOrder.Uint32(note), f.ByteOrder.Uint32(note[4:])
	at := 12 + uint64(nameSize+3)&^3
	if at+uint64(size) > uint64(len(note)) {
		return nil
	}
	return note[at : at+uint64(size)]
}

// sort orders the symbols by address and keeps one of each: of several names
// the one with the fewest underscores in front, then the shortest.
func (o *object) sort() {
	underscores := func(s string) int { return len(s) - len(strings.TrimLeft(s, "_")) }
	slices.SortFunc(o.symbols, func(a, b symbol) int {
		switch {
		case a.addr != b.addr && a.addr < b.addr:
			return -1
		case a.addr != b.addr:
			return 1
		}
		if d := underscores(a.name) - underscores(b.name); d != 0 {
			return d
		}
		if d := len(a.name) - len(b.name); d != 0 {
			return d
		}
		return strings.Compare(a.name, b.name)
	})
	o.symbols = slices.CompactFunc(o.symbols, func(a, b symbol) bool { return a.addr == b.addr })
	o.symbols = slices.Clip(o.symbols)
}
