package codegen

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"kinst/internal/provider"
)

// A State says which programs run.
type State uint32

const (
	Idle     State = iota // none but those that user space runs itself
	Tracing               // all
	Draining              // as Idle: exit() was called, or user space ends tracing
)

// words is the layout of the control block, which programs and user space
// share. It is the beginning of the map kinst_globals; the program's global
// variables follow.
type words struct {
	state  atomic.Uint32
	exited atomic.Uint32
	status atomic.Int32
	_      uint32
	wall   atomic.Int64 // CLOCK_REALTIME less CLOCK_MONOTONIC, nanoseconds
	runs   [provider.Counters]atomic.Uint64
}

// Offsets in words.
const (
	stateOffset  = int(unsafe.Offsetof(words{}.state))
	exitedOffset = int(unsafe.Offsetof(words{}.exited))
	statusOffset = int(unsafe.Offsetof(words{}.status))
	wallOffset   = int(unsafe.Offsetof(words{}.wall))
	runsOffset   = int(unsafe.Offsetof(words{}.runs))
	controlSize  = int(unsafe.Sizeof(words{}))
)

// A Control is the control block of a loaded program.
type Control struct {
	memory    []byte
	stopClock func()
	*words
}

func openControl(m *ebpf.Map) (*Control, error) {
	size := unix.Getpagesize()
	memory, err := unix.Mmap(m.FD(), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping the control block into memory: %w", err)
	}
	c := &Control{memory: memory, words: (*words)(unsafe.Pointer(&memory[0]))}
	if c.stopClock, err = c.followClock(); err != nil {
		unix.Munmap(memory)
		return nil, err
	}
	return c, nil
}

func (c *Control) close() error {
	if c == nil {
		return nil
	}
	c.stopClock()
	return unix.Munmap(c.memory)
}

// State is the current state.
func (c *Control) State() State { return State(c.state.Load()) }

// Activate lets all programs run, unless exit() was called already.
func (c *Control) Activate() { c.state.CompareAndSwap(uint32(Idle), uint32(Tracing)) }

// Drain stops the programs.
func (c *Control) Drain() { c.state.Store(uint32(Draining)) }

// Exited returns the status of the exit() that the program called, if it did.
func (c *Control) Exited() (status int, ok bool) {
	return int(c.status.Load()), c.exited.Load() != 0
}

// Runs is how often the programs have run that count their runs in a counter,
// in all states.
func (c *Control) Runs(counter provider.Counter) uint64 { return c.runs[counter].Load() }
