package codegen

import (
	"fmt"
	"math"
	"os"
	"strings"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"kinst/internal/record"
)

// Names of the maps that are there at most once. The kernel keeps 15 bytes of
// a name.
const (
	globalsMap = "kinst_globals" // control block, global variables, string constants
	ringsMap   = "kinst_rings"   // by CPU: its ring buffer, where there are many
	lossesMap  = "kinst_losses"  // per CPU, by record.Loss: how many
	scratchMap = "kinst_scratch" // per CPU, by class of hook: memory of a program that runs
	selfMap    = "kinst_self"    // by thread: its scalar variables
)

// use makes sure that the maps are there that instructions refer to, as far as
// their shape does not depend on the program.
func (c *compiler) use(list asm.Instructions) {
	for i := range list {
		if list[i].IsLoadFromMap() {
			c.fixedMap(list[i].Reference())
		}
	}
}

func (c *compiler) fixedMap(name string) {
	if c.maps[name] != nil {
		return
	}
	if strings.HasPrefix(name, ringPrefix) {
		c.maps[name] = c.ring(name)
		return
	}
	switch name {
	case globalsMap:
		c.maps[name] = &ebpf.MapSpec{Name: name, Type: ebpf.Array, KeySize: 4, MaxEntries: 1, Flags: unix.BPF_F_MMAPABLE}
	case ringsMap:
		c.maps[name] = &ebpf.MapSpec{Name: name, Type: ebpf.ArrayOfMaps, KeySize: 4, ValueSize: 4,
			InnerMap: c.ring("kinst_ring"), MaxEntries: uint32(c.opts.CPUs)}
	case lossesMap:
		c.maps[name] = &ebpf.MapSpec{Name: name, Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 8, MaxEntries: uint32(record.Losses)}
	case scratchMap:
		c.maps[name] = &ebpf.MapSpec{Name: name, Type: ebpf.PerCPUArray, KeySize: 4, MaxEntries: uint32(classes)}
	case piecesMap:
		c.maps[name] = c.piecesMap()
	}
}

// ringPrefix begins the names of the maps of the CPUs' ring buffers.
const ringPrefix = "kinst_ring_"

func ringMap(cpu int) string { return fmt.Sprintf("%s%d", ringPrefix, cpu) }

func (c *compiler) ring(name string) *ebpf.MapSpec {
	return &ebpf.MapSpec{Name: name, Type: ebpf.RingBuf, MaxEntries: uint32(c.ringSize())}
}

// ringHeader is what the kernel puts before a record in a ring buffer.
const ringHeader = 8

// ringSize is the size of a ring buffer: whole pages, and a power of two.
func (c *compiler) ringSize() int {
	size := os.Getpagesize()
	for size < c.opts.Bufsize && size < maxRing {
		size *= 2
	}
	return size
}

// maxRing is the largest power of two that the size of a map can be.
const maxRing = 1 << 31

// finish gives the maps the sizes that are known when all is compiled.
func (c *compiler) finish() {
	c.fixedMap(globalsMap)
	m := c.maps[globalsMap]
	m.ValueSize = uint32(max(c.globals.size(), os.Getpagesize()))
	if c.grows() {
		m.ValueSize += laterConstants
		c.fixedMap(lossesMap)
	}
	contents := make([]byte, m.ValueSize)
	copy(contents, c.globals.bytes)
	m.Contents = []ebpf.MapKV{{Key: uint32(0), Value: contents}}
	for _, name := range []string{scratchMap, piecesMap} {
		if m := c.maps[name]; m != nil {
			m.ValueSize = uint32(c.scratchSize())
		}
	}
	if m := c.maps[selfMap]; m != nil {
		m.ValueSize = uint32(c.self)
		m.MaxEntries = entries(c.opts.Dynvarsize, 8+c.self)
	}
}

// scratchSize is how much scratch memory a program needs at most.
func (c *compiler) scratchSize() int { return (c.scratch + 7) &^ 7 }

// hashOverhead is about what the kernel's hash maps need for an entry beside
// its key and value.
const hashOverhead = 64

// entries is how many entries of a hash map fit into so many bytes.
func entries(bytes, entry int) uint32 {
	return uint32(min(max(bytes/(entry+hashOverhead), 16), math.MaxUint32))
}

func siteMap(n int) string { return fmt.Sprintf("kinst_sites_%d", n) }

// haveMemAlloc reports whether the kernel can make entries of hash maps when
// they are needed, in any context (bpf_mem_alloc, 6.1). Before, that could
// deadlock in a kprobe, and all entries had to be made beforehand, which takes
// long for per-CPU maps. There is no asking for it: a map type tells that came
// with it.
var haveMemAlloc = sync.OnceValue(func() bool {
	m, err := ebpf.NewMap(&ebpf.MapSpec{Name: "kinst_probe", Type: ebpf.UserRingbuf, MaxEntries: uint32(os.Getpagesize())})
	if err != nil {
		return false
	}
	m.Close()
	return true
})

// haveExchange reports whether the kernel has atomic operations of BPF programs
// that return what was there before (5.12).
var haveExchange = sync.OnceValue(func() bool {
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: "kinst_probe", Type: ebpf.SocketFilter,
		Instructions: asm.Instructions{
			asm.StoreImm(asm.RFP, -8, 0, asm.DWord),
			asm.Mov.Imm(asm.R0, 0),
			asm.Xchg.Mem(asm.RFP, asm.R0, asm.DWord, -8),
			asm.Return(),
		},
	})
	if err != nil {
		return false
	}
	prog.Close()
	return true
})
