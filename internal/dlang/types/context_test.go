package types

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/cilium/ebpf/btf"

	"kinst/internal/dlang/syntax"
	"kinst/internal/isa"
)

// derived is a kind of probe whose arguments are made of what the kernel
// passes.
var derived = &Context{
	When: "arg2 != 0",
	Args: []Arg{
		{Means: "xlate <psinfo_t *>((struct task_struct *)arg1)", Native: "arg1", Type: TypeVoid},
		{Means: "-(int)arg0", Native: "-(int)arg0", Type: TypeInt},
	},
}

func checkIn(t *testing.T, c *Context, d string) (*Program, error) {
	t.Helper()
	kernel, err := btf.LoadKernelSpec()
	if err != nil {
		t.Fatal(err)
	}
	return checkWith(t, c, d, kernel)
}

func checkWith(t *testing.T, c *Context, d string, kernel *btf.Spec) (*Program, error) {
	t.Helper()
	f, err := syntax.Parse(&syntax.Source{Name: "test.d", Text: d}, &syntax.Config{})
	if err != nil {
		t.Fatal(err)
	}
	arch, err := isa.Lookup("amd64")
	if err != nil {
		t.Fatal(err)
	}
	return Check([]*syntax.File{f}, &Env{
		Contexts: func(*syntax.Clause) []*Context { return []*Context{c} },
		Arch:     arch,
		BTF:      func(string) (*btf.Spec, error) { return kernel, nil },
	})
}

// arguments are the numbers of the arguments, as the kernel passes them, that
// a tree reads.
func arguments(x Expr) string {
	var found []string
	walk(func(x Expr) {
		if b, ok := x.(*BuiltinRef); ok && b.Builtin.ID < Arg0+10 {
			found = append(found, b.Builtin.Name)
		}
	}, x)
	return strings.Join(found, " ")
}

func TestDerivedArguments(t *testing.T) {
	for _, test := range []struct {
		d    string
		want string // what the clause reads: predicate; body
	}{
		{"BEGIN { trace(args[0]->pr_pid); }", "arg2; arg1"},
		{"BEGIN { trace(args[1]); }", "arg2; arg0"},
		{"BEGIN { trace(arg0); }", "arg2; arg1"},
		{"BEGIN { trace(arg1); }", "arg2; arg0"},
		{"BEGIN { trace(arg2); }", "arg2; arg2"},
		{"BEGIN /arg1 == 3/ { trace(1); }", "arg2 arg0; "},
	} {
		p, err := checkIn(t, derived, test.d)
		if err != nil {
			t.Errorf("%s: %v", test.d, err)
			continue
		}
		c := p.Clauses[0]
		got := arguments(c.Predicate) + "; "
		for _, s := range c.Body {
			if a, ok := s.(*Action); ok && len(a.Args) > 0 {
				got += arguments(a.Args[0])
			}
		}
		if got != test.want {
			t.Errorf("%s: reads %q, want %q", test.d, got, test.want)
		}
	}
}

// TestDerivedThatDoesNotFit is an error where it is used, and only there.
func TestDerivedThatDoesNotFit(t *testing.T) {
	c := &Context{Args: []Arg{{Means: "((struct task_struct *)arg0)->no_such_member", Type: TypeInt}}}
	if _, err := checkIn(t, c, "BEGIN { trace(pid); }"); err != nil {
		t.Error(err)
	}
	_, err := checkIn(t, c, "BEGIN { trace(args[0]); }")
	if err == nil || !strings.Contains(err.Error(), "failed to resolve args[0] for this kernel") {
		t.Errorf("got %v", err)
	}
}

// TestWhereDefinitionsFail is where the program uses what the library or an
// argument's meaning defines.
func TestWhereDefinitionsFail(t *testing.T) {
	c := &Context{Args: []Arg{{Means: "xlate <psinfo_t *>((struct task_struct *)arg0)"}, {Means: "nosuch + 1"}}}
	small := smallKernel(t)
	for _, test := range []struct{ d, want string }{
		{"BEGIN {\n trace(args[0]->pr_pid +\n args[0]->pr_nlwp); }",
			"test.d:3: failed to resolve member pr_nlwp of psinfo_t for this kernel: signal is not a member of struct task_struct"},
		{"BEGIN {\n this->p =\n *args[0]; }",
			"test.d:3: failed to resolve member pr_nlwp of psinfo_t for this kernel: signal is not a member of struct task_struct"},
		{"BEGIN {\n\n trace(args[0]); }", "test.d:3: the output of a translator can only be used through its members"},
		{"BEGIN {\n\n trace(args[0], 1); }", "test.d:3: trace( ) prototype mismatch: 2 args passed, 1 expected"},
		{"BEGIN {\n\n trace(args[1]); }", "test.d:3: failed to resolve args[1] for this kernel: failed to resolve nosuch: Unknown variable name"},
		{"BEGIN {\n\n trace(ppid); }", "test.d:3: failed to resolve ppid for this kernel: real_parent is not a member of struct task_struct"},
	} {
		_, err := checkWith(t, c, test.d, small)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%q: %v, want %s", test.d, err, test.want)
		}
	}
}

// smallKernel is the types of a kernel whose tasks have nothing but a tgid.
func smallKernel(t *testing.T) *btf.Spec {
	t.Helper()
	number := &btf.Int{Name: "int", Size: 4, Encoding: btf.Signed}
	builder, err := btf.NewBuilder([]btf.Type{
		&btf.Struct{Name: "task_struct", Size: 4, Members: []btf.Member{{Name: "tgid", Type: number}}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := builder.Marshal(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := btf.LoadSpecFromReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// TestFunctions of the kernel stand for their addresses where values are wanted.
func TestFunctions(t *testing.T) {
	for _, x := range []string{"trace(`vfs_read)", "print(`vfs_read)", "trace(arg0 ? `vfs_read : 0)", "trace(arg0 ? 0 : `vfs_read)"} {
		p, errs := checkText(t, "test.d", "BEGIN { "+x+"; }", testEnv(t))
		if len(errs) > 0 {
			t.Errorf("%s: %v", x, errs)
			continue
		}
		if got := p.Clauses[0].Body[0].(*Action).Args[0].Type(); got.Base().Kind != Pointer {
			t.Errorf("%s: is of type %s", x, got)
		}
	}
}

// TestStructsOfStructs takes no longer for being deep.
func TestStructsOfStructs(t *testing.T) {
	src := "struct s0 { char c; };\n"
	for n := 1; n <= 26; n++ {
		src += fmt.Sprintf("struct s%d { struct s%d a; struct s%d b; };\n", n, n-1, n-1)
	}
	if _, err := checkIn(t, &Context{}, src+"struct s26 x; BEGIN { trace(sizeof (x)); }"); err != nil {
		t.Error(err)
	}
	_, err := checkIn(t, &Context{}, src+"struct s27 { struct s26 a; struct s26 b; }; BEGIN { }")
	if err == nil || !strings.Contains(err.Error(), "struct s27 is too big") {
		t.Errorf("got %v", err)
	}
}
