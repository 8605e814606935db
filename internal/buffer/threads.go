package buffer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// Threads removes what programs keep of threads that have exited: nobody can
// refer to it any more, but it takes the room of others' variables, until a
// thread gets the ID for which it would be wrong.
type Threads struct {
	maps []*ebpf.Map
}

// NewThreads takes hash maps whose keys begin with a thread's ID, an int32, or
// with a number below zero for what is to be left alone. It does not take
// ownership of them.
func NewThreads(maps []*ebpf.Map) *Threads {
	if !inInitialPIDNamespace() {
		maps = nil // the kernel's IDs mean nothing here
	}
	return &Threads{maps}
}

// Any reports whether there is anything to clean.
func (t *Threads) Any() bool { return len(t.maps) > 0 }

// Clean removes the entries of threads that are not there.
func (t *Threads) Clean() error {
	for _, m := range t.maps {
		if err := clean(m); err != nil {
			return fmt.Errorf("removing the variables of threads that have exited: %w", err)
		}
	}
	return nil
}

func clean(m *ebpf.Map) error {
	var gone [][]byte
	seen := make(map[int32]bool) // whether a thread is there
	err := eachKey(m, func(key []byte) {
		tid := int32(binary.NativeEndian.Uint32(key))
		here, known := seen[tid]
		if !known {
			here = tid < 0 || exists(int(tid))
			seen[tid] = here
		}
		if !here {
			gone = append(gone, append([]byte(nil), key...))
		}
	})
	if err != nil {
		return err
	}
	for _, key := range gone {
		if err := m.Delete(key); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
			return err
		}
	}
	return nil
}

// eachKey visits the keys of a hash map. While programs change the map it may
// miss some.
func eachKey(m *ebpf.Map, visit func(key []byte)) error {
	var last any
	key := make([]byte, m.KeySize())
	for range m.MaxEntries() {
		err := m.NextKey(last, &key)
		if errors.Is(err, ebpf.ErrKeyNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		visit(key)
		last = append([]byte(nil), key...)
	}
	return nil
}

// exists reports whether a process or thread has the ID.
func exists(tid int) bool { return !errors.Is(unix.Kill(tid, 0), unix.ESRCH) }

// inInitialPIDNamespace reports whether IDs here are those that the kernel
// calls threads by: PROC_PID_INIT_INO of the kernel's proc_ns.h.
var inInitialPIDNamespace = sync.OnceValue(func() bool {
	name, err := os.Readlink("/proc/self/ns/pid")
	return err == nil && name == fmt.Sprintf("pid:[%d]", uint32(0xEFFFFFFC))
})
