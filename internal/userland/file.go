package userland

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sys/unix"

	"kinst/internal/isa"
)

// A File is an ELF file: a program or a shared library. Its addresses are
// those of the file, as objdump and nm show them.
type File struct {
	arch     *isa.Arch
	file     io.ReaderAt
	elf      *elf.File
	segments []elf.ProgHeader // those that are executed
	close    func() error

	symbols func() (*symbols, error)
	static  func() ([]StaticProbe, error)
	spans   func() []span
	cold    func() map[string][]Function
}

// fileID tells files apart, also one that was written in place of another.
type fileID struct {
	dev, ino uint64
	size     int64
	modified unix.Timespec
}

// A Store opens the files of processes, each once. They stay open, so that
// they can be read when the processes that had them mapped are gone. Its
// methods may be called from several goroutines.
type Store struct {
	arch  *isa.Arch
	mu    sync.Mutex
	files map[fileID]*File // nil for one that is no ELF file
}

// NewStore returns a store for programs of an architecture.
func NewStore(arch *isa.Arch) *Store {
	return &Store{arch: arch, files: make(map[fileID]*File)}
}

// file opens the file that a mapping shows, or returns the one that is open.
func (s *Store) file(pid int, m *mapping) (*File, error) {
	f, err := m.open(pid)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		f.Close()
		return nil, err
	}
	id := fileID{st.Dev, st.Ino, st.Size, st.Mtim}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.files[id]; ok {
		f.Close()
		return known, nil
	}
	var file *File
	if st.Mode&unix.S_IFMT == unix.S_IFREG && isELF(f) {
		if file, err = NewFile(s.arch, f); err == nil {
			file.close = f.Close
		}
	}
	if file == nil {
		f.Close()
	}
	if err != nil {
		return nil, err
	}
	s.files[id] = file
	return file, nil
}

// NewFile reads an ELF file of programs of an architecture, as it is needed.
func NewFile(arch *isa.Arch, file io.ReaderAt) (*File, error) {
	e, err := elf.NewFile(file)
	if err != nil {
		return nil, fmt.Errorf("it is a damaged ELF file: %w", err)
	}
	f := &File{arch: arch, file: file, elf: e}
	for _, p := range e.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			f.segments = append(f.segments, p.ProgHeader)
		}
	}
	f.symbols = sync.OnceValues(f.readSymbols)
	f.static = sync.OnceValues(f.readStatic)
	f.spans = sync.OnceValue(f.readSpans)
	f.cold = sync.OnceValue(f.readCold)
	return f, nil
}

// Close closes the files.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, f := range s.files {
		if f != nil {
			errs = append(errs, f.close())
		}
	}
	clear(s.files)
	return errors.Join(errs...)
}

// elfClass is the class of the programs of the architectures that isa knows.
const elfClass = elf.ELFCLASS64

var elfMachines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64, "riscv64": elf.EM_RISCV}

// Foreign says why the file's instructions cannot be traced; it is "" for
// those of the architecture.
func (f *File) Foreign() string {
	switch {
	case f.elf.Class != elfClass:
		return "it is a 32-bit program, and only 64-bit ones can be traced"
	case f.elf.Machine != elfMachines[f.arch.Name]:
		return fmt.Sprintf("its instructions are %s's, and not those of this machine (%s)", f.elf.Machine, f.arch.Name)
	}
	return ""
}

// Offset returns the place in the file of an address in its text.
func (f *File) Offset(vaddr uint64) (offset uint64, ok bool) {
	for _, s := range f.segments {
		if at := vaddr - s.Vaddr; s.Vaddr <= vaddr && at < s.Filesz {
			return s.Off + at, true
		}
	}
	return 0, false
}

// vaddr is the inverse of Offset.
func (f *File) vaddr(offset uint64) (vaddr uint64, ok bool) {
	for _, s := range f.segments {
		if at := offset - s.Off; s.Off <= offset && at < s.Filesz {
			return s.Vaddr + at, true
		}
	}
	return 0, false
}

// text reads n bytes of the file's text.
func (f *File) text(vaddr, n uint64) ([]byte, error) {
	offset, ok := f.Offset(vaddr)
	if !ok {
		return nil, fmt.Errorf("%#x is not in the text of the file", vaddr)
	}
	b := make([]byte, n)
	if _, err := f.file.ReadAt(b, int64(offset)); err != nil {
		return nil, err
	}
	return b, nil
}
