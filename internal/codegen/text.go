package codegen

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/cilium/ebpf/asm"

	"kinst/internal/dlang/types"
	"kinst/internal/record"
)

// Subroutines on strings. Their loops go over each byte of a string at most
// once or twice, with the index of the byte as the only number that the
// verifier follows: it looks at every turn of a loop, and where the state of
// two turns differs in more, at all combinations. Other numbers on which an
// address depends pass through memory (opaque), which makes the verifier
// forget where they came from.

// stringSubroutines write their result into memory with room for a string.
var stringSubroutines map[string]func(*generator, *types.CallExpr, region)

func init() {
	stringSubroutines = map[string]func(*generator, *types.CallExpr, region){
		"basename":   (*generator).pathPart,
		"cleanpath":  (*generator).cleanpath,
		"copyinstr":  (*generator).copyinstr,
		"dirname":    (*generator).pathPart,
		"execargs":   (*generator).execargs,
		"inet_ntoa":  (*generator).inetNtoa,
		"inet_ntoa6": (*generator).inetNtoa6,
		"inet_ntop":  (*generator).inetNtop,
		"link_ntop":  (*generator).linkNtop,
		"lltostr":    (*generator).lltostr,
		"strchr":     (*generator).strchr,
		"strjoin":    (*generator).strjoin,
		"strrchr":    (*generator).strchr,
		"strstr":     (*generator).strstr,
		"strtok":     (*generator).strtok,
		"substr":     (*generator).substr,
		"tolower":    (*generator).changeCase,
		"toupper":    (*generator).changeCase,
	}
}

// A text is a string in scratch memory, with its length, which the verifier
// knows to be less than the room for a string.
type text struct {
	region
	n reg
}

// text evaluates a string; the null string stops the clause.
func (g *generator) text(x types.Expr) text {
	at := g.scratchTemp(g.room())
	at.size = g.opts.Strsize
	return text{at, g.length(g.copyString(at, g.solid(x)))}
}

// room is the size of the regions that hold strings on which subroutines work:
// a power of two, so that an index can be bounded by a mask.
func (c *compiler) room() int { return 1 << bits.Len(uint(c.opts.Strsize-1)) }

// length turns the result of a helper that copied a string into the string's
// length.
func (g *generator) length(copied reg) reg {
	n := g.copyOf(copied, w64)
	good := g.newLabel()
	g.aluImm(asm.Sub, w64, n, 1)
	g.jumpIfImm(asm.JLT, w64, n, int64(g.opts.Strsize), good)
	g.set(n, 0, w64)
	g.place(good)
	return n
}

// plus is base + off + n in a register.
func (g *generator) plus(r region, n reg) reg {
	at := g.copyOf(g.addr(r), w64)
	g.alu(asm.Add, w64, at, n)
	return at
}

// opaque passes a number through memory and bounds it by a mask, so that the
// verifier knows no more of it than that.
func (c *code) opaque(r reg, base reg, off int, mask int64) {
	c.store(base, off, r, 8)
	c.load(r, base, off, 8)
	c.aluImm(asm.And, w64, r, mask)
}

// strlen is strlen(s).
func (g *generator) strlen(x *types.CallExpr) reg {
	if s, ok := x.Args[0].(*types.Str); ok && !s.Null {
		return g.constant(uint64(min(len(s.Value), g.opts.Strsize-1)), w64)
	}
	return g.text(x.Args[0]).n
}

// strjoin is strjoin(a, b).
func (g *generator) strjoin(x *types.CallExpr, to region) {
	both := g.scratchTemp(2 * g.opts.Strsize)
	a := region{both.base, both.off, g.opts.Strsize}
	n := g.length(g.copyString(a, g.solid(x.Args[0])))
	b := region{g.plus(a, n), 0, g.opts.Strsize}
	g.copyString(b, g.solid(x.Args[1]))
	g.copyString(to, str{region: both})
}

// substr is substr(s, index[, length]).
func (g *generator) substr(x *types.CallExpr, to region) {
	s := g.text(x.Args[0])
	index := g.wide(x.Args[1])
	room := int64(g.opts.Strsize)
	rest := g.constant(uint64(room), w64)
	if len(x.Args) > 2 {
		rest = g.wide(x.Args[2])
	}
	fromStart, none, counted, cut, done := g.newLabel(), g.newLabel(), g.newLabel(), g.newLabel(), g.newLabel()

	// A negative index counts from the end; what lies before the start is
	// taken off the length.
	g.jumpIfImm(asm.JSGE, w64, index, 0, fromStart)
	g.alu(asm.Add, w64, index, s.n)
	g.jumpIfImm(asm.JSGE, w64, index, 0, fromStart)
	g.alu(asm.Add, w64, rest, index)
	g.jumpIfImm(asm.JSLE, w64, rest, 0, none)
	g.set(index, 0, w64)
	g.place(fromStart)
	g.jumpIf(asm.JGE, w64, index, s.n, none)

	// A negative length leaves off as many bytes at the end.
	g.jumpIfImm(asm.JSGE, w64, rest, 0, counted)
	g.alu(asm.Add, w64, rest, s.n)
	g.alu(asm.Sub, w64, rest, index)
	g.jumpIfImm(asm.JSLE, w64, rest, 0, none)
	g.place(counted)

	out := g.scratchTemp(g.room())
	out.size = g.opts.Strsize
	g.opaque(index, out.base, out.off, int64(g.room()-1))
	g.jumpIfImm(asm.JGE, w64, index, room, none)
	from := g.plus(s.region, index)
	g.call(asm.FnProbeReadKernelStr, g.addr(out), g.constant(uint64(room), w64), from)
	g.jumpIfImm(asm.JSGE, w64, rest, room, cut)
	end := g.copyOf(rest, w64)
	g.opaque(end, s.base, s.off, int64(g.room()-1))
	g.storeImm(g.plus(out, end), 0, 0, 1)
	g.place(cut)
	g.copyString(to, str{region: out})
	g.jump(done)
	g.place(none)
	g.storeImm(to.base, to.off, 0, 1)
	g.place(done)
}

