package kernel

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

const kallsymsPath = "/proc/kallsyms"

// ErrNoAddresses is returned where the kernel hides the addresses of its
// symbols from this process.
var ErrNoAddresses = errors.New("the kernel hides its addresses in " + kallsymsPath + " from this process")

// hiddenError says what to do about it.
func hiddenError() error {
	const restrict = "/proc/sys/kernel/kptr_restrict"
	if text, err := os.ReadFile(restrict); err == nil && strings.TrimSpace(string(text)) == "2" {
		return &RefusedError{ErrNoAddresses, "sysctl kernel.kptr_restrict is 2: set it to 1"}
	}
	return Refused(ErrNoAddresses, unix.CAP_SYSLOG)
}

// A Symbol is a line of /proc/kallsyms.
type Symbol struct {
	Addr   uint64
	Name   string
	Module string // VMLinux for the kernel proper
	Type   byte   // as nm(1) has it: t or T is text, d or D data, …
}

// IsText reports whether the symbol names code.
func (s Symbol) IsText() bool {
	switch s.Type {
	case 't', 'T', 'w', 'W':
		return true
	}
	return false
}

// Symbols holds the symbols of the kernel and its modules, ordered by address
// and, where several share one, as the kernel lists them.
type Symbols struct {
	syms    []symbol
	table   *kallsyms         // has the names,
	listed  string            // or else this, of which each ends its line or has a tab behind
	modules []string          // by symbol.module; modules[0] is VMLinux
	loaded  map[string]uint64 // where modules were when the symbols were read
	source  string            // the file that they come from

	textBegin, textEnd uint64 // of the kernel proper, 0 where it is not known
	initBegin, initEnd uint64 // text that the kernel gave back after its start

	lookups atomic.Int32 // so far
	index   func() *nameIndex
	all     func() []string         // the names, of symbols that have a table
	marks   map[string][]int        // the landmarks
	cold    func() map[string][]int // symbols that end so
}

// symbol is a Symbol in less space, and without pointers, which the collector of
// garbage would follow: there are some 200,000 of them.
type symbol struct {
	addr   uint64
	at     uint32 // where the name is, in the kernel's own table or in the text
	module uint16
	kind   byte
	token  byte // that the table's name begins with
}

// loadSymbols takes the kernel's own table where that is all there is to take,
// and else /proc/kallsyms.
func (k *Kernel) loadSymbols() (*Symbols, error) {
	modules, err := k.Modules()
	if err != nil {
		return nil, err
	}
	mem, err := k.memory()
	core, ok := mem.(*kcore)
	if err != nil || !ok || len(modules) > 0 {
		return k.listed()
	}
	syms, err := core.coreSymbols()
	if err != nil {
		return k.listed()
	}
	return syms, nil
}

// listSymbols reads /proc/kallsyms.
func (k *Kernel) listSymbols() (*Symbols, error) {
	modules, err := k.Modules()
	if err != nil {
		return nil, err
	}
	f, err := os.Open(kallsymsPath)
	if err != nil {
		return nil, fmt.Errorf("reading the kernel's symbols: %w; is /proc mounted, and the kernel built with CONFIG_KALLSYMS?", err)
	}
	defer f.Close()
	text, err := readAll(f, 16<<20)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", kallsymsPath, err)
	}
	syms, err := parseSymbols(text)
	if err != nil {
		return nil, err
	}
	for _, m := range modules {
		syms.loaded[m.Name] = m.Addr
	}
	return syms, nil
}

// readAll is io.ReadAll into a buffer that is large enough to begin with.
func readAll(r io.Reader, size int) ([]byte, error) {
	buf := bytes.NewBuffer(make([]byte, 0, size))
	_, err := buf.ReadFrom(r)
	return buf.Bytes(), err
}

