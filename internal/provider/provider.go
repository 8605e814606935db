// Package provider says which probes a description means and what must be
// armed for them. Each provider is a package below this one.
package provider

import (
	"context"
	"fmt"

	"github.com/cilium/ebpf"

	"kinst/internal/dlang/types"
	"kinst/internal/kernel"
)

// A Desc describes probes by their four names. In a request each field may be
// empty (any) or a glob; in a Probe each is the probe's own.
type Desc struct {
	Provider, Module, Function, Name string

	// Most is, in a request, how many probes it may mean; 0 for any number.
	Most int
}

func (d Desc) String() string {
	return d.Provider + ":" + d.Module + ":" + d.Function + ":" + d.Name
}

// A Hook is the way in which the kernel calls a program.
type Hook int

const (
	// HookRun: user space runs the program itself (BEGIN, END, ERROR). There
	// are no registers; the context is an array of ten uint64, arg0 to arg9.
	HookRun Hook = iota
	// HookKprobe: the context is the struct pt_regs of the probed place.
	HookKprobe
	// HookPerfEvent: the context begins with a struct pt_regs.
	HookPerfEvent
	// HookTracepoint: the context is the tracepoint's record.
	HookTracepoint
	// HookRawTracepoint: the context is an array of uint64 arguments, each
	// extended with zeros. To read more of it than the tracepoint has is
	// refused when the program is attached.
	HookRawTracepoint
	// HookUprobe: as HookKprobe, in a user process.
	HookUprobe
)

// A Lookup is how a program that serves several probes learns which of them
// fired.
type Lookup int

const (
	// LookupOne: the program serves one probe.
	LookupOne Lookup = iota
	// LookupIP: the instruction pointer of the registers, less IPBias, is the
	// probe's Addr.
	LookupIP
	// LookupCookie: bpf_get_attach_cookie is the probe's index.
	LookupCookie
	// LookupFunc: bpf_get_func_ip is the probe's Addr.
	LookupFunc
	// LookupKey: the number at Context.Key is the probe's Addr. Of a number
	// that is no probe's the program does nothing.
	LookupKey
)

// A Counter of runs belongs to the programs of one provider.
type Counter int

const (
	CountNothing Counter = iota
	CountBreakpoints
	CountEvents
	Counters // how many there are
)

// A Place is where a program finds a number.
type Place struct {
	// Indirect says that the context's word at Base is an address, of the
	// kernel or for HookUprobe of the process, and that Offset counts from
	// there; otherwise it counts from the context.
	Indirect     bool
	Base, Offset int // in bytes
	Size         int // in bytes; numbers shorter than 8 have the type's sign
	// Signed says that a number shorter than 8 bytes has a sign where it has
	// no type.
	Signed bool
	// Scale, unless 0, is what the context's word at Index is multiplied by
	// before it is added to an indirect address.
	Index, Scale int
	// Address says that the number is the address of the place in the
	// context. Located says that it is that of an array which the context has
	// as far from its beginning as the lower half of the 4 bytes at the place
	// say.
	Address, Located bool
	// Constant is the number itself, which then is nowhere.
	Constant *uint64
}

// Word is the place of the nth 64-bit word of the context.
func Word(n int) Place { return Place{Offset: 8 * n, Size: 8} }

// TaskBits are bits of a number in the current task's struct task_struct.
type TaskBits struct {
	Offset, Size int // in bytes
	Mask         uint64
}

// A Context is what a kind of probe offers to the clauses that it runs. Two
// probes with the same *Context can share a program.
type Context struct {
	Hook Hook
	// Attach is what programs are loaded for where the hook leaves that open.
	Attach ebpf.AttachType
	Lookup Lookup
	IPBias int   // for LookupIP: 1 where the kernel reports the address plus one
	Key    Place // for LookupKey
	// Counter is where the program counts how often it runs (Enabling.Runs).
	// It is for hooks of which the kernel does not tell how often it skips
	// them.
	Counter Counter
	// Unless, if not nil, are bits of the current task with any of which set
	// the program does nothing.
	Unless *TaskBits
	// Places are where arg0... are, one by one; arguments beyond are 0. Where
	// it is nil, the context is an array of them (HookRun), or CallArgs and
	// PCArgs say what they are.
	Places []Place
	// CallArgs: arg0... are the arguments of a C call, in the registers.
	CallArgs bool
	// PCArgs: arg0 is the kernel's program counter and arg1 the user's, the
	// other being 0.
	PCArgs bool
	// ReturnArgs: arg0 is how far behind the probe's Entry the instruction
	// pointer is, arg1 what the C function returns, in its register.
	ReturnArgs bool
	// Between, if not nil, returns the functions of the kernel's that are on the
	// stack between the place of one of the probes and the program, which a stack
	// leaves out.
	Between func(probes []*Probe) []kernel.Span
	// Errno: a system call has returned arg0, which errno is about.
	Errno bool
	// When, if it is not empty, is the condition under which the probe fires,
	// in D: see types.Context.
	When string
	// Args are the types of args[], in order.
	Args []types.Arg
}

