package syntax

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// operandCPP is a C++ class whose operators say how the compiler groups them.
const operandCPP = `
#include <cstdio>
#include <string>
struct E {
	std::string s;
	const E *operator->() const { return this; }
	E operator[](const E &y) const { return {s + "[" + y.s + "]"}; }
	E operator=(const E &y) { return {"(" + s + "=" + y.s + ")"}; }
	E(const char *t) : s(t) {}
	E(std::string t) : s(t) {}
	E(const E &) = default;
};
#define BINARY(op) static E operator op(const E &x, const E &y) { return {"(" + x.s + #op + y.s + ")"}; }
#define UNARY(op) static E operator op(const E &x) { return {"(" #op + x.s + ")"}; }
BINARY(+) BINARY(-) BINARY(*) BINARY(/) BINARY(%) BINARY(&) BINARY(|) BINARY(^) BINARY(<<) BINARY(>>)
BINARY(&&) BINARY(||) BINARY(==) BINARY(!=) BINARY(<) BINARY(<=) BINARY(>) BINARY(>=)
BINARY(+=) BINARY(-=) BINARY(*=) BINARY(/=) BINARY(%=) BINARY(&=) BINARY(|=) BINARY(^=) BINARY(<<=) BINARY(>>=)
UNARY(+) UNARY(-) UNARY(~) UNARY(!) UNARY(*) UNARY(&) UNARY(++) UNARY(--)
static E operator,(const E &x, const E &y) { return {"(" + x.s + "," + y.s + ")"}; }
static E operator++(const E &x, int) { return {"(" + x.s + "++)"}; }
static E operator--(const E &x, int) { return {"(" + x.s + "--)"}; }
`

// grouped returns an expression as operandCPP's class spells it.
func grouped(x Expr) string {
	switch x := x.(type) {
	case *Ident:
		return x.Name
	case *Paren:
		return grouped(x.X)
	case *Unary:
		return "(" + x.Op.String() + grouped(x.X) + ")"
	case *Postfix:
		return "(" + grouped(x.X) + x.Op.String() + ")"
	case *Binary:
		return "(" + grouped(x.X) + x.Op.String() + grouped(x.Y) + ")"
	case *Assign:
		return "(" + grouped(x.X) + x.Op.String() + grouped(x.Y) + ")"
	case *Index:
		return grouped(x.X) + "[" + grouped(x.Args[0]) + "]"
	}
	return fmt.Sprintf("%T", x)
}

// randomExpr writes an expression of C, with few parentheses.
func randomExpr(r *rand.Rand, depth int) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	if depth == 0 {
		return pick("a", "b", "c", "d")
	}
	x := func() string { return randomExpr(r, r.IntN(depth)) }
	switch r.IntN(10) {
	case 0:
		return pick("-", "+", "~", "!", "*", "&", "++", "--") + " " + x()
	case 1:
		return pick("a", "b") + pick("++", "--", "[c]", "[a + b]")
	case 2:
		return "(" + x() + ")"
	case 3:
		op := pick("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")
		return pick("a", "b") + " " + op + " " + x()
	}
	op := pick("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "&&", "||",
		"==", "!=", "<", "<=", ">", ">=", ",")
	return x() + " " + op + " " + x()
}

// TestGroupingAgainstCompiler parses random expressions and lets the C++
// compiler, whose operators group as C's and D's do, parse them too.
func TestGroupingAgainstCompiler(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var exprs []string
	program := operandCPP + "int main() {\nE a(\"a\"), b(\"b\"), c(\"c\"), d(\"d\");\n"
	for len(exprs) < 400 {
		text := randomExpr(r, 6)
		f, err := Parse(&Source{Text: "BEGIN{" + text + "}"}, nil)
		if err != nil {
			continue // an assignment to an operand that is no unary expression
		}
		exprs = append(exprs, grouped(f.Decls[0].(*Clause).Body[0].(*ExprStmt).X))
		program += "puts(E((" + text + ")).s.c_str());\n"
	}
	got := strings.Split(strings.TrimSpace(compileAndRun(t, program+"}\n")), "\n")
	if len(got) != len(exprs) {
		t.Fatalf("%d lines for %d expressions", len(got), len(exprs))
	}
	for i, want := range got {
		if exprs[i] != want {
			t.Errorf("parsed as %s, by C++ as %s", exprs[i], want)
		}
	}
}

