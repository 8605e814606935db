package codegen

import (
	"fmt"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"kinst/internal/dlang/syntax"
	"kinst/internal/dlang/types"
	"kinst/internal/isa"
	"kinst/internal/provider"
	"kinst/internal/record"
)

// A Unit is the probes that share a program, and the clauses that it runs.
type Unit struct {
	Context *provider.Context
	Clauses []*types.Clause // in program order
	Probes  []*provider.Probe
	First   uint32 // index of Probes[0] in the session's table of probes

	// Counts says that all its clauses do is count by what describes the probe.
	// The counts of some probes may then stand for those of others, and so are
	// kept for each of them, where there are no keys too.
	Counts bool
	// Later stands for units that Extend will bring, of user processes: there
	// is no program for it, but what such a one shares with others has room.
	Later bool
}

// Options are the session's options as far as they shape the programs. Sizes
// are in bytes; 0 stands for the default.
type Options struct {
	Arch       *isa.Arch
	Strsize    int // of a string, its NUL included: 256
	Bufsize    int // of a CPU's ring buffer: 4 MiB
	Aggsize    int // of an aggregation's rows, per CPU: 4 MiB
	Dynvarsize int // of the thread-local variables, and of each associative array: 1 MiB
	Nspec      int // speculations: 1
	CPUs       int // that there can be: those of this machine

	// BoundedLoops writes loops as kernels before 6.9 need them, also where the
	// running kernel would take others.
	BoundedLoops bool

	// ID returns the number of a probe, as -l prints it, for the variable id.
	// Nil numbers probes by their place in the session's table, from 1.
	ID func(*provider.Probe) uint32
}

const (
	defaultStrsize    = 256
	defaultBufsize    = 4 << 20
	defaultAggsize    = 4 << 20
	defaultDynvarsize = 1 << 20
)

func (o *Options) fill() error {
	def := func(n *int, v int) {
		if *n == 0 {
			*n = v
		}
	}
	def(&o.Strsize, defaultStrsize)
	def(&o.Bufsize, defaultBufsize)
	def(&o.Aggsize, defaultAggsize)
	def(&o.Dynvarsize, defaultDynvarsize)
	def(&o.Nspec, 1)
	if o.CPUs > 0 {
		return nil
	}
	var err error
	if o.CPUs, err = ebpf.PossibleCPU(); err != nil {
		return fmt.Errorf("counting the CPUs: %w", err)
	}
	return nil
}

// A Program is a compiled D program.
type Program struct {
	Layout *record.Layout
	// Maps are the maps that the programs use, by name; Programs are in the
	// order of the units, but those for later. A program that had to be cut is
	// in several parts.
	Maps     map[string]*ebpf.MapSpec
	Programs [][]*ebpf.ProgramSpec

	units   []*Unit
	opts    Options
	threads []string // the maps whose keys begin with a thread
	cuts    []int    // by unit: its index in budgets
	large   bool     // more scratch memory than per-CPU maps can hold

	compiler *compiler // that has compiled it
}

// Compile compiles the units of a session, those for later behind the others.
// The layout's indexes of clauses count over all units.
func Compile(units []*Unit, opts Options) (*Program, error) {
	if err := opts.fill(); err != nil {
		return nil, err
	}
	if opts.Arch == nil {
		return nil, fmt.Errorf("compiling for no architecture")
	}
	p := &Program{units: units, opts: opts, cuts: make([]int, len(units))}
	if err := p.compile(); err != nil {
		return nil, err
	}
	return p, nil
}

// maxLength is how many instructions a part may have: jumps reach 32,767.
const maxLength = 30_000

// compile compiles the units, cut as p.cuts says, and finer where a part would
// be too long for its jumps.
func (p *Program) compile() error {
	for {
		scratch, err := p.compileOnce()
		if err != nil {
			return err
		}
		if scratch > perCPULimit && !p.large {
			p.large = true
			continue
		}
		long := slices.IndexFunc(p.Programs, tooLong)
		if long < 0 || p.cuts[long]+1 == len(budgets) {
			return nil
		}
		p.cuts[long]++
	}
}

// tooLong reports whether a part is too long for its jumps.
func tooLong(parts []*ebpf.ProgramSpec) bool {
	return slices.ContainsFunc(parts, func(s *ebpf.ProgramSpec) bool { return len(s.Instructions) > maxLength })
}

// compileOnce compiles the units and returns how much scratch memory they need.
func (p *Program) compileOnce() (scratch int, err error) {
	c := newCompiler(p.units, p.opts)
	c.large = p.large
	p.Layout, p.Maps, p.Programs, p.compiler = c.layout, c.maps, nil, c
	for n, u := range p.units {
		parts, err := c.unit(n, budgets[p.cuts[n]])
		if err != nil {
			return 0, compileError(u, err)
		}
		if !u.Later {
			p.Programs = append(p.Programs, programSpecs(u, n, parts))
		}
	}
	if err := c.checkLimits(); err != nil {
		return 0, err
	}
	c.finish()
	p.threads = c.threads
	return c.scratchSize(), nil
}

func compileError(u *Unit, err error) error {
	return fmt.Errorf("compiling the program of %s: %w", u.Probes[0].Desc, err)
}

