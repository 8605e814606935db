package codegen

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"kinst/internal/record"
)

const (
	// chillMap is memory that is copied to pass the time.
	chillMap = "kinst_chill"
	// maxChill is how long chill() can take, in nanoseconds, as in DTrace.
	maxChill = 500_000_000
	// chillBytes are copied between two looks at the clock, chillTurns times
	// at most: a loop of a BPF program must end, and the verifier goes through
	// all its turns.
	chillBytes = 32 << 10
	chillTurns = 100_000
)

// chill is chill(nanoseconds): it keeps the processor busy for so long.
func (g *generator) chill(ns reg) {
	if g.maps[chillMap] == nil {
		g.maps[chillMap] = &ebpf.MapSpec{Name: chillMap, Type: ebpf.Array, KeySize: 4, ValueSize: 2 * chillBytes, MaxEntries: 1}
	}
	good := g.newLabel()
	g.jumpIfImm(asm.JLE, w64, ns, maxChill, good)
	g.fault(record.FaultIllegalOp, noReg)
	g.place(good)
	g.callSub(subChill, ns)
}

// subChill is (nanoseconds).
var subChill = &subprogram{"kinst_chill", func(c *code) {
	ns := c.param(0)
	start := c.call(asm.FnKtimeGetNs)
	turn := c.constant(0, w64)
	again, done := c.newLabel(), c.newLabel()
	c.place(again)
	passed := c.copyOf(c.call(asm.FnKtimeGetNs), w64)
	c.alu(asm.Sub, w64, passed, start)
	c.jumpIf(asm.JGE, w64, passed, ns, done)
	c.call(asm.FnProbeReadKernel, c.mapValue(chillMap, 0), c.constant(chillBytes, w64), c.mapValue(chillMap, chillBytes))
	c.aluImm(asm.Add, w64, turn, 1)
	c.jumpIfImm(asm.JLT, w64, turn, chillTurns, again)
	c.place(done)
	c.exit(noReg)
}}
