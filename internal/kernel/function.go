package kernel

import (
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"
)

// ErrNoFunction is wrapped by the errors that say that a name stands for no
// function.
var ErrNoFunction = errors.New("no such function")

// A Function is a piece of text from a symbol to the next one.
type Function struct {
	Name    string   // the name that was asked for
	Aliases []string // its other names, if any
	Module  string   // VMLinux or the module's name
	Addr    uint64   // of its first byte
	Extent  uint64   // bytes up to the next symbol: its code and the padding after it

	last bool // of its module's text: Extent is an upper bound
}

// String returns the function as MODULE`NAME.
func (f Function) String() string { return f.Module + "`" + f.Name }

// Functions returns the functions whose name matches a pattern of path.Match,
// by ascending address, each once: names that share an address are aliases of
// one function, while a name that several static functions bear stands for
// all of them. An empty module means any, an empty pattern every name.
//
// Functions that exist no more, those of the kernel's own initialisation, are
// left out, and so are the symbols that mark the padding before a function.
// The error wraps ErrNoFunction or ErrNotLoaded where nothing matches.
func (k *Kernel) Functions(module, pattern string) ([]Function, error) {
	syms, err := k.Symbols()
	if err != nil {
		return nil, err
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("%q is not a pattern: %w", pattern, err)
	}
	functions := syms.functions(module, pattern)
	if len(functions) > 0 {
		return functions, nil
	}
	return nil, k.whyNone(syms, module, pattern)
}

// Select returns the functions that one name stands for, in the forms NAME,
// MODULE:NAME, NAME@0xADDRESS and MODULE:NAME@0xADDRESS. NAME may be a
// pattern.
func (k *Kernel) Select(spec string) ([]Function, error) {
	module, name := "", spec
	if i := strings.IndexAny(spec, ":`"); i >= 0 {
		module, name = spec[:i], spec[i+1:]
	}
	name, at, located := strings.Cut(name, "@")
	functions, err := k.Functions(module, name)
	if err != nil || !located {
		return functions, err
	}
	addr, err := strconv.ParseUint(at, 0, 64)
	if err != nil {
		return nil, fmt.Errorf("%s: %q is not an address, which is written 0xffffffff81000000", spec, at)
	}
	for _, f := range functions {
		if f.Addr == addr {
			return []Function{f}, nil
		}
	}
	where := make([]string, len(functions))
	for i, f := range functions {
		where[i] = fmt.Sprintf("%#x", f.Addr)
	}
	return nil, fmt.Errorf("%s: %w; %s stands at %s", spec, ErrNoFunction, name, strings.Join(where, ", "))
}

// FunctionAt returns the function whose text holds addr.
func (k *Kernel) FunctionAt(addr uint64) (Function, error) {
	syms, err := k.Symbols()
	if err != nil {
		return Function{}, err
	}
	end := syms.after(addr)
	if f, ok := syms.function(end-1, func(string) bool { return true }); ok && addr-f.Addr < f.Extent {
		return f, nil
	}
	return Function{}, fmt.Errorf("%#x: %w", addr, ErrNoFunction)
}

func (s *Symbols) functions(module, pattern string) []Function {
	candidates, matches := s.candidates(pattern)
	var functions []Function
	for i := range candidates {
		f, ok := s.function(i, matches)
		if !ok || module != "" && f.Module != module {
			continue
		}
		if n := len(functions); n > 0 && functions[n-1].Addr == f.Addr {
			continue
		}
		functions = append(functions, f)
	}
	return functions
}

// candidates goes through the indexes of the symbols whose name matches a
// pattern.
func (s *Symbols) candidates(pattern string) (indexes iter.Seq[int], matches func(name string) bool) {
	switch {
	case pattern == "":
		pattern, matches = "*", func(name string) bool { return !isMark(name) }
	case !strings.ContainsAny(pattern, wildcards):
		matches = func(name string) bool { return name == pattern }
	default:
		matches = func(name string) bool {
			ok, _ := path.Match(pattern, name)
			return ok && !isMark(name)
		}
	}
	return s.matching(pattern), matches
}

