package amd64

// conds is a set of circumstances in which a row of the table may be meant.
// An instruction has one bit of each group that applies to it; a row matches
// when it allows all of them.
type conds uint32

const (
	prefixNone conds = 1 << iota // mandatory prefix
	prefix66
	prefixF3
	prefixF2
	opsize16 // operand size
	opsize32
	opsize64
	modMem // ModRM.mod
	modReg
	rexBClear // REX.B
	rexBSet
	addr64 // address size
	addr32
	length128 // VEX.L, EVEX.L'L
	length256
	length512
	length1024 // EVEX.L'L of 3
	bcstClear  // EVEX.b
	bcstSet
	regZero // ModRM.reg; regZero<<n is n

	anyPrefix = prefixNone | prefix66 | prefixF3 | prefixF2
	anyOpsize = opsize16 | opsize32 | opsize64
	anyMod    = modMem | modReg
	anyLength = length128 | length256 | length512 | length1024
	anyReg    = 0xff * regZero
	anyConds  = regZero<<8 - 1
)

// condNames are the words of the table's second column. Each narrows the
// group that it belongs to.
var condNames = map[string]struct{ group, allowed conds }{
	"np":   {anyPrefix, prefixNone},
	"66":   {anyPrefix, prefix66},
	"f3":   {anyPrefix, prefixF3},
	"f2":   {anyPrefix, prefixF2},
	"o16":  {anyOpsize, opsize16},
	"o32":  {anyOpsize, opsize32},
	"o64":  {anyOpsize, opsize64},
	"w0":   {anyOpsize, opsize16 | opsize32},
	"w1":   {anyOpsize, opsize64},
	"mem":  {anyMod, modMem},
	"reg":  {anyMod, modReg},
	"rexb": {rexBClear | rexBSet, rexBSet},
	"a32":  {addr64 | addr32, addr32},
	"l0":   {anyLength, length128},
	"l1":   {anyLength, length256},
	"l2":   {anyLength, length512},
	"l01":  {anyLength, length128 | length256},
	"l12":  {anyLength, length256 | length512},
	"b0":   {bcstClear | bcstSet, bcstClear},
	"b1":   {bcstClear | bcstSet, bcstSet},
}
