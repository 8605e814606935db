package listing

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kinst/internal/cli"
	"kinst/internal/vm"
	"kinst/internal/vm/vmtest"
)

// functions are such as have about everything in them that compilers, and the
// kernel at boot, put into text: alternatives, jump labels, static calls,
// switches, inline assembly.
var functions = []string{
	"vfs_read", "do_sys_openat2", "copy_process", "__x64_sys_read", "tcp_sendmsg_locked",
	"do_idle", "native_read_msr", "vsnprintf", "__schedule",
}

// TestMain has the test binary stand in for kinst in a guest, and for the
// program that reads the text there.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "kinst":
		os.Exit(cli.Main(os.Args))
	case "text":
		if err := printText(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestListing(t *testing.T) {
	for _, kernel := range vmtest.Kernels() {
		t.Run(kernel, func(t *testing.T) {
			script := "ln -s /bin/kinst /bin/text\n"
			for _, f := range functions {
				script += fmt.Sprintf("echo @%[1]s; text %[1]s && kinst disas %[1]s && kinst -l -n kinst::%[1]s:\n", f)
			}
			script += "true\n" // of some functions no instruction can be probed
			r := vmtest.Run(t, kernel, script, vm.Config{})
			if r.Status != 0 {
				t.Fatalf("status %d: %s", r.Status, r.Stderr)
			}
			parts := strings.Split(r.Stdout, "\n@")
			if len(parts) != len(functions) {
				t.Fatalf("the guest printed %d functions of %d:\n%s", len(parts), len(functions), r.Stderr)
			}
			for _, part := range parts {
				compare(t, strings.TrimPrefix(part, "@"))
			}
		})
	}
}

// compare compares what was printed of one function: its name, its address and
// text, the listing and the list.
func compare(t *testing.T, part string) {
	name, part, _ := strings.Cut(part, "\n")
	head, part, _ := strings.Cut(part, "\n")
	listing, list, ok := strings.Cut(part, "End of assembler dump.\n")
	if !ok {
		t.Fatalf("%s: no listing:\n%s", name, part)
	}
	var addr uint64
	var digits string
	if _, err := fmt.Sscanf(head, "%x %s", &addr, &digits); err != nil {
		t.Fatalf("%s: %v in %q", name, err, head)
	}
	text, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	insts := parseListing(t, name, listing)
	compareOffsets(t, name, insts, objdump(t, addr, text))
	compareForm(t, name, insts, gdb(t, name, addr, text[:insts[len(insts)-1].end()]))

	var want []string
	for _, in := range insts {
		if !in.marked {
			want = append(want, strconv.Itoa(in.offset))
		}
	}
	var got []string
	for line := range strings.Lines(list) {
		if f := strings.Fields(line); f[0] != "ID" {
			got = append(got, f[len(f)-1])
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: -l does not list what disas leaves unmarked (-disas +list):\n%s", name, diff)
	}
}

// An inst is a line of a listing.
type inst struct {
	offset int
	marked bool
	bytes  string // "48 89 e5"
	line   string // as gdb prints it
}

func (in inst) end() int { return in.offset + (len(in.bytes)+1)/3 }

var line = regexp.MustCompile(`^([ !])( +0x[0-9a-f]+ <\+(\d+)>:\t([0-9a-f ]+)\t[^\t]*)(\t! .+)?$`)

func parseListing(t *testing.T, name, listing string) []inst {
	var insts []inst
	for i, text := range strings.Split(strings.TrimSuffix(listing, "\n"), "\n") {
		if i == 0 {
			if text != "Dump of assembler code for function "+name+":" {
				t.Fatalf("%s: the listing begins with %q", name, text)
			}
			continue
		}
		m := line.FindStringSubmatch(text)
		if m == nil || (m[1] == "!") != (m[5] != "") {
			t.Fatalf("%s: a line of the listing is %q", name, text)
		}
		offset, err := strconv.Atoi(m[3])
		if err != nil {
			t.Fatal(err)
		}
		insts = append(insts, inst{offset, m[1] == "!", strings.TrimSpace(m[4]), " " + m[2]})
	}
	return insts
}

// compareOffsets compares where instructions begin. What objdump sees behind
// the listing's last must be padding.
func compareOffsets(t *testing.T, name string, insts []inst, want []inst) {
	if len(want) < len(insts) {
		t.Fatalf("%s: %d instructions, objdump has %d", name, len(insts), len(want))
	}
	for i, in := range insts {
		if in.offset != want[i].offset || in.bytes != want[i].bytes {
			t.Fatalf("%s: instruction %d is at %d: %s, objdump's at %d: %s", name, i, in.offset, in.bytes, want[i].offset, want[i].bytes)
		}
	}
	for _, in := range want[len(insts):] {
		if !strings.HasPrefix(in.line, "int3") && !strings.Contains(in.line, "nop") && !strings.HasPrefix(in.line, "xchg   %ax,%ax") && !strings.HasPrefix(in.line, "add    %al,(%rax)") {
			t.Errorf("%s: the listing ends before %d: %s", name, in.offset, in.line)
			return
		}
	}
}

// objdump reads text's instructions.
func objdump(t *testing.T, addr uint64, text []byte) []inst {
	file := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(file, text, 0o666); err != nil {
		t.Fatal(err)
	}
	out := run(t, "objdump", "-D", "-w", "-z", "-b", "binary", "-m", "i386:x86-64", fmt.Sprintf("--adjust-vma=%#x", addr), file)
	var insts []inst
	for text := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(text), "\t")
		at, err := strconv.ParseUint(strings.TrimSuffix(f[0], ":"), 16, 64)
		if len(f) < 3 || err != nil {
			continue
		}
		insts = append(insts, inst{offset: int(at - addr), bytes: strings.TrimSpace(f[1]), line: f[2]})
	}
	return insts
}

