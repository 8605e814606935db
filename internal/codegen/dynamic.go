package codegen

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"kinst/internal/dlang/syntax"
	"kinst/internal/dlang/types"
	"kinst/internal/record"
)

// A dynamic is an associative array, or a thread-local variable that is no
// number: a hash map of its own, whose keys begin with the thread where there
// is one. An element that is 0 or the null string does not exist.
type dynamic struct {
	name    string
	thread  bool
	keys    []record.Field
	keySize int
	size    int // of an element in the map
}

// dynamicPrefix begins the names of the maps of dynamic variables.
const dynamicPrefix = "kinst_var_"

// planDynamic gives a dynamic variable its map. The keys that are strings have
// room for the longest that any use has.
func (c *compiler) planDynamic(v *types.Var, refs []*types.VarRef) *dynamic {
	c.dynamics++
	d := &dynamic{name: fmt.Sprintf("%s%d", dynamicPrefix, c.dynamics), thread: v.Scope == syntax.Thread}
	b := recordBuilder{}
	if d.thread {
		b.size = 4
	}
	for i, t := range v.Keys {
		rt := t.Record()
		if t.IsString() {
			rt.Size = 0
			for _, ref := range refs {
				rt.Size = max(rt.Size, (c.capacity(ref.Keys[i])+7)&^7)
			}
		}
		d.keys = append(d.keys, b.field(rt, rt.Size))
	}
	if d.thread {
		c.threads = append(c.threads, d.name)
	}
	d.keySize = max((b.size+3)&^3, 4)
	d.size = (v.Type.Base().Size + 7) &^ 7
	c.maps[d.name] = &ebpf.MapSpec{
		Name: d.name, Type: ebpf.Hash, KeySize: uint32(d.keySize), ValueSize: uint32(d.size),
		MaxEntries: entries(c.opts.Dynvarsize, d.keySize+d.size),
	}
	return d
}

// An element is an element of a dynamic variable.
type element struct {
	*dynamic
	key region
	t   *types.Type
}

// element evaluates the keys of an element.
func (g *generator) element(x *types.VarRef) *element {
	d := g.variable(x.Var).dynamic
	e := &element{d, g.temp(d.keySize), x.Type()}
	end := 0
	if d.thread {
		g.store(e.key.base, e.key.off, g.get(resThread), 4)
		end = 4
	}
	g.tuple(e.key, end, d.keys, x.Keys)
	return e
}

// find looks the element up, and goes to none if there is none.
func (e *element) find(g *generator, none label) reg {
	at := g.call(asm.FnMapLookupElem, g.mapPtr(e.name), g.addr(e.key))
	g.jumpIfImm(asm.JEq, w64, at, 0, none)
	return at
}

func (e *element) load(g *generator) reg {
	r := g.constant(0, w64)
	none := g.newLabel()
	at := e.find(g, none)
	g.move(r, (&object{region{base: at}, e.t}).load(g), w64)
	g.place(none)
	return r
}

func (e *element) store(g *generator, v reg) {
	absent, remove, done := g.newLabel(), g.newLabel(), g.newLabel()
	at := e.find(g, absent)
	g.jumpIfImm(asm.JEq, w64, v, 0, remove)
	(&object{region{base: at}, e.t}).store(g, v)
	g.jump(done)
	g.place(absent)
	g.jumpIfImm(asm.JEq, w64, v, 0, done)
	g.aside(func() {
		value := g.temp(e.size)
		g.storeImm(value.base, value.off, 0, 8)
		g.store(value.base, value.off, v, e.t.Base().Size)
		e.insert(g, value)
	})
	g.jump(done)
	g.place(remove)
	e.remove(g)
	g.place(done)
}

// storeConstant is store for a value that is known.
func (e *element) storeConstant(g *generator, k *types.Const) {
	if k.Value == 0 {
		e.remove(g)
		return
	}
	g.aside(func() {
		value := g.temp(e.size)
		g.storeImm(value.base, value.off, 0, 8)
		(&object{value, e.t}).storeConstant(g, k)
		e.insert(g, value)
	})
}

// insert makes the element, or replaces it.
func (e *element) insert(g *generator, value region) {
	good := g.newLabel()
	failed := g.call(asm.FnMapUpdateElem, g.mapPtr(e.name), g.addr(e.key), g.addr(value), g.constant(uint64(ebpf.UpdateAny), w64))
	g.jumpIfImm(asm.JEq, w64, failed, 0, good)
	g.lost(record.LossVariables)
	g.place(good)
}