// parseSymbols reads the format of /proc/kallsyms, lines of
//
//	ffffffff81000000 T _text
//	ffffffffc0201000 t ext4_foo	[ext4]
//
// The names it returns are parts of text, which must not change any more.
func parseSymbols(text []byte) (*Symbols, error) {
	syms := make([]symbol, 0, len(text)/44)
	modules := []string{VMLinux}
	byName := map[string]uint16{}
	hidden := true
	last, lastModule := "", uint16(0)
	if len(text) > math.MaxUint32 {
		return nil, fmt.Errorf("%s has %d bytes", kallsymsPath, len(text))
	}
	whole := unsafe.String(unsafe.SliceData(text), len(text))
	all := whole
	for line := 1; len(all) > 0; line++ {
		begin := len(whole) - len(all)
		var cur string
		cur, all, _ = strings.Cut(all, "\n")
		addr, rest, ok := cutHex(cur)
		if !ok || len(rest) < 4 || rest[0] != ' ' || rest[2] != ' ' {
			return nil, fmt.Errorf("%s:%d: not a symbol: %.80q", kallsymsPath, line, cur)
		}
		sym := symbol{addr: addr, kind: rest[1], at: uint32(begin + len(cur) - len(rest) + 3)}
		if _, module, ok := strings.Cut(rest[3:], "\t"); ok {
			module = strings.Trim(module, "[]")
			if module != last {
				n, known := byName[module]
				if !known {
					if len(modules) > 0xffff {
						return nil, fmt.Errorf("%s:%d: more than 65,535 modules", kallsymsPath, line)
					}
					n = uint16(len(modules))
					byName[module] = n
					modules = append(modules, module)
				}
				last, lastModule = module, n
			}
			sym.module = lastModule
		}
		if addr != 0 {
			hidden = false
		}
		syms = append(syms, sym)
	}
	if len(syms) > 0 && hidden {
		return nil, hiddenError()
	}
	return newSymbols(&Symbols{syms: syms, listed: whole, modules: modules, source: kallsymsPath}), nil
}

// newSymbols puts symbols in order.
func newSymbols(s *Symbols) *Symbols {
	s.loaded = make(map[string]uint64)
	s.index = sync.OnceValue(s.newIndex)
	s.all = sync.OnceValue(func() []string { return s.table.allNames(s.syms) })
	byAddr := func(a, b symbol) int { return cmp.Compare(a.addr, b.addr) }
	if !slices.IsSortedFunc(s.syms, byAddr) {
		slices.SortStableFunc(s.syms, byAddr)
	}
	s.marks = s.pick(landmarks)
	s.cold = sync.OnceValue(func() map[string][]int { return s.ending(coldSuffix) })
	s.findText()
	s.findInit()
	return s
}

// landmarks are symbols that nearly every run asks for. They are looked for
// together.
var landmarks = []string{
	"_text", "_stext", "_etext", "_sinittext", "_einittext", "__init_begin", "__init_end",
	"__start___jump_table", "__stop___jump_table",
	"__start___ex_table", "__stop___ex_table",
	"__start___bug_table", "__stop___bug_table",
	"__start_static_call_sites", "__stop_static_call_sites",
	"kprobe_table",
}

// pick returns the indexes of the symbols of some names.
func (s *Symbols) pick(names []string) map[string][]int {
	found := make(map[string][]int, len(names))
	for _, name := range names {
		found[name] = nil
	}
	if s.table != nil {
		s.table.pick(s.syms, found)
		return found
	}
	for i := range s.syms {
		name := s.name(i)
		if same, ok := found[name]; ok {
			found[name] = append(same, i)
		}
	}
	return found
}

// ending returns the indexes of the symbols whose name ends with a text, by
// name.
func (s *Symbols) ending(suffix string) map[string][]int {
	if s.table != nil {
		return s.table.ending(s.syms, suffix)
	}
	found := make(map[string][]int)
	for i := range s.syms {
		if name := s.name(i); strings.HasSuffix(name, suffix) {
			found[name] = append(found[name], i)
		}
	}
	return found
}

// cutHex splits the leading hexadecimal number off s. It exists because
// strconv.ParseUint takes a third of the time that parsing the symbols takes.
func cutHex(s string) (v uint64, rest string, ok bool) {
	i := 0
	for ; i < len(s) && i < 16; i++ {
		c := s[i]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		default:
			return v, s[i:], i > 0
		}
		v = v<<4 | uint64(c)
	}
	return v, s[i:], i > 0
}

// Len is the number of symbols.
func (s *Symbols) Len() int { return len(s.syms) }

func (s *Symbols) at(i int) Symbol {
	sym := &s.syms[i]
	return Symbol{Addr: sym.addr, Name: s.name(i), Module: s.modules[sym.module], Type: sym.kind}
}

func (s *Symbols) name(i int) string {
	if s.table != nil {
		return s.table.name(s.syms[i].at)
	}
	name, _, _ := strings.Cut(s.listed[s.syms[i].at:], "\n")
	name, _, _ = strings.Cut(name, "\t")
	return name
}

// names returns what names symbols, for those who want most of the names.
func (s *Symbols) names() func(i int) string {
	if s.table == nil {
		return s.name
	}
	all := s.all()
	return func(i int) string { return all[i] }
}

// All goes through the symbols by ascending address.
func (s *Symbols) All() iter.Seq[Symbol] {
	return func(yield func(Symbol) bool) {
		name := s.names()
		for i, sym := range s.syms {
			if !yield(Symbol{Addr: sym.addr, Name: name(i), Module: s.modules[sym.module], Type: sym.kind}) {
				return
			}
		}
	}
}

