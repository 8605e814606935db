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
	watch     *watch
	followed  time.Time
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
		if p = s.again(p); p != nil {
			m, ok = p.find(addr)
		}
	}
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

// Look finds out what a process has mapped, so that its addresses can be named
// when it has exited.
func (s *Symbols) Look(pid uint32) { s.process(pid) }

// process returns what is known of a process, as it is now where it still runs.
func (s *Symbols) process(pid uint32) *process {
	s.init()
	now := s.now()
	if now.Sub(s.followed) > fresh || s.processes[pid] == nil {
		s.followed = now
		s.follow()
	}
	p := s.known(pid)
	if now.Sub(p.read) > fresh {
		p.read = now
		p.refresh()
	}
	return p
}

// again looks at a process once more because an address was not found, unless
// that was done a moment ago. Then it returns nil.
func (s *Symbols) again(p *process) *process {
	const moment = time.Millisecond
	now := s.now()
	if now.Sub(p.read) < moment {
		return nil
	}
	s.followed = now
	s.follow()
	p = s.known(p.pid)
	p.read = now
	p.refresh()
	return p
}

func (s *Symbols) init() {
	if s.processes == nil {
		s.processes = make(map[uint32]*process)
		s.objects = make(map[fileID]*object)
	}
	if s.now == nil {
		s.now = time.Now
	}
}

// known returns what is known of a process, without a look at it.
func (s *Symbols) known(pid uint32) *process {
	p := s.processes[pid]
	if p == nil {
		p = &process{pid: pid}
		s.keep(p)
	}
	p.used = s.now()
	return p
}

func (s *Symbols) keep(p *process) {
	evict(s.processes, maxProcesses, func(p *process) time.Time { return p.used })
	s.processes[p.pid] = p
}

// object returns the symbols of a mapped file.
func (s *Symbols) object(p *process, m mapping) *object {
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