// wide evaluates an int as 64 bits in a register that may be changed.
func (g *generator) wide(x types.Expr) reg {
	r := g.copyOf(g.scalar(x), w64)
	if widthOf(x.Type()) == w32 {
		g.aluImm(asm.LSh, w64, r, 32)
		g.aluImm(asm.ArSh, w64, r, 32)
	}
	return r
}

// strchr is strchr(s, c) and strrchr(s, c): the string from the first resp.
// last c on.
func (g *generator) strchr(x *types.CallExpr, to region) {
	s := g.text(x.Args[0])
	c := g.copyOf(g.scalar(x.Args[1]), w32)
	g.aluImm(asm.And, w32, c, 0xff)
	sub := g.sub("strchr", buildStrchr)
	if x.Func.Name == "strrchr" {
		sub = g.sub("strrchr", buildStrrchr)
	}
	found := g.scratchTemp(8)
	g.fromIndex(to, s, g.callSub(sub, g.addr(s.region), c, g.addr(found), g.turn()))
}

// fromIndex writes the string from an index on, or, if that is negative, the
// null string.
func (g *generator) fromIndex(to region, s text, index reg) {
	found, done := g.newLabel(), g.newLabel()
	g.jumpIfImm(asm.JSGE, w64, index, 0, found)
	g.setNull(to)
	g.jump(done)
	g.place(found)
	at := g.copyOf(index, w64)
	tmp := g.scratchTemp(8)
	g.opaque(at, tmp.base, tmp.off, int64(g.room()-1))
	g.copyString(to, str{region: region{g.plus(s.region, at), 0, s.size}})
	g.place(done)
}

func buildStrchr(c *code, p *compiler) { buildFindByte(c, p, false) }

func buildStrrchr(c *code, p *compiler) { buildFindByte(c, p, true) }

// buildFindByte is (s, byte, found, turn): the index of the first or last such byte
// of a string, its NUL included, or -1.
func buildFindByte(c *code, p *compiler, last bool) {
	s, want, found, turn := c.param(0), c.param(1), c.param(2), c.param(3)
	c.storeImm(found, 0, -1, 8)
	c.eachByte(turn, s, p.opts.Strsize, func(i, b reg, l loop) {
		other := c.newLabel()
		c.jumpIf(asm.JNE, w64, b, want, other)
		c.store(found, 0, i, 8)
		if !last {
			c.jump(l.done)
		}
		c.place(other)
		l.leaveImm(asm.JEq, b, 0)
	})
	at := c.newReg()
	c.load(at, found, 0, 8)
	c.exit(at)
}

// putByte stores a byte at an index of memory.
func (c *code) putByte(base, i, b reg) {
	at := c.copyOf(base, w64)
	c.alu(asm.Add, w64, at, i)
	c.store(at, 0, b, 1)
}

// entry loads entry i of a table of 16-bit numbers.
func (c *code) entry(table, i reg) reg {
	n := c.newReg()
	c.load(n, c.entryAt(table, i), 0, 2)
	return n
}

// putEntry stores entry i of a table of 16-bit numbers.
func (c *code) putEntry(table, i, n reg) { c.store(c.entryAt(table, i), 0, n, 2) }

func (c *code) entryAt(table, i reg) reg {
	at := c.copyOf(i, w64)
	c.aluImm(asm.LSh, w64, at, 1)
	c.alu(asm.Add, w64, at, table)
	return at
}

// changeCase is tolower(s) and toupper(s).
func (g *generator) changeCase(x *types.CallExpr, to region) {
	s := g.text(x.Args[0])
	first := uint64('A')
	if x.Func.Name == "toupper" {
		first = 'a'
	}
	g.callSub(g.sub("case", buildCase), g.addr(s.region), g.constant(first, w64), g.turn())
	g.copyString(to, str{region: s.region})
}

// buildCase is (s, first, turn): it changes the case of the 26 letters from first on.
func buildCase(c *code, p *compiler) {
	s, first, turn := c.param(0), c.param(1), c.param(2)
	c.eachByte(turn, s, p.opts.Strsize, func(i, b reg, l loop) {
		other := c.newLabel()
		l.leaveImm(asm.JEq, b, 0)
		letter := c.copyOf(b, w64)
		c.alu(asm.Sub, w64, letter, first)
		c.jumpIfImm(asm.JGE, w64, letter, 26, other)
		c.aluImm(asm.Xor, w64, b, 'a'^'A')
		c.putByte(s, i, b)
		c.place(other)
	})
	c.exit(noReg)
}

