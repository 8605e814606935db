package codegen

import (
	"github.com/cilium/ebpf/asm"

	"kinst/internal/dlang/types"
	"kinst/internal/record"
)

// inetNtoa is inet_ntoa(address): of the four bytes there.
func (g *generator) inetNtoa(x *types.CallExpr, to region) {
	g.ntop(g.sub("ntop4", buildNtop4), g.scalar(x.Args[0]), 4, to)
}

// inetNtoa6 is inet_ntoa6(address): of the sixteen bytes there.
func (g *generator) inetNtoa6(x *types.CallExpr, to region) {
	g.ntop(g.sub("ntop6", buildNtop6), g.scalar(x.Args[0]), 16, to)
}

// Address families of Linux.
const (
	afInet  = 2
	afInet6 = 10
)

// inetNtop is inet_ntop(family, address).
func (g *generator) inetNtop(x *types.CallExpr, to region) {
	family, addr := g.scalar(x.Args[0]), g.scalar(x.Args[1])
	six, bad, done := g.newLabel(), g.newLabel(), g.newLabel()
	g.jumpIfImm(asm.JEq, w64, family, afInet6, six)
	g.jumpIfImm(asm.JNE, w64, family, afInet, bad)
	g.scope(func() { g.ntop(g.sub("ntop4", buildNtop4), addr, 4, to) })
	g.jump(done)
	g.place(bad)
	g.fault(record.FaultIllegalOp, noReg)
	g.place(six)
	g.scope(func() { g.ntop(g.sub("ntop6", buildNtop6), addr, 16, to) })
	g.place(done)
}

// linkNtop is link_ntop(hardware type, address): of the six bytes of an
// Ethernet address.
func (g *generator) linkNtop(x *types.CallExpr, to region) {
	kind, addr := g.scalar(x.Args[0]), g.scalar(x.Args[1])
	good := g.newLabel()
	g.jumpIfImm(asm.JEq, w64, kind, arphrdEther, good)
	g.fault(record.FaultIllegalOp, noReg)
	g.place(good)
	g.ntop(g.sub("ntoplink", buildNtopLink), addr, 6, to)
}

// arphrdEther is ARPHRD_ETHER.
const arphrdEther = 1

// ntop reads an address from memory and writes it out with a subprogram:
// (address, work).
func (g *generator) ntop(sub *subprogram, addr reg, size int, to region) {
	bytes := g.scratchTemp(16)
	g.readKernel(bytes, size, addr)
	work := g.scratchTemp(ntopText + ntopRoom)
	g.zero(work)
	g.callSub(sub, g.addr(bytes), g.addr(work))
	g.copyString(to, str{region: work.at(ntopText)})
}

// What the subprograms of ntop keep in memory: how long the text is, the run
// of zeros that :: stands for, and the text.
const (
	ntopLen   = 0
	ntopBest  = 8
	ntopCount = 16
	ntopText  = 24
	ntopRoom  = 64
)

// A printer writes text into a subprogram's work memory.
type printer struct {
	*code
	work reg
}

func (p printer) put(b reg) {
	n := p.newReg()
	p.load(n, p.work, ntopLen, 8)
	p.aluImm(asm.And, w64, n, ntopRoom-1)
	p.putByte(p.addressOf(p.work, ntopText), n, b)
	p.aluImm(asm.Add, w64, n, 1)
	p.store(p.work, ntopLen, n, 8)
}

func (p printer) putChar(c byte) { p.put(p.constant(uint64(c), w64)) }

// digit writes a digit; a zero only if force or something was written before.
func (p printer) digit(value, force reg) {
	skip, decimal, some := p.newLabel(), p.newLabel(), p.newLabel()
	p.jumpIfImm(asm.JNE, w64, value, 0, some)
	p.jumpIfImm(asm.JEq, w64, force, 0, skip)
	p.place(some)
	p.set(force, 1, w64)
	c := p.copyOf(value, w64)
	p.jumpIfImm(asm.JLE, w64, c, 9, decimal)
	p.aluImm(asm.Add, w64, c, 'a'-'0'-10)
	p.place(decimal)
	p.aluImm(asm.Add, w64, c, '0')
	p.put(c)
	p.place(skip)
}

// decimal writes a number below 256.
func (p printer) decimal(n reg) {
	force := p.constant(0, w64)
	for _, unit := range []int64{100, 10, 1} {
		if unit == 1 {
			p.set(force, 1, w64)
		}
		d := p.copyOf(n, w64)
		p.aluImm(asm.Div, w64, d, unit)
		p.aluImm(asm.Mod, w64, d, 10)
		p.digit(d, force)
	}
}

