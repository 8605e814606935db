package codegen

import (
	"github.com/cilium/ebpf/asm"

	"kinst/internal/aggregate"
	"kinst/internal/record"
)

// A subprogram is code that several places call. Its arguments are the
// registers' first ones.
type subprogram struct {
	name  string
	build func(*code)
}

// sub returns the subprogram of that name of this session, built when it is first needed.
func (c *compiler) sub(name string, build func(*code, *compiler)) *subprogram {
	if c.subs[name] == nil {
		c.subs[name] = &subprogram{"kinst_" + name, func(code *code) { build(code, c) }}
	}
	return c.subs[name]
}

// instructions builds a subprogram and lists what it calls itself.
func (s *subprogram) instructions(mayGoto bool) (asm.Instructions, []*subprogram, error) {
	c := &code{mayGoto: mayGoto}
	s.build(c)
	out, err := c.assembled(s.name + "_")
	if err != nil {
		return nil, nil, err
	}
	out[0] = out[0].WithSymbol(s.name)
	return out, c.called(), nil
}

// called lists the subprograms that the code calls, each once.
func (c *code) called() []*subprogram {
	var subs []*subprogram
	seen := make(map[*subprogram]bool)
	for _, i := range c.list {
		if i.sub != nil && !seen[i.sub] {
			seen[i.sub] = true
			subs = append(subs, i.sub)
		}
	}
	return subs
}

// subLost counts a loss: (record.Loss).
var subLost = &subprogram{"kinst_lost", func(c *code) {
	kind := c.param(0)
	key := c.stack(4)
	out := c.newLabel()
	c.store(fp, key, kind, 4)
	count := c.call(asm.FnMapLookupElem, c.mapPtr(lossesMap), c.addressOf(fp, key))
	c.jumpIfImm(asm.JEq, w64, count, 0, out)
	c.atomicAdd(count, 0, c.constant(1, w64))
	c.place(out)
	c.exit(noReg)
}}

// buildFault sends the record of a fault: (clause<<32 | probe, action<<32 |
// fault, value).
func buildFault(c *code, p *compiler) {
	where, what, value := c.param(0), c.param(1), c.param(2)
	rec := c.stack(record.ErrorSize)
	c.store(fp, rec+record.TimeOffset, c.call(asm.FnKtimeGetNs), 8)
	c.storeImm(fp, rec+record.ClauseOffset, -1, 4) // record.ClauseError
	c.store(fp, rec+record.ProbeOffset, where, 4)
	c.aluImm(asm.RSh, w64, where, 32)
	c.store(fp, rec+record.HeaderSize, where, 4)
	c.store(fp, rec+record.HeaderSize+8, what, 4)
	c.aluImm(asm.RSh, w64, what, 32)
	c.store(fp, rec+record.HeaderSize+4, what, 4)
	c.storeImm(fp, rec+record.HeaderSize+12, 0, 4)
	c.store(fp, rec+record.HeaderSize+16, value, 8)
	c.callSub(p.sub("send", buildSend), c.addressOf(fp, rec), c.constant(record.ErrorSize, w64))
	c.exit(noReg)
}

// subSquare adds the square of a value to the sum in words 2 to 4 of a row:
// (row, value). Programs may interrupt it that do the same.
var subSquare = &subprogram{"kinst_square", func(c *code) {
	row, v := c.param(0), c.param(1)
	positive := c.newLabel()
	c.jumpIfImm(asm.JSGE, w64, v, 0, positive)
	c.emit(ins{op: aluOp(asm.Neg, w64, asm.ImmSource), dst: v})
	c.place(positive)
	low, high := c.copyOf(v, w32), v
	c.aluImm(asm.RSh, w64, high, 32)
	cross := c.copyOf(low, w64) // v² = high²<<64 + 2·low·high<<32 + low²
	c.alu(asm.Mul, w64, cross, high)
	c.alu(asm.Mul, w64, low, low)
	c.alu(asm.Mul, w64, high, high)
	part := c.copyOf(cross, w64)
	c.aluImm(asm.RSh, w64, part, 31)
	c.alu(asm.Add, w64, high, part)
	c.aluImm(asm.LSh, w64, cross, 33)
	c.addCarry(low, cross, high)
	c.atomicAdd(row, 32, high)
	c.atomicAdd(row, 16, c.copyOf(low, w32))
	c.aluImm(asm.RSh, w64, low, 32)
	c.atomicAdd(row, 24, low)
	c.exit(noReg)
}}

