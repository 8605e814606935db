package process

import (
	"slices"
	"time"
)

// Symbols names addresses. Its methods belong to one goroutine. The zero value
// is ready to use.
type Symbols struct {
	processes map[uint32]*process
	objects   map[fileID]*object
	now       func() time.Time // for tests; time.Now
}

const (
	// fresh is how long a process's mappings are taken to be what they were.
	fresh = 50 * time.Millisecond

	// maxProcesses and maxObjects bound what is kept. What was longest unused
	// goes first.
	maxProcesses = 4096
	maxObjects   = 1024
)

// UserSymbol returns the path of the file that an address of a process is in,
// the function there, and how far behind its beginning the address is. Name is
// empty where the file has no function there, both where nothing is mapped
// there or the process has gone before it was ever looked at.
func (s *Symbols) UserSymbol(pid uint32, addr uint64) (module, name string, offset uint64) {
	p := s.process(pid)
	m, ok := p.find(addr)
	if !ok {
		return "", "", 0
	}
	if m.path == "" {
		return p.jit.symbol(p, addr)
	}
	o := s.object(p, m)
	name, offset = o.symbol(m.fileOffset(addr))
	return m.path, name, offset
}

// process returns what is known of a process, as it is now where it still runs.
func (s *Symbols) process(pid uint32) *process {
	if s.now == nil {
		s.now = time.Now
	}
	if s.processes == nil {
		s.processes = make(map[uint32]*process)
	}
	now := s.now()
	p := s.processes[pid]
	if p == nil {
		p = &process{pid: pid}
		evict(s.processes, maxProcesses, func(p *process) time.Time { return p.used })
		s.processes[pid] = p
	}
	p.used = now
	if now.Sub(p.read) > fresh {
		p.read = now
		p.refresh()
	}
	return p
}

// object returns the symbols of a mapped file.
func (s *Symbols) object(p *process, m mapping) *object {
	if s.objects == nil {
		s.objects = make(map[fileID]*object)
	}
	o := s.objects[m.file]
	if o == nil {
		o = loadObject(p, m)
		evict(s.objects, maxObjects, func(o *object) time.Time { return o.used })
		s.objects[m.file] = o
	}
	o.used = s.now()
	return o
}

// evict makes room in a map that is full: a quarter of it.
func evict[K comparable, V any](m map[K]V, limit int, used func(V) time.Time) {
	if len(m) < limit {
		return
	}
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b K) int { return used(m[a]).Compare(used(m[b])) })
	for _, k := range keys[:len(keys)/4] {
		delete(m, k)
	}
}
