package kernel

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The kernel refuses probes at places that it rewrites or finds by address
// itself (check_kprobe_address_safe in its kernel/kprobes.c). Here they are
// told from the same tables. Where a table cannot be read, what it holds is
// not known beforehand and comes out when the kernel refuses.

// reasons tells of the places in one function.
type reasons struct {
	kernel *Kernel
	module string
	base   string // of the function's name: foo of foo.cold, else ""
	listed bool   // base is on the blacklist
}

func (k *Kernel) reasons(f Function) reasons {
	base, _, suffixed := strings.Cut(f.Name, ".")
	if !suffixed {
		return reasons{kernel: k, module: f.Module}
	}
	return reasons{k, f.Module, base, k.isListed(base)}
}

// isListed reports whether the first function of that name is on the blacklist.
func (k *Kernel) isListed(name string) bool {
	list := k.blacklist()
	if len(list) == 0 {
		return false
	}
	syms, err := k.Symbols()
	if err != nil {
		return false
	}
	whole := syms.Lookup(name)
	return len(whole) > 0 && inMerged(list, whole[0].Addr)
}

// What Unprobeable says.
const (
	reasonBlacklist  = "the kernel has the function on its blacklist: it must run without interruption (noinstr), or probes themselves need it"
	reasonJumpLabel  = "it is a jump label, which the kernel rewrites when a feature is switched on or off"
	reasonStaticCall = "it is a static call, which the kernel rewrites when another function is to be called"
	reasonBug        = "it is the trap of a BUG or WARN, which the kernel knows by its address"
	reasonNotrace    = "the function is hidden from the function tracer (notrace), and this kernel, built without CONFIG_KPROBE_EVENTS_ON_NOTRACE, lets no events on such functions"
	reasonOverrun    = "the kernel would crash: it reads a probed function up to the end of its memory, and in this one, the last of its module, beyond that (can_optimize in arch/x86/kernel/kprobes/opt.c)"
	reasonBreakpoint = "it is a breakpoint instruction itself"
)

// Unprobeable returns why the kernel would not take a probe at the i-th
// instruction, as far as that can be known beforehand; "" if nothing speaks
// against it.
func (l *Listing) Unprobeable(i int) string {
	why := l.reasons.at(l.Landing(i))
	if why == "" {
		why = l.hazard(i)
	}
	if why == "" {
		why = l.unemulated(i)
	}
	switch {
	case why != "":
		return why
	case l.isBreakpoint(i):
		return reasonBreakpoint
	case l.overruns && l.Insts[i].Addr != l.entry():
		return reasonOverrun
	case l.isTraceable() || l.reasons.kernel.notraceProbes(l):
		return ""
	}
	return reasonNotrace
}

// Breakpointable reports whether a hardware breakpoint can be put on the i-th
// instruction. The kernel keeps them off what is on the blacklist alone.
func (l *Listing) Breakpointable(i int) bool {
	return !l.reasons.blacklisted(l.Insts[i].Addr)
}

func (r reasons) at(addr uint64) string {
	if r.blacklisted(addr) {
		return reasonBlacklist
	}
	tables := r.kernel.tables(r.module)
	switch {
	case contains(tables.jumps, addr):
		return reasonJumpLabel
	case contains(tables.calls, addr):
		return reasonStaticCall
	case contains(tables.bugs, addr):
		return reasonBug
	}
	return ""
}

// rewritten reports whether the kernel rewrites the instruction at addr, in a
// module or VMLinux, while it runs.
func (k *Kernel) rewritten(module string, addr uint64) bool {
	tables := k.tables(module)
	return contains(tables.jumps, addr) || contains(tables.calls, addr)
}

func (r reasons) rewritten(addr uint64) bool { return r.kernel.rewritten(r.module, addr) }

func contains(sorted []uint64, addr uint64) bool {
	_, found := slices.BinarySearch(sorted, addr)
	return found
}

// blacklisted does as the kernel's within_kprobe_blacklist: what the compiler
// split off a function is blacklisted with it.
func (r reasons) blacklisted(addr uint64) bool {
	return r.listed || inMerged(r.kernel.blacklist(), addr)
}

// span is the addresses from begin up to end.
type span struct{ begin, end uint64 }

func inSpans(spans []span, addr uint64) bool {
	return slices.ContainsFunc(spans, func(s span) bool { return s.begin <= addr && addr < s.end })
}

func loadBlacklist() []span {
	dir, err := DebugFS()
	if err != nil {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(dir, "kprobes", "blacklist"))
	if err != nil {
		return nil
	}
	spans, _ := parseBlacklist(string(text))
	return mergeSpans(spans)
}

