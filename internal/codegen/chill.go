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
	chillTurns = 20_000
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
	g.callSub(g.sub("chill", buildChill), ns, g.turn())
}

// buildChill is (nanoseconds, turn).
func buildChill(c *code, _ *compiler) {
	ns, turn := c.param(0), c.param(1)
	start := c.call(asm.FnKtimeGetNs)
	turns := chillTurns
	if c.mayGoto {
		turns = 100 * chillTurns
	}
	c.loop(turn, turns, func(_ reg, l loop) {
		passed := c.copyOf(c.call(asm.FnKtimeGetNs), w64)
		c.alu(asm.Sub, w64, passed, start)
		l.leave(asm.JGE, passed, ns)
		c.call(asm.FnProbeReadKernel, c.mapValue(chillMap, 0), c.constant(chillBytes, w64), c.mapValue(chillMap, chillBytes))
	})
	c.exit(noReg)
}
