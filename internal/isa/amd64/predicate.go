package amd64

import "strings"

// This file spells out immediates that have a name, in the mnemonic.

var comparePredicates = [32]string{
	"eq", "lt", "le", "unord", "neq", "nlt", "nle", "ord",
	"eq_uq", "nge", "ngt", "false", "neq_oq", "ge", "gt", "true",
	"eq_os", "lt_oq", "le_oq", "unord_s", "neq_us", "nlt_uq", "nle_uq", "ord_s",
	"eq_us", "nge_uq", "ngt_uq", "false_os", "neq_os", "ge_oq", "gt_oq", "true_us",
}

var xopPredicates = [8]string{"lt", "le", "gt", "ge", "eq", "neq", "false", "true"}

var multiplyPredicates = map[byte]string{0x00: "lqlq", 0x01: "hqlq", 0x10: "lqhq", 0x11: "hqhq"}

// The immediate of 0f 0f selects one of AMD's 3DNow instructions.
var opcodes3DNow = map[byte]string{
	0x0c: "pi2fw",
	0x0d: "pi2fd",
	0x1c: "pf2iw",
	0x1d: "pf2id",
	0x8a: "pfnacc",
	0x8e: "pfpnacc",
	0x90: "pfcmpge",
	0x94: "pfmin",
	0x96: "pfrcp",
	0x97: "pfrsqrt",
	0x9a: "pfsub",
	0x9e: "pfadd",
	0xa0: "pfcmpgt",
	0xa4: "pfmax",
	0xa6: "pfrcpit1",
	0xa7: "pfrsqit1",
	0xaa: "pfsubr",
	0xae: "pfacc",
	0xb0: "pfcmpeq",
	0xb4: "pfmul",
	0xb6: "pfrcpit2",
	0xb7: "pmulhrw",
	0xbb: "pswapd",
	0xbf: "pavgusb",
}

// predicate is what the immediate puts in place of the mnemonic's percent
// sign, and whether it is thereby said.
func (w *writer) predicate() (name string, said bool) {
	p, r := &w.p, w.p.row
	imm := p.text[p.pos-1]
	switch {
	case r.att == "%":
		if name, ok := opcodes3DNow[imm]; ok {
			return name, true
		}
		return Bad, true
	case strings.Contains(r.att, "clmul"):
		if name, ok := multiplyPredicates[imm]; ok {
			return name, true
		}
		return "q", false
	case p.enc == xop:
		if imm < 8 {
			return xopPredicates[imm], true
		}
	case strings.HasPrefix(r.att, "vpcmp"):
		if imm < 7 && imm != 3 {
			return comparePredicates[imm], true
		}
	case p.enc != plain && imm < 32, imm < 8:
		return comparePredicates[imm], true
	}
	return "", false
}