// Lookup returns every symbol of that name, by ascending address.
func (s *Symbols) Lookup(name string) []Symbol {
	var found []Symbol
	for i := range s.named(name) {
		found = append(found, s.at(i))
	}
	return found
}

// fewLookups is how many names are looked for one by one, in all symbols. To
// make an index takes as long as some fifty of those.
const fewLookups = 50

// named goes through the indexes of the symbols of that name, by ascending
// address.
func (s *Symbols) named(name string) iter.Seq[int] {
	if marks, ok := s.marks[name]; ok {
		return slices.Values(marks)
	}
	if strings.HasSuffix(name, coldSuffix) {
		return slices.Values(s.cold()[name])
	}
	if s.lookups.Add(1) > fewLookups {
		return s.index().all(name)
	}
	return s.scan(name, true)
}

// scan goes through the indexes of the symbols whose name begins with text or,
// if it is asked for whole names, is text.
func (s *Symbols) scan(text string, whole bool) iter.Seq[int] {
	if s.table != nil {
		return s.table.scan(s.syms, text, whole)
	}
	return func(yield func(int) bool) {
		for i := range s.syms {
			name := s.name(i)
			if (name == text || !whole && strings.HasPrefix(name, text)) && !yield(i) {
				return
			}
		}
	}
}

// matching goes through the indexes of the symbols whose name matches a
// pattern of path.Match that is a good one.
func (s *Symbols) matching(pattern string) iter.Seq[int] {
	wild := strings.IndexAny(pattern, wildcards)
	if wild < 0 {
		return s.named(pattern)
	}
	return func(yield func(int) bool) {
		name := s.name
		if wild == 0 {
			name = s.names()
		}
		for i := range s.scan(pattern[:wild], false) {
			if ok, _ := path.Match(pattern, name(i)); ok && !yield(i) {
				return
			}
		}
	}
}

// wildcards are what a pattern has and a name does not.
const wildcards = `*?[\`

// A nameIndex finds symbols by their names.
type nameIndex struct {
	first map[string]int32
	next  []int32 // by symbol: the next one of its name, or -1
}

func (s *Symbols) newIndex() *nameIndex {
	x := &nameIndex{make(map[string]int32, len(s.syms)), make([]int32, len(s.syms))}
	nameOf := s.names()
	for i := len(s.syms) - 1; i >= 0; i-- {
		name := nameOf(i)
		x.next[i] = -1
		if next, ok := x.first[name]; ok {
			x.next[i] = next
		}
		x.first[name] = int32(i)
	}
	return x
}

func (x *nameIndex) all(name string) iter.Seq[int] {
	return func(yield func(int) bool) {
		i, ok := x.first[name]
		for ; ok && i >= 0; i = x.next[i] {
			if !yield(int(i)) {
				return
			}
		}
	}
}

// Match returns the symbols whose name matches a pattern of path.Match, by
// ascending address.
func (s *Symbols) Match(pattern string) ([]Symbol, error) {
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("%q is not a pattern: %w", pattern, err)
	}
	var found []Symbol
	for i := range s.matching(pattern) {
		found = append(found, s.at(i))
	}
	return found, nil
}

// Data returns the address of a data symbol of the kernel proper. Kernels
// built without CONFIG_KALLSYMS_ALL list hardly any.
func (s *Symbols) Data(name string) (addr uint64, ok bool) {
	for i := range s.named(name) {
		if s.syms[i].module == 0 {
			return s.syms[i].addr, true
		}
	}
	return 0, false
}

// after is the index of the first symbol above addr.
func (s *Symbols) after(addr uint64) int {
	i, _ := slices.BinarySearchFunc(s.syms, addr, func(sym symbol, addr uint64) int {
		if sym.addr <= addr {
			return -1
		}
		return 1
	})
	return i
}

// Nearest returns the symbols that stand at the highest address that is not
// above addr.
func (s *Symbols) Nearest(addr uint64) []Symbol {
	end := s.after(addr)
	begin := end
	for begin > 0 && s.syms[begin-1].addr == s.syms[end-1].addr {
		begin--
	}
	var found []Symbol
	for i := begin; i < end; i++ {
		found = append(found, s.at(i))
	}
	return found
}

// Next returns the address of the first symbol above addr, ok false where
// addr is in the last.
func (s *Symbols) Next(addr uint64) (next uint64, ok bool) {
	i := s.after(addr)
	if i == len(s.syms) {
		return 0, false
	}
	return s.syms[i].addr, true
}

// spans reports whether an address is between those of the first text and of
// the last symbol of the kernel proper.
func (s *Symbols) spans(addr uint64) bool {
	n := len(s.syms)
	return n > 0 && s.textBegin <= addr && addr <= s.syms[n-1].addr
}
