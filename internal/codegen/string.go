package codegen

import (
	"encoding/binary"

	"github.com/cilium/ebpf/asm"

	"kinst/internal/dlang/syntax"
	"kinst/internal/dlang/types"
	"kinst/internal/provider"
	"kinst/internal/record"
)

// A str is a string in our own memory, NUL-terminated within its region. The
// null string begins with the byte nullMark, in variables too, as in DTrace.
type str struct {
	region
	null     bool       // it may be the null string
	constant *types.Str // its value, if it is known
}

const nullMark = 0xff

// mayBeNull reports whether an expression can give the null string.
func mayBeNull(x types.Expr) bool {
	switch x := x.(type) {
	case *types.Str:
		return x.Null
	case *types.BuiltinRef, *types.Convert:
		return false
	case *types.Cond:
		return mayBeNull(x.X) || mayBeNull(x.Y)
	case *types.Comma:
		return mayBeNull(x.Y)
	case *types.Assign:
		return mayBeNull(x.Value)
	case *types.CallExpr:
		switch x.Func.Name {
		case "strchr", "strrchr", "strstr", "strtok":
			return true
		}
		return false
	case *types.Let:
		return mayBeNull(x.Body)
	}
	return true
}

// capacity is the number of bytes that the value of a string expression needs
// at most, its NUL included.
func (c *compiler) capacity(x types.Expr) int {
	switch x := x.(type) {
	case *types.Str:
		return min(max(len(x.Value)+1, 2), c.opts.Strsize)
	case *types.BuiltinRef:
		if x.Builtin.ID == types.Execname {
			return min(types.TaskCommLen, c.opts.Strsize)
		}
		if k, ok := probeField(x); ok {
			return c.longestField(k)
		}
	case *types.Cond:
		return max(c.capacity(x.X), c.capacity(x.Y))
	case *types.Comma:
		return c.capacity(x.Y)
	case *types.Let:
		return c.capacity(x.Body)
	}
	return c.opts.Strsize
}

// str evaluates a string, which may be null.
func (g *generator) str(x types.Expr) str {
	switch x := x.(type) {
	case *types.Str:
		return g.constantString(x)
	case *types.Comma:
		g.effect(x.X)
		return g.str(x.Y)
	case *types.Let:
		g.bind(x)
		return g.str(x.Body)
	case *types.Bound:
		return g.bound[x.Binding].str
	case *types.Assign:
		g.assignObject(x)
		return g.str(x.Left)
	case *types.VarRef, *types.Field, *types.Deref:
		if o, ok := g.locateObject(x).(*object); ok {
			return str{region: o.region, null: true}
		}
	case *types.BuiltinRef:
		if k, ok := probeField(x); ok {
			return g.probeString(k)
		}
	}
	s := str{region: g.temp(g.capacity(x)), null: mayBeNull(x)}
	g.stringOrNullInto(x, s.region)
	return s
}

// constantString is a constant in kinst_globals.
func (g *generator) constantString(x *types.Str) str {
	value := x.Value
	if x.Null {
		value = string([]byte{nullMark})
	}
	value = value[:min(len(value), g.opts.Strsize-1)]
	at := g.mapValue(globalsMap, g.globals.constant(value))
	return str{region{at, 0, len(value) + 1}, x.Null, x}
}

// solid evaluates a string; the null string stops the clause.
func (g *generator) solid(x types.Expr) str {
	s := g.str(x)
	g.refuseNull(s)
	s.null = false
	return s
}

// refuseNull stops the clause if a string is null.
func (g *generator) refuseNull(s str) {
	if !s.null {
		return
	}
	good := g.newLabel()
	g.jumpIfImm(asm.JNE, w64, g.firstByte(s), nullMark, good)
	g.fault(record.FaultBadAddress, noReg)
	g.place(good)
}

func (g *generator) firstByte(s str) reg {
	b := g.newReg()
	g.load(b, s.base, s.off, 1)
	return b
}

// setNull makes a string null. It needs two bytes.
func (g *generator) setNull(to region) { g.storeImm(to.base, to.off, nullMark, 2) }