// addCarry adds n to sum, and 1 to carry if that overflows.
func (c *code) addCarry(sum, n, carry reg) {
	none := c.newLabel()
	c.alu(asm.Add, w64, sum, n)
	c.jumpIf(asm.JGE, w64, sum, n, none)
	c.aluImm(asm.Add, w64, carry, 1)
	c.place(none)
}

// subQuantize is the bucket of a value in quantize: (value). It has no
// branches: the verifier would go through each way, for each statement.
var subQuantize = &subprogram{"kinst_quantize", func(c *code) {
	v := c.param(0)
	sign := c.copyOf(v, w64)
	c.aluImm(asm.ArSh, w64, sign, 63)
	size := c.copyOf(v, w64)
	c.alu(asm.Xor, w64, size, sign)
	c.alu(asm.Sub, w64, size, sign)
	// bucket is the position of the highest bit that is set, from 1; 0 for 0.
	bucket := c.nonzero(size)
	for log := int64(5); log >= 0; log-- {
		upper := c.copyOf(size, w64)
		c.aluImm(asm.RSh, w64, upper, 1<<log)
		shift := c.nonzero(upper)
		c.aluImm(asm.LSh, w64, shift, log)
		c.alu(asm.RSh, w64, size, shift)
		c.alu(asm.Add, w64, bucket, shift)
	}
	// On the side of the negative numbers it counts down from that of 0.
	c.alu(asm.Xor, w64, bucket, sign)
	c.alu(asm.Sub, w64, bucket, sign)
	c.aluImm(asm.Add, w64, bucket, aggregate.QuantizeZero)
	below := c.copyOf(bucket, w64) // INT64_MIN would be one too far
	c.aluImm(asm.ArSh, w64, below, 63)
	c.aluImm(asm.Xor, w64, below, -1)
	c.alu(asm.And, w64, bucket, below)
	c.exit(bucket)
}}

// nonzero is 1 for a number that is not 0, else 0.
func (c *code) nonzero(r reg) reg {
	n := c.copyOf(r, w64)
	c.emit(ins{op: aluOp(asm.Neg, w64, asm.ImmSource), dst: n})
	c.alu(asm.Or, w64, n, r)
	c.aluImm(asm.RSh, w64, n, 63)
	return n
}

// buildCompare orders two strings of at most n bytes: (a, b, n, turn) gives a
// number below 0, 0 or above 0. The null string counts as empty.
func buildCompare(c *code, p *compiler) {
	a, b, n, turn := c.param(0), c.param(1), c.param(2), c.param(3)
	order := c.constant(0, w64)
	c.loop(turn, p.opts.Strsize, func(i reg, l loop) {
		l.leave(asm.JGE, i, n)
		x, y := c.byteAt(a, i), c.byteAt(b, i)
		for _, first := range []reg{x, y} {
			text := c.newLabel()
			c.jumpIfImm(asm.JNE, w64, i, 0, text)
			c.jumpIfImm(asm.JNE, w64, first, nullMark, text)
			c.set(first, 0, w64)
			c.place(text)
		}
		c.move(order, x, w64)
		c.alu(asm.Sub, w64, order, y)
		l.leaveImm(asm.JNE, order, 0)
		l.leaveImm(asm.JEq, x, 0)
	})
	c.exit(order)
}

// byteAt loads byte i of memory.
func (c *code) byteAt(base, i reg) reg {
	at := c.copyOf(base, w64)
	c.alu(asm.Add, w64, at, i)
	b := c.newReg()
	c.load(b, at, 0, 1)
	return b
}
