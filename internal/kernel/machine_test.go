package kernel

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// BPF reads the same as /proc/kcore.
func TestTextThroughBPF(t *testing.T) {
	k := open(t)
	syms, err := k.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	core, err := openKcore(kcorePath)
	if err != nil {
		t.Fatal(err)
	}
	defer core.Close()
	bpf, err := openProbeReader()
	if err != nil {
		t.Fatal(err)
	}
	defer bpf.Close()
	text, _ := syms.Data("_stext")
	for _, size := range []int{1, 7, 4095, 4096, 4097, 100_000} {
		a, b := make([]byte, size), make([]byte, size)
		if err := core.read(text+33, a); err != nil {
			t.Fatal(err)
		}
		if err := bpf.read(text+33, b); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%d bytes differ", size)
		}
	}
	if err := bpf.read(1<<63+1<<40, make([]byte, 8)); err == nil {
		t.Error("memory that is not mapped was read through BPF")
	}
	if err := core.read(1<<62, make([]byte, 8)); err == nil {
		t.Error("memory that is not the kernel's was read from kcore")
	}
}

// Where /proc/kcore is of no use the listing is the same, also under probes.
func TestListingWithoutKcore(t *testing.T) {
	was := list(t, open(t), "vfs_read")
	if err := unix.Mount("/dev/null", kcorePath, "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	defer unix.Unmount(kcorePath, 0)
	k := open(t)
	sameListing(t, was, list(t, k, "vfs_read"))
	if mem, err := k.memory(); err != nil || mem.source() != "BPF" {
		t.Fatalf("read through %v, %v", mem, err)
	}
	armByHand(t, "nocore", was, 1, 2)
	sameListing(t, was, list(t, k, "vfs_read"))
	for i := range was.Insts {
		if a, b := was.Unprobeable(i), list(t, k, "vfs_read").Unprobeable(i); a != b {
			t.Errorf("+%d: %q, through BPF %q", was.Insts[i].Addr-was.Function.Addr, a, b)
		}
		if i > 20 {
			break
		}
	}
}

func TestCheckFindsAllHere(t *testing.T) {
	for _, c := range open(t).Check() {
		t.Logf("%v %-22s %s", c.OK, c.Name, c.Detail)
		if !c.OK {
			t.Errorf("%s: %s; %s", c.Name, c.Detail, c.Remedy)
		}
	}
}

// anotherTracefs stands for what is found elsewhere when it is missing.
const anotherTracefs = "another tracefs"

// Without a privilege or a part of the kernel the check says which.
func TestCheckNamesWhatIsMissing(t *testing.T) {
	find := func(name string) Check {
		checks := open(t).Check()
		i := slices.IndexFunc(checks, func(c Check) bool { return c.Name == name })
		if i < 0 {
			t.Fatalf("no check %q", name)
		}
		return checks[i]
	}
	expect := func(name, detail string) {
		t.Helper()
		c := find(name)
		if c.OK || !strings.Contains(c.Detail, detail) || c.Remedy == "" {
			t.Errorf("%+v, expected a word of %q", c, detail)
		}
	}
	set := func(path, value string) func() {
		old := strings.TrimSpace(readFile(t, path))
		writeFile(t, path, value)
		return func() { writeFile(t, path, old) }
	}
	back := set("/sys/kernel/debug/kprobes/enabled", "0")
	expect("kprobes switched on", "disarmed")
	back()
	back = set("/proc/sys/debug/kprobes-optimization", "0")
	expect("optimized kprobes", "switched off")
	back()
	back = set("/sys/kernel/rcu_normal", "1")
	expect("fast disarming", "rcu_normal")
	back()
	for _, c := range []struct{ path, name, detail string }{
		{tracefs + "kprobe_events", "kprobes", anotherTracefs},
		{"/sys/kernel/btf/vmlinux", "BTF", "types"},
		{"/sys/kernel/debug/kprobes/blacklist", "blacklist", "cannot be read"},
	} {
		// An empty directory in the place of the file that is there.
		dir := t.TempDir()
		parent := c.path[:strings.LastIndex(c.path, "/")]
		if err := unix.Mount(dir, parent, "", unix.MS_BIND, ""); err != nil {
			t.Fatal(err)
		}
		if c.detail != anotherTracefs {
			expect(c.name, c.detail)
		} else if found := find(c.name); !found.OK || strings.HasSuffix(found.Detail, parent) {
			t.Errorf("without %s: %+v", parent, found)
		}
		if err := unix.Unmount(parent, unix.MNT_DETACH); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSymbolsOfThisKernel(t *testing.T) {
	k := open(t)
	syms, err := k.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	// Programs of the tests before this one are still going.
	text := readFile(t, kallsymsPath)
	lines, listed := strings.Count(text, "\n")-strings.Count(text, "\t[bpf]\n"), 0
	for sym := range syms.All() {
		if sym.Module != "bpf" {
			listed++
		}
	}
	if listed != lines {
		t.Errorf("%d symbols of %d lines", listed, lines)
	}
	if k.Release() == "" {
		t.Error("no release")
	}
	if id, err := k.BootID(); len(id) != 36 {
		t.Errorf("boot %q, %v", id, err)
	}
	for _, module := range []string{"dummy", "raid6_pq"} {
		if _, err := k.Functions(module, "*"); err != nil {
			t.Error(err)
		}
	}
	if os.Getenv("KINST_TEST_GUEST") == "" {
		t.Error("not in a guest")
	}
}

// The kernel's own table says what /proc/kallsyms prints.
func TestKallsymsOfThisKernel(t *testing.T) {
	core, err := openKcore(kcorePath)
	if err != nil {
		t.Fatal(err)
	}
	defer core.Close()
	table, err := core.coreSymbols()
	if err != nil {
		t.Fatal(err)
	}
	listed, err := open(t).listed()
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for want := range listed.All() {
		if want.Module != VMLinux {
			continue
		}
		if i == table.Len() {
			t.Fatalf("the table ends before %v", want)
		}
		if got := table.at(i); got != want {
			t.Fatalf("symbol %d is %v, want %v", i, got, want)
		}
		i++
	}
	if i != table.Len() {
		t.Errorf("%d symbols, %d listed", table.Len(), i)
	}
	if !table.spans(mustData(t, table, "_etext")) || table.spans(0) || table.spans(table.at(i-1).Addr+1) {
		t.Error("spans is wrong")
	}
}

func mustData(t *testing.T, s *Symbols, name string) uint64 {
	t.Helper()
	addr, ok := s.Data(name)
	if !ok {
		t.Fatal("no symbol " + name)
	}
	return addr
}

// Every function of every module has a listing, and where the kernel knows the
// end of it, that is it.
func TestListingsOfModules(t *testing.T) {
	k := open(t)
	modules, err := k.Modules()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range modules {
		functions, err := k.Functions(m.Name, "")
		if err != nil {
			t.Error(err)
			continue
		}
		insts, unfinished, last := 0, 0, 0
		for _, f := range functions {
			l, err := k.Listing(native(t), f)
			if err != nil {
				t.Error(err)
				continue
			}
			if f.last {
				last++
				t.Logf("%s, the last: %d bytes, ends in % x", f, l.End()-f.Addr, l.Insts[len(l.Insts)-1].Bytes)
			}
			if l.Rest != nil {
				unfinished++
				t.Errorf("%s: %v", f, l.Rest)
			}
			insts += len(l.Insts)
			for i := range l.Insts {
				l.Unprobeable(i)
			}
		}
		t.Logf("%s: %d functions, %d instructions, %d unfinished, %d last", m.Name, len(functions), insts, unfinished, last)
		if last == 0 {
			t.Errorf("%s has no last function", m.Name)
		}
	}
}

// Where a module's text ends so that the kernel would read beyond, probes in
// its last function are not offered, but on the tracer's site.
func TestKernelOverruns(t *testing.T) {
	k := open(t)
	denied := 0
	modules, err := k.Modules()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range modules {
		functions, err := k.Functions(m.Name, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range functions {
			l, err := k.Listing(native(t), f)
			if err != nil {
				t.Fatal(err)
			}
			if !l.overruns {
				continue
			}
			denied++
			end := k.moduleTextEnd(m.Name, l.End())
			t.Logf("%s ends %d bytes before the end of the module's text", f, end-l.End())
			if (end-l.End())%2 == 0 || isMapped(end) {
				t.Errorf("%s: nothing is wrong there", f)
			}
			if i := len(l.Insts) - 1; l.Unprobeable(i) == "" {
				t.Errorf("%s+%d is said to be probeable", f, l.Insts[i].Addr-f.Addr)
			}
		}
	}
	t.Logf("%d functions of %d modules", denied, len(modules))
}