// strstr is strstr(s, t).
func (g *generator) strstr(x *types.CallExpr, to region) {
	s, t := g.text(x.Args[0]), g.text(x.Args[1])
	index := g.find(s, t, x.Args[1], g.constant(0, w64), false)
	some := g.newLabel()
	g.jumpIfImm(asm.JNE, w64, t.n, 0, some)
	g.set(index, 0, w64)
	g.place(some)
	g.fromIndex(to, s, index)
}

// index is index(s, t[, from]) and rindex(s, t[, from]), with the meaning of
// Perl's functions of these names.
func (g *generator) index(x *types.CallExpr) reg {
	last := x.Func.Name == "rindex"
	s, t := g.text(x.Args[0]), g.text(x.Args[1])
	var from reg
	switch {
	case len(x.Args) > 2:
		from = g.wide(x.Args[2])
	case last:
		from = g.copyOf(s.n, w64)
	default:
		from = g.constant(0, w64)
	}
	result := g.constant(^uint64(0), w64)
	some, done, inside, search := g.newLabel(), g.newLabel(), g.newLabel(), g.newLabel()
	g.jumpIfImm(asm.JNE, w64, t.n, 0, some)
	g.emptyIndex(s, from, result, last, len(x.Args) > 2)
	g.jump(done)
	g.place(some)
	g.jumpIfImm(asm.JSGE, w64, from, 0, inside)
	if last {
		g.jump(done)
	} else {
		g.set(from, 0, w64)
	}
	g.place(inside)
	g.jumpIf(asm.JLT, w64, from, s.n, search)
	if last {
		g.move(from, s.n, w64)
	} else {
		g.jump(done)
	}
	g.place(search)
	g.move(result, g.find(s, t, x.Args[1], from, last), w64)
	g.place(done)
	return result
}

// emptyIndex is the index of the empty string: the position that is asked for,
// within the string.
func (g *generator) emptyIndex(s text, from, result reg, last, positioned bool) {
	inside, positive := g.newLabel(), g.newLabel()
	g.move(result, from, w64)
	if !positioned {
		return
	}
	g.jumpIfImm(asm.JSGE, w64, from, 0, positive)
	g.set(result, 0, w64)
	g.place(positive)
	g.jumpIf(asm.JSLE, w64, result, s.n, inside)
	g.move(result, s.n, w64)
	g.place(inside)
}

// find returns the index of the first occurrence of t in s from an index on,
// or of the last one that begins there at the latest; or -1. Neither is
// empty. want is t's value, if it is known.
func (g *generator) find(s, t text, want types.Expr, from reg, last bool) reg {
	bytes := g.opts.Strsize - 1
	if k, ok := want.(*types.Str); ok {
		bytes = len(k.Value)
	}
	words := 1
	for 64*words < bytes {
		words *= 2
	}
	w := g.scratchTemp(findMask + 8*words*(2+256))
	g.store(w.base, w.off+findWant, t.n, 8)
	g.store(w.base, w.off+findFrom, from, 8)
	name, direction := fmt.Sprintf("find%d", words), false
	if last {
		name, direction = fmt.Sprintf("rfind%d", words), true
	}
	sub := g.sub(name, func(c *code, p *compiler) { buildFind(c, p, words, direction) })
	return g.callSub(sub, g.addr(s.region), g.addr(t.region), g.addr(w), g.turn())
}

// What buildFind keeps in memory. It is the algorithm of Baeza-Yates and
// Gonnet: bit j of the state says that the last j+1 bytes are the first j+1 of
// what is searched for, and the table says for each byte value at which places
// of that it stands.
const (
	findFound = 0
	findWant  = 8
	findFrom  = 16
	findMask  = 24 // words with the bit that says that all of it was met
	// The state and the table follow, of as many words each, resp. 256 times
	// as many.
)

