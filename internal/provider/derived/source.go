package derived

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cilium/ebpf/btf"

	"kinst/internal/arm"
	"kinst/internal/dlang/types"
	"kinst/internal/provider"
	"kinst/internal/provider/rawtp"
)

// An origin is a source as this kernel has it.
type origin struct {
	probe      *provider.Probe
	tracepoint string     // or
	sites      []arm.Site // of functions
}

// resolve looks for a source in the kernel. The error says what is missing.
func (k Kernel) resolve(s Source) (*origin, error) {
	var o *origin
	var names map[string]string
	var err error
	switch {
	case s.Tracepoint != "":
		o, names, err = k.tracepoint(s)
	case s.Calls != nil:
		o, names, err = k.calls(s)
	default:
		o, names, err = k.functions(s)
	}
	if err != nil {
		return nil, err
	}
	c := o.probe.Context
	if c.When, err = k.expand(s.When, names); err != nil {
		return nil, err
	}
	c.Args = nil
	for _, a := range s.Args {
		value, err := k.expand(a.Value, names)
		if err != nil {
			return nil, err
		}
		c.Args = append(c.Args, a.typed(value))
	}
	return o, nil
}

// typed is the argument with its value for this kernel.
func (a Arg) typed(value string) types.Arg {
	arg := types.Arg{Means: value, Native: value, Type: spelled(a.Type)}
	if a.As != "" {
		arg.Means = fmt.Sprintf("xlate <%s>(%s)", a.As, value)
		arg.Type = spelled(a.As)
	}
	if a.Type == "string" {
		arg.Native = ""
	}
	return arg
}

// spelled is a type for messages, which has no more than a name.
func spelled(name string) *types.Type {
	return &types.Type{Kind: types.Typedef, Name: name, Elem: types.TypeVoid}
}

// tracepoint finds a tracepoint in the kernel's types.
func (k Kernel) tracepoint(s Source) (*origin, map[string]string, error) {
	params, err := rawtp.Params(k.Kernel, "", s.Tracepoint)
	if err != nil {
		if errors.Is(err, btf.ErrNotFound) {
			return nil, nil, fmt.Errorf("no tracepoint %s", s.Tracepoint)
		}
		return nil, nil, err
	}
	names := parameters(params)
	if s.Needs != "" && names[s.Needs] == "" {
		return nil, nil, fmt.Errorf("no %s in the tracepoint %s", s.Needs, s.Tracepoint)
	}
	c := rawtp.NewContext(k.Kernel, s.Tracepoint)
	for i := range params {
		c.Places = append(c.Places, provider.Word(i))
	}
	return &origin{probe: &provider.Probe{Context: c}, tracepoint: s.Tracepoint}, names, nil
}

// parameters is the D for the parameters of a function: argN, with its type.
func parameters(params []btf.FuncParam) map[string]string {
	names := make(map[string]string)
	for i, p := range params {
		names[p.Name] = fmt.Sprintf("((%s)arg%d)", types.FromBTF(p.Type)[0], i)
	}
	return names
}

// calls finds system calls.
func (k Kernel) calls(s Source) (*origin, map[string]string, error) {
	side := "entry"
	if s.Returned {
		side = "return"
	}
	c, tracepoint, err := k.Syscalls.Side(side)
	if err != nil {
		return nil, nil, err
	}
	names := map[string]string{"result": "arg0", "number": fmt.Sprintf("(int)arg%d", len(c.Places))}
	for i := range c.Places {
		names[fmt.Sprint("arg", i)] = fmt.Sprint("arg", i)
	}
	c.Places = append(c.Places, c.Key)
	probe := &provider.Probe{Context: c}
	var numbers []uint64
	for _, call := range k.Arch.Syscalls() {
		for _, name := range s.Calls {
			if call.Function == name {
				numbers = append(numbers, uint64(call.Number))
			}
		}
	}
	if numbers == nil {
		return nil, nil, fmt.Errorf("no system call %s", strings.Join(s.Calls, ", "))
	}
	probe.Addr, probe.More = numbers[0], numbers[1:]
	return &origin{probe: probe, tracepoint: tracepoint}, names, nil
}

// functions finds functions that can be traced.
func (k Kernel) functions(s Source) (*origin, map[string]string, error) {
	if err := provider.HaveKprobes(); err != nil {
		return nil, nil, fmt.Errorf("no function %s: %w", strings.Join(s.Functions, ", "), err)
	}
	o := &origin{probe: &provider.Probe{Context: &provider.Context{
		Hook:     provider.HookKprobe,
		IPBias:   k.Arch.ProbePC,
		CallArgs: !s.Returned,
	}}}
	var names map[string]string
	for _, pattern := range s.Functions {
		entries, err := k.Kernel.Entries(k.Arch, "vmlinux", pattern)
		if err != nil {
			continue // there is none
		}
		for _, e := range entries {
			site := arm.Site{Module: e.Module, Symbol: e.Name, Base: e.Addr, Return: s.Returned}
			if !s.Returned {
				site.Offset = e.Code - e.Addr
			}
			o.sites = append(o.sites, site)
			if names == nil {
				names = k.parametersOf(e.Name)
			}
		}
	}
	if o.sites == nil {
		return nil, nil, fmt.Errorf("no function %s that can be traced", strings.Join(s.Functions, ", "))
	}
	return o, names, nil
}

// parametersOf is the D for the parameters of a function, as far as the
// kernel's types have them. Those of what the compiler made out of it may be
// others.
func (k Kernel) parametersOf(function string) map[string]string {
	spec, err := k.Kernel.BTF()
	if err != nil {
		return nil
	}
	var f *btf.Func
	if err := spec.TypeByName(function, &f); err != nil {
		return nil
	}
	proto, ok := f.Type.(*btf.FuncProto)
	if !ok {
		return nil
	}
	return parameters(proto.Params)
}

// expand puts what the kernel passes in the place of the names in braces.
func (k Kernel) expand(d string, names map[string]string) (string, error) {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(d, "{")
		b.WriteString(before)
		if !ok {
			return b.String(), nil
		}
		name, after, _ := strings.Cut(rest, "}")
		value := names[name]
		if call, ok := strings.CutPrefix(name, "call:"); ok {
			value = k.number(call)
		}
		if value == "" {
			return "", fmt.Errorf("nothing that passes %s", name)
		}
		b.WriteString(value)
		d = after
	}
}

func (k Kernel) number(call string) string {
	for _, c := range k.Arch.Syscalls() {
		if c.Function == call {
			return strconv.Itoa(c.Number)
		}
	}
	return "-1" // no call's
}
