// Package record is the contract between the BPF programs that write and the
// consumer that reads: the layout of records and aggregations, the losses that
// are counted, and what each piece of recorded bytes means.
//
// All integers are in the machine's byte order.
package record

// Every record begins with a header of HeaderSize bytes:
//
//	offset 0   uint64  time of the probe's firing, CLOCK_MONOTONIC, nanoseconds
//	offset 8   uint32  clause: the index in Layout.Clauses, or ClauseError
//	offset 12  uint32  probe: the index in the session's table of probes
//
// and goes on with the clause's data, at the offsets that the fields of its
// actions say (from the record's first byte). It is Clause.Size bytes long,
// header included.
const (
	HeaderSize   = 16
	TimeOffset   = 0
	ClauseOffset = 8
	ProbeOffset  = 12

	// ClauseError marks the record of a fault: after the header come uint32
	// clause, uint32 action (counted from 1), uint32 fault (a Fault), uint32
	// zero, uint64 value (the address, or 0).
	ClauseError = 0xffffffff
	ErrorSize   = HeaderSize + 24
)

// A Fault is why a clause was stopped (DTrace's DTRACEFLT_*, with its values).
type Fault uint32

const (
	FaultUnknown       Fault = 0
	FaultBadAddress    Fault = 1
	FaultBadAlignment  Fault = 2
	FaultIllegalOp     Fault = 3
	FaultDivideByZero  Fault = 4
	FaultNoScratch     Fault = 5
	FaultKernelAccess  Fault = 6
	FaultNoPrivilege   Fault = 7
	FaultTupleOverflow Fault = 8
	FaultBadStack      Fault = 9
)

// A Loss is a kind of thing that was not recorded. The programs count losses
// in a per-CPU array of uint64, indexed by Loss.
type Loss int

const (
	LossRecords      Loss = iota // no room in the ring buffer
	LossAggregations             // no room for another key
	LossVariables                // no room for another dynamic variable
	LossSpeculations             // no room in a speculation's buffer
	LossSpecBusy                 // speculation() found every buffer in use
	LossSpecActive               // speculation() found no buffer that is clean yet
	Losses                       // how many kinds there are
)

// A Layout is what the programs of one session write.
type Layout struct {
	Clauses []*Clause
	Aggs    []*Agg
	Strsize int // the strsize option
}

// A Clause is one clause as compiled, for one kind of probe. A source clause
// whose probes are of two kinds is two of them.
type Clause struct {
	Index   int
	Source  int  // which clause of the D program, counted from 0
	Size    int  // of the record, header included; HeaderSize if none is written
	Records bool // writes a record: also one with no data (an empty clause)
	Actions []*Action
}

// An ActionKind says what the consumer does with an action's fields.
type ActionKind int

const (
	Trace       ActionKind = iota // Fields[0] in its type's default format
	Tracemem                      // Fields[0] in hex; Fields[1], if any, its dynamic size
	Printf                        // Format over Fields
	Printa                        // Format (or the default, if HasFormat is false) over Aggs
	Print                         // Fields[0] with its members named
	Stack                         // Fields[0], a kernel stack
	UStack                        // Fields[0], a user stack
	Symbol                        // Fields[0]: sym, func, mod, usym, ... by its Kind
	Exit                          // Fields[0] is the exit status
	System                        // Format over Fields is a command
	Freopen                       // Format over Fields is a file name
	Ftruncate                     // no fields
	Clear                         // Aggs[0]
	Trunc                         // Aggs[0]; Fields[0], if any, how many keys stay
	Normalize                     // Aggs[0]; Fields[0] is the divisor
	Denormalize                   // Aggs[0]
	Setopt                        // Fields[0], Fields[1]: strings
	Speculate                     // what follows in this record belongs to speculation Fields[0]
	Commit                        // Fields[0]
	Discard                       // Fields[0]
	Default                       // the action of an empty clause: nothing is printed
)

// An Action is one action that leaves something in the record or tells the
// consumer to do something when it comes to the record.
type Action struct {
	Kind      ActionKind
	Number    int // which action of the clause, counted from 1, as errors name it
	Fields    []Field
	Format    string
	HasFormat bool
	Aggs      []int // indexes in Layout.Aggs
}