// buildFind is (s, t, work, turn). The state has so many words of 64 bits.
func buildFind(c *code, p *compiler, words int, last bool) {
	s, t, w, turn := c.param(0), c.param(1), c.param(2), c.param(3)
	row := 8 * words
	state, table := findMask+row, findMask+2*row
	c.storeImm(w, findFound, -1, 8)
	for n := range 2 * words {
		c.storeImm(w, findMask+8*n, 0, 8)
	}
	rowOf := func(b reg) reg {
		at := c.copyOf(b, w64)
		c.aluImm(asm.Mul, w64, at, int64(row))
		c.alu(asm.Add, w64, at, w)
		return at
	}
	clearRow := func(_, b reg, l loop) {
		at := rowOf(b)
		for n := range words {
			c.storeImm(at, table+8*n, 0, 8)
		}
		l.leaveImm(asm.JEq, b, 0)
	}
	c.eachByte(turn, s, p.opts.Strsize, clearRow)
	c.eachByte(turn, t, 64*words, clearRow)
	// bitOf is the address of the word with bit j, less what table or mask add,
	// and the bit.
	bitOf := func(base, j reg) (at, bit reg) {
		at = c.copyOf(j, w64)
		c.aluImm(asm.RSh, w64, at, 6)
		c.aluImm(asm.And, w64, at, int64(words-1))
		c.aluImm(asm.LSh, w64, at, 3)
		c.alu(asm.Add, w64, at, base)
		shift := c.copyOf(j, w64)
		c.aluImm(asm.And, w64, shift, 63)
		bit = c.constant(1, w64)
		c.alu(asm.LSh, w64, bit, shift)
		return at, bit
	}
	c.eachByte(turn, t, 64*words, func(j, b reg, l loop) {
		l.leaveImm(asm.JEq, b, 0)
		at, bit := bitOf(rowOf(b), j)
		set := c.newReg()
		c.load(set, at, table, 8)
		c.alu(asm.Or, w64, set, bit)
		c.store(at, table, set, 8)
	})
	want, from, end := c.newReg(), c.newReg(), c.newReg()
	c.load(want, w, findWant, 8)
	c.load(from, w, findFrom, 8)
	c.move(end, want, w64)
	c.aluImm(asm.Sub, w64, end, 1)
	at, bit := bitOf(w, end)
	c.store(at, findMask, bit, 8)

	c.eachByte(turn, s, p.opts.Strsize, func(i, b reg, l loop) {
		next := c.newLabel()
		l.leaveImm(asm.JEq, b, 0)
		met := c.advance(w, rowOf(b), words, state, table)
		c.jumpIfImm(asm.JEq, w64, met, 0, next)
		begin := c.copyOf(i, w64)
		c.aluImm(asm.Add, w64, begin, 1)
		c.alu(asm.Sub, w64, begin, want)
		if last {
			l.leave(asm.JSGT, begin, from)
		} else {
			c.jumpIf(asm.JSLT, w64, begin, from, next)
		}
		c.store(w, findFound, begin, 8)
		if !last {
			c.jump(l.done)
		}
		c.place(next)
	})
	found := c.newReg()
	c.load(found, w, findFound, 8)
	c.exit(found)
}

// advance moves the state on by a byte, whose row of the table is given, and
// returns whether all was met.
func (c *code) advance(w, row reg, words, state, table int) reg {
	met, carry := c.constant(0, w64), c.constant(1, w64)
	for n := range words {
		old, set, mask := c.newReg(), c.newReg(), c.newReg()
		c.load(old, w, state+8*n, 8)
		bits := c.copyOf(old, w64)
		c.aluImm(asm.LSh, w64, bits, 1)
		c.alu(asm.Or, w64, bits, carry)
		c.move(carry, old, w64)
		c.aluImm(asm.RSh, w64, carry, 63)
		c.load(set, row, table+8*n, 8)
		c.alu(asm.And, w64, bits, set)
		c.store(w, state+8*n, bits, 8)
		c.load(mask, w, findMask+8*n, 8)
		c.alu(asm.And, w64, mask, bits)
		c.alu(asm.Or, w64, met, mask)
	}
	return met
}

// strtok is strtok(s, delimiters). What is left of the string is remembered
// for a call with NULL, in this clause or a later one of the same firing.
func (g *generator) strtok(x *types.CallExpr, to region) {
	t := g.locals.token
	if !isNull(x.Args[0]) {
		rest := t.at(tokenText)
		rest.size = g.opts.Strsize
		g.copyString(rest, g.solid(x.Args[0]))
		g.storeImm(t.base, t.off+tokenNext, 0, 8)
	}
	delimiters := g.text(x.Args[1])
	out := g.scratchTemp(g.room())
	out.size = g.opts.Strsize
	found := g.callSub(g.sub("strtok", buildStrtok), g.addr(t), g.addr(delimiters.region), g.addr(out), g.turn())
	some, done := g.newLabel(), g.newLabel()
	g.jumpIfImm(asm.JNE, w64, found, 0, some)
	g.setNull(to)
	g.jump(done)
	g.place(some)
	g.copyString(to, str{region: out})
	g.place(done)
}

func isNull(x types.Expr) bool {
	s, ok := x.(*types.Str)
	return ok && s.Null
}

// What strtok() keeps in memory: a bit for each byte that is a delimiter, the
// index of the next byte, numbers that the verifier shall not follow, and the
// string.
const (
	tokenMap   = 0
	tokenNext  = 32
	tokenBegin = 40
	tokenOut   = 48
	tokenText  = 56
)

