package userland

import (
	"bytes"
	"debug/elf"
	"io"
	"path/filepath"

	"github.com/ulikunitz/xz"
)

// debugDirectory is where packages of symbols put them, by build ID.
const debugDirectory = "/usr/lib/debug/.build-id"

// separate opens what holds the symbols of a stripped file: the file of
// symbols that is installed for it, or the section .gnu_debugdata, which
// Fedora and its kin put into their programs. It returns nil if there is none.
func (f *File) separate() *elf.File {
	if id := f.buildID(); len(id) > 2 {
		if e, err := elf.Open(filepath.Join(debugDirectory, id[:2], id[2:]+".debug")); err == nil {
			return e
		}
	}
	return f.miniDebug()
}

// miniDebugLimit bounds what .gnu_debugdata may grow to.
const miniDebugLimit = 64 << 20

func (f *File) miniDebug() *elf.File {
	section := f.elf.Section(".gnu_debugdata")
	if section == nil {
		return nil
	}
	r, err := xz.NewReader(section.Open())
	if err != nil {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(r, miniDebugLimit))
	if err != nil {
		return nil
	}
	e, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	return e
}