// A Field is a piece of a record or of an aggregation's key.
type Field struct {
	Offset int // from the first byte of the record, resp. of the key
	Type   *Type
}

// Kind is what a type's bytes mean.
type Kind int

const (
	Int     Kind = iota // Size 1, 2, 4, 8; Signed
	Pointer             // an address, Size 8
	String              // NUL-terminated within Size bytes
	Bytes               // Size raw bytes
	Struct              // Members; also a union
	Array               // Len times Elem
	Enum                // an Int with Enumerators

	// One field of the probe's description. The bytes are a uint32 index in
	// the session's table of probes; the type is a string's.
	ProbeProvider
	ProbeModule
	ProbeFunction
	ProbeName

	// A stack: Size/8 uint64 addresses, innermost first, ended early by 0.
	KernelStack
	// uint32 tgid, uint32 zero, then as KernelStack. Strings is the size of
	// the strings buffer that ustack() was given, 0 by default.
	UserStack

	// Addresses to be printed as symbols: uint64.
	KernelSymbol // sym(): module`function
	KernelFunc   // func(): the same
	KernelModule // mod()
	// uint32 tgid, uint32 zero, uint64 address.
	UserSymbol
	UserFunc
	UserModule
	UserAddress

	Float // IEEE 754, Size 4 or 8
)

// A Type is what the consumer must know of a D type.
type Type struct {
	Kind        Kind
	Size        int // bytes
	Signed      bool
	Name        string // as D spells it: "int", "struct task_struct *"
	Elem        *Type  // of Array and Pointer (may be nil)
	Len         int    // of Array
	Union       bool
	Members     []Member
	Enumerators []Enumerator
}

// A Member is a member of a Struct.
type Member struct {
	Name      string
	BitOffset int
	Bits      int // of a bit-field; 0 otherwise
	Type      *Type
}

// An Enumerator is a named value.
type Enumerator struct {
	Name  string
	Value int64
}

// An AggFunc is an aggregating function.
type AggFunc int

const (
	Count AggFunc = iota
	Sum
	Min
	Max
	Avg
	Stddev
	Quantize
	Lquantize
	Llquantize
)

func (f AggFunc) String() string {
	return [...]string{"count", "sum", "min", "max", "avg", "stddev", "quantize", "lquantize", "llquantize"}[f]
}

// An Agg is an aggregation. Its value in the map, per CPU and key, is a row
// of int64 words:
//
//	count       [n]
//	sum         [total, n]
//	min, max    [value, n]
//	avg         [total, n]
//	stddev      [total, n, sum of squares: low word, high word]
//	quantize    [n, 127 buckets]: bucket 63 is zero, 63+k counts values in
//	            [2^(k-1), 2^k), 63-k those in (-2^k, -2^(k-1)]
//	lquantize   [n, below, levels..., above]
//	llquantize  [n, below, steps..., above], as libdtrace orders them
//
// n, the number of values, tells whether the CPU has seen the key at all.
type Agg struct {
	Index int
	Name  string // without @; "" for plain @
	Func  AggFunc
	Keys  []Field
	// KeySize is the size of the map's key. Where BySite is set the map is a
	// per-CPU array and the key is the uint32 index of the probe, less
	// FirstProbe: every key then is a field of the probe's description. Without
	// keys it may be an array of one, the count of all.
	KeySize    int
	BySite     bool
	FirstProbe uint32
	Sites      uint32 // size of the array
	// StandIns, unless nil, says for each index of the array at which indexes
	// the counts are that make up its own: where a probe is not armed but others
	// that together fire as often.
	StandIns [][]uint32
	Words    int  // int64 words in a value
	Signed   bool // values are compared and printed as signed numbers

	Base, Limit  int64 // lquantize; llquantize: low and high magnitude
	Step, Levels int64 // lquantize; llquantize: steps per magnitude in Step
	Factor       int64 // llquantize
	Used         bool  // some clause aggregates into it (else it stays empty)
}

// A Probe is a row of the session's table of probes.
type Probe struct {
	ID                               int // as -l prints it
	Provider, Module, Function, Name string
}