// stringInto writes a string into memory, cutting off what is too much. The
// null string stops the clause.
func (g *generator) stringInto(x types.Expr, to region) {
	if mayBeNull(x) {
		g.copyString(to, g.solid(x))
		return
	}
	g.stringOrNullInto(x, to)
}

// stringOrNullInto writes a string that may be null.
func (g *generator) stringOrNullInto(x types.Expr, to region) {
	switch x := x.(type) {
	case *types.Str:
		if x.Null {
			g.setNull(to)
		} else {
			g.constantInto(x.Value, to)
		}
		return
	case *types.BuiltinRef:
		if x.Builtin.ID == types.Execname && to.size >= types.TaskCommLen {
			// Kernels 5.19 to 6.3 leave what is behind the string as it was.
			comm := to
			comm.size = types.TaskCommLen
			g.zero(comm)
			g.call(asm.FnGetCurrentComm, g.addr(to), g.constant(types.TaskCommLen, w64))
			return
		}
		if x.Builtin.ID == types.Execname {
			g.memory(func() {
				whole := g.temp(types.TaskCommLen)
				g.stringOrNullInto(x, whole)
				g.copyString(to, str{region: whole})
			})
			return
		}
	case *types.Convert:
		g.readString(asm.FnProbeReadKernelStr, to, g.pointer(x.X))
		return
	case *types.Comma:
		g.effect(x.X)
		g.stringOrNullInto(x.Y, to)
		return
	case *types.Cond:
		g.eitherInto(x, to)
		return
	case *types.VarRef, *types.Field, *types.Deref:
		g.variableInto(x, to)
		return
	case *types.CallExpr:
		g.callInto(x, to)
		return
	}
	g.copyString(to, g.str(x))
}

// copyString copies a string of our own, and returns how many bytes that was,
// its NUL included.
func (g *generator) copyString(to region, s str) reg {
	return g.call(asm.FnProbeReadKernelStr, g.addr(to), g.constant(uint64(to.size), w64), g.addr(s.region))
}

// constantInto writes a string constant.
func (g *generator) constantInto(value string, to region) {
	value = value[:min(len(value), to.size-1)]
	if len(value) >= 64 {
		at := g.mapValue(globalsMap, g.globals.constant(value))
		g.call(asm.FnProbeReadKernel, g.addr(to), g.constant(uint64(len(value)+1), w64), at)
		return
	}
	text := append([]byte(value), 0)
	for n := 0; n < len(text); {
		size := chunk(len(text) - n)
		g.storeImm(to.base, to.off+n, int64(number(text[n:n+size])), size)
		n += size
	}
}

// chunk is the size of the widest immediate store of at most n bytes.
func chunk(n int) int {
	switch {
	case n >= 4:
		return 4
	case n >= 2:
		return 2
	}
	return 1
}

// number is the number that the machine reads from up to 4 bytes.
func number(b []byte) int32 {
	switch len(b) {
	case 4:
		return int32(binary.NativeEndian.Uint32(b))
	case 2:
		return int32(binary.NativeEndian.Uint16(b))
	}
	return int32(b[0])
}

// pointer is the address of what stringof is applied to: where a pointer
// points, where an array is.
func (g *generator) pointer(x types.Expr) reg {
	if x.Type().IsScalar() {
		return g.scalar(x)
	}
	return g.addressOfObject(&types.AddrOf{X: x})
}

// readString copies a string from an address; a bad one stops the clause.
func (g *generator) readString(fn asm.BuiltinFunc, to region, addr reg) {
	n := g.call(fn, g.addr(to), g.constant(uint64(to.size), w64), addr)
	good := g.newLabel()
	g.jumpIfImm(asm.JSGE, w64, n, 0, good)
	g.fault(record.FaultBadAddress, addr)
	g.place(good)
}

// eitherInto is c ? x : y of strings.
func (g *generator) eitherInto(x *types.Cond, to region) {
	otherwise, end := g.newLabel(), g.newLabel()
	g.branch(x.C, false, otherwise)
	g.scope(func() { g.stringOrNullInto(x.X, to) })
	g.jump(end)
	g.place(otherwise)
	g.scope(func() { g.stringOrNullInto(x.Y, to) })
	g.place(end)
}

