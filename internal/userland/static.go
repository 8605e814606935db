package userland

import (
	"bytes"
	"debug/elf"
	"fmt"

	"kinst/internal/elfnote"
	"kinst/internal/isa"
)

// A StaticProbe is a probe that a file brings along (USDT), as SystemTap's
// <sys/sdt.h> and its kin make them.
type StaticProbe struct {
	Provider, Name string
	Addr           uint64 // of the instruction, a nop
	Semaphore      uint64 // its offset in the file; 0 for none
	// Args says where the arguments are: for each, its size in bytes, below 0
	// if it is signed, @ and an operand. Blanks separate them.
	Args string
}

// StaticProbes returns the file's static probes, in their order.
func (f *File) StaticProbes() ([]StaticProbe, error) { return f.static() }

const (
	staticSection = ".note.stapsdt"
	staticType    = 3
	staticName    = "stapsdt"
)

func (f *File) readStatic() ([]StaticProbe, error) {
	var probes []StaticProbe
	for _, s := range f.elf.Sections {
		if s.Type != elf.SHT_NOTE || s.Name != staticSection || f.elf.Class != elfClass {
			continue
		}
		data, err := s.Data()
		if err != nil {
			return nil, fmt.Errorf("the ELF section %s: %w", s.Name, err)
		}
		for note, err := range elfnote.All(data, f.elf.ByteOrder) {
			if err == nil && note.Type == staticType && note.Name == staticName {
				var p StaticProbe
				p, err = f.parseStatic(note.Desc)
				probes = append(probes, p)
			}
			if err != nil {
				return nil, fmt.Errorf("the ELF section %s: %w", s.Name, err)
			}
		}
	}
	return probes, nil
}

// parseStatic reads the description of a note: the addresses of the
// instruction, of the section .stapsdt.base when the file was linked, and of
// the semaphore, then three strings.
func (f *File) parseStatic(desc []byte) (p StaticProbe, err error) {
	const addresses = 24
	if len(desc) < addresses {
		return StaticProbe{}, fmt.Errorf("a note is too short")
	}
	order := f.elf.ByteOrder
	var moved uint64 // by a tool that has relocated the file
	if base := f.elf.Section(".stapsdt.base"); base != nil {
		moved = base.Addr - order.Uint64(desc[8:])
	}
	p.Addr = order.Uint64(desc) + moved
	if semaphore := order.Uint64(desc[16:]); semaphore != 0 {
		p.Semaphore, err = f.dataOffset(semaphore + moved)
		if err != nil {
			return StaticProbe{}, err
		}
	}
	texts := bytes.SplitN(desc[addresses:], []byte{0}, 4)
	if len(texts) < 3 {
		return StaticProbe{}, fmt.Errorf("a note ends before its texts do")
	}
	p.Provider, p.Name, p.Args = string(texts[0]), string(texts[1]), string(texts[2])
	return p, nil
}

// dataOffset returns the place in the file of an address of its data.
func (f *File) dataOffset(vaddr uint64) (uint64, error) {
	for _, p := range f.elf.Progs {
		if p.Type == elf.PT_LOAD && vaddr >= p.Vaddr && vaddr-p.Vaddr < p.Filesz {
			return vaddr - p.Vaddr + p.Off, nil
		}
	}
	return 0, fmt.Errorf("%#x is not in the file", vaddr)
}

// Data returns the address of a variable in the file.
func (f *File) Data(name string) (addr uint64, ok bool) {
	for _, table := range []func() ([]elf.Symbol, error){f.elf.Symbols, f.elf.DynamicSymbols} {
		syms, err := table()
		if err != nil {
			continue // there is no such table
		}
		for _, s := range syms {
			if s.Name == name && s.Section != elf.SHN_UNDEF {
				return s.Value, true
			}
		}
	}
	return 0, false
}

// InstructionAt decodes the instruction at an address, whatever is around it.
func (f *File) InstructionAt(vaddr uint64) (isa.Inst, error) {
	offset, ok := f.Offset(vaddr)
	if !ok {
		return isa.Inst{}, fmt.Errorf("%#x is not in the text of the file", vaddr)
	}
	text := make([]byte, f.arch.MaxLen)
	n, err := f.file.ReadAt(text, int64(offset))
	if n == 0 {
		return isa.Inst{}, err
	}
	return f.arch.Decode(text[:n], vaddr)
}
