package kernel

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"kinst/internal/elfnote"
)

const kcorePath = "/proc/kcore"

// kcore is /proc/kcore, the kernel's memory as an ELF core file.
type kcore struct {
	file     *os.File
	segments []segment
	notes    []byte
}

// segment is a piece of the kernel's address space and where it stands in the
// file.
type segment struct {
	addr, size uint64
	offset     int64
}

func openKcore(path string) (*kcore, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w (%s)", err, kcoreRemedy(err))
	}
	segments, notes, err := parseSegments(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &kcore{f, segments, notes}, nil
}

func kcoreRemedy(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "the kernel is built without CONFIG_PROC_KCORE, or /proc is not mounted"
	case errors.Is(err, fs.ErrPermission):
		return Remedy(unix.CAP_SYS_RAWIO)
	}
	return "it is read for the text of functions"
}

// parseSegments reads the ELF header, the program headers and the notes, and
// nothing else.
func parseSegments(r io.ReaderAt) (segments []segment, notes []byte, err error) {
	core, err := elf.NewFile(r)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range core.Progs {
		switch {
		case p.Type == elf.PT_LOAD && p.Memsz > 0:
			segments = append(segments, segment{p.Vaddr, p.Memsz, int64(p.Off)})
		case p.Type == elf.PT_NOTE && p.Filesz <= maxNotes:
			notes = make([]byte, p.Filesz)
			if _, err := io.ReadFull(p.Open(), notes); err != nil {
				return nil, nil, fmt.Errorf("its notes: %w", err)
			}
		}
	}
	if len(segments) == 0 {
		return nil, nil, errors.New("it describes no memory")
	}
	return segments, notes, nil
}

// maxNotes is far above what the kernel writes, in bytes.
const maxNotes = 1 << 20

// info returns the addresses that the kernel tells in VMCOREINFO, which is
// among the notes from Linux 4.19 on.
func (c *kcore) info() map[string]uint64 {
	for note, err := range elfnote.All(c.notes, binary.NativeEndian) {
		if err == nil && note.Name == "VMCOREINFO" {
			return parseInfo(string(note.Desc))
		}
	}
	return nil
}

func (c *kcore) read(addr uint64, p []byte) error {
	for _, s := range c.segments {
		if addr < s.addr || addr-s.addr >= s.size || s.size-(addr-s.addr) < uint64(len(p)) {
			continue
		}
		if _, err := c.file.ReadAt(p, s.offset+int64(addr-s.addr)); err != nil {
			return fmt.Errorf("reading %d bytes of kernel memory at %#x: %w", len(p), addr, err)
		}
		return nil
	}
	return fmt.Errorf("reading kernel memory: %s does not cover the %d bytes at %#x", c.file.Name(), len(p), addr)
}

func (c *kcore) source() string { return c.file.Name() }

func (c *kcore) Close() error { return c.file.Close() }