// paddedInto writes a string with zeros behind it, as a key needs.
func (g *generator) paddedInto(x types.Expr, to region) {
	if b, ok := x.(*types.BuiltinRef); !ok || b.Builtin.ID != types.Execname || to.size != types.TaskCommLen {
		g.zero(to)
	}
	g.stringInto(x, to)
}

// compareStrings jumps if a comparison of strings holds. The null string is
// equal to itself only when it is compared with NULL; otherwise it counts as
// empty.
func (g *generator) compareStrings(op syntax.Token, left, right types.Expr, to label) {
	g.memory(func() {
		l, r := g.str(left), g.str(right)
		if l.constant != nil {
			l, r, op = r, l, mirrored[op]
		}
		switch {
		case r.constant != nil && r.constant.Null && (op == syntax.EQL || op == syntax.NEQ):
			g.jumpIfImm(unsignedJumps[op], w64, g.firstByte(l), nullMark, to)
			return
		case r.constant != nil && (op == syntax.EQL || op == syntax.NEQ) && (!l.null || r.constant.Value != ""):
			g.equalsConstant(op, l.region, r.constant.Value, to)
			return
		}
		order := g.callSub(g.sub("compare", buildCompare), g.addr(l.region), g.addr(r.region), g.constant(uint64(min(l.size, r.size)), w64), g.turn())
		g.jumpIfImm(signedJumps[op], w64, order, 0, to)
	})
}

// equalsConstant compares a string with a constant, its NUL included, a few
// bytes at a time.
func (g *generator) equalsConstant(op syntax.Token, s region, value string, to label) {
	text := append([]byte(value), 0)
	differ := to
	if op == syntax.EQL {
		differ = g.newLabel()
	}
	if len(text) > s.size { // it cannot be so long
		if op == syntax.NEQ {
			g.jump(to)
		}
		return
	}
	for n := 0; n < len(text); {
		size := chunk(len(text) - n)
		part := g.newReg()
		g.load(part, s.base, s.off+n, size)
		g.jumpIfImm(asm.JNE, w32, part, int64(number(text[n:n+size])), differ)
		n += size
	}
	if op == syntax.EQL {
		g.jump(to)
		g.place(differ)
	}
}

// longestField is the room that a field of the description of any probe needs,
// as a string. Those of later probes are not known.
func (c *compiler) longestField(k record.Kind) int {
	longest := 1
	if c.grows() {
		return c.opts.Strsize
	}
	for _, u := range c.units {
		for _, p := range u.Probes {
			longest = max(longest, len(describe(p, k)))
		}
	}
	return min(longest+1, c.opts.Strsize)
}

// describe is a field of a probe's description.
func describe(p *provider.Probe, k record.Kind) string {
	switch k {
	case record.ProbeProvider:
		return p.Provider
	case record.ProbeModule:
		return p.Module
	case record.ProbeFunction:
		return p.Function
	}
	return p.Name
}

// probeString is a field of the description of the probe that fired: a
// constant, or from a table of the unit's probes.
func (g *generator) probeString(k record.Kind) str {
	if len(g.unit.Probes) == 1 {
		return g.constantString(&types.Str{Value: describe(g.unit.Probes[0], k)})
	}
	room := 2
	for _, p := range g.unit.Probes {
		room = max(room, len(describe(p, k))+1)
	}
	room = min((room+7)&^7, g.opts.Strsize)
	table := make([]byte, room*len(g.unit.Probes))
	for i, p := range g.unit.Probes {
		copy(table[i*room:(i+1)*room-1], describe(p, k))
	}
	name := siteMap(g.sites)
	g.sites++
	g.tableMap(name, table)
	index := g.copyOf(g.get(resIndex), w64)
	g.aluImm(asm.Sub, w64, index, int64(g.unit.First))
	g.jumpIfImm(asm.JGE, w64, index, int64(len(g.unit.Probes)), g.exitTo)
	g.aluImm(asm.Mul, w64, index, int64(room))
	at := g.mapValue(name, 0)
	g.alu(asm.Add, w64, at, index)
	return str{region: region{at, 0, room}}
}
