package codegen

import (
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"kinst/internal/dlang/syntax"
	"kinst/internal/dlang/types"
	"kinst/internal/record"
)

// A variable is where a variable of the program lives.
type variable struct {
	off     int // of a global in kinst_globals, of a thread's number in its entry
	dynamic *dynamic
}

// planVars gives the program's variables but the clause-local ones their
// places.
func (c *compiler) planVars() {
	refs := make(map[*types.Var][]*types.VarRef)
	for _, u := range c.units {
		for _, cl := range u.Clauses {
			cl.EachExpr(func(x types.Expr) {
				c.findAddressed(x)
				ref, ok := x.(*types.VarRef)
				if !ok {
					return
				}
				if refs[ref.Var] == nil {
					c.order = append(c.order, ref.Var)
				}
				refs[ref.Var] = append(refs[ref.Var], ref)
			})
		}
	}
	for _, v := range c.order {
		if v.Scope != syntax.Local {
			c.vars[v] = c.planVar(v, refs[v])
		}
	}
}

func (c *compiler) planVar(v *types.Var, refs []*types.VarRef) *variable {
	switch {
	case v.Array || v.Scope == syntax.Thread && !v.Type.IsScalar():
		return &variable{dynamic: c.planDynamic(v, refs)}
	case v.Scope == syntax.Global:
		return &variable{off: c.globals.alloc(v.Type.Base().Size)}
	}
	if c.maps[selfMap] == nil {
		c.threads = append(c.threads, selfMap)
		c.maps[selfMap] = &ebpf.MapSpec{Name: selfMap, Type: ebpf.Hash, KeySize: 4}
	}
	c.self += 8
	return &variable{off: c.self - 8}
}

// variable finds the place of a global or thread-local variable.
func (c *compiler) variable(v *types.Var) *variable { return c.vars[v] }

// locals is the clause-local variables of a unit's clauses.
type locals struct {
	region
	offsets map[*types.Var]int
	token   region // of strtok()
}

// declareLocals takes memory for the clause-local variables of all clauses,
// which share them, and clears it.
func (g *generator) declareLocals() {
	l := &locals{offsets: make(map[*types.Var]int)}
	byOffset, tokens := false, false
	for _, c := range g.unit.Clauses {
		c.EachExpr(func(x types.Expr) {
			if call, ok := x.(*types.CallExpr); ok && call.Func.Name == "strtok" {
				tokens = true
			}
			v, ok := x.(*types.VarRef)
			if !ok || v.Var.Scope != syntax.Local {
				return
			}
			byOffset = byOffset || hasArray(v.Var.Type) || g.addressed[v.Var]
			if _, ok := l.offsets[v.Var]; !ok {
				l.offsets[v.Var] = l.size
				l.size += (v.Var.Type.Base().Size + 7) &^ 7
			}
		})
	}
	switch {
	case l.size == 0:
	case byOffset:
		l.region = g.scratchTemp(l.size)
		g.zero(l.region)
	default:
		l.region = g.lasting(l.size)
		g.zero(l.region)
	}
	if tokens {
		l.token = g.scratchTemp(tokenText + g.room())
		g.zero(region{l.token.base, l.token.off, tokenText + 8})
	}
	g.locals = l
}

// hasArray reports whether an object of the type contains an array, whose
// elements' places in memory are not all known beforehand.
func hasArray(t *types.Type) bool {
	if t.Base().Kind == types.Array {
		return true
	}
	return slices.ContainsFunc(t.Members(), func(m types.Member) bool { return hasArray(m.Type) })
}

// A location is an object that an expression names.
type location interface {
	// load returns its value, a number.
	load(*generator) reg
	// store changes it.
	store(*generator, reg)
}

// locate finds the object of an lvalue.
func (g *generator) locate(x types.Expr) location {
	if f, ok := x.(*types.Field); ok {
		return g.locateField(f)
	}
	if v, ok := x.(*types.VarRef); ok {
		return g.locateVar(v)
	}
	return g.locatePart(g.part(x), x.Type())
}

func (g *generator) locateVar(x *types.VarRef) location {
	switch {
	case g.variable(x.Var) != nil && g.variable(x.Var).dynamic != nil:
		return g.element(x)
	case x.Var.Scope == syntax.Thread:
		return &threadVar{off: g.variable(x.Var).off, t: x.Type()}
	case x.Var.Scope == syntax.Local:
		return &object{region: g.locals.at(g.locals.offsets[x.Var]), t: x.Type()}
	}
	off := g.variable(x.Var).off
	return &object{region: region{g.get(resGlobals), off, x.Type().Base().Size}, t: x.Type()}
}

// A constantLocation has a shorter way to store a constant.
type constantLocation interface {
	storeConstant(*generator, *types.Const)
}

// An object is a number in our own memory.
type object struct {
	region
	t *types.Type
}

func (o *object) load(g *generator) reg {
	b := o.t.Base()
	r := g.newReg()
	g.load(r, o.base, o.off, b.Size)
	if b.Signed {
		g.extend(r, b)
	}
	return r
}

func (o *object) store(g *generator, v reg) { g.store(o.base, o.off, v, o.t.Base().Size) }

func (o *object) storeConstant(g *generator, k *types.Const) {
	size := o.t.Base().Size
	if v := int64(k.Value); size < 8 || v == int64(int32(v)) {
		g.storeImm(o.base, o.off, int64(int32(v)), size)
		return
	}
	o.store(g, g.constant(k.Value, w64))
}