// parseBlacklist reads lines of
//
//	0xffffffff81c00990-0xffffffff81c009b0	asm_exc_divide_error
func parseBlacklist(text string) ([]span, error) {
	var spans []span
	for line := range strings.Lines(text) {
		addrs, _, _ := strings.Cut(line, "\t")
		begin, end, ok := strings.Cut(addrs, "-")
		b, err1 := strconv.ParseUint(begin, 0, 64)
		e, err2 := strconv.ParseUint(end, 0, 64)
		if !ok || err1 != nil || err2 != nil {
			return spans, fmt.Errorf("kprobes/blacklist: not a range of addresses: %q", line)
		}
		spans = append(spans, span{b, e})
	}
	return spans, nil
}

// siteTables holds the addresses, in order, of a module's places that the
// kernel treats in a special way.
type siteTables struct {
	jumps, calls, bugs []uint64
}

// tables returns the tables of a module, empty where they cannot be read.
func (k *Kernel) tables(module string) *siteTables {
	k.mu.Lock()
	defer k.mu.Unlock()
	if t, ok := k.siteTables[module]; ok {
		return t
	}
	t := new(siteTables)
	if module == VMLinux {
		k.readTables(t)
	} else {
		k.readModuleTables(t, module)
	}
	for _, addrs := range [][]uint64{t.jumps, t.calls, t.bugs} {
		slices.Sort(addrs)
	}
	k.siteTables[module] = t
	return t
}

// Sizes in bytes. Struct jump_entry: s32 code, s32 target, long key; struct
// static_call_site: s32 addr, s32 key. The first member is the distance of
// the place from the member itself.
const (
	jumpEntrySize  = 16
	staticCallSize = 8
)

// readTables reads the tables of the kernel proper, which lie between
// symbols.
func (k *Kernel) readTables(t *siteTables) {
	t.jumps = k.relativeTable("__start___jump_table", "__stop___jump_table", jumpEntrySize)
	t.calls = k.relativeTable("__start_static_call_sites", "__stop_static_call_sites", staticCallSize)
	t.bugs = k.bugTable()
}

func (k *Kernel) relativeTable(start, stop string, size int) []uint64 {
	text, addr, err := k.between(start, stop)
	if err != nil {
		return nil
	}
	return relative(text, addr, size)
}

func (k *Kernel) between(start, stop string) (text []byte, addr uint64, err error) {
	syms, err := k.Symbols()
	if err != nil {
		return nil, 0, err
	}
	begin, ok1 := syms.Data(start)
	end, ok2 := syms.Data(stop)
	if !ok1 || !ok2 || end < begin || end-begin > maxTable {
		return nil, 0, fmt.Errorf("the kernel's symbols lack %s", start)
	}
	text, err = k.LiveText(begin, int(end-begin))
	return text, begin, err
}

// maxTable is more bytes than any of the tables has.
const maxTable = 64 << 20

// relative returns the places that the entries of a table, which stands at
// addr, begin with.
func relative(table []byte, addr uint64, size int) []uint64 {
	places := make([]uint64, 0, len(table)/size)
	for at := 0; at+size <= len(table); at += size {
		distance := int32(binary.NativeEndian.Uint32(table[at:]))
		places = append(places, addr+uint64(at)+uint64(int64(distance)))
	}
	return places
}

// bugTable reads the table of struct bug_entry, whose size depends on how the
// kernel is built. Of all sizes that would fit only the right one makes every
// entry begin with the distance to kernel text, as the members behind the
// first are distances to strings, or small numbers.
func (k *Kernel) bugTable() []uint64 {
	table, addr, err := k.between("__start___bug_table", "__stop___bug_table")
	if err != nil {
		return nil
	}
	syms, err := k.Symbols()
	if err != nil {
		return nil
	}
	text, ok := syms.text()
	if !ok {
		return nil
	}
	for size := 8; size <= 32; size += 4 {
		if len(table)%size != 0 {
			continue
		}
		places := relative(table, addr, size)
		if !slices.ContainsFunc(places, func(p uint64) bool { return !inSpans(text, p) }) {
			return places
		}
	}
	return nil
}

// text returns where the text of the kernel proper is, that of its
// initialisation included.
func (s *Symbols) text() (spans []span, ok bool) {
	for _, names := range [][2]string{{"_stext", "_etext"}, {"_sinittext", "_einittext"}, {"__init_begin", "__init_end"}} {
		begin, ok1 := s.Data(names[0])
		end, ok2 := s.Data(names[1])
		if ok1 && ok2 {
			spans = append(spans, span{begin, end})
		}
	}
	return spans, len(spans) > 0
}

// readModuleTables reads the tables that a module's struct module points to.
func (k *Kernel) readModuleTables(t *siteTables, module string) {
	m, err := k.moduleStruct(module)
	if err != nil {
		return
	}
	t.jumps = m.table("jump_entries", "num_jump_entries", jumpEntrySize)
	t.calls = m.table("static_call_sites", "num_static_call_sites", staticCallSize)
	spec, err := k.BTF()
	if err != nil {
		return
	}
	if bug, err := structOf(spec, "bug_entry"); err == nil {
		t.bugs = m.table("bug_table", "num_bugs", int(bug.Size))
	}
}