// buildStrtok is (token, delimiters, out, turn): 1 if there is another token.
func buildStrtok(c *code, p *compiler) {
	t, delimiters, out, turn := c.param(0), c.param(1), c.param(2), c.param(3)
	mask := int64(p.room() - 1)
	for n := range 4 {
		c.storeImm(t, tokenMap+8*n, 0, 8)
	}
	c.eachByte(turn, delimiters, p.opts.Strsize, func(_, b reg, l loop) {
		l.leaveImm(asm.JEq, b, 0)
		at, bit := c.tokenBit(t, b)
		set := c.newReg()
		c.load(set, at, tokenMap, 1)
		c.alu(asm.Or, w64, set, bit)
		c.store(at, tokenMap, set, 1)
	})
	// Go over the whole string; bytes before the next one do not count, those
	// of the token are copied.
	begin := c.newReg()
	text := c.addressOf(t, tokenText)
	none := c.newLabel()
	c.load(begin, t, tokenNext, 8)
	c.store(t, tokenBegin, begin, 8)
	c.storeImm(t, tokenOut, 0, 8)
	c.eachByte(turn, text, p.opts.Strsize, func(i, b reg, l loop) {
		skip, delimiter := c.newLabel(), c.newLabel()
		first := c.newReg()
		c.load(first, t, tokenBegin, 8)
		c.jumpIf(asm.JLT, w64, i, first, skip)
		c.store(t, tokenNext, i, 8)
		l.leaveImm(asm.JEq, b, 0)
		at, bit := c.tokenBit(t, b)
		set := c.newReg()
		c.load(set, at, tokenMap, 1)
		c.alu(asm.And, w64, set, bit)
		c.load(begin, t, tokenOut, 8)
		c.jumpIfImm(asm.JNE, w64, set, 0, delimiter)
		c.aluImm(asm.And, w64, begin, mask)
		c.putByte(out, begin, b)
		c.aluImm(asm.Add, w64, begin, 1)
		c.store(t, tokenOut, begin, 8)
		c.jump(skip)
		c.place(delimiter)
		l.leaveImm(asm.JNE, begin, 0)
		c.place(skip)
	})
	c.load(begin, t, tokenOut, 8)
	c.jumpIfImm(asm.JEq, w64, begin, 0, none)
	c.aluImm(asm.And, w64, begin, mask)
	c.putByte(out, begin, c.constant(0, w64))
	c.exit(c.constant(1, w64))
	c.place(none)
	c.exit(c.constant(0, w64))
}

// tokenBit is the place of a byte's bit in the map of delimiters.
func (c *code) tokenBit(t, b reg) (at, bit reg) {
	row := c.copyOf(b, w64)
	c.aluImm(asm.RSh, w64, row, 3)
	c.aluImm(asm.And, w64, row, 31)
	at = c.copyOf(t, w64)
	c.alu(asm.Add, w64, at, row)
	shift := c.copyOf(b, w64)
	c.aluImm(asm.And, w64, shift, 7)
	bit = c.constant(1, w64)
	c.alu(asm.LSh, w64, bit, shift)
	return at, bit
}

// pathPart is basename(s) and dirname(s).
func (g *generator) pathPart(x *types.CallExpr, to region) {
	s := g.text(x.Args[0])
	work := g.scratchTemp(partWork)
	g.callSub(g.sub("path", buildPath), g.addr(s.region), g.addr(work), g.turn())
	from, n := g.newReg(), g.newReg()
	at := partBase
	if x.Func.Name == "dirname" {
		at = partDir
	}
	g.load(from, work.base, work.off+at, 8)
	g.load(n, work.base, work.off+at+8, 8)
	g.partInto(to, s, from, n)
}

// partInto writes n bytes of a string from an index on; "." for n == 0, as an
// empty path and a directory without a name are called.
func (g *generator) partInto(to region, s text, from, n reg) {
	dot, done := g.newLabel(), g.newLabel()
	mask := int64(g.room() - 1)
	g.jumpIfImm(asm.JEq, w64, n, 0, dot)
	g.aluImm(asm.And, w64, from, mask)
	g.aluImm(asm.And, w64, n, mask)
	out := g.scratchTemp(2 * g.room())
	g.call(asm.FnProbeReadKernelStr, g.addr(out), g.constant(uint64(g.opts.Strsize), w64), g.plus(s.region, from))
	g.storeImm(g.plus(out, n), 0, 0, 1)
	g.copyString(to, str{region: out})
	g.jump(done)
	g.place(dot)
	g.constantInto(".", to)
	g.place(done)
}

// What buildPath leaves in memory: where the base name begins and how long it
// is, the same of the directory, and the end of the component before.
const (
	partBase  = 0
	partDir   = 16
	partStart = 32
	partEnd   = 40
	partPrev  = 48
	partWork  = 56
)

// buildPath is (s, work, turn). It goes over the components of a path; of each it
// keeps where it begins and ends, and where the one before ended.
func buildPath(c *code, p *compiler) {
	s, w, turn := c.param(0), c.param(1), c.param(2)
	for n := 0; n < partWork; n += 8 {
		c.storeImm(w, n, 0, 8)
	}
	slash := c.constant(1, w64) // the byte before was one
	c.eachByte(turn, s, p.opts.Strsize, func(i, b reg, l loop) {
		inside, next, another := c.newLabel(), c.newLabel(), c.newLabel()
		l.leaveImm(asm.JEq, b, 0)
		c.jumpIfImm(asm.JNE, w64, b, '/', another)
		c.set(slash, 1, w64)
		c.jump(next)
		c.place(another)
		c.jumpIfImm(asm.JEq, w64, slash, 0, inside)
		end := c.newReg()
		c.load(end, w, partEnd, 8)
		c.store(w, partPrev, end, 8)
		c.store(w, partStart, i, 8)
		c.set(slash, 0, w64)
		c.place(inside)
		behind := c.copyOf(i, w64)
		c.aluImm(asm.Add, w64, behind, 1)
		c.store(w, partEnd, behind, 8)
		c.place(next)
	})
	start, end, prev, first := c.newReg(), c.newReg(), c.newReg(), c.newReg()
	c.load(start, w, partStart, 8)
	c.load(end, w, partEnd, 8)
	c.load(prev, w, partPrev, 8)
	c.load(first, s, 0, 1)
	named, rooted, done := c.newLabel(), c.newLabel(), c.newLabel()
	c.jumpIfImm(asm.JNE, w64, end, 0, named)
	c.jumpIfImm(asm.JEq, w64, first, 0, done) // an empty path
	c.storeImm(w, partBase+8, 1, 8)           // nothing but slashes: "/"
	c.jump(rooted)
	c.place(named)
	c.store(w, partBase, start, 8)
	c.alu(asm.Sub, w64, end, start)
	c.store(w, partBase+8, end, 8)
	c.store(w, partDir+8, prev, 8)
	c.jumpIfImm(asm.JNE, w64, prev, 0, done)
	c.jumpIfImm(asm.JNE, w64, first, '/', done)
	c.place(rooted)
	c.storeImm(w, partDir+8, 1, 8)
	c.place(done)
	c.exit(noReg)
}

