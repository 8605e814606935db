package types

import (
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
		BTF:      func(string) (*btf.Spec, error) { return btf.LoadKernelSpec() },
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
