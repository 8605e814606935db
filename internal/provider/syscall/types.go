package syscall

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cilium/ebpf/btf"

	"kinst/internal/dlang/types"
	"kinst/internal/provider"
)

// typedContext is the context of a side of a system call with its types.
func (p *Provider) typedContext(s *side, function string) (*provider.Context, error) {
	params := []param{{"result", "long"}, {"result", "long"}}
	if s.name == "entry" {
		var err error
		if params, err = readParams(function); err != nil {
			return nil, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := fmt.Sprint(s.name, params)
	if p.typed[key] == nil {
		spec, err := p.kernel.BTF()
		if err != nil {
			return nil, fmt.Errorf("the types of system calls' arguments: %w", err)
		}
		c := *s.context
		for _, a := range params {
			t := types.FromBTF(parseType(spec, a.decl))[0]
			c.Args = append(c.Args, types.Arg{Name: a.name, Type: t})
		}
		p.typed[key] = &c
	}
	return p.typed[key], nil
}

// A param is a parameter of a system call as its definition in C has it.
type param struct {
	name, decl string
}

// readParams reads the parameters of a system call from the format of its
// event in tracefs.
func readParams(function string) ([]param, error) {
	dir, err := eventsDir()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, eventPrefix+function, "format"))
	if err != nil {
		return nil, fmt.Errorf("the types of %s's arguments: %w; arg0 to arg5 need none", function, err)
	}
	return parseFormat(string(text)), nil
}

// parseFormat finds the parameters in the lines of a format that look like
//
//	field:const char * filename;	offset:16;	size:8;	signed:0;
//
// behind the one for the number of the call. Newer kernels append
// fields of what the parameters point to, which are not 8 bytes of their own.
func parseFormat(text string) []param {
	var params []param
	for line := range strings.Lines(text) {
		field, ok := strings.CutPrefix(strings.TrimSpace(line), "field:")
		if !ok {
			continue
		}
		decl, rest, _ := strings.Cut(field, ";")
		at := strings.LastIndexAny(decl, " *")
		name := decl[at+1:]
		if strings.HasPrefix(name, "common_") || name == "__syscall_nr" {
			continue
		}
		if !strings.Contains(rest, "size:8;") || strings.HasPrefix(decl, "__data_loc") {
			break
		}
		params = append(params, param{name, strings.TrimSpace(decl[:at+1])})
	}
	return params
}

// parseType reads a type as the parameters of system calls have it: the name
// of a basic type, of a typedef or of a struct, and stars behind it.
func parseType(spec *btf.Spec, decl string) btf.Type {
	var words []string
	stars := 0
	for _, w := range strings.Fields(strings.ReplaceAll(decl, "*", " * ")) {
		switch w {
		case "*":
			stars++
		case "const", "volatile", "__user", "restrict", "__restrict":
		default:
			words = append(words, w)
		}
	}
	t := baseType(spec, words)
	for range stars {
		t = &btf.Pointer{Target: t}
	}
	return t
}

func baseType(spec *btf.Spec, words []string) btf.Type {
	name := words[len(words)-1]
	switch words[0] {
	case "void":
		return &btf.Void{}
	case "struct":
		var s *btf.Struct
		if spec.TypeByName(name, &s) == nil {
			return s
		}
		return &btf.Fwd{Name: name, Kind: btf.FwdStruct}
	case "union":
		var u *btf.Union
		if spec.TypeByName(name, &u) == nil {
			return u
		}
		return &btf.Fwd{Name: name, Kind: btf.FwdUnion}
	case "enum":
		var e *btf.Enum
		if spec.TypeByName(name, &e) == nil {
			return e
		}
		return &btf.Int{Name: "unsigned int", Size: 4}
	}
	if i, ok := basicType(words); ok {
		return i
	}
	var t *btf.Typedef
	if spec.TypeByName(name, &t) == nil {
		return t
	}
	return &btf.Int{Name: "unsigned long", Size: 8} // as the kernel passes it
}

// basicType is an integer type of C, with its words in any order.
func basicType(words []string) (*btf.Int, bool) {
	t := &btf.Int{Name: strings.Join(words, " "), Size: 4, Encoding: btf.Signed}
	for _, w := range words {
		switch w {
		case "char":
			t.Size = 1
		case "short":
			t.Size = 2
		case "long":
			t.Size = 8
		case "unsigned":
			t.Encoding = btf.Unsigned
		case "signed", "int":
		default:
			return nil, false
		}
	}
	return t, true
}