// lltostr is lltostr(n[, base]).
func (g *generator) lltostr(x *types.CallExpr, to region) {
	n := g.scalar(x.Args[0])
	base := g.constant(10, w64)
	if len(x.Args) > 1 {
		base = g.wide(x.Args[1])
		good, bad := g.newLabel(), g.newLabel()
		g.jumpIfImm(asm.JSLT, w64, base, 2, bad)
		g.jumpIfImm(asm.JSLE, w64, base, 36, good)
		g.place(bad)
		g.fault(record.FaultIllegalOp, noReg)
		g.place(good)
	}
	out := g.scratchTemp(digitsWork)
	at := g.copyOf(g.callSub(g.sub("lltostr", buildLltostr), n, base, g.addr(out), g.turn()), w64)
	tmp := g.scratchTemp(8)
	g.opaque(at, tmp.base, tmp.off, 127)
	g.call(asm.FnProbeReadKernelStr, g.addr(to), g.constant(uint64(to.size), w64), g.plus(out, at))
}

// What buildLltostr keeps behind its text: the index of the next byte and what
// is left of the number.
const (
	digitsAt   = 128
	digitsRest = 136
	digitsWork = 144
)

// buildLltostr is (n, base, out, turn): it writes digits from byte 126 of out
// downwards and returns the index of the first byte. Decimal numbers are
// signed; octal ones begin with 0 and hexadecimal ones with 0x.
func buildLltostr(c *code, _ *compiler) {
	n, base, out, turn := c.param(0), c.param(1), c.param(2), c.param(3)
	c.storeImm(out, digitsAt, 126, 8)
	c.storeImm(out, 127, 0, 1)
	value := c.copyOf(n, w64)
	unsigned := c.newLabel()
	c.jumpIfImm(asm.JNE, w64, base, 10, unsigned)
	c.jumpIfImm(asm.JSGE, w64, n, 0, unsigned)
	c.emit(ins{op: aluOp(asm.Neg, w64, asm.ImmSource), dst: value})
	c.place(unsigned)
	c.store(out, digitsRest, value, 8)

	put := func(b reg) {
		i := c.newReg()
		c.load(i, out, digitsAt, 8)
		c.aluImm(asm.And, w64, i, 127)
		c.putByte(out, i, b)
		c.aluImm(asm.Sub, w64, i, 1)
		c.store(out, digitsAt, i, 8)
	}
	c.loop(turn, 64, func(_ reg, l loop) {
		c.load(value, out, digitsRest, 8)
		l.leaveImm(asm.JEq, value, 0)
		digit := c.copyOf(value, w64)
		c.alu(asm.Mod, w64, digit, base)
		c.alu(asm.Div, w64, value, base)
		c.store(out, digitsRest, value, 8)
		decimal := c.newLabel()
		c.jumpIfImm(asm.JLE, w64, digit, 9, decimal)
		c.aluImm(asm.Add, w64, digit, 'a'-'0'-10)
		c.place(decimal)
		c.aluImm(asm.Add, w64, digit, '0')
		put(digit)
	})

	zero := func(when func(skip label)) {
		skip := c.newLabel()
		when(skip)
		put(c.constant('0', w64))
		c.place(skip)
	}
	zero(func(skip label) { // 0 has no digits yet
		c.jumpIfImm(asm.JNE, w64, n, 0, skip)
	})
	hex, octal := c.newLabel(), c.newLabel()
	c.jumpIfImm(asm.JNE, w64, base, 16, hex)
	put(c.constant('x', w64))
	put(c.constant('0', w64))
	c.place(hex)
	c.jumpIfImm(asm.JNE, w64, base, 8, octal)
	zero(func(skip label) { c.jumpIfImm(asm.JEq, w64, n, 0, skip) })
	c.place(octal)
	positive := c.newLabel()
	c.jumpIfImm(asm.JNE, w64, base, 10, positive)
	c.jumpIfImm(asm.JSGE, w64, n, 0, positive)
	put(c.constant('-', w64))
	c.place(positive)
	i := c.newReg()
	c.load(i, out, digitsAt, 8)
	c.aluImm(asm.Add, w64, i, 1)
	c.exit(i)
}

