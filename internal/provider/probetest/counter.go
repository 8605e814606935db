// Package probetest helps to test providers on the running kernel: it makes
// programs that count how often each probe fires and keep its last arguments,
// written out by hand from a provider.Context, and so without the compiler.
package probetest

import (
	"context"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/rlimit"

	"kinst/internal/isa"
	"kinst/internal/provider"
)

// Args is how many arguments a Counter keeps of each firing.
const Args = 6

// A Counter is a program that counts the firings of probes of one context. It
// counts those of one process only.
type Counter struct {
	Program *ebpf.Program

	t      testing.TB
	probes []*provider.Probe
	sites  *ebpf.Map // from the key to the index
	values *ebpf.Map // by index: how often, and the last arguments
}

// hookTypes are the program types of the hooks.
var hookTypes = map[provider.Hook]ebpf.ProgramType{
	provider.HookKprobe:        ebpf.Kprobe,
	provider.HookTracepoint:    ebpf.TracePoint,
	provider.HookRawTracepoint: ebpf.RawTracepoint,
}

// NewCounter makes the program for probes that share a context. It counts
// firings in the process tgid, or in all if that is 0.
func NewCounter(t testing.TB, c *provider.Context, probes []*provider.Probe, tgid int) *Counter {
	t.Helper()
	if err := rlimit.RemoveMemlock(); err != nil {
		t.Fatal(err)
	}
	n := uint32(len(probes))
	k := &Counter{
		t:      t,
		probes: probes,
		sites:  newMap(t, &ebpf.MapSpec{Type: ebpf.Hash, KeySize: 8, ValueSize: 4, MaxEntries: 16 * n}),
		values: newMap(t, &ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 8 * (1 + Args), MaxEntries: n}),
	}
	for i, p := range probes {
		for _, addr := range append([]uint64{p.Addr}, p.More...) {
			if err := k.sites.Put(addr, uint32(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	spec := &ebpf.ProgramSpec{Type: hookTypes[c.Hook], AttachType: c.Attach, License: "GPL", Instructions: k.code(t, c, tgid)}
	var err error
	if k.Program, err = ebpf.NewProgram(spec); err != nil {
		t.Fatalf("loading the counter of %s: %+v", probes[0].Desc, err)
	}
	t.Cleanup(func() { k.Program.Close() })
	return k
}

func newMap(t testing.TB, spec *ebpf.MapSpec) *ebpf.Map {
	m, err := ebpf.NewMap(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// The stack of the program.
const (
	keySlot   = -8
	indexSlot = -16
	wordSlot  = -24
)

// code is the program. R6 is the context and R7 the probe's value.
func (k *Counter) code(t testing.TB, c *provider.Context, tgid int) asm.Instructions {
	code := asm.Instructions{asm.Mov.Reg(asm.R6, asm.R1)}
	if tgid != 0 {
		code = append(code,
			asm.FnGetCurrentPidTgid.Call(),
			asm.RSh.Imm(asm.R0, 32),
			asm.JNE.Imm(asm.R0, int32(tgid), "exit"))
	}
	if u := c.Unless; u != nil {
		code = append(code,
			asm.FnGetCurrentTask.Call(),
			asm.Mov.Reg(asm.R3, asm.R0),
			asm.Add.Imm(asm.R3, int32(u.Offset)))
		code = append(code, read(u.Size)...)
		code = append(code, asm.JSet.Imm(asm.R0, int32(u.Mask), "exit"))
	}
	code = append(code, k.index(t, c)...)
	code = append(code,
		asm.LoadMapPtr(asm.R1, k.values.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, indexSlot),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "exit"),
		asm.Mov.Reg(asm.R7, asm.R0),
		asm.Mov.Imm(asm.R1, 1),
		asm.StoreXAdd(asm.R7, asm.R1, asm.DWord))
	for i, p := range places(t, c) {
		code = append(code, load(p)...)
		code = append(code, asm.StoreMem(asm.R7, int16(8*(1+i)), asm.R0, asm.DWord))
	}
	return append(code,
		asm.Mov.Imm(asm.R0, 0).WithSymbol("exit"),
		asm.Return())
}

// index finds the index of the probe that fired.
func (k *Counter) index(t testing.TB, c *provider.Context) asm.Instructions {
	code := zero(indexSlot)
	switch c.Lookup {
	case provider.LookupOne:
		return code
	case provider.LookupCookie:
		return append(code,
			asm.Mov.Reg(asm.R1, asm.R6),
			asm.FnGetAttachCookie.Call(),
			asm.StoreMem(asm.RFP, indexSlot, asm.R0, asm.DWord))
	case provider.LookupFunc:
		code = append(code, asm.Mov.Reg(asm.R1, asm.R6), asm.FnGetFuncIp.Call())
	case provider.LookupKey:
		code = append(code, load(c.Key)...)
	case provider.LookupIP:
		arch := native(t)
		code = append(code, load(register(t, arch, arch.PC))...)
		code = append(code, asm.Sub.Imm(asm.R0, int32(c.IPBias)))
	}
	return append(code,
		asm.StoreMem(asm.RFP, keySlot, asm.R0, asm.DWord),
		asm.LoadMapPtr(asm.R1, k.sites.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, keySlot),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "exit"),
		asm.LoadMem(asm.R1, asm.R0, 0, asm.Word),
		asm.StoreMem(asm.RFP, indexSlot, asm.R1, asm.DWord))
}

// places are where the first arguments are.
func places(t testing.TB, c *provider.Context) []provider.Place {
	all := c.Places
	arch := native(t)
	switch {
	case c.CallArgs:
		for _, name := range arch.CallArgs {
			all = append(all, register(t, arch, name))
		}
	case c.ReturnArgs:
		all = []provider.Place{register(t, arch, arch.PC), register(t, arch, arch.CallResult)}
	}
	return all[:min(len(all), Args)]
}

func native(t testing.TB) *isa.Arch {
	arch, err := isa.Native()
	if err != nil {
		t.Fatal(err)
	}
	return arch
}

func register(t testing.TB, arch *isa.Arch, name string) provider.Place {
	r, ok := arch.Register(name)
	if !ok {
		t.Fatalf("no register %s", name)
	}
	return provider.Place{Offset: r.Offset, Size: r.Size}
}

// load loads a number into R0.
func load(p provider.Place) asm.Instructions {
	size := map[int]asm.Size{1: asm.Byte, 2: asm.Half, 4: asm.Word, 8: asm.DWord}[p.Size]
	switch {
	case p.Constant != nil:
		return asm.Instructions{asm.LoadImm(asm.R0, int64(*p.Constant), asm.DWord)}
	case p.Located:
		return append(asm.Instructions{
			asm.LoadMem(asm.R3, asm.R6, int16(p.Offset), asm.Word),
			asm.And.Imm(asm.R3, 0xffff),
			asm.Add.Reg(asm.R3, asm.R6),
		}, read(8)...)
	case p.Address:
		return append(asm.Instructions{
			asm.Mov.Reg(asm.R3, asm.R6),
			asm.Add.Imm(asm.R3, int32(p.Offset)),
		}, read(8)...)
	case !p.Indirect:
		return asm.Instructions{asm.LoadMem(asm.R0, asm.R6, int16(p.Offset), size)}
	}
	return append(asm.Instructions{
		asm.LoadMem(asm.R3, asm.R6, int16(p.Base), asm.DWord),
		asm.Add.Imm(asm.R3, int32(p.Offset)),
	}, read(p.Size)...)
}

// read loads what R3 points to into R0.
func read(size int) asm.Instructions {
	return append(zero(wordSlot),
		asm.Mov.Reg(asm.R1, asm.RFP),
		asm.Add.Imm(asm.R1, wordSlot),
		asm.Mov.Imm(asm.R2, int32(size)),
		asm.FnProbeReadKernel.Call(),
		asm.LoadMem(asm.R0, asm.RFP, wordSlot, asm.DWord),
	)
}

// zero clears a word of the stack. It uses R1.
func zero(slot int16) asm.Instructions {
	return asm.Instructions{
		asm.Mov.Imm(asm.R1, 0),
		asm.StoreMem(asm.RFP, slot, asm.R1, asm.DWord),
	}
}

// A Count is how often a probe fired, and its last arguments: of those that
// are addresses of arrays in the context, the arrays' first 8 bytes, and as
// arg0 of a return the program counter.
type Count struct {
	N    uint64
	Args [Args]uint64
}

// Counts returns what was counted, by the probes that fired.
func (k *Counter) Counts() map[*provider.Probe]Count {
	k.t.Helper()
	counts := make(map[*provider.Probe]Count)
	for i, p := range k.probes {
		var c Count
		if err := k.values.Lookup(uint32(i), &c); err != nil {
			k.t.Fatal(err)
		}
		if c.N != 0 {
			counts[p] = c
		}
	}
	return counts
}

// Match returns the probes that a description means.
func Match(t testing.TB, p provider.Provider, d provider.Desc) []*provider.Probe {
	t.Helper()
	probes, _, err := p.Match(context.Background(), d)
	if err != nil {
		t.Fatalf("%s: %v", d, err)
	}
	return probes
}

// Enable arms a counter for each context of the probes, and returns what
// reads them. They are disarmed with the test, if not before.
func Enable(t testing.TB, p provider.Provider, tgid int, probes ...*provider.Probe) (provider.Armed, func() map[*provider.Probe]Count) {
	t.Helper()
	var enablings []provider.Enabling
	var counters []*Counter
	for _, group := range groups(probes) {
		c := NewCounter(t, group[0].Context, group, tgid)
		counters = append(counters, c)
		enablings = append(enablings, provider.Enabling{Program: c.Program, Context: group[0].Context, Probes: group})
	}
	armed, err := p.Enable(context.Background(), enablings, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := armed.Close(); err != nil {
			t.Error(err)
		}
	})
	return armed, func() map[*provider.Probe]Count {
		all := make(map[*provider.Probe]Count)
		for _, c := range counters {
			for p, n := range c.Counts() {
				all[p] = n
			}
		}
		return all
	}
}

// groups puts together the probes that can share a program.
func groups(probes []*provider.Probe) [][]*provider.Probe {
	var list [][]*provider.Probe
	at := make(map[*provider.Context]int)
	for _, p := range probes {
		i, ok := at[p.Context]
		if !ok || p.Context.Lookup == provider.LookupOne {
			i = len(list)
			at[p.Context] = i
			list = append(list, nil)
		}
		list[i] = append(list[i], p)
	}
	return list
}