// compileAndRun returns the output of a C++ program.
func compileAndRun(t *testing.T, program string) string {
	t.Helper()
	dir := t.TempDir()
	source, binary := filepath.Join(dir, "x.cc"), filepath.Join(dir, "x")
	if err := os.WriteFile(source, []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("g++", "-w", "-O0", "-o", binary, source).CombinedOutput(); err != nil {
		t.Fatalf("g++: %v\n%.2000s", err, out)
	}
	out, err := exec.Command(binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// randomDeclarator writes a declarator of C around name. Its nature, 'p' for a
// pointer, 'a' for an array, 'f' for a function, is that of what it declares:
// C has no arrays of functions, and no function returns one or an array.
func randomDeclarator(r *rand.Rand, name string, nature byte, depth int) string {
	if depth == 0 {
		return name
	}
	switch next := r.IntN(3); {
	case next == 0 || nature == 'f' && next == 1:
		return randomDeclarator(r, "(*"+name+")", 'p', depth-1)
	case next == 1:
		return randomDeclarator(r, name+[]string{"[3]", "[2][4]"}[r.IntN(2)], 'a', depth-1)
	case nature == 'a' || nature == 'f':
		return randomDeclarator(r, "*"+strings.Repeat("*", r.IntN(2))+name, 'p', 0)
	}
	params := []string{"(void)", "(int, char *)", "(char (*)[2], int (*f)(long))", "(long x, ...)"}[r.IntN(4)]
	return randomDeclarator(r, name+params, 'f', depth-1)
}

// typedefs declares a type step by step, from the inside, in C and returns the
// name of the last step.
func typedefs(b *strings.Builder, t TypeExpr, n *int) string {
	define := func(format string, args ...any) string {
		*n++
		name := fmt.Sprintf("t%d", *n)
		fmt.Fprintf(b, "typedef "+format+";\n", append(args, name)...)
		return name
	}
	switch t := t.(type) {
	case *NamedType:
		return strings.Join(t.Words, " ")
	case *PointerType:
		return define("%s *%s", typedefs(b, t.Elem, n))
	case *ArrayType:
		return define("%s %[3]s[%[2]d]", typedefs(b, t.Elem, n), t.Len.(*IntLit).Value)
	case *FuncType:
		result := typedefs(b, t.Result, n)
		var params []string
		for _, param := range t.Params {
			params = append(params, typedefs(b, param.Type, n))
		}
		if t.Variadic {
			params = append(params, "...")
		}
		if params == nil {
			params = append(params, "void")
		}
		return define("%s %[3]s(%[2]s)", result, strings.Join(params, ", "))
	}
	return "?"
}

// TestDeclaratorsAgainstCompiler declares each variable twice: as written, and
// with the type that the parser found. The C compiler says if they differ.
func TestDeclaratorsAgainstCompiler(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var program strings.Builder
	types := 0
	for i := range 1000 {
		name := fmt.Sprintf("v%d", i)
		text := "int " + randomDeclarator(r, name, 0, 1+r.IntN(6)) + ";"
		f, err := Parse(&Source{Text: text}, nil)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		d := f.Decls[0].(*VarDecl)
		found := typedefs(&program, d.Type, &types)
		fmt.Fprintf(&program, "extern %s\nextern %s %s;\nextern %s;\n",
			text, found, name, new(printer).typed(d.Type, name))
	}
	source := filepath.Join(t.TempDir(), "x.c")
	if err := os.WriteFile(source, []byte(program.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-w", "-fsyntax-only", source).CombinedOutput(); err != nil {
		t.Errorf("gcc: %v\n%.3000s", err, out)
	}
}
