package userland

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
)

// A Process is what a process has mapped at one moment.
type Process struct {
	PID int
	// Objects are the program and its libraries, the program first.
	Objects []*Object
	// Unreadable are those whose files could not be read, and why.
	Unreadable []error
}

// An Object is an ELF file where a process has mapped it. One that is loaded
// twice (dlmopen) is two.
type Object struct {
	*File
	Name       string // the last part of Path
	Path       string // as the process sees it
	Executable bool   // it is the process's program

	pid         int
	maps        []mapping // the executable ones
	shadowStack bool      // of the process
	restartable func() []span
}

// Process reads what a process has mapped now.
func (s *Store) Process(pid int) (*Process, error) {
	if err := CheckProcess(pid); err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, err)
	}
	maps, err := readMaps(pid)
	if err != nil {
		return nil, err
	}
	if len(maps) == 0 {
		return nil, fmt.Errorf("process %d: %w that runs a program: it has exited", pid, ErrNoProcess)
	}
	p := &Process{PID: pid}
	program, _ := os.Readlink(procPath(pid, "exe")) // of one that is exiting there is none
	program = strings.TrimSuffix(program, deletedMark)
	status, _ := os.ReadFile(procPath(pid, "status"))
	shadowStack := hasShadowStack(string(status))
	byFile := make(map[string]*Object) // the last one
	for _, m := range maps {
		if !m.exec || m.inode == 0 {
			continue
		}
		key := fmt.Sprint(m.device, " ", m.inode, " ", m.path)
		o := byFile[key]
		if o == nil || o.File != nil && o.biasOf(&m) != o.bias() {
			o = &Object{Name: path.Base(m.path), Path: m.path, Executable: m.path == program, pid: pid, shadowStack: shadowStack}
			o.restartable = sync.OnceValue(o.readRestartable)
			byFile[key] = o
			p.add(s, o, &m)
		}
		o.maps = append(o.maps, m)
	}
	return p, nil
}

// add opens an object's file. Files that are no ELF files are no objects:
// processes map what they like.
func (p *Process) add(s *Store, o *Object, m *mapping) {
	var err error
	o.File, err = s.file(p.PID, m)
	switch {
	case err != nil:
		p.Unreadable = append(p.Unreadable, fmt.Errorf("%s of process %d: %w", o.Path, p.PID, err))
	case o.File == nil:
	case o.Executable:
		p.Objects = append([]*Object{o}, p.Objects...)
	default:
		p.Objects = append(p.Objects, o)
	}
}

// Program returns the process's program, or nil if its file cannot be read.
func (p *Process) Program() *Object {
	if len(p.Objects) > 0 && p.Objects[0].Executable {
		return p.Objects[0]
	}
	return nil
}

// bias is the distance from the file's addresses to the process's.
func (o *Object) bias() uint64 { return o.biasOf(&o.maps[0]) }

// biasOf is that of a mapping of the file.
func (o *Object) biasOf(m *mapping) uint64 {
	for _, s := range o.segments {
		if s.Off < m.offset+m.end-m.start && m.offset < s.Off+s.Filesz {
			return m.start - m.offset + s.Off - s.Vaddr
		}
	}
	return 0
}

// Has reports whether a process, as it is now, has an object's file where the
// object is.
func (p *Process) Has(o *Object) bool {
	return slices.ContainsFunc(p.Objects, func(n *Object) bool { return n.File == o.File && n.bias() == o.bias() })
}

// Moved reports whether it has the file in another place instead.
func (p *Process) Moved(o *Object) bool {
	return !p.Has(o) && slices.ContainsFunc(p.Objects, func(n *Object) bool { return n.File == o.File })
}

// Matches reports whether an object is meant by a description's module: its
// name, its name up to the version (libc of libc.so.6), its whole path, or a
// glob of these. The program is also called a.out.
func (o *Object) Matches(module string, match func(field, name string) bool) bool {
	if o.Executable && match(module, "a.out") || match(module, o.Name) || match(module, o.Path) {
		return true
	}
	base, _, ok := strings.Cut(o.Name, ".so")
	return ok && match(module, base)
}

// Addr returns where the process has the byte at an address of the ELF file.
func (o *Object) Addr(vaddr uint64) (addr uint64, ok bool) {
	offset, ok := o.Offset(vaddr)
	if !ok {
		return 0, false
	}
	for _, m := range o.maps {
		if at := m.start + offset - m.offset; m.offset <= offset && at < m.end {
			return at, true
		}
	}
	return 0, false
}

// At is the inverse of Addr.
func (o *Object) At(addr uint64) (vaddr uint64, ok bool) {
	for _, m := range o.maps {
		if m.start <= addr && addr < m.end {
			return o.vaddr(addr - m.start + m.offset)
		}
	}
	return 0, false
}

// Link is a name by which the kernel finds the object's file while the
// process has it mapped.
func (o *Object) Link() string {
	m := &o.maps[0]
	if f, err := os.Open(m.link(o.pid)); err == nil {
		f.Close()
		return m.link(o.pid)
	}
	return m.rooted(o.pid)
}