// compareForm compares the lines to gdb's, which knows no symbol but this one.
func compareForm(t *testing.T, name string, insts []inst, want []string) {
	var got []string
	for _, in := range insts {
		got = append(got, strings.TrimRight(symbol.ReplaceAllStringFunc(in.line, func(s string) string {
			if strings.HasPrefix(s, " <"+name+"+") || s == " <"+name+">" {
				return s
			}
			return ""
		}), " "))
	}
	if len(want) != len(got) {
		t.Fatalf("%s: %d instructions, gdb has %d", name, len(got), len(want))
	}
	wrong := 0
	for i := range got {
		if !sameText(got[i], want[i]) {
			if wrong++; wrong <= 5 {
				t.Errorf("%s:\n got %q\nwant %q", name, got[i], want[i])
			}
		}
	}
	if wrong > 5 {
		t.Errorf("%s: %d lines differ", name, wrong)
	}
}

var (
	symbol = regexp.MustCompile(` <[^<>+]+(\+\d+)?>`)
	percpu = regexp.MustCompile(`^(.*%gs:0x[0-9a-f]+)( +#.*)?$`)
)

// sameText compares two lines. The variables that per-CPU operands mean are
// unknown to gdb, which sees an address of its own there, or none.
func sameText(got, want string) bool {
	if m := percpu.FindStringSubmatch(got); m != nil {
		return strings.HasPrefix(want, m[1])
	}
	if strings.Contains(got, "%gs:") {
		got, _, _ = strings.Cut(got, "        #")
		want, _, _ = strings.Cut(want, "        #")
	}
	return got == want
}

// gdb disassembles text as a function of that name.
func gdb(t *testing.T, name string, addr uint64, text []byte) []string {
	dir := t.TempDir()
	var source bytes.Buffer
	fmt.Fprintf(&source, ".text\n.globl %[1]s\n.type %[1]s,@function\n%[1]s:\n", name)
	for _, b := range text {
		fmt.Fprintf(&source, ".byte %d\n", b)
	}
	fmt.Fprintf(&source, ".size %[1]s,.-%[1]s\n", name)
	asm, object, program := filepath.Join(dir, "text.s"), filepath.Join(dir, "text.o"), filepath.Join(dir, "text")
	if err := os.WriteFile(asm, source.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	run(t, "as", "-o", object, asm)
	run(t, "ld", "-e", "0", fmt.Sprintf("-Ttext=%#x", addr), "-o", program, object)
	out := run(t, "gdb", "-nx", "-batch", "-ex", "disassemble /r "+name, program)
	var lines []string
	for _, l := range strings.Split(out, "\n") {
		if strings.HasPrefix(l, "   0x") {
			lines = append(lines, strings.TrimRight(l, " "))
		}
	}
	return lines
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, &stderr)
	}
	return string(out)
}

// printText prints the address of a function and its live text up to the next
// symbol, by /proc/kallsyms and /proc/kcore alone.
func printText(function string) error {
	symbols, err := os.ReadFile("/proc/kallsyms")
	if err != nil {
		return err
	}
	var addr uint64
	var all []uint64
	for l := range strings.Lines(string(symbols)) {
		f := strings.Fields(l)
		at, err := strconv.ParseUint(f[0], 16, 64)
		if err != nil {
			return err
		}
		all = append(all, at)
		if f[2] == function {
			addr = at
		}
	}
	end := ^uint64(0)
	for _, at := range all {
		if at > addr {
			end = min(end, at)
		}
	}
	text, err := readCore(addr, int(end-addr))
	if err != nil {
		return err
	}
	fmt.Printf("%x %x\n", addr, text)
	return nil
}

func readCore(addr uint64, n int) ([]byte, error) {
	core, err := elf.Open("/proc/kcore")
	if err != nil {
		return nil, err
	}
	defer core.Close()
	for _, p := range core.Progs {
		if p.Type == elf.PT_LOAD && p.Vaddr <= addr && addr-p.Vaddr < p.Memsz {
			text := make([]byte, n)
			_, err := p.ReadAt(text, int64(addr-p.Vaddr))
			return text, err
		}
	}
	return nil, errors.New("/proc/kcore does not have the address")
}
