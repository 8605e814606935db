package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"kinst/internal/isa"
)

// counts are the figures of an image, or of several.
type counts struct {
	images, insts     int
	lengths           int // that differ
	texts             int // that were compared, in each syntax
	att, intel        int // that differ
	exceptions, bytes int
}

func (c *counts) add(d counts) {
	c.images += d.images
	c.insts += d.insts
	c.lengths += d.lengths
	c.texts += d.texts
	c.att += d.att
	c.intel += d.intel
	c.exceptions += d.exceptions
	c.bytes += d.bytes
}

func (c *counts) differ() bool { return c.lengths+c.att+c.intel > 0 }

// finding is an instruction about which we and objdump do not agree.
type finding struct {
	image, place string // section and symbol
	addr         uint64
	bytes        string
	want, got    string // objdump's and ours
	kind         string
}

// result is what came of an image.
type result struct {
	image string
	counts
	differences []finding
	exceptions  []finding
	err         error
}

// sampler decides of which instructions the text is compared.
type sampler struct {
	share float64 // of all; 1 for every one
	seed  uint64
}

// newSampler makes a sampler that picks about n instructions, spread over all
// images. How many instructions there are it guesses by the size of the images'
// code: one in three bytes, nops between functions counted.
func newSampler(n float64, seed uint64, images []string) sampler {
	if n <= 0 {
		return sampler{share: 1}
	}
	var size uint64
	for _, image := range images {
		size += codeSize(image)
	}
	return sampler{share: min(1, n*3/float64(size)), seed: seed}
}

// forImage gives the image's own sequence, so that the sample does not depend
// on the order in which images are done.
func (s sampler) forImage(image string) func() bool {
	if s.share == 1 {
		return func() bool { return true }
	}
	h := s.seed
	for _, c := range filepath.Base(image) {
		h = h*31 + uint64(c)
	}
	r := rand.New(rand.NewPCG(s.seed, h))
	return func() bool { return r.Float64() < s.share }
}

// compareImage compares all code of an image.
func compareImage(arch *isa.Arch, image string, s sampler) result {
	r := result{image: image, counts: counts{images: 1}}
	r.err = r.compare(arch, s.forImage(image))
	if r.err != nil {
		r.err = fmt.Errorf("%s: %w", image, r.err)
	}
	return r
}

// compare reads two listings of the image, one in each syntax, side by side.
func (r *result) compare(arch *isa.Arch, pick func() bool) error {
	att, err := disassemble(r.image, "att")
	if err != nil {
		return err
	}
	intel, err := disassemble(r.image, "intel")
	if err != nil {
		return err
	}
	for {
		a, errA := att.next()
		i, errI := intel.next()
		if errors.Is(errA, io.EOF) && errors.Is(errI, io.EOF) {
			return nil
		}
		if err := errors.Join(errA, errI); err != nil {
			return err
		}
		if a.addr != i.addr {
			return fmt.Errorf("objdump is at %#x in AT&T and at %#x in Intel syntax", a.addr, i.addr)
		}
		r.compareInst(arch, a, i, pick())
	}
}

func (r *result) compareInst(arch *isa.Arch, att, intel *line, withText bool) {
	r.insts++
	r.bytes += len(att.bytes)
	if reason := exception(att); reason != "" {
		r.counts.exceptions++
		r.exceptions = append(r.exceptions, r.finding(att, reason, ""))
		return
	}
	in, err := arch.Decode(att.bytes, att.addr)
	if err != nil || in.Len != len(att.bytes) {
		r.lengths++
		got := fmt.Sprintf("%d bytes", in.Len)
		if err != nil {
			got = err.Error()
		}
		r.differences = append(r.differences, r.finding(att, "length", got))
		return
	}
	if !withText {
		return
	}
	r.texts++
	r.att += r.compareText(arch, in, isa.ATT, att)
	r.intel += r.compareText(arch, in, isa.Intel, intel)
}

// compareText returns 1 if the text differs.
func (r *result) compareText(arch *isa.Arch, in isa.Inst, syntax isa.Syntax, want *line) int {
	got := normalise(arch.Format(in, syntax, symbolIn(want.text)))
	if got == want.text {
		return 0
	}
	kind := map[isa.Syntax]string{isa.ATT: "AT&T ", isa.Intel: "Intel "}[syntax]
	mnemonic, _, _ := strings.Cut(want.text, " ")
	r.differences = append(r.differences, r.finding(want, kind+mnemonic, got))
	return 1
}

func (r *result) finding(l *line, kind, got string) finding {
	return finding{
		image: filepath.Base(r.image),
		place: l.section + " <" + l.symbol + ">",
		addr:  l.addr,
		bytes: fmt.Sprintf("% x", l.bytes),
		want:  l.text,
		got:   got,
		kind:  kind,
	}
}

// exception says why an entry of objdump's is no instruction, or returns
// nothing if it is one.
func exception(l *line) string {
	switch text := l.text; {
	case l.bytes[0] == 0x9b && len(l.bytes) > 1:
		return "objdump takes fwait and the instruction behind it for one; to the processor and to the kernel they are two"
	case strings.Contains(text, "(bad)"):
		return "objdump knows no instruction here"
	case strings.HasPrefix(text, ".byte"), text == "":
		return "objdump is cut short by a symbol inside of an instruction"
	case lonePrefixes[text]:
		return "objdump is cut short by a symbol behind a prefix"
	}
	return ""
}

var lonePrefixes = map[string]bool{
	"rex": true, "rex.B": true, "rex.X": true, "rex.XB": true, "rex.R": true, "rex.RB": true, "rex.RX": true, "rex.RXB": true,
	"rex.W": true, "rex.WB": true, "rex.WX": true, "rex.WXB": true, "rex.WR": true, "rex.WRB": true, "rex.WRX": true, "rex.WRXB": true,
	"lock": true, "repz": true, "repnz": true, "data16": true, "addr32": true,
	"cs": true, "ds": true, "es": true, "ss": true, "fs": true, "gs": true,
}

// kernelOf names the kernel that an image belongs to, for the report.
func kernelOf(image string) string {
	base := filepath.Base(image)
	if release, ok := strings.CutPrefix(base, "vmlinux-"); ok {
		return "vmlinux " + release
	}
	if _, below, ok := strings.Cut(image, "/modules/"); ok {
		release, _, _ := strings.Cut(below, string(os.PathSeparator))
		return "modules " + release
	}
	return base
}