// strtoll is strtoll(s[, base]).
func (g *generator) strtoll(x *types.CallExpr) reg {
	s := g.text(x.Args[0])
	base := g.constant(10, w64)
	if len(x.Args) > 1 {
		base = g.wide(x.Args[1])
		good, bad := g.newLabel(), g.newLabel()
		g.jumpIfImm(asm.JSLT, w64, base, 2, bad)
		g.jumpIfImm(asm.JSLE, w64, base, 36, good)
		g.place(bad)
		g.fault(record.FaultIllegalOp, noReg)
		g.place(good)
	}
	return g.callSub(g.sub("strtoll", buildStrtoll), g.addr(s.region), base, g.addr(g.scratchTemp(numberWork)), g.turn())
}

// The states of buildStrtoll: before the number, behind its sign, behind a
// first 0, in its digits.
const (
	numberBlank = iota
	numberSign
	numberZero
	numberDigits
)

// What buildStrtoll keeps in memory.
const (
	numberState    = 0
	numberValue    = 8
	numberNegative = 16
	numberWork     = 24
)

// buildStrtoll is (s, base, work, turn).
func buildStrtoll(c *code, p *compiler) {
	s, base, w, turn := c.param(0), c.param(1), c.param(2), c.param(3)
	setState := func(n int64) { c.storeImm(w, numberState, n, 8) }
	setState(numberBlank)
	c.storeImm(w, numberValue, 0, 8)
	c.storeImm(w, numberNegative, 0, 8)
	c.eachByte(turn, s, p.opts.Strsize, func(_, b reg, l loop) {
		next, digit, letter, unsigned, sign := c.newLabel(), c.newLabel(), c.newLabel(), c.newLabel(), c.newLabel()
		at := c.newReg()
		c.load(at, w, numberState, 8)
		c.jumpIfImm(asm.JGT, w64, at, numberBlank, unsigned)
		c.jumpIfImm(asm.JEq, w64, b, ' ', next)
		c.jumpIfImm(asm.JEq, w64, b, '\t', next)
		setState(numberSign)
		c.jumpIfImm(asm.JEq, w64, b, '+', next)
		c.jumpIfImm(asm.JNE, w64, b, '-', sign)
		c.storeImm(w, numberNegative, 1, 8)
		c.jump(next)
		c.place(unsigned)
		c.jumpIfImm(asm.JNE, w64, at, numberZero, sign)
		// Behind a first 0: the x of a hexadecimal prefix, or a digit.
		setState(numberDigits)
		prefix := c.newLabel()
		c.jumpIfImm(asm.JNE, w64, base, 16, prefix)
		c.jumpIfImm(asm.JEq, w64, b, 'x', next)
		c.jumpIfImm(asm.JEq, w64, b, 'X', next)
		c.place(prefix)
		c.jump(digit)
		c.place(sign)
		first := c.newLabel()
		c.jumpIfImm(asm.JGT, w64, at, numberSign, digit)
		setState(numberDigits)
		c.jumpIfImm(asm.JNE, w64, b, '0', first)
		setState(numberZero)
		c.place(first)

		c.place(digit)
		n := c.copyOf(b, w64)
		c.aluImm(asm.Sub, w64, n, '0')
		c.jumpIfImm(asm.JLE, w64, n, 9, letter)
		c.move(n, b, w64)
		c.aluImm(asm.Or, w64, n, 'a'^'A')
		c.aluImm(asm.Sub, w64, n, 'a')
		l.leaveImm(asm.JGT, n, 25)
		c.aluImm(asm.Add, w64, n, 10)
		c.place(letter)
		l.leave(asm.JGE, n, base)
		value := c.newReg()
		c.load(value, w, numberValue, 8)
		c.alu(asm.Mul, w64, value, base)
		c.alu(asm.Add, w64, value, n)
		c.store(w, numberValue, value, 8)
		c.place(next)
	})
	value, negative, positive := c.newReg(), c.newReg(), c.newLabel()
	c.load(value, w, numberValue, 8)
	c.load(negative, w, numberNegative, 8)
	c.jumpIfImm(asm.JEq, w64, negative, 0, positive)
	c.emit(ins{op: aluOp(asm.Neg, w64, asm.ImmSource), dst: value})
	c.place(positive)
	c.exit(value)
}

// cleanpath is cleanpath(s): without empty components, "." and "..", as far as
// they stand behind a slash.
func (g *generator) cleanpath(x *types.CallExpr, to region) {
	s := g.text(x.Args[0])
	out := g.scratchTemp(g.room())
	out.size = g.opts.Strsize
	work := g.scratchTemp(cleanLink + 2*g.room())
	g.callSub(g.sub("cleanpath", buildCleanpath), g.addr(s.region), g.addr(out), g.addr(work), g.turn())
	g.copyString(to, str{region: out})
}

// What buildCleanpath keeps in memory: how much it has written, where the
// component that it writes begins, and for each such place the one before.
const (
	cleanLen   = 0
	cleanStart = 8
	cleanLink  = 16
)

