package main

import (
	"cmp"
	"debug/elf"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/sys/unix"

	"kinst/internal/isa"
)

// report gathers results.
type report struct {
	kernels     map[string]*counts
	total       counts
	differences []finding
	exceptions  []finding
}

func (r *report) add(res result) error {
	if res.err != nil {
		return res.err
	}
	if r.kernels == nil {
		r.kernels = make(map[string]*counts)
	}
	name := kernelOf(res.image)
	if r.kernels[name] == nil {
		r.kernels[name] = new(counts)
	}
	r.kernels[name].add(res.counts)
	r.total.add(res.counts)
	r.differences = append(r.differences, res.differences...)
	r.exceptions = append(r.exceptions, res.exceptions...)
	return nil
}

func (r *report) print(out io.Writer) {
	r.printCounts(out)
	printKinds(out, "differences", r.differences, 3)
	printKinds(out, "exceptions", r.exceptions, 20)
}

func (r *report) printCounts(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\timages\tinstructions\tother lengths\ttexts\tother AT&T\tother Intel\texceptions\t")
	names := make([]string, 0, len(r.kernels))
	for name := range r.kernels {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		printRow(w, name, r.kernels[name])
	}
	printRow(w, "all", &r.total)
	w.Flush()
}

func printRow(w io.Writer, name string, c *counts) {
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n",
		name, c.images, c.insts, c.lengths, c.texts, c.att, c.intel, c.exceptions)
}

// printKinds lists findings by kind, the frequent ones first, with at most
// limit of each.
func printKinds(out io.Writer, title string, all []finding, limit int) {
	if len(all) == 0 {
		return
	}
	byKind := make(map[string][]finding)
	for _, f := range all {
		byKind[f.kind] = append(byKind[f.kind], f)
	}
	kinds := make([]string, 0, len(byKind))
	for k := range byKind {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b string) int {
		if n := len(byKind[b]) - len(byKind[a]); n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	fmt.Fprintf(out, "\n%s:\n", title)
	for _, k := range kinds {
		fs := byKind[k]
		fmt.Fprintf(out, "%6d  %s\n", len(fs), k)
		for _, f := range fs[:min(len(fs), limit)] {
			f.print(out)
		}
	}
}

func (f *finding) print(out io.Writer) {
	fmt.Fprintf(out, "        %s %s %#x: %s\n            objdump: %s\n", f.image, f.place, f.addr, f.bytes, f.want)
	if f.got != "" {
		fmt.Fprintf(out, "            kinst:   %s\n", f.got)
	}
}

// printSpeed decodes the largest image once more, with a clock that runs only
// while this thread does.
func printSpeed(arch *isa.Arch, images []string) error {
	largest := slices.MaxFunc(images, func(a, b string) int {
		return cmp.Compare(codeSize(a), codeSize(b))
	})
	text, addr, err := textSection(largest)
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := threadTime()
	n := countInsts(arch, text, addr)
	d := threadTime() - start
	fmt.Printf("\ndecoded %d instructions in %v on one processor: %.1f million a second\n",
		n, d.Round(time.Millisecond), float64(n)/d.Seconds()/1e6)
	return nil
}

// countInsts decodes text, bytes that are no instruction one by one.
func countInsts(arch *isa.Arch, text []byte, addr uint64) int {
	n := 0
	for at := 0; at < len(text); n++ {
		in, err := arch.Decode(text[at:], addr+uint64(at))
		if err != nil {
			in.Len = 1
		}
		at += in.Len
	}
	return n
}

// threadTime is the processor time that this thread has used.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

func textSection(image string) (text []byte, addr uint64, err error) {
	f, err := elf.Open(image)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	s := f.Section(".text")
	if s == nil {
		return nil, 0, fmt.Errorf("%s has no .text", image)
	}
	text, err = s.Data()
	return text, s.Addr, err
}

// codeSize is the number of bytes in the executable sections of an image.
func codeSize(image string) uint64 {
	f, err := elf.Open(image)
	if err != nil {
		return 0
	}
	defer f.Close()
	var n uint64
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 && s.Type == elf.SHT_PROGBITS {
			n += s.Size
		}
	}
	return n
}