func (e *element) remove(g *generator) {
	g.call(asm.FnMapDeleteElem, g.mapPtr(e.name), g.addr(e.key))
}

// copyTo copies the element, which is 0 where there is none.
func (e *element) copyTo(g *generator, to region) {
	none, end := g.newLabel(), g.newLabel()
	at := e.find(g, none)
	g.call(asm.FnProbeReadKernel, g.addr(to), g.constant(uint64(e.size), w64), at)
	g.jump(end)
	g.place(none)
	g.zero(region{to.base, to.off, e.size})
	g.place(end)
}

// An elementPart is a number in an element that is a struct or an array.
type elementPart struct {
	*element
	part part
	t    *types.Type
}

func (e *elementPart) load(g *generator) reg {
	r := g.constant(0, w64)
	none := g.newLabel()
	at := region{base: e.find(g, none), size: e.size}
	g.move(r, (&object{g.shifted(at, e.part), e.t}).load(g), w64)
	g.place(none)
	return r
}

// store changes the element in place, or makes it, with all else in it 0.
func (e *elementPart) store(g *generator, v reg) {
	absent, done := g.newLabel(), g.newLabel()
	at := region{base: e.find(g, absent), size: e.size}
	(&object{g.shifted(at, e.part), e.t}).store(g, v)
	g.jump(done)
	g.place(absent)
	g.aside(func() {
		value := g.scratchTemp(e.size)
		g.zero(value)
		(&object{g.shifted(value, e.part), e.t}).store(g, v)
		e.insert(g, value)
	})
	g.place(done)
}

func (e *elementPart) storeConstant(g *generator, k *types.Const) {
	e.store(g, g.constant(k.Value, widthOf(e.t)))
}

// variableInto copies a string that is a variable or a member of one.
func (g *generator) variableInto(x types.Expr, to region) {
	loc := g.locateObject(x)
	if o, ok := loc.(*object); ok {
		g.copyString(to, str{region: o.region})
		return
	}
	none, end := g.newLabel(), g.newLabel()
	var at region
	switch loc := loc.(type) {
	case *element:
		at = region{base: loc.find(g, none), size: loc.size}
	case *elementPart:
		at = g.shifted(region{base: loc.find(g, none), size: loc.size}, loc.part)
	case *kernelObject:
		g.readString(asm.FnProbeReadKernelStr, to, loc.addr)
		return
	}
	g.copyString(to, str{region: at})
	g.jump(end)
	g.place(none)
	g.setNull(to)
	g.place(end)
}

// assignObject assigns a string or a struct.
func (g *generator) assignObject(x *types.Assign) {
	switch loc := g.locateObject(x.Left).(type) {
	case *object:
		g.objectInto(x.Value, loc.region)
	case *element:
		g.assignElement(x, loc, part{})
	case *elementPart:
		g.assignElement(x, loc.element, loc.part)
	case *kernelObject:
		size := x.Left.Type().Base().Size
		g.objectInto(x.Value, region{g.own(loc.addr, size), 0, size})
	}
}

// assignElement assigns to an element or a part of one. The null string takes
// the element away.
func (g *generator) assignElement(x *types.Assign, e *element, p part) {
	if isNull(x.Value) && p.root == nil {
		e.remove(g)
		return
	}
	g.memory(func() {
		value := g.scratchTemp(e.size)
		if p.root != nil {
			e.copyTo(g, value)
		}
		g.objectInto(x.Value, g.shifted(value, p))
		e.insert(g, value)
	})
}

// locateObject finds the object that a string or struct is assigned to.
func (g *generator) locateObject(x types.Expr) location {
	if v, ok := x.(*types.VarRef); ok {
		return g.locateVar(v)
	}
	return g.locatePart(g.part(x), x.Type())
}

// objectInto writes a string or a struct.
func (g *generator) objectInto(x types.Expr, to region) {
	if x.Type().IsString() {
		if to.size > g.opts.Strsize {
			to.size = g.opts.Strsize
		}
		g.stringOrNullInto(x, to)
		return
	}
	to.size = x.Type().Base().Size
	g.copyObject(x, to)
}
