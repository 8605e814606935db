package fbt

import (
	"fmt"
	"strings"

	"github.com/cilium/ebpf/btf"

	"kinst/internal/dlang/types"
	"kinst/internal/provider"
)

// args are the types of a probe's arguments. Of an entry they are the
// function's parameters, up to the first that is a struct or union: how those
// are passed differs. Of a return they are an int, where it returns, and what
// it returns.
func (p *Provider) args(probe *provider.Probe) ([]types.Arg, error) {
	proto, err := p.proto(probe.Module, probe.Function)
	if err != nil {
		return nil, err
	}
	if probe.Name == returned {
		args := []types.Arg{{Name: "offset", Type: types.TypeInt}}
		if t := types.FromBTF(proto.Return)[0]; isScalar(proto.Return) {
			args = append(args, types.Arg{Name: "result", Type: t})
		}
		return args, nil
	}
	var args []types.Arg
	for _, param := range proto.Params {
		if !isScalar(param.Type) {
			break
		}
		args = append(args, types.Arg{Name: param.Name, Type: types.FromBTF(param.Type)[0]})
	}
	return args, nil
}

// isScalar reports whether values of a type are passed in one register.
func isScalar(t btf.Type) bool {
	switch t := btf.UnderlyingType(t).(type) {
	case *btf.Int:
		return t.Size <= 8
	case *btf.Pointer, *btf.Enum:
		return true
	}
	return false
}

// proto is a function's type. Functions of one name may have different ones:
// which is whose is not told.
func (p *Provider) proto(module, function string) (*btf.FuncProto, error) {
	if base, _, ok := strings.Cut(function, "."); ok {
		return nil, provider.NoMatch("the compiler made it out of %s, and its parameters may be others", base)
	}
	spec, err := p.kernel.ModuleBTF(module)
	if err != nil {
		return nil, err
	}
	found, err := spec.AnyTypesByName(function)
	if err != nil {
		return nil, provider.NoMatch("the kernel's types (BTF) do not have it")
	}
	var proto *btf.FuncProto
	for _, t := range found {
		f, ok := t.(*btf.Func)
		if !ok {
			continue
		}
		this, ok := f.Type.(*btf.FuncProto)
		switch {
		case !ok:
			continue
		case proto != nil && spell(proto) != spell(this):
			return nil, provider.NoMatch("the kernel has several functions of this name, with different parameters")
		}
		proto = this
	}
	if proto == nil {
		return nil, provider.NoMatch("the kernel's types (BTF) do not have it")
	}
	return proto, nil
}

// spell writes a function's type so that it can be compared.
func spell(f *btf.FuncProto) string {
	var b strings.Builder
	for _, p := range f.Params {
		fmt.Fprintf(&b, "%s %s,", types.FromBTF(p.Type)[0], p.Name)
	}
	return b.String() + types.FromBTF(f.Return)[0].String()
}