// Uses is what clauses use of a probe.
type Uses struct {
	Args      bool   // args[]
	Numbers   uint16 // bit n is for argn
	Registers bool   // regs[]
}

// A Probe is one probe that exists.
type Probe struct {
	Desc
	Context *Context
	Addr    uint64   // for LookupIP and LookupKey
	More    []uint64 // further addresses where the probe fires, for LookupIP
	Entry   uint64   // of the probe's function, for ReturnArgs
	// ContextFor returns the context for clauses that use so much of the
	// probe. Context itself is for those that use nothing, and so the same for
	// many probes. Probes whose arguments have the same types share contexts
	// where they can. A NoMatchError says that the probe cannot give what is
	// used. The function is nil where Context is for all.
	ContextFor func(Uses) (*Context, error)
	// Target is the provider's own: what must be armed.
	Target any
}

// An Enabling is a program and the probes at which it must run.
type Enabling struct {
	Program *ebpf.Program
	Context *Context // that the program was made for: Context or ContextFor of the probes
	Probes  []*Probe
	First   uint32 // the index of Probes[0], for LookupCookie
	// Counting, unless nil, says that all the program does is count how often
	// each probe fires. The provider then need not arm those whose count that
	// of others tells; see Substituted. Programs with the same Counting do the
	// same.
	Counting *Counting
	// Runs returns how often the programs of this session that count their
	// runs in the context's Counter have run, all together.
	Runs func() uint64
}

// Counting is what programs do that count how often each probe fires.
type Counting struct {
	Thread bool // predicates ask who the thread is: its IDs, its name
}

// A Refusal is a probe that the kernel did not take.
type Refusal struct {
	Probe *Probe
	Err   error
}

// An Armed is a set of enabled probes.
type Armed interface {
	// Refused returns the probes that the kernel did not take.
	Refused() []Refusal
	// Missed returns how many firings the kernel skipped so far.
	Missed() (uint64, error)
	// Close disarms the probes. It is safe to call it again.
	Close() error
}

// A Substituted is an Armed in which some probes are not armed themselves.
type Substituted interface {
	Armed
	// StandIns maps each of them to those that are and together fire as often.
	StandIns() map[*Probe][]*Probe
}

// A NoMatchError says that a description names no probe of a provider.
type NoMatchError struct {
	Why string // in a few words; may be empty
}

func (e *NoMatchError) Error() string {
	if e.Why == "" {
		return "no probe matches"
	}
	return "no probe matches: " + e.Why
}

// NoMatch returns a NoMatchError with its reason.
func NoMatch(format string, args ...any) error {
	return &NoMatchError{fmt.Sprintf(format, args...)}
}

// A Provider makes and enables probes.
type Provider interface {
	// Name is the provider's name as in probe descriptions; it may be a
	// pattern, as for pid123.
	Name() string

	// Match returns the probes that a description means, in their natural
	// order. It returns a NoMatchError if there are none, and another error
	// where the description names something that cannot be probed. Notes are
	// remarks worth a line under -v.
	Match(ctx context.Context, d Desc) (probes []*Probe, notes []string, err error)

	// Enable arms probes. On an error nothing stays armed.
	Enable(ctx context.Context, e []Enabling, progress func(done, total int)) (Armed, error)
}

// TypesContext returns what the checker must know of this kind of probe.
func (c *Context) TypesContext() *types.Context {
	t := &types.Context{Args: c.Args, Errno: c.Errno, When: c.When}
	switch c.Hook {
	case HookKprobe, HookPerfEvent, HookUprobe:
		t.Registers = true
	}
	return t
}

// Count returns how many probes there are in enablings.
func Count(enablings []Enabling) int {
	n := 0
	for _, e := range enablings {
		n += len(e.Probes)
	}
	return n
}
