package codegen

import (
	"github.com/cilium/ebpf/asm"

	"kinst/internal/record"
)

// fewCPUs is for how many CPUs at most programs name the ring buffers one by
// one: a program can name 64 maps (MAX_USED_MAPS). Beyond that they are found
// through a map of maps, which takes the kernel an RCU grace period to fill.
const fewCPUs = 32

// buildSend sends a record into this CPU's ring: (record, size).
func buildSend(c *code, p *compiler) {
	rec, size := c.param(0), c.param(1)
	lost, out := c.newLabel(), c.newLabel()
	cpu := c.call(asm.FnGetSmpProcessorId)
	ring := c.newReg()
	if p.opts.CPUs <= fewCPUs {
		found := c.newLabel()
		c.chooseRing(ring, cpu, 0, p.opts.CPUs, found)
		c.place(found)
	} else {
		key := c.stack(4)
		c.store(fp, key, cpu, 4)
		c.callTo(ring, asm.FnMapLookupElem, c.mapPtr(ringsMap), c.addressOf(fp, key))
		c.jumpIfImm(asm.JEq, w64, ring, 0, lost)
	}
	failed := c.call(asm.FnRingbufOutput, ring, rec, size, c.constant(0, w64))
	c.jumpIfImm(asm.JEq, w64, failed, 0, out)
	c.place(lost)
	c.callSub(subLost, c.constant(uint64(record.LossRecords), w64))
	c.place(out)
	c.exit(noReg)
}

// chooseRing finds the ring of a CPU from first to end-1 by halving.
func (c *code) chooseRing(ring, cpu reg, first, end int, found label) {
	if end-first == 1 {
		c.emit(ins{kind: loadMap, dst: ring, sym: ringMap(first)})
		c.jump(found)
		return
	}
	middle := (first + end) / 2
	upper := c.newLabel()
	c.jumpIfImm(asm.JGE, w64, cpu, int64(middle), upper)
	c.chooseRing(ring, cpu, first, middle, found)
	c.place(upper)
	c.chooseRing(ring, cpu, middle, end, found)
}
