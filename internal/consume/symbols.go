package consume

import (
	"encoding/binary"
	"iter"
	"path"
	"strconv"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"kinst/internal/dformat"
	"kinst/internal/record"
)

// KernelSymbols names addresses of the kernel: the symbol that an address
// belongs to and how far behind its beginning it is. Name is empty where only
// the module is known, both where nothing is.
type KernelSymbols interface {
	KernelSymbol(addr uint64) (module, name string, offset uint64)
}

// UserSymbols names addresses of processes, also of such as have exited where
// they were seen before. Module is the path of the file.
type UserSymbols interface {
	UserSymbol(pid uint32, addr uint64) (module, name string, offset uint64)
}

// symbol is what an address is part of.
type symbol struct {
	module, name string
	offset       uint64
	full         string // as a frame of a stack shows it
}

// symbolCache keeps what was found out about the kernel's addresses, and the
// demangled names. Addresses of processes are not kept: their number may be
// another process's, and their memory another file's, the next time. Each part
// is emptied when it grows beyond symbolCacheSize.
type symbolCache struct {
	kernel    map[uint64]symbol
	demangled map[string]string
}

const symbolCacheSize = 1 << 16

func (c *Consumer) kernelSymbol(addr uint64) symbol {
	if c.opts.Kernel == nil {
		return symbol{full: symbol{}.text(addr, true)}
	}
	if s, ok := c.symbols.kernel[addr]; ok {
		return s
	}
	if c.symbols.kernel == nil || len(c.symbols.kernel) >= symbolCacheSize {
		c.symbols.kernel = make(map[uint64]symbol)
	}
	var s symbol
	s.module, s.name, s.offset = c.opts.Kernel.KernelSymbol(addr)
	s.name = c.demangled(s.name)
	s.full = s.text(addr, true)
	c.symbols.kernel[addr] = s
	return s
}

func (c *Consumer) userSymbol(pid uint32, addr uint64) symbol {
	var s symbol
	if c.opts.User != nil {
		s.module, s.name, s.offset = c.opts.User.UserSymbol(pid, addr)
	}
	s.name = c.demangled(s.name)
	if s.module != "" {
		s.module = path.Base(s.module)
	}
	s.full = s.text(addr, true)
	return s
}

// demangled is the name as a C++ or Rust programmer knows it.
func (c *Consumer) demangled(name string) string {
	if c.opts.NoDemangle || !mangled(name) {
		return name
	}
	if plain, ok := c.symbols.demangled[name]; ok {
		return plain
	}
	if c.symbols.demangled == nil || len(c.symbols.demangled) >= symbolCacheSize {
		c.symbols.demangled = make(map[string]string)
	}
	plain := demangle.Filter(name)
	c.symbols.demangled[name] = plain
	return plain
}

// mangled reports whether a name may be one that a C++ or Rust compiler made.
func mangled(name string) bool {
	return strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "_R") || strings.HasPrefix(name, "__Z")
}

// text renders a symbol as module`name+0xoffset, as far as it is known.
func (s symbol) text(addr uint64, offset bool) string {
	var buf [96]byte
	b := buf[:0]
	switch {
	case s.module == "" && s.name == "":
		b = appendHex(b, addr)
	case s.name == "":
		b = append(b, s.module...)
		b = append(b, '`')
		b = appendHex(b, addr)
	default:
		b = append(b, s.module...)
		b = append(b, '`')
		b = append(b, s.name...)
		if offset && s.offset != 0 {
			b = append(b, '+')
			b = appendHex(b, s.offset)
		}
	}
	return string(b)
}

func (s symbol) moduleText(addr uint64) string {
	if s.module == "" {
		return string(appendHex(nil, addr))
	}
	return s.module
}

func appendHex(b []byte, v uint64) []byte {
	return strconv.AppendUint(append(b, "0x"...), v, 16)
}

// symbolText renders a value that is to be shown as a symbol.
func (c *Consumer) symbolText(kind record.Kind, b []byte) string {
	addr := binary.NativeEndian.Uint64(b)
	switch kind {
	case record.KernelSymbol, record.KernelFunc:
		return c.kernelSymbol(addr).text(addr, false)
	case record.KernelModule:
		return c.kernelSymbol(addr).moduleText(addr)
	}
	pid := binary.NativeEndian.Uint32(b)
	addr = binary.NativeEndian.Uint64(b[8:])
	s := c.userSymbol(pid, addr)
	if kind == record.UserModule {
		return s.moduleText(addr)
	}
	return s.text(addr, kind == record.UserAddress)
}

// defaultStackIndent is the column at which frames begin.
const defaultStackIndent = 14

func (c *Consumer) stackIndent() int {
	if c.opts.StackIndent == 0 {
		return defaultStackIndent
	}
	return c.opts.StackIndent
}

// appendKernelStack renders a stack, one frame on a line of its own, after the
// end of the line that it stands in. A spec, if any, lays out each frame.
func (c *Consumer) appendKernelStack(b, frames []byte, indent int, spec *dformat.Spec) []byte {
	return c.appendStack(b, frames, indent, spec, c.kernelSymbol)
}

func (c *Consumer) appendUserStack(b, stack []byte, indent int, spec *dformat.Spec) []byte {
	pid := binary.NativeEndian.Uint32(stack)
	return c.appendStack(b, stack[8:], indent, spec, func(addr uint64) symbol {
		return c.userSymbol(pid, addr)
	})
}

// stackTexts goes through the frames of a stack, the innermost first.
func stackTexts(frames []byte, lookup func(uint64) symbol) iter.Seq[string] {
	return func(yield func(string) bool) {
		innermost := true
		for ; len(frames) >= 8; frames = frames[8:] {
			addr := binary.NativeEndian.Uint64(frames)
			if addr == 0 {
				return
			}
			s := lookup(addr)
			if !innermost && s.name != "" && s.offset == 0 {
				s = caller(addr, s, lookup)
			}
			innermost = false
			if !yield(s.full) {
				return
			}
		}
	}
}

// caller names the place behind a call that nothing follows in its function,
// since what it calls does not return: s, at the same address, is what happens
// to stand behind it.
func caller(addr uint64, s symbol, lookup func(uint64) symbol) symbol {
	before := lookup(addr - 1)
	if before.name == "" || before.module != s.module {
		return s
	}
	before.offset++
	before.full = before.text(addr, true)
	return before
}

func (c *Consumer) appendStack(b, frames []byte, indent int, spec *dformat.Spec, lookup func(uint64) symbol) []byte {
	b = append(b, '\n')
	for text := range stackTexts(frames, lookup) {
		b = appendBlanks(b, indent)
		if spec != nil {
			b = spec.AppendText(b, text)
		} else {
			b = append(b, text...)
		}
		b = append(b, '\n')
	}
	return b
}
