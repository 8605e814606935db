package syscall

import (
	"fmt"

	"github.com/cilium/ebpf/btf"

	"kinst/internal/dlang/types"
	"kinst/internal/provider"
	"kinst/internal/provider/tracefs"
)

// typedContext is the context of a side of a system call with its types.
func (p *Provider) typedContext(s *side, function string) (*provider.Context, error) {
	params := []param{{"result", "long"}, {"result", "long"}}
	if s.name == "entry" {
		var err error
		if params, err = readParams(function); err != nil {
			return nil, fmt.Errorf("the types of %s's arguments: %w; arg0 to arg5 need none", function, err)
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
			c.Args = append(c.Args, types.Arg{Name: a.name, Type: a.in(spec)})
		}
		p.typed[key] = &c
	}
	return p.typed[key], nil
}

// A param is a parameter of a system call as its definition in C has it.
type param struct {
	name, decl string
}

// in is the parameter's type.
func (p param) in(spec *btf.Spec) *types.Type {
	t := tracefs.Type(spec, p.decl)
	if t == nil {
		return types.TypeUlong // as the kernel passes it
	}
	return types.FromBTF(t)[0]
}

// readParams finds the parameters of a system call in the format of its
// event, behind the call's number. Newer kernels append fields of what the
// parameters point to, which are not 8 bytes of their own.
func readParams(function string) ([]param, error) {
	format, err := tracefs.ReadFormat("syscalls", eventPrefix+function)
	if err != nil {
		return nil, err
	}
	var params []param
	for _, f := range format.Fields {
		if f.Name == "__syscall_nr" {
			continue
		}
		if f.Size != 8 || f.Located {
			break
		}
		params = append(params, param{f.Name, f.Type})
	}
	return params, nil
}