// buildCleanpath is (s, out, work, turn).
func buildCleanpath(c *code, p *compiler) {
	s, out, w, turn := c.param(0), c.param(1), c.param(2), c.param(3)
	mask := int64(p.room() - 1)
	link := c.addressOf(w, cleanLink)
	c.storeImm(w, cleanLen, 0, 8)
	c.storeImm(w, cleanStart, 0, 8)
	c.eachByte(turn, s, p.opts.Strsize, func(_, b reg, l loop) {
		end, slash, next, dots, back := c.newLabel(), c.newLabel(), c.newLabel(), c.newLabel(), c.newLabel()
		n, start := c.newReg(), c.newReg()
		c.load(n, w, cleanLen, 8)
		c.load(start, w, cleanStart, 8)
		c.aluImm(asm.And, w64, n, mask)
		c.aluImm(asm.And, w64, start, mask)
		c.jumpIfImm(asm.JEq, w64, b, 0, end)
		c.jumpIfImm(asm.JEq, w64, b, '/', end)
		c.putByte(out, n, b)
		c.aluImm(asm.Add, w64, n, 1)
		c.store(w, cleanLen, n, 8)
		c.jump(next)

		c.place(end) // of a component
		c.jumpIfImm(asm.JEq, w64, start, 0, slash)
		size := c.copyOf(n, w64)
		c.alu(asm.Sub, w64, size, start)
		c.jumpIfImm(asm.JEq, w64, size, 2, dots)
		c.jumpIfImm(asm.JEq, w64, b, 0, slash)
		c.jumpIfImm(asm.JEq, w64, size, 0, next)
		c.jumpIfImm(asm.JNE, w64, size, 1, slash)
		c.jumpIfImm(asm.JNE, w64, c.byteAt(out, start), '.', slash)
		c.store(w, cleanLen, start, 8)
		c.jump(next)

		c.place(dots)
		c.jumpIfImm(asm.JNE, w64, c.byteAt(out, start), '.', slash)
		second := c.copyOf(start, w64)
		c.aluImm(asm.Add, w64, second, 1)
		c.aluImm(asm.And, w64, second, mask)
		c.jumpIfImm(asm.JNE, w64, c.byteAt(out, second), '.', slash)
		before := c.entry(link, start)
		c.jumpIfImm(asm.JNE, w64, before, 0, back)
		first := c.newReg()
		c.load(first, out, 0, 1)
		c.jumpIfImm(asm.JNE, w64, first, '/', back)
		c.set(before, 1, w64) // there is nothing above the root
		c.place(back)
		c.store(w, cleanLen, before, 8)
		c.store(w, cleanStart, before, 8)
		l.leaveImm(asm.JEq, b, 0)
		c.jump(next)

		c.place(slash)
		l.leaveImm(asm.JEq, b, 0)
		c.putByte(out, n, b)
		c.aluImm(asm.Add, w64, n, 1)
		c.aluImm(asm.And, w64, n, mask)
		c.store(w, cleanLen, n, 8)
		c.store(w, cleanStart, n, 8)
		c.putEntry(link, n, start)

		c.place(next)
	})
	n := c.newReg()
	c.load(n, w, cleanLen, 8)
	c.aluImm(asm.And, w64, n, mask)
	c.putByte(out, n, c.constant(0, w64))
	c.exit(noReg)
}

// execargs writes the arguments of the current process, whose bytes from start
// to end hold them: it makes blanks of the NULs between them. Where they cannot
// be read it writes the thread's name.
func (g *generator) execargs(x *types.CallExpr, to region) {
	start, end := g.scalar(x.Args[0]), g.scalar(x.Args[1])
	out := g.scratchTemp(g.room())
	out.size = g.opts.Strsize
	most := int64(g.opts.Strsize - 1)
	fits, name, done := g.newLabel(), g.newLabel(), g.newLabel()
	n := g.copyOf(end, w64)
	g.alu(asm.Sub, w64, n, start)
	g.jumpIfImm(asm.JEq, w64, n, 0, name)
	g.jumpIfImm(asm.JLE, w64, n, most, fits)
	g.set(n, uint64(most), w64)
	g.place(fits)
	tmp := g.scratchTemp(8)
	g.opaque(n, tmp.base, tmp.off, int64(g.room()-1))
	g.jumpIfImm(asm.JGT, w64, n, most, name)
	failed := g.call(asm.FnProbeReadUser, g.addr(out), n, start)
	g.jumpIfImm(asm.JNE, w64, failed, 0, name)
	g.storeImm(g.plus(out, n), 0, 0, 1)
	g.callSub(g.sub("blanks", buildBlanks), g.addr(out), n, g.turn())
	g.copyString(to, str{region: out})
	g.jump(done)
	g.place(name)
	g.stringInto(&types.BuiltinRef{Builtin: execname}, to)
	g.place(done)
}

// execname is the variable of that name.
var execname = types.Builtins[slices.IndexFunc(types.Builtins, func(b *types.Builtin) bool { return b.ID == types.Execname })]

// buildBlanks is (s, n, turn): it makes blanks of the NULs among the first n bytes
// but for those at the end.
func buildBlanks(c *code, p *compiler) {
	s, n, turn := c.param(0), c.param(1), c.param(2)
	c.eachByte(turn, s, p.opts.Strsize-1, func(i, b reg, l loop) {
		text := c.newLabel()
		behind := c.copyOf(i, w64)
		c.aluImm(asm.Add, w64, behind, 1)
		l.leave(asm.JGE, behind, n)
		c.jumpIfImm(asm.JNE, w64, b, 0, text)
		c.putByte(s, i, c.constant(' ', w64))
		c.place(text)
	})
	c.exit(noReg)
}
