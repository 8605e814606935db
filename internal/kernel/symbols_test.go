package kernel

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const someSymbols = `0000000000000000 A fixed_percpu_data
ffffffff81000000 T _text
ffffffff81000000 T _stext
ffffffff81000100 T __pfx_vfs_read
ffffffff81000110 T vfs_read
ffffffff81000300 t dup
ffffffff81000400 t dup
ffffffff81000480 t foo.cold
ffffffff81000500 T sys_old
ffffffff81000500 W sys_ni
ffffffff81000600 T _etext
ffffffff82000000 D some_data
ffffffff83000000 T _sinittext
ffffffff83000010 t start_kernel
ffffffff83000100 T _einittext
ffffffffc0201000 t ext4_read	[ext4]
ffffffffc0201080 t dup	[ext4]
ffffffffc0202000 d ext4_data	[ext4]
ffffffffc0300000 t bpf_prog_6deef7357e7b4530	[bpf]
ffffffffc0301000 t ftrace_trampoline	[__builtin__ftrace]
`

func parsed(t testing.TB, text string) *Symbols {
	t.Helper()
	s, err := parseSymbols([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fixed is a kernel with these symbols and nothing else.
func fixed(s *Symbols) *Kernel {
	all := func() (*Symbols, error) { return s, nil }
	return &Kernel{symbols: all, listed: all, anchors: map[string]anchor{}}
}

func TestParseSymbols(t *testing.T) {
	s := parsed(t, someSymbols)
	if s.Len() != 20 {
		t.Errorf("%d symbols", s.Len())
	}
	want := []Symbol{
		{0xffffffff81000300, "dup", VMLinux, 't'},
		{0xffffffff81000400, "dup", VMLinux, 't'},
		{0xffffffffc0201080, "dup", "ext4", 't'},
	}
	if diff := cmp.Diff(want, s.Lookup("dup")); diff != "" {
		t.Error(diff)
	}
	if addr, ok := s.Data("some_data"); !ok || addr != 0xffffffff82000000 {
		t.Errorf("some_data at %#x, %v", addr, ok)
	}
	if _, ok := s.Data("ext4_data"); ok {
		t.Error("a module's symbol taken for one of the kernel proper")
	}
	if next, ok := s.Next(0xffffffff81000110); !ok || next != 0xffffffff81000300 {
		t.Errorf("%#x follows", next)
	}
	if n := s.Nearest(0xffffffff81000510); len(n) != 2 || n[0].Name != "sys_old" || n[1].Name != "sys_ni" {
		t.Errorf("nearest are %v", n)
	}
	if n := s.Nearest(0xffffffffffffffff); len(n) != 1 || n[0].Name != "ftrace_trampoline" {
		t.Errorf("nearest are %v", n)
	}
	got, err := s.Match("*_read")
	if err != nil || len(got) != 3 {
		t.Errorf("*_read matches %v, %v", got, err)
	}
}

func TestParseSymbolsErrors(t *testing.T) {
	for _, text := range []string{"\n", "zzz T a\n", "ffffffff81000000\n", "ffffffff81000000 T\n", "ffffffff81000000 TT a\n", "1ffffffff81000000 T a\n"} {
		if _, err := parseSymbols([]byte(text)); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
	hidden := "0000000000000000 T _text\n0000000000000000 T vfs_read\n"
	if _, err := parseSymbols([]byte(hidden)); !errors.Is(err, ErrNoAddresses) {
		t.Errorf("hidden addresses: %v", err)
	}
	if s, err := parseSymbols(nil); err != nil || s.Len() != 0 {
		t.Errorf("no symbols: %v", err)
	}
}

func TestFunctions(t *testing.T) {
	k := fixed(parsed(t, someSymbols))
	for _, test := range []struct {
		spec string
		want string // functions, or the error
	}{
		{"vfs_read", "vmlinux`vfs_read 0x1f0"},
		{"dup", "vmlinux`dup 0x100, vmlinux`dup 0x80, ext4`dup 0xf80"},
		{"vmlinux:dup", "vmlinux`dup 0x100, vmlinux`dup 0x80"},
		{"ext4:dup", "ext4`dup 0xf80"},
		{"ext4`dup", "ext4`dup 0xf80"},
		{"dup@0xffffffff81000400", "vmlinux`dup 0x80"},
		{"dup@0x5", "dup@0x5: no such function; dup stands at 0xffffffff81000300, 0xffffffff81000400, 0xffffffffc0201080"},
		{"dup@x", `dup@x: "x" is not an address, which is written 0xffffffff81000000`},
		{"foo*", "vmlinux`foo.cold 0x80"},
		{"sys_ni", "vmlinux`sys_ni 0x100 (sys_old)"},
		{"sys_*", "vmlinux`sys_old 0x100 (sys_ni)"},
		{"*read", "vmlinux`vfs_read 0x1f0, ext4`ext4_read 0x80"},
		{"ext4:", "ext4`ext4_read 0x80, ext4`dup 0xf80"},
		{"nowhere", "nowhere: no such function"},
		{"ext4:vfs_read", "ext4:vfs_read: no such function"},
		{"xfs:dup", "module xfs is not loaded"},
		{"some_data", "some_data: no such function: it is data"},
		{"start_kernel", "start_kernel: no such function any more: the kernel gave the memory of its initialisation back after it had started"},
		{"start_*", "start_*: no such function"},
		{"_etext", "_etext: no such function"},
		{"bpf_prog*", "bpf_prog*: no such function"},
		{"ftrace_tramp*", "ftrace_tramp*: no such function"},
		{"a[", `"a[" is not a pattern: syntax error in pattern`},
	} {
		functions, err := k.Select(test.spec)
		var got []string
		for _, f := range functions {
			line := f.String() + " 0x" + strings.TrimLeft(hex(f.Extent), "0")
			if len(f.Aliases) > 0 {
				line += " (" + strings.Join(f.Aliases, " ") + ")"
			}
			got = append(got, line)
		}
		if err != nil {
			got = []string{err.Error()}
		}
		if text := strings.Join(got, ", "); text != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.spec, text, test.want)
		}
	}
}

func hex(v uint64) string {
	const digits = "0123456789abcdef"
	var b []byte
	for ; v > 0; v >>= 4 {
		b = append(b, digits[v&15])
	}
	slices.Reverse(b)
	return string(b)
}

func TestFunctionAt(t *testing.T) {
	k := fixed(parsed(t, someSymbols))
	f, err := k.FunctionAt(0xffffffff8100012f)
	if err != nil || f.Name != "vfs_read" {
		t.Errorf("%v, %v", f, err)
	}
	for _, addr := range []uint64{0, 5, 0xffffffff82000000, 0xffffffffc0300001} {
		if f, err := k.FunctionAt(addr); !errors.Is(err, ErrNoFunction) {
			t.Errorf("%#x: %v, %v", addr, f, err)
		}
	}
}

func TestPlace(t *testing.T) {
	k := fixed(parsed(t, someSymbols))
	for _, test := range []struct {
		module string
		addr   uint64
		want   string
	}{
		{VMLinux, 0xffffffff81000119, "_text+281"},
		{"ext4", 0xffffffffc0201084, "ext4:ext4_read+132"},
		{"xfs", 1, "module xfs is not loaded"},
		{VMLinux, 1, "0x1 is not in the text of vmlinux, which begins at 0xffffffff81000000"},
	} {
		got, err := k.Place(test.module, test.addr)
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s %#x: %s, want %s", test.module, test.addr, got, test.want)
		}
	}
	// A name that two functions of the module bear is no anchor.
	twice := fixed(parsed(t, "ffffffffc0000000 t f\t[m]\nffffffffc0000100 t f\t[m]\nffffffffc0000200 t g\t[m]\n"))
	if got, err := twice.Place("m", 0xffffffffc0000210); err != nil || got != "m:g+16" {
		t.Errorf("%s, %v", got, err)
	}
}

func BenchmarkParseSymbols(b *testing.B) {
	text, err := os.ReadFile(kallsymsPath)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := parseSymbols(text); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzParseSymbols(f *testing.F) {
	f.Add(someSymbols)
	f.Add("ffffffff81000000 T a\n0 t b\t[m]")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseSymbols([]byte(text))
		if err != nil {
			return
		}
		k := fixed(s)
		last := uint64(0)
		for sym := range s.All() {
			if sym.Addr < last {
				t.Fatal("not in order")
			}
			last = sym.Addr
			k.FunctionAt(sym.Addr)
		}
		k.Functions("", "*")
	})
}
