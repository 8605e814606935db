package process

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"time"

	"kinst/internal/isa"
	"kinst/internal/userland"
)

// object is a file with functions: a program or a library.
type object struct {
	file *userland.File // nil if it cannot be read, or is no ELF file
	used time.Time
}

// symbol returns the function at an offset in the file, and how far behind its
// beginning that is.
func (o *object) symbol(offset uint64) (name string, behind uint64) {
	if o.file == nil {
		return "", 0
	}
	return o.file.Symbol(offset)
}

// loadObject reads the symbols of a mapped file. Of one that cannot be read,
// or is no ELF file, it has none.
func loadObject(p *process, m mapping) *object {
	if m.path == vdsoName {
		image, err := vdso()
		if err != nil {
			return &object{}
		}
		return readObject(bytes.NewReader(image))
	}
	f, err := openMapped(p, m)
	if err != nil {
		return &object{}
	}
	defer f.Close()
	return readObject(f)
}

func readObject(r io.ReaderAt) *object {
	arch, err := isa.Native()
	if err != nil {
		return &object{}
	}
	f, err := userland.NewFile(arch, r)
	if err != nil {
		return &object{}
	}
	if err := f.ReadSymbols(); err != nil {
		return &object{}
	}
	return &object{file: f}
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
