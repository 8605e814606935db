package amd64

import "strings"

// This file spells out the immediate of a comparison or a carry-less
// multiplication in the mnemonic, where it has a name.

var comparePredicates = [32]string{
	"eq", "lt", "le", "unord", "neq", "nlt", "nle", "ord",
	"eq_uq", "nge", "ngt", "false", "neq_oq", "ge", "gt", "true",
	"eq_os", "lt_oq", "le_oq", "unord_s", "neq_us", "nlt_uq", "nle_uq", "ord_s",
	"eq_us", "nge_uq", "ngt_uq", "false_os", "neq_os", "ge_oq", "gt_oq", "true_us",
}

var multiplyPredicates = map[byte]string{0x00: "lqlq", 0x01: "hqlq", 0x10: "lqhq", 0x11: "hqhq"}

// predicate is what the immediate puts in place of the mnemonic's percent
// sign, and whether it is thereby said.
func (w *writer) predicate() (name string, said bool) {
	imm := w.p.text[w.p.pos-1]
	r := w.p.row
	switch {
	case strings.Contains(r.att, "clmul"):
		if name, ok := multiplyPredicates[imm]; ok {
			return name, true
		}
		return "q", false
	case strings.HasPrefix(r.att, "vpcmp"):
		if imm < 7 && imm != 3 {
			return comparePredicates[imm], true
		}
	case w.p.enc != plain && imm < 32, imm < 8:
		return comparePredicates[imm], true
	}
	return "", false
}
