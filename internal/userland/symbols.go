package userland

import (
	"bytes"
	"cmp"
	"debug/elf"
	"fmt"
	"slices"

	"kinst/internal/elfnote"
)

// A symbol is a name of a place in a file's text.
type symbol struct {
	addr, size uint64
	end        uint64 // of the section, which nothing reaches beyond
	name       uint32 // where it begins in the table of names
	kind       elf.SymType
	bind       elf.SymBind
}

// symbols are the symbols of a file's text, by ascending address and, of those
// that share one, the name first that a programmer would use.
type symbols struct {
	list     []symbol
	names    []byte // NUL-terminated
	stripped bool   // only those that are there for the dynamic linker
}

// readSymbols reads the symbols that the file has, or where they have been
// stripped, those that are kept elsewhere for it.
func (f *File) readSymbols() (*symbols, error) {
	s := new(symbols)
	if err := s.addSection(f.elf, elf.SHT_SYMTAB); err != nil {
		return nil, err
	}
	if len(s.list) == 0 {
		s.stripped = true
		if err := s.addSection(f.elf, elf.SHT_DYNSYM); err != nil {
			return nil, err
		}
		if debug := f.separate(); debug != nil {
			s.stripped = s.addSection(debug, elf.SHT_SYMTAB) != nil
			debug.Close()
		}
	}
	if err := s.addGo(f); err != nil {
		return nil, err
	}
	s.sort()
	return s, nil
}

// addSection adds the symbols of a table that name text.
func (s *symbols) addSection(e *elf.File, kind elf.SectionType) error {
	table := e.SectionByType(kind)
	if table == nil {
		return nil
	}
	if int(table.Link) >= len(e.Sections) {
		return fmt.Errorf("the ELF section %s has no names", table.Name)
	}
	data, err := table.Data()
	if err != nil {
		return fmt.Errorf("the ELF section %s: %w", table.Name, err)
	}
	names, err := e.Sections[table.Link].Data()
	if err != nil {
		return fmt.Errorf("the ELF section %s: %w", e.Sections[table.Link].Name, err)
	}
	superseded := func(int) bool { return false }
	if kind == elf.SHT_DYNSYM {
		superseded = supersededSymbols(e)
	}
	base := uint32(len(s.names))
	s.names = append(append(s.names, names...), 0)
	size := symbolSize(e)
	for i := 0; len(data) >= size; i, data = i+1, data[size:] {
		sym, ok := parseSymbol(e, data)
		if ok && !superseded(i) && int(sym.name) < len(names) && isName(names[sym.name:]) {
			sym.name += base
			s.list = append(s.list, sym)
		}
	}
	return nil
}

// supersededSymbols tells the symbols of .dynsym which are of an old version
// that only old programs are linked to, as memcpy@GLIBC_2.2.5 is beside
// memcpy@@GLIBC_2.14: nobody means them by the mere name.
func supersededSymbols(e *elf.File) func(i int) bool {
	const hidden = 0x8000
	var versions []byte
	if section := e.SectionByType(elf.SHT_GNU_VERSYM); section != nil {
		versions, _ = section.Data() // without it, symbols have no versions
	}
	return func(i int) bool {
		return 2*i+2 <= len(versions) && e.ByteOrder.Uint16(versions[2*i:])&hidden != 0
	}
}

// symbolSize is the size of an Elf64_Sym or Elf32_Sym.
func symbolSize(e *elf.File) int {
	if e.Class == elf.ELFCLASS32 {
		return elf.Sym32Size
	}
	return elf.Sym64Size
}

// parseSymbol reads an entry of a table of symbols. It is not ok if it names no
// text.
func parseSymbol(e *elf.File, b []byte) (symbol, bool) {
	order := e.ByteOrder
	sym := symbol{name: order.Uint32(b)}
	var info byte
	var section int
	if e.Class == elf.ELFCLASS32 {
		sym.addr, sym.size = uint64(order.Uint32(b[4:])), uint64(order.Uint32(b[8:]))
		info, section = b[12], int(order.Uint16(b[14:]))
	} else {
		info, section = b[4], int(order.Uint16(b[6:]))
		sym.addr, sym.size = order.Uint64(b[8:]), order.Uint64(b[16:])
	}
	sym.kind, sym.bind = elf.ST_TYPE(info), elf.ST_BIND(info)
	if section == 0 || section >= len(e.Sections) {
		return symbol{}, false
	}
	text := e.Sections[section]
	sym.end = text.Addr + text.Size
	if text.Flags&elf.SHF_EXECINSTR == 0 || sym.addr < text.Addr || sym.addr >= sym.end {
		return symbol{}, false
	}
	switch sym.kind {
	case elf.STT_FUNC, elf.STT_GNU_IFUNC, elf.STT_NOTYPE:
		return sym, true
	}
	return symbol{}, false
}