// programSpecs are the programs of a unit's parts.
func programSpecs(u *Unit, number int, parts []asm.Instructions) []*ebpf.ProgramSpec {
	var specs []*ebpf.ProgramSpec
	for i, code := range parts {
		specs = append(specs, programSpec(u, fmt.Sprintf("kinst_%d_%d", number, i), code))
	}
	return specs
}

func programSpec(u *Unit, name string, code asm.Instructions) *ebpf.ProgramSpec {
	return &ebpf.ProgramSpec{
		Name:         name,
		Type:         programTypes[u.Context.Hook],
		AttachType:   u.Context.Attach,
		Instructions: code,
		// The helpers that read memory ask for a licence compatible with the
		// kernel's.
		License: "Dual BSD/GPL",
	}
}

var programTypes = [...]ebpf.ProgramType{
	provider.HookRun:           ebpf.RawTracepoint,
	provider.HookKprobe:        ebpf.Kprobe,
	provider.HookPerfEvent:     ebpf.PerfEvent,
	provider.HookTracepoint:    ebpf.TracePoint,
	provider.HookRawTracepoint: ebpf.RawTracepoint,
	provider.HookUprobe:        ebpf.Kprobe,
}

// A compiler compiles the units of one session.
type compiler struct {
	opts      Options
	units     []*Unit
	layout    *record.Layout
	maps      map[string]*ebpf.MapSpec
	order     []*types.Var // of the program's variables
	vars      map[*types.Var]*variable
	elements  map[types.Expr]bool // arrays of which an element is meant
	addressed map[*types.Var]bool
	aggs      map[*types.Agg]*aggregation
	globals   globals
	self      int                    // bytes of a thread's variables
	scratch   int                    // bytes of a scratch value
	largest   syntax.Pos             // of the D that needs so many
	large     bool                   // which is too much for a per-CPU map
	spec      *subprogram            // takes a speculation
	subs      map[string]*subprogram // on strings, by name
	threads   []string               // the maps of thread-local variables
	dynamics  int                    // variables so far that have a map of their own
	sites     int                    // tables of sites so far
}

func newCompiler(units []*Unit, opts Options) *compiler {
	c := &compiler{
		opts:      opts,
		units:     units,
		layout:    &record.Layout{Strsize: opts.Strsize},
		maps:      make(map[string]*ebpf.MapSpec),
		vars:      make(map[*types.Var]*variable),
		elements:  make(map[types.Expr]bool),
		addressed: make(map[*types.Var]bool),
		subs:      make(map[string]*subprogram),
		aggs:      make(map[*types.Agg]*aggregation),
		globals:   globals{bytes: make([]byte, controlSize), strings: make(map[string]int)},
	}
	c.planVars()
	c.planAggs()
	return c
}

// unit compiles the program of a unit, each part with its subprograms behind
// it.
func (c *compiler) unit(number, budget int) ([]asm.Instructions, error) {
	g := newGenerator(c, number)
	g.budget = budget
	if err := g.program(); err != nil {
		return nil, err
	}
	if g.scratchMax > c.scratch {
		c.scratch, c.largest = g.scratchMax, g.scratchAt
	}
	parts, err := g.parts()
	if err != nil {
		return nil, err
	}
	var all []asm.Instructions
	for i := range parts {
		out, err := parts[i].assembled("")
		if err != nil {
			return nil, err
		}
		if out, err = c.withSubprograms(out, parts[i].called()); err != nil {
			return nil, err
		}
		c.use(out)
		all = append(all, out)
	}
	return all, nil
}

// assembled turns the code into instructions of the machine. Labels' names
// begin with prefix.
func (c *code) assembled(prefix string) (asm.Instructions, error) {
	c.list = prune(c.list)
	a := allocate(c.list, c.regs, c.maxFrame)
	if err := c.checkFrame(a); err != nil {
		return nil, err
	}
	return assemble(c.list, a, prefix), nil
}

// withSubprograms appends the subprograms that a program calls, directly or
// not.
func (c *compiler) withSubprograms(out asm.Instructions, subs []*subprogram) (asm.Instructions, error) {
	seen := make(map[*subprogram]bool)
	for len(subs) > 0 {
		s := subs[0]
		subs = subs[1:]
		if seen[s] {
			continue
		}
		seen[s] = true
		body, more, err := s.instructions(!c.opts.BoundedLoops && haveMayGoto())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		out = append(out, body...)
		subs = append(subs, more...)
	}
	return out, nil
}

// A globals is the contents of the map kinst_globals: the control block, the
// global variables and the program's string constants.
type globals struct {
	bytes   []byte
	strings map[string]int

	zeroAt, zeroSize int // bytes that stay 0
	room             int // bytes that there must be at least
}

// size is how many bytes there must be.
func (g *globals) size() int { return max(len(g.bytes), g.room) }

// alloc takes so many bytes, aligned to 8, and returns their offset.
func (g *globals) alloc(size int) int {
	off := (len(g.bytes) + 7) &^ 7
	if size > maxGlobals { // which checkLimits refuses
		g.room = max(g.room, off+size)
		return off
	}
	g.bytes = append(g.bytes, make([]byte, off-len(g.bytes)+size)...)
	return off
}

// constant returns the offset of a NUL-terminated string.
func (g *globals) constant(s string) int {
	if off, ok := g.strings[s]; ok {
		return off
	}
	off := g.alloc(len(s) + 1)
	copy(g.bytes[off:], s)
	g.strings[s] = off
	return off
}