// isMark tells symbols that stand for no code of their own: with call padding
// (CONFIG_CALL_PADDING) or kCFI the bytes before function f are named __pfx_f
// and __cfi_f.
func isMark(name string) bool {
	return strings.HasPrefix(name, "__pfx_") || strings.HasPrefix(name, "__cfi_")
}

// function returns the function at the address of the i-th symbol. Its name
// is the first one that matches.
func (s *Symbols) function(i int, matches func(name string) bool) (Function, bool) {
	if i < 0 || s.isGone(s.syms[i].addr) || s.isOutside(i) || strings.HasPrefix(s.modules[s.syms[i].module], "__builtin") {
		return Function{}, false
	}
	addr := s.syms[i].addr
	first, end := i, s.after(addr)
	for first > 0 && s.syms[first-1].addr == addr {
		first--
	}
	f := Function{Addr: addr}
	for j := first; j < end; j++ {
		sym := s.at(j)
		switch {
		case !sym.IsText():
		case f.Name == "" && matches(sym.Name):
			f.Name, f.Module = sym.Name, sym.Module
		default:
			f.Aliases = append(f.Aliases, sym.Name)
		}
	}
	f.Extent, f.last = maxExtent, true
	if end < len(s.syms) {
		f.Extent = min(f.Extent, s.syms[end].addr-addr)
		f.last = s.syms[end].module != s.syms[i].module || !s.at(end).IsText()
	}
	return f, f.Name != "" && f.Module != bpfModule
}

const (
	// bpfModule is the module that kallsyms gives compiled BPF programs.
	bpfModule = "bpf"
	// maxExtent bounds the last function of a module, whose next symbol may
	// be far away. The largest functions of Linux have some 60,000 bytes.
	maxExtent = 1 << 20
)

// isGone reports whether addr lies in the memory that the kernel gave back
// when it had started.
func (s *Symbols) isGone(addr uint64) bool {
	return s.initBegin <= addr && addr < s.initEnd
}

// isOutside reports whether the i-th symbol is one of the kernel proper that
// is not in its text, such as _etext, which marks the end of it.
func (s *Symbols) isOutside(i int) bool {
	sym := s.syms[i]
	return sym.module == 0 && s.textEnd != 0 && (sym.addr < s.textBegin || sym.addr >= s.textEnd)
}

// findText sets the bounds of the text of the kernel proper.
func (s *Symbols) findText() {
	begin, ok1 := s.Data("_stext")
	end, ok2 := s.Data("_etext")
	if ok1 && ok2 {
		s.textBegin, s.textEnd = begin, end
	}
}

// findInit sets the bounds of the text that is gone after the start.
func (s *Symbols) findInit() {
	for _, names := range [][2]string{{"__init_begin", "__init_end"}, {"_sinittext", "_einittext"}} {
		begin, ok1 := s.Data(names[0])
		end, ok2 := s.Data(names[1])
		if ok1 && ok2 {
			s.initBegin, s.initEnd = begin, end
			return
		}
	}
}

func (k *Kernel) whyNone(syms *Symbols, module, pattern string) error {
	name := pattern
	if module != "" {
		if module != VMLinux && !slices.Contains(syms.modules, module) {
			return fmt.Errorf("module %s %w", module, ErrNotLoaded)
		}
		name = module + ":" + pattern
	}
	for _, sym := range syms.Lookup(pattern) {
		if module != "" && sym.Module != module {
			continue
		}
		switch {
		case !sym.IsText():
			return fmt.Errorf("%s: %w: it is data", name, ErrNoFunction)
		case syms.isGone(sym.Addr):
			return fmt.Errorf("%s: %w any more: the kernel gave the memory of its initialisation back after it had started", name, ErrNoFunction)
		}
	}
	return fmt.Errorf("%s: %w", name, ErrNoFunction)
}
