package userland

import (
	"debug/elf"
	"debug/gosym"
	"errors"
)

// addGo adds the functions of a stripped Go program: the tables that its
// runtime needs stay in.
func (s *symbols) addGo(f *File) error {
	section := f.elf.Section(".gopclntab")
	text := f.elf.Section(".text")
	if section == nil || text == nil || len(s.list) > 0 {
		return nil
	}
	table, err := goTable(section, text.Addr)
	if err != nil {
		return nil // of a Go that debug/gosym does not know: no symbols
	}
	for i := range table.Funcs {
		fn := &table.Funcs[i]
		s.list = append(s.list, symbol{
			addr: fn.Entry,
			size: fn.End - fn.Entry,
			end:  fn.End,
			name: uint32(len(s.names)),
			kind: elf.STT_FUNC,
			bind: elf.STB_LOCAL,
		})
		s.names = append(append(s.names, fn.Name...), 0)
	}
	s.stripped = s.stripped && len(table.Funcs) == 0
	return nil
}

func goTable(section *elf.Section, text uint64) (*gosym.Table, error) {
	data, err := section.Data()
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, errors.New("empty")
	}
	return gosym.NewTable(nil, gosym.NewLineTable(data, text))
}
