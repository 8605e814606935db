package uprobe

import (
	"fmt"
	"os"
	"reflect"
	"runtime"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/features"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"kinst/internal/isa"
	"kinst/internal/userland"
)

// chosen is the better of the backends that the kernel has.
var chosen = sync.OnceValue(func() *backend {
	if features.HaveBPFLinkUprobeMulti() == nil && multiSeesThreads() {
		return &multi
	}
	return &traced
})

// multi arms sites with links of many uprobes.
var multi = backend{attach: ebpf.AttachTraceUprobeMulti, arm: armMulti}

func armMulti(prog *ebpf.Program, pid int, file string, sites []Site) (func() error, error) {
	ex, err := link.OpenExecutable(file)
	if err != nil {
		return nil, err
	}
	opts := &link.UprobeMultiOptions{PID: uint32(pid)}
	semaphores := false
	for _, s := range sites {
		opts.Addresses = append(opts.Addresses, s.Offset)
		opts.RefCtrOffsets = append(opts.RefCtrOffsets, s.Semaphore)
		semaphores = semaphores || s.Semaphore != 0
	}
	if !semaphores {
		opts.RefCtrOffsets = nil
	}
	l, err := ex.UprobeMulti(nil, prog, opts)
	if err != nil {
		return nil, err
	}
	return l.Close, nil
}

// multiSeesThreads tries whether a link that is made for a process runs its
// program in all threads of it. Kernels 6.6 to 6.9 as they were first
// released run it in the first one only ("bpf: fix multi-uprobe PID filtering
// logic", which later ones of them have too).
func multiSeesThreads() bool {
	count, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1})
	if err != nil {
		return false
	}
	defer count.Close()
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Type:       ebpf.Kprobe,
		AttachType: ebpf.AttachTraceUprobeMulti,
		License:    "GPL",
		Instructions: asm.Instructions{
			asm.LoadMapValue(asm.R1, count.FD(), 0),
			asm.Mov.Imm(asm.R2, 1),
			asm.StoreXAdd(asm.R1, asm.R2, asm.DWord),
			asm.Mov.Imm(asm.R0, 0),
			asm.Return(),
		},
	})
	if err != nil {
		return false
	}
	defer prog.Close()
	site, err := landmarkSite()
	if err != nil {
		return false
	}
	disarm, err := armMulti(prog, os.Getpid(), site.File, []Site{site})
	if err != nil {
		return false
	}
	defer func() { go disarm() }() // which takes some grace periods of RCU
	inOtherThread(landmark)
	var n uint64
	return count.Lookup(uint32(0), &n) == nil && n == 1
}

// landmark is where multiSeesThreads puts a probe.
//
//go:noinline
func landmark() {}

func landmarkSite() (Site, error) {
	arch, err := isa.Native()
	if err != nil {
		return Site{}, err
	}
	store := userland.NewStore(arch)
	defer store.Close()
	self, err := store.Process(os.Getpid())
	if err != nil {
		return Site{}, err
	}
	program := self.Program()
	if program == nil {
		return Site{}, fmt.Errorf("this program's own file cannot be read")
	}
	vaddr, _ := program.At(uint64(reflect.ValueOf(landmark).Pointer()))
	offset, ok := program.Offset(vaddr)
	if !ok {
		return Site{}, fmt.Errorf("this program's own file is not what it runs")
	}
	return Site{File: "/proc/self/exe", Offset: offset}, nil
}

// inOtherThread calls f in a thread that is not the process's first.
func inOtherThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if unix.Gettid() == os.Getpid() {
			inOtherThread(f)
			return
		}
		f()
	}()
	<-done
}
