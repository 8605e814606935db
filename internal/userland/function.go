package userland

import (
	"debug/elf"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"kinst/internal/isa"
)

// ErrNoFunction is wrapped by the errors that say that a name stands for no
// function.
var ErrNoFunction = errors.New("no such function")

// A Function is a function of a file.
type Function struct {
	Name    string   // the name that was asked for
	Aliases []string // its other names, if any
	Addr    uint64   // of its first byte, in the file
	Size    uint64   // in bytes
	// Resolver says that it is not the function that bears the name but what
	// chooses it when the program is loaded (an IFUNC, as memcpy is).
	Resolver bool

	unsized bool // Size is a guess, up to where something else begins
}

// Functions returns the functions whose name matches a pattern of path.Match,
// by ascending address, each once: names that share an address are aliases of
// one function, while a name that several static functions bear stands for
// all of them. An empty pattern means every name. The newest version of a name,
// as memcpy@@GLIBC_2.14, goes by the name alone. The error wraps ErrNoFunction where
// nothing matches.
func (f *File) Functions(pattern string) ([]Function, error) {
	syms, err := f.symbols()
	if err != nil {
		return nil, err
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("%q is not a pattern: %w", pattern, err)
	}
	glob := strings.ContainsAny(pattern, `*?[\`)
	matches := func(name []byte) bool {
		switch {
		case pattern == "" || pattern == string(name):
			return true
		case !glob:
			return false
		}
		ok, _ := path.Match(pattern, string(name))
		return ok
	}
	found := syms.functions(matches)
	if len(found) > 0 {
		return found, nil
	}
	return nil, fmt.Errorf("%s: %w%s", pattern, ErrNoFunction, syms.hint())
}

// hint says why a function that is there may not be found.
func (s *symbols) hint() string {
	switch {
	case len(s.list) == 0:
		return "; the file has no symbols at all, so that its instructions can be named by their addresses only: -:0xADDRESS"
	case s.stripped:
		return "; the file has been stripped of all symbols but those that it exports"
	}
	return ""
}

func (s *symbols) functions(matches func(name []byte) bool) []Function {
	var found []Function
	for i := 0; i < len(s.list); {
		end := i + 1
		for end < len(s.list) && s.list[end].addr == s.list[i].addr {
			end++
		}
		if f, ok := s.function(i, end, matches); ok {
			found = append(found, f)
		}
		i = end
	}
	return found
}

// function makes a function of the symbols with one address, from i up to end.
// Its name is the first one that matches.
func (s *symbols) function(i, end int, matches func(name []byte) bool) (f Function, ok bool) {
	if s.list[i].kind == elf.STT_NOTYPE {
		return Function{}, false
	}
	if !slices.ContainsFunc(s.list[i:end], func(sym symbol) bool { return matches(s.name(sym)) }) {
		return Function{}, false
	}
	f = Function{Addr: s.list[i].addr, Size: s.extent(i), unsized: s.list[i].size == 0}
	for _, sym := range s.list[i:end] {
		name := s.name(sym)
		if !ok && matches(name) {
			f.Name, ok = string(name), true
			f.Resolver = sym.kind == elf.STT_GNU_IFUNC
		} else {
			f.Aliases = append(f.Aliases, string(name))
		}
	}
	return f, ok
}

// FunctionAt returns the function that holds an address of the file's text. Of
// a file that has been stripped of its symbols it has no name.
func (f *File) FunctionAt(addr uint64) (Function, error) {
	syms, err := f.symbols()
	if err != nil {
		return Function{}, err
	}
	if i, ok := syms.at(addr); ok {
		end := i + 1
		for end < len(syms.list) && syms.list[end].addr == syms.list[i].addr {
			end++
		}
		fn, ok := syms.function(i, end, func([]byte) bool { return true })
		if ok {
			return fn, nil
		}
	}
	if s, ok := f.spanAt(addr); ok {
		return Function{Addr: s.start, Size: s.end - s.start}, nil
	}
	return Function{}, fmt.Errorf("%#x: %w", addr, ErrNoFunction)
}

// ReadSymbols reads the file's symbols, unless that has been done. Then Symbol
// needs the file no more.
func (f *File) ReadSymbols() error {
	_, err := f.symbols()
	return err
}

// Symbol names a place in the file: the function that holds it, and how far
// behind its beginning that is. Name is empty where no function is known.
func (f *File) Symbol(offset uint64) (name string, behind uint64) {
	vaddr, ok := f.vaddr(offset)
	if !ok {
		return "", 0
	}
	syms, err := f.symbols()
	if err != nil {
		return "", 0
	}
	i, ok := syms.at(vaddr)
	if !ok {
		return "", 0
	}
	return string(syms.name(syms.list[i])), vaddr - syms.list[i].addr
}

// coldSuffix ends the names of the parts that compilers split off functions
// because they are rarely executed.
const coldSuffix = ".cold"

// Cold returns the parts that were split off a function.
func (f *File) Cold(name string) []Function { return f.cold()[name] }

func (f *File) readCold() map[string][]Function {
	functions, err := f.Functions("*" + coldSuffix)
	if err != nil {
		return nil // there are none
	}
	cold := make(map[string][]Function)
	for _, fn := range functions {
		name := strings.TrimSuffix(fn.Name, coldSuffix)
		cold[name] = append(cold[name], fn)
	}
	return cold
}

// SameFunction reports whether an address is in a function or in another part
// of it.
func (f *File) SameFunction(fn Function, addr uint64) bool {
	if addr-fn.Addr < fn.Size {
		return true
	}
	other, err := f.FunctionAt(addr)
	return err == nil && strings.TrimSuffix(other.Name, coldSuffix) == strings.TrimSuffix(fn.Name, coldSuffix)
}

// A Listing is the instructions of a function. Their addresses are the file's.
type Listing struct {
	Function Function
	Insts    []isa.Inst
	// Rest says why the listing ends before the function does: it holds
	// something that is no instruction. It is nil where that is not so.
	Rest error
}

// maxFunction bounds what is read for one function, in bytes.
const maxFunction = 16 << 20

// Listing reads the instructions of a function from the file. Breakpoints
// that others have put into the memory of a process are not in it.
func (f *File) Listing(fn Function) (*Listing, error) {
	if fn.Size > maxFunction {
		return nil, fmt.Errorf("%s: its symbol says that it has %d bytes, which no function has", fn.Name, fn.Size)
	}
	text, err := f.text(fn.Addr, fn.Size)
	if err != nil {
		return nil, fmt.Errorf("%s: its text cannot be read: %w", fn.Name, err)
	}
	l := &Listing{Function: fn}
	l.Insts, l.Rest = isa.Instructions(f.arch, text, fn.Addr)
	if fn.unsized {
		l.Insts = certain(l.Insts)
	}
	if len(l.Insts) == 0 {
		return nil, fmt.Errorf("%s: there are no instructions: %w", fn.Name, l.Rest)
	}
	return l, nil
}

// certain returns the instructions of a function that control reaches from the
// first one, up to the first gap: behind a function whose size is not known
// there may be anything, and what is no code must not be probed.
func certain(insts []isa.Inst) []isa.Inst {
	index := make(map[uint64]int, len(insts))
	for i, in := range insts {
		index[in.Addr] = i
	}
	reached := make([]bool, len(insts))
	for work := []int{0}; len(work) > 0; {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		for ; i < len(insts) && !reached[i]; i++ {
			reached[i] = true
			in := insts[i]
			if to, ok := index[in.Target]; ok && in.Kind.Is(isa.Jump) && in.HasTarget() {
				work = append(work, to)
			}
			if !in.FallsThrough() {
				break
			}
		}
	}
	if n := slices.Index(reached, false); n >= 0 {
		return insts[:n]
	}
	return insts
}
