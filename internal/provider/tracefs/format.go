package tracefs

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"kinst/internal/kernel"
)

// A Field is a field of an event's record.
type Field struct {
	Name   string
	Type   string // as in C, without what makes it an array: "const char *"
	Offset int    // in the record, in bytes
	Size   int    // in bytes, of an array as a whole
	Signed bool
	Array  bool
	// Located says that the record has the array somewhere behind its fields,
	// and that the 4 bytes of the field have its offset in their lower half.
	Located bool
}

// A Format is the layout of an event's records.
type Format struct {
	ID     int     // by which perf_event_open(2) knows the event
	Fields []Field // but those that all events have
}

// ReadFormat reads the format of an event.
func ReadFormat(system, name string) (*Format, error) {
	dir, err := kernel.TraceFS()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "events", system, name, "format")
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	f, err := parseFormat(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return f, nil
}

// parseFormat reads lines such as
//
//	ID: 372
//	field:char prev_comm[16];	offset:8;	size:16;	signed:0;
//	field:__data_loc char[] name;	offset:8;	size:4;	signed:0;
func parseFormat(text string) (*Format, error) {
	f := new(Format)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if id, ok := strings.CutPrefix(line, "ID: "); ok {
			n, err := strconv.Atoi(id)
			if err != nil {
				return nil, fmt.Errorf("%q is no number of an event", id)
			}
			f.ID = n
		}
		decl, ok := strings.CutPrefix(line, "field:")
		if !ok {
			continue
		}
		field, err := parseField(decl)
		if err != nil {
			return nil, fmt.Errorf("%w in the line %q", err, line)
		}
		if !strings.HasPrefix(field.Name, "common_") {
			f.Fields = append(f.Fields, field)
		}
	}
	return f, nil
}

func parseField(text string) (Field, error) {
	decl, rest, _ := strings.Cut(text, ";")
	f := parseDeclaration(decl)
	for attribute := range strings.SplitSeq(rest, ";") {
		key, value, ok := strings.Cut(strings.TrimSpace(attribute), ":")
		if !ok {
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil {
			return Field{}, fmt.Errorf("%q is no number", value)
		}
		switch key {
		case "offset":
			f.Offset = n
		case "size":
			f.Size = n
		case "signed":
			f.Signed = n != 0
		}
	}
	if f.Name == "" || f.Size == 0 && !f.Array {
		return Field{}, fmt.Errorf("no field")
	}
	return f, nil
}

// parseDeclaration reads the C of a field. An array has its brackets behind
// the name, or, if located, behind the type.
func parseDeclaration(decl string) Field {
	var f Field
	decl, f.Located = strings.CutPrefix(strings.TrimSpace(decl), "__data_loc ")
	if open := strings.IndexByte(decl, '['); open >= 0 {
		f.Array = true
		if end := strings.IndexByte(decl, ']'); end > open {
			decl = decl[:open] + decl[end+1:]
		}
	}
	f.Array = f.Array || f.Located
	at := strings.LastIndexAny(decl, " *") + 1
	f.Type, f.Name = strings.TrimSpace(decl[:at]), decl[at:]
	return f
}