// A threadVar is a thread-local number: 8 bytes of the thread's entry in
// kinst_self. A thread has an entry while one of its variables is not 0.
type threadVar struct {
	off int
	t   *types.Type
}

// threadEntry looks the thread's entry up; the register is 0 where there is
// none. It stays at hand until an entry may have been deleted.
func (g *generator) threadEntry() reg {
	for _, s := range slices.Backward(g.scopes) {
		if at, ok := s[resEntry]; ok {
			return at
		}
	}
	thread := g.get(resThread)
	var entry reg
	g.memory(func() {
		key := g.stack(4)
		g.store(fp, key, thread, 4)
		entry = g.call(asm.FnMapLookupElem, g.mapPtr(selfMap), g.addressOf(fp, key))
	})
	g.scopes[len(g.scopes)-1][resEntry] = entry
	return entry
}

func (v *threadVar) load(g *generator) reg {
	r := g.constant(0, w64)
	none := g.newLabel()
	entry := g.threadEntry()
	g.jumpIfImm(asm.JEq, w64, entry, 0, none)
	g.move(r, v.in(entry).load(g), w64)
	g.place(none)
	return r
}

// in is the variable in an entry.
func (v *threadVar) in(entry reg) *object { return &object{region{base: entry, off: v.off}, v.t} }

// store changes the variable. A thread's last variable that becomes 0 takes
// the entry with it.
func (v *threadVar) store(g *generator, value reg) {
	done, found := g.newLabel(), g.newLabel()
	entry := g.threadEntry()
	g.jumpIfImm(asm.JNE, w64, entry, 0, found)
	g.jumpIfImm(asm.JEq, w64, value, 0, done)
	g.enterThread(entry, done)
	g.place(found)
	v.in(entry).store(g, value)
	g.jumpIfImm(asm.JNE, w64, value, 0, done)
	g.leaveThread(entry)
	g.place(done)
}

// storeConstant is store for a value that is known.
func (v *threadVar) storeConstant(g *generator, k *types.Const) {
	done, found := g.newLabel(), g.newLabel()
	entry := g.threadEntry()
	if k.Value == 0 {
		g.jumpIfImm(asm.JEq, w64, entry, 0, done)
		v.in(entry).storeConstant(g, k)
		g.leaveThread(entry)
	} else {
		g.jumpIfImm(asm.JNE, w64, entry, 0, found)
		g.enterThread(entry, done)
		g.place(found)
		v.in(entry).storeConstant(g, k)
	}
	g.place(done)
}

// enterThread makes the thread's entry, or counts a loss and goes to failed.
func (g *generator) enterThread(entry reg, failed label) {
	g.zeros(g.self)
	g.move(entry, g.callSub(g.sub("enter", buildEnter), g.get(resThread)), w64)
	g.jumpIfImm(asm.JEq, w64, entry, 0, failed)
}

// buildEnter makes a thread's entry: (thread) gives it, or 0.
func buildEnter(c *code, p *compiler) {
	thread := c.param(0)
	key, made := c.stack(4), c.newLabel()
	c.store(fp, key, thread, 4)
	zeros := c.mapValue(globalsMap, p.zeros(p.self))
	c.call(asm.FnMapUpdateElem, c.mapPtr(selfMap), c.addressOf(fp, key), zeros, c.constant(uint64(ebpf.UpdateNoExist), w64))
	entry := c.call(asm.FnMapLookupElem, c.mapPtr(selfMap), c.addressOf(fp, key))
	c.jumpIfImm(asm.JNE, w64, entry, 0, made)
	c.callSub(subLost, c.constant(uint64(record.LossVariables), w64))
	c.exit(c.constant(0, w64))
	c.place(made)
	c.exit(entry)
}

// leaveThread deletes the thread's entry if all its variables are 0.
func (g *generator) leaveThread(entry reg) {
	g.callSub(g.sub("leave", buildLeave), entry, g.get(resThread))
	for _, s := range g.scopes {
		delete(s, resEntry)
	}
}

// buildLeave is (entry, thread).
func buildLeave(c *code, p *compiler) {
	entry, thread := c.param(0), c.param(1)
	all, keep := c.constant(0, w64), c.newLabel()
	for off := 0; off < p.self; off += 8 {
		word := c.newReg()
		c.load(word, entry, off, 8)
		c.alu(asm.Or, w64, all, word)
	}
	c.jumpIfImm(asm.JNE, w64, all, 0, keep)
	key := c.stack(4)
	c.store(fp, key, thread, 4)
	c.call(asm.FnMapDeleteElem, c.mapPtr(selfMap), c.addressOf(fp, key))
	c.place(keep)
	c.exit(noReg)
}

// assign writes an assignment, and returns its value if anybody wants it.
func (g *generator) assign(x *types.Assign, wanted bool) reg {
	if !x.Type().IsScalar() {
		g.assignObject(x)
		return noReg
	}
	loc := g.locate(x.Left)
	if k, ok := x.Value.(*types.Const); ok {
		if to, ok := loc.(constantLocation); ok {
			to.storeConstant(g, k)
			if !wanted {
				return noReg
			}
			return g.constant(k.Value, widthOf(x.Type()))
		}
	}
	var before reg
	if x.Post && wanted {
		before = g.copyOf(loc.load(g), w64)
	}
	g.current = append(g.current, loc)
	v := g.scalar(x.Value)
	g.current = g.current[:len(g.current)-1]
	loc.store(g, v)
	if x.Post {
		return before
	}
	return v
}
