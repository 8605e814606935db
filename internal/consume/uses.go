package consume

import "kinst/internal/record"

// UsesUserSymbols reports whether anything that a layout records is shown by the
// symbols of a process.
func UsesUserSymbols(layout *record.Layout) bool {
	for _, cl := range layout.Clauses {
		for _, a := range cl.Actions {
			if usesUserSymbols(a.Fields) {
				return true
			}
		}
	}
	for _, agg := range layout.Aggs {
		if usesUserSymbols(agg.Keys) {
			return true
		}
	}
	return false
}

func usesUserSymbols(fields []record.Field) bool {
	for _, f := range fields {
		switch f.Type.Kind {
		case record.UserStack, record.UserSymbol, record.UserFunc, record.UserModule, record.UserAddress:
			return true
		}
	}
	return false
}
