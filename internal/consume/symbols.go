package consume

import (
	"encoding/binary"
	"path"
	"strconv"

	"github.com/ianlancetaylor/demangle"

	"kinst/internal/dformat"
	"kinst/internal/record"
)

// A Symbol is what an address is part of. Module is empty where nothing is
// known of the address, Name where only the module is. Offset is from the
// symbol's address.
type Symbol struct {
	Module string // the file's last name, for user space
	Name   string
	Offset uint64
}

// KernelSymbols names addresses of the kernel.
type KernelSymbols interface {
	KernelSymbol(addr uint64) Symbol
}

// UserSymbols names addresses of processes, also of such as have exited where
// they were seen before.
type UserSymbols interface {
	UserSymbol(pid uint32, addr uint64) Symbol
}

// symbolCache keeps what was found out about addresses. It is emptied when it
// grows beyond symbolCacheSize.
type symbolCache struct {
	kernel map[uint64]Symbol
	user   map[userAddress]Symbol
}

type userAddress struct {
	pid  uint32
	addr uint64
}

const symbolCacheSize = 1 << 16

func (c *Consumer) kernelSymbol(addr uint64) Symbol {
	if c.opts.Kernel == nil {
		return Symbol{}
	}
	if s, ok := c.symbols.kernel[addr]; ok {
		return s
	}
	if c.symbols.kernel == nil || len(c.symbols.kernel) >= symbolCacheSize {
		c.symbols.kernel = make(map[uint64]Symbol)
	}
	s := c.opts.Kernel.KernelSymbol(addr)
	s.Name = c.demangled(s.Name)
	c.symbols.kernel[addr] = s
	return s
}

func (c *Consumer) userSymbol(pid uint32, addr uint64) Symbol {
	if c.opts.User == nil {
		return Symbol{}
	}
	key := userAddress{pid, addr}
	if s, ok := c.symbols.user[key]; ok {
		return s
	}
	if c.symbols.user == nil || len(c.symbols.user) >= symbolCacheSize {
		c.symbols.user = make(map[userAddress]Symbol)
	}
	s := c.opts.User.UserSymbol(pid, addr)
	s.Name = c.demangled(s.Name)
	s.Module = path.Base(s.Module)
	if s.Module == "." {
		s.Module = ""
	}
	c.symbols.user[key] = s
	return s
}

func (c *Consumer) demangled(name string) string {
	if c.opts.NoDemangle || name == "" {
		return name
	}
	return demangle.Filter(name)
}

// text renders a symbol as module`name+0xoffset, as far as it is known.
func (s Symbol) text(addr uint64, offset bool) string {
	var buf [96]byte
	b := buf[:0]
	switch {
	case s.Module == "" && s.Name == "":
		b = appendHex(b, addr)
	case s.Name == "":
		b = append(b, s.Module...)
		b = append(b, '`')
		b = appendHex(b, addr)
	default:
		b = append(b, s.Module...)
		b = append(b, '`')
		b = append(b, s.Name...)
		if offset && s.Offset != 0 {
			b = append(b, '+')
			b = appendHex(b, s.Offset)
		}
	}
	return string(b)
}

func (s Symbol) module(addr uint64) string {
	if s.Module == "" {
		return string(appendHex(nil, addr))
	}
	return s.Module
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
		return c.kernelSymbol(addr).module(addr)
	}
	pid := binary.NativeEndian.Uint32(b)
	addr = binary.NativeEndian.Uint64(b[8:])
	s := c.userSymbol(pid, addr)
	if kind == record.UserModule {
		return s.module(addr)
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
	return c.appendStack(b, stack[8:], indent, spec, func(addr uint64) Symbol {
		return c.userSymbol(pid, addr)
	})
}

func (c *Consumer) appendStack(b, frames []byte, indent int, spec *dformat.Spec, lookup func(uint64) Symbol) []byte {
	b = append(b, '\n')
	for ; len(frames) >= 8; frames = frames[8:] {
		addr := binary.NativeEndian.Uint64(frames)
		if addr == 0 {
			break
		}
		text := lookup(addr).text(addr, true)
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
