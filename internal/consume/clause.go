package consume

import (
	"fmt"

	"kinst/internal/aggregate"
	"kinst/internal/dformat"
	"kinst/internal/record"
)

// clause is a record.Clause with its formats read and its fields checked.
type clause struct {
	*record.Clause
	actions    []action
	speculates bool // its records belong to a speculation
	commits    bool // it commits one, and is not itself shown
}

type action struct {
	*record.Action
	format *format
}

// compileClause checks that every field lies within the record, so that
// printing need not check again.
func compileClause(rc *record.Clause, layout *record.Layout) (*clause, error) {
	cl := &clause{Clause: rc, actions: make([]action, len(rc.Actions))}
	if rc.Size < record.HeaderSize {
		return nil, fmt.Errorf("its records have %d bytes, less than their header", rc.Size)
	}
	for i, ra := range rc.Actions {
		a, err := compileAction(ra, rc.Size, layout)
		if err != nil {
			return nil, fmt.Errorf("action %d: %w", i+1, err)
		}
		cl.actions[i] = a
		switch ra.Kind {
		case record.Speculate:
			cl.speculates = true
		case record.Commit:
			cl.commits = true
		}
	}
	return cl, nil
}

func compileAction(ra *record.Action, size int, layout *record.Layout) (action, error) {
	a := action{Action: ra}
	for i, f := range ra.Fields {
		if err := checkField(f, size); err != nil {
			return a, fmt.Errorf("field %d: %w", i+1, err)
		}
	}
	for _, index := range ra.Aggs {
		if index < 0 || index >= len(layout.Aggs) {
			return a, fmt.Errorf("aggregation %d: there are %d", index, len(layout.Aggs))
		}
	}
	needed := fieldsNeeded[ra.Kind]
	if len(ra.Fields) < needed {
		return a, fmt.Errorf("it has %d fields instead of %d", len(ra.Fields), needed)
	}
	switch ra.Kind {
	case record.Clear, record.Trunc, record.Normalize, record.Denormalize, record.Printa:
		if len(ra.Aggs) == 0 {
			return a, fmt.Errorf("it names no aggregation")
		}
	}
	if !ra.HasFormat {
		return a, nil
	}
	args := ra.Fields
	if ra.Kind == record.Printa {
		args = layout.Aggs[ra.Aggs[0]].Keys
	}
	var err error
	a.format, err = compileFormat(ra.Format, args, len(ra.Aggs))
	return a, err
}

var fieldsNeeded = map[record.ActionKind]int{
	record.Trace:     1,
	record.Tracemem:  1,
	record.Print:     1,
	record.Stack:     1,
	record.UStack:    1,
	record.Symbol:    1,
	record.Exit:      1,
	record.Normalize: 1,
	record.Setopt:    1,
	record.Speculate: 1,
	record.Commit:    1,
	record.Discard:   1,
}

func checkField(f record.Field, size int) error {
	if f.Type == nil {
		return fmt.Errorf("it has no type")
	}
	if f.Offset < 0 || f.Type.Size < 0 || f.Offset+width(f.Type) > size {
		return fmt.Errorf("its bytes %d to %d are not within the %d recorded", f.Offset, f.Offset+width(f.Type), size)
	}
	return checkType(f.Type)
}

// checkAgg checks that an aggregation's keys lie within the map's key, and that
// its value has the words of its function.
func checkAgg(agg *record.Agg) error {
	if !agg.Used {
		return nil
	}
	if words := aggregate.Words(agg); agg.Words != words {
		return fmt.Errorf("a value of %d words: %s() has %d", agg.Words, agg.Func, words)
	}
	for i, f := range fieldsOf(agg) {
		if err := checkField(f, agg.KeySize); err != nil {
			return fmt.Errorf("key %d: %w", i+1, err)
		}
	}
	return nil
}

// width is how many bytes of a record a field takes.
func width(t *record.Type) int {
	switch t.Kind {
	case record.ProbeProvider, record.ProbeModule, record.ProbeFunction, record.ProbeName:
		return 4
	}
	return t.Size
}

func checkType(t *record.Type) error {
	switch t.Kind {
	case record.Int, record.Enum:
		switch t.Size {
		case 1, 2, 4, 8:
			return nil
		}
		return fmt.Errorf("an integer of %d bytes", t.Size)
	case record.Float:
		if t.Size != 4 && t.Size != 8 {
			return fmt.Errorf("a floating-point number of %d bytes", t.Size)
		}
	case record.Pointer, record.KernelSymbol, record.KernelFunc, record.KernelModule:
		if t.Size != 8 {
			return fmt.Errorf("an address of %d bytes", t.Size)
		}
	case record.UserSymbol, record.UserFunc, record.UserModule, record.UserAddress:
		if t.Size != 16 {
			return fmt.Errorf("a process and an address in %d bytes", t.Size)
		}
	case record.KernelStack:
		if t.Size%8 != 0 {
			return fmt.Errorf("a stack of %d bytes", t.Size)
		}
	case record.UserStack:
		if t.Size%8 != 0 || t.Size < 8 {
			return fmt.Errorf("a stack of %d bytes", t.Size)
		}
	}
	return nil
}

// format is a format string with the fields its conversions take.
type format struct {
	*dformat.Format
	steps []step
}

// step is a conversion and the indexes of its arguments, -1 for none.
type step struct {
	*dformat.Conversion
	width, precision int
	value            int // index of the argument; of the aggregation for %@
}

// compileFormat hands out the arguments to the conversions. Where there are
// more %@ than aggregations, the last one serves again.
func compileFormat(source string, args []record.Field, aggs int) (*format, error) {
	parsed, err := dformat.Parse(source)
	if err != nil {
		return nil, err
	}
	f := &format{Format: parsed}
	next, agg := 0, 0
	take := func() int {
		next++
		return next - 1
	}
	for _, conv := range parsed.Conversions {
		s := step{Conversion: conv, width: -1, precision: -1, value: -1}
		if conv.DynamicWidth {
			s.width = take()
		}
		if conv.DynamicPrecision {
			s.precision = take()
		}
		switch {
		case conv.Literal():
		case conv.Aggregation && aggs == 0:
			return nil, fmt.Errorf("format conversion #%d is %%@, and there is no aggregation", conv.Number)
		case conv.Aggregation:
			s.value = min(agg, aggs-1)
			agg++
		default:
			s.value = take()
			if s.value < len(args) && !conv.Verb.Accepts(args[s.value].Type) {
				return nil, fmt.Errorf("format conversion #%d (%s) takes %s, not %s",
					conv.Number, conv, conv.Verb.Wants, args[s.value].Type.Name)
			}
		}
		if next > len(args) {
			return nil, fmt.Errorf("format conversion #%d (%s) has no argument", conv.Number, conv)
		}
		f.steps = append(f.steps, s)
	}
	return f, nil
}