// isName tells names from those that assemblers make up: none at all, local
// labels, and ARM's and RISC-V's marks of what is code ($x, $d).
func isName(name []byte) bool {
	return len(name) > 0 && name[0] != 0 && name[0] != '$' && !bytes.HasPrefix(name, []byte(".L"))
}

func (s *symbols) sort() {
	slices.SortStableFunc(s.list, func(a, b symbol) int {
		return cmp.Or(cmp.Compare(a.addr, b.addr), s.compareNames(a, b))
	})
	s.list = slices.CompactFunc(s.list, func(a, b symbol) bool {
		return a.addr == b.addr && bytes.Equal(s.name(a), s.name(b))
	})
	s.list = slices.Clip(s.list)
}

// compareNames orders the names of one place: functions before labels, global
// before weak before local ones, those with fewer underscores in front first.
func (s *symbols) compareNames(a, b symbol) int {
	return cmp.Or(
		cmp.Compare(kindRank(a.kind), kindRank(b.kind)),
		cmp.Compare(bindRank(a.bind), bindRank(b.bind)),
		cmp.Compare(underscores(s.name(a)), underscores(s.name(b))),
		bytes.Compare(s.name(a), s.name(b)),
	)
}

func kindRank(k elf.SymType) int {
	if k == elf.STT_NOTYPE {
		return 1
	}
	return 0
}

func bindRank(b elf.SymBind) int {
	switch b {
	case elf.STB_GLOBAL:
		return 0
	case elf.STB_WEAK:
		return 1
	}
	return 2
}

func underscores(name []byte) int { return len(name) - len(bytes.TrimLeft(name, "_")) }

// name returns a symbol's name without its version, unless that has been
// superseded: .symtab has versions in its names, as name@@VERSION and
// name@VERSION.
func (s *symbols) name(sym symbol) []byte {
	name, _, _ := bytes.Cut(s.names[sym.name:], []byte{0})
	name, _, _ = bytes.Cut(name, []byte("@@"))
	return name
}

// at returns the index of the symbol that addr belongs to: the nearest
// function before it that reaches that far or, as assembly language has labels
// that are functions to everybody but the assembler, the nearest label.
func (s *symbols) at(addr uint64) (i int, ok bool) {
	i, _ = slices.BinarySearchFunc(s.list, addr, func(sym symbol, addr uint64) int {
		if sym.addr <= addr {
			return -1
		}
		return 1
	})
	label := -1
	const tries = 64 // a function with more labels than that goes by one of them
	for n := 0; i > 0 && n < tries; n++ {
		i--
		switch {
		case addr >= s.list[i].addr+s.extent(i):
		case s.list[i].kind != elf.STT_NOTYPE:
			return s.first(i), true
		case label < 0:
			label = s.first(i)
		}
	}
	return max(label, 0), label >= 0
}

// first returns the index of the first symbol with the address of the i-th.
func (s *symbols) first(i int) int {
	for i > 0 && s.list[i-1].addr == s.list[i].addr {
		i--
	}
	return i
}

// extent is how many bytes belong to the i-th symbol: its size or, where it
// has none, as that of functions written in assembly, what is left up to the
// next symbol.
func (s *symbols) extent(i int) uint64 {
	sym := s.list[i]
	if sym.size > 0 {
		return min(sym.size, sym.end-sym.addr)
	}
	for _, next := range s.list[i+1:] {
		if next.addr > sym.addr {
			return min(next.addr, sym.end) - sym.addr
		}
	}
	return sym.end - sym.addr
}

// buildID returns the file's build ID in hexadecimal, or "".
func (f *File) buildID() string {
	for _, s := range f.elf.Sections {
		if s.Type != elf.SHT_NOTE || s.Name != ".note.gnu.build-id" {
			continue
		}
		data, err := s.Data()
		if err != nil {
			return ""
		}
		for note, err := range elfnote.All(data, f.elf.ByteOrder) {
			if err == nil {
				return fmt.Sprintf("%x", note.Desc)
			}
		}
	}
	return ""
}