// hex writes a number of so many digits, the first ones not if they are zero,
// unless padded.
func (p printer) hex(n reg, digits int, padded bool) {
	force := p.constant(0, w64)
	if padded {
		p.set(force, 1, w64)
	}
	for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
		if shift == 0 {
			p.set(force, 1, w64)
		}
		d := p.copyOf(n, w64)
		p.aluImm(asm.RSh, w64, d, int64(shift))
		p.aluImm(asm.And, w64, d, 15)
		p.digit(d, force)
	}
}

func (p printer) byteOf(addr reg, i int) reg {
	b := p.newReg()
	p.load(b, addr, i, 1)
	return b
}

func buildNtop4(c *code, _ *compiler) {
	addr, work := c.param(0), c.param(1)
	printer{c, work}.quad(addr, 0)
	c.exit(noReg)
}

// quad writes four bytes as an IPv4 address.
func (p printer) quad(addr reg, first int) {
	for i := range 4 {
		if i > 0 {
			p.putChar('.')
		}
		p.decimal(p.byteOf(addr, first+i))
	}
}

func buildNtopLink(c *code, _ *compiler) {
	addr, work := c.param(0), c.param(1)
	p := printer{c, work}
	for i := range 6 {
		if i > 0 {
			p.putChar(':')
		}
		p.hex(p.byteOf(addr, i), 2, true)
	}
	c.exit(noReg)
}

// buildNtop6 writes an IPv6 address as RFC 5952 asks: the longest run of two
// or more groups that are 0, the first of them, is "::"; an IPv4-mapped
// address ends as an IPv4 address.
func buildNtop6(c *code, _ *compiler) {
	addr, work := c.param(0), c.param(1)
	p := printer{c, work}
	group := func(i int) reg {
		g := p.byteOf(addr, 2*i)
		c.aluImm(asm.LSh, w64, g, 8)
		c.alu(asm.Or, w64, g, p.byteOf(addr, 2*i+1))
		return g
	}
	// The longest run of zeros.
	run := c.constant(0, w64)
	c.storeImm(work, ntopBest, -1, 8)
	c.storeImm(work, ntopCount, 1, 8)
	for i := range 8 {
		other, next := c.newLabel(), c.newLabel()
		c.jumpIfImm(asm.JNE, w64, group(i), 0, other)
		c.aluImm(asm.Add, w64, run, 1)
		best := c.newReg()
		c.load(best, work, ntopCount, 8)
		c.jumpIf(asm.JLE, w64, run, best, next)
		c.store(work, ntopCount, run, 8)
		begin := c.constant(uint64(i+1), w64)
		c.alu(asm.Sub, w64, begin, run)
		c.store(work, ntopBest, begin, 8)
		c.jump(next)
		c.place(other)
		c.set(run, 0, w64)
		c.place(next)
	}
	best, end := c.newReg(), c.newReg()
	c.load(best, work, ntopBest, 8)
	c.load(end, work, ntopCount, 8)
	c.alu(asm.Add, w64, end, best)

	// ::ffff:0:0/96 ends as an IPv4 address.
	mapped, plain, finish := c.constant(0, w64), c.newLabel(), c.newLabel()
	c.jumpIfImm(asm.JNE, w64, best, 0, plain)
	c.jumpIfImm(asm.JNE, w64, end, 5, plain)
	c.jumpIfImm(asm.JNE, w64, group(5), 0xffff, plain)
	c.set(mapped, 1, w64)
	c.place(plain)

	for i := range 8 {
		inside, number, next := c.newLabel(), c.newLabel(), c.newLabel()
		c.jumpIfImm(asm.JSGT, w64, best, int64(i), number)
		c.jumpIfImm(asm.JSLT, w64, best, 0, number)
		c.jumpIfImm(asm.JGT, w64, end, int64(i), inside)
		c.jump(number)
		c.place(inside) // of the run of zeros: "::" for its first group
		c.jumpIfImm(asm.JNE, w64, best, int64(i), next)
		p.putChar(':')
		p.putChar(':')
		c.jump(next)
		c.place(number)
		if i > 0 { // a colon, but behind "::"
			separate := c.newLabel()
			c.jumpIfImm(asm.JSLT, w64, best, 0, separate)
			behind := c.newLabel()
			c.jumpIfImm(asm.JEq, w64, end, int64(i), behind)
			c.place(separate)
			p.putChar(':')
			c.place(behind)
		}
		if i == 6 {
			groups := c.newLabel()
			c.jumpIfImm(asm.JEq, w64, mapped, 0, groups)
			p.quad(addr, 12)
			c.jump(finish)
			c.place(groups)
		}
		p.hex(group(i), 4, false)
		c.place(next)
	}
	c.place(finish)
	c.exit(noReg)
}
