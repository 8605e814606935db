// Compare holds the disassembler against GNU objdump: the length of every
// instruction of every kernel image, and the text in AT&T and Intel syntax of
// every instruction or of a random sample.
//
//	go run ./internal/isa/cmd/compare [-release 6.1 -release 6.12] [-sample 100000] [-seed 1] [image...]
//
// Images are ELF files with code and symbols, or directories that are searched
// for vmlinux-* and *.ko. Without any, Debian's debug packages of the kernels
// named by -release (both of these by default) are downloaded with apt-get and
// unpacked in the user's cache directory; they take some 4 GB.
//
// Of the names that an address has, which one objdump prints is its own
// business: the symbol is taken from its output, if it is that of the address
// which the instruction means.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"kinst/internal/isa"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// releases collects the -release flags.
type releases []string

func (r *releases) String() string     { return strings.Join(*r, ",") }
func (r *releases) Set(s string) error { *r = append(*r, s); return nil }

func run() error {
	var wanted releases
	flag.Var(&wanted, "release", "compare Debian's newest cloud kernel of `VERSION`, as 6.1; may be repeated")
	archName := flag.String("arch", "amd64", "the images' `architecture`")
	sample := flag.Float64("sample", 0, "compare the text of about `N` instructions; 0 is all")
	seed := flag.Uint64("seed", 1, "of the sample")
	flag.Parse()
	arch, err := isa.Lookup(*archName)
	if err != nil {
		return err
	}
	if len(wanted) == 0 {
		wanted = releases{"6.1", "6.12"}
	}
	images, err := findImages(flag.Args(), wanted)
	if err != nil {
		return err
	}
	return compareAll(arch, images, newSampler(*sample, *seed, images))
}

// compareAll compares the images, several at a time, and prints the report.
// It fails if anything differed.
func compareAll(arch *isa.Arch, images []string, s sampler) error {
	results := make(chan result)
	jobs := make(chan string)
	for range runtime.NumCPU() {
		go func() {
			for image := range jobs {
				results <- compareImage(arch, image, s)
			}
		}()
	}
	go func() {
		for _, image := range images {
			jobs <- image
		}
		close(jobs)
	}()
	var report report
	for range images {
		if err := report.add(<-results); err != nil {
			return err
		}
	}
	report.print(os.Stdout)
	if err := printSpeed(arch, images); err != nil {
		return err
	}
	if report.total.differ() {
		return errors.New("there are differences")
	}
	return nil
}

// findImages gives the files to compare: those named, those in directories
// named, or those of the releases' packages.
func findImages(args []string, wanted releases) ([]string, error) {
	if len(args) == 0 {
		for _, r := range wanted {
			dir, err := fetchRelease(r)
			if err != nil {
				return nil, err
			}
			args = append(args, dir)
		}
	}
	var images []string
	for _, arg := range args {
		found, err := imagesBelow(arg)
		if err != nil {
			return nil, err
		}
		images = append(images, found...)
	}
	if len(images) == 0 {
		return nil, fmt.Errorf("no vmlinux-* and no *.ko in %s", strings.Join(args, ", "))
	}
	return images, nil
}

func imagesBelow(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var images []string
	err = filepath.WalkDir(path, func(p string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && isImage(d.Name()) {
			images = append(images, p)
		}
		return err
	})
	return images, err
}

func isImage(name string) bool {
	return strings.HasPrefix(name, "vmlinux-") || strings.HasSuffix(name, ".ko")
}
