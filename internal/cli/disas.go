package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"github.com/spf13/cobra"

	"kinst/internal/isa"
	"kinst/internal/kernel"
)

// A disassembler prints functions in the form of gdb's `disassemble /r`.
type disassembler struct {
	arch    *isa.Arch
	kernel  *kernel.Kernel
	symbols isa.Symbolizer
	syntax  isa.Syntax
	noBytes bool
	out     *bufio.Writer
}

func newDisasCommand() *cobra.Command {
	var noBytes, intel bool
	cmd := &cobra.Command{
		Use:   "disas [flags] [module:]function[@address]...",
		Short: "list the live instructions of kernel functions",
		Long: `List the live instructions of kernel functions: address, offset (the name of
the probe), bytes and text. Where a name stands for several functions all are
listed; an address picks one. Names may be globs. An instruction that cannot
be probed is marked with an exclamation mark and says why.`,
		Example: `  kinst disas vfs_read
  kinst disas -b --intel ext4:ext4_file_read_iter
  kinst disas 'cleanup@0xffffffff81c03f10'`,
		Args:              someArguments("the names of functions, as in: kinst disas vfs_read"),
		ValidArgsFunction: completeFunction,
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := newDisassembler(cmd.OutOrStdout())
			if err != nil {
				return err
			}
			d.noBytes = noBytes
			if intel {
				d.syntax = isa.Intel
			}
			for _, arg := range args {
				if err := d.list(arg); err != nil {
					return errors.Join(err, d.out.Flush())
				}
			}
			return d.out.Flush()
		},
	}
	cmd.Flags().BoolVarP(&noBytes, "no-bytes", "b", false, "leave the bytes out")
	cmd.Flags().BoolVar(&intel, "intel", false, "write Intel's syntax, not AT&T's")
	return cmd
}

func newDisassembler(out io.Writer) (*disassembler, error) {
	arch, err := isa.Native()
	if err != nil {
		return nil, err
	}
	k, err := kernel.Open()
	if err != nil {
		return nil, err
	}
	symbols, err := k.Symbolizer()
	if err != nil {
		return nil, err
	}
	return &disassembler{arch: arch, kernel: k, symbols: symbols, out: bufio.NewWriter(out)}, nil
}

// list prints the functions that a name stands for.
func (d *disassembler) list(name string) error {
	if name == "" {
		return errors.New("the name of a function is empty; those of all are *")
	}
	functions, err := d.kernel.Select(name)
	if err != nil {
		return err
	}
	for _, f := range functions {
		listing, err := d.kernel.Listing(d.arch, f)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := d.print(listing, len(functions) > 1); err != nil {
			return err
		}
	}
	return nil
}

// print prints one function; with its address if it has namesakes.
func (d *disassembler) print(l *kernel.Listing, namesakes bool) error {
	name := l.Function.Name
	if l.Function.Module != kernel.VMLinux {
		name = l.Function.Module + ":" + name
	}
	if namesakes {
		name = fmt.Sprintf("%s@%#x", name, l.Function.Addr)
	}
	fmt.Fprintf(d.out, "Dump of assembler code for function %s:\n", name)
	for i, in := range l.Insts {
		mark, why := ' ', ""
		if reason := l.Unprobeable(i); reason != "" {
			mark, why = '!', "\t! "+reason
		}
		fmt.Fprintf(d.out, "%c  %#016x <+%d>:\t", mark, in.Addr, in.Addr-l.Function.Addr)
		if !d.noBytes {
			fmt.Fprintf(d.out, "%-*s\t", bytesWidth, fmt.Sprintf("% x", in.Bytes))
		}
		fmt.Fprintf(d.out, "%s%s\n", gdbAddresses(d.arch.Format(in, d.syntax, d.symbols)), why)
	}
	_, err := fmt.Fprintln(d.out, "End of assembler dump.")
	return err
}

// bytesWidth is what gdb makes the bytes at least, in columns.
const bytesWidth = 19

// target matches an address in the text of an instruction, with its symbol, as
// objdump writes it.
var target = regexp.MustCompile(`\b([0-9a-f]+) <([^<>+]+)(?:\+0x([0-9a-f]+))?>`)

// gdbAddresses writes addresses as gdb does: with 0x, and their distance from
// the symbol in decimal, which is how probes are named.
func gdbAddresses(text string) string {
	return target.ReplaceAllStringFunc(text, func(match string) string {
		m := target.FindStringSubmatch(match)
		offset, err := strconv.ParseUint(m[3], 16, 64)
		if err != nil {
			return fmt.Sprintf("0x%s <%s>", m[1], m[2])
		}
		return fmt.Sprintf("0x%s <%s+%d>", m[1], m[2], offset)
	})
}
