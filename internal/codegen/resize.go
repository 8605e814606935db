package codegen

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// A Buffer is what an option gives the size of.
type Buffer int

const (
	Records      Buffer = iota // Options.Bufsize
	Aggregations               // Options.Aggsize
	Variables                  // Options.Dynvarsize
	buffers                    // how many there are
)

var optionNames = [...]string{Records: "bufsize", Aggregations: "aggsize", Variables: "dynvarsize"}

func (o *Options) size(b Buffer) *int {
	return [...]*int{Records: &o.Bufsize, Aggregations: &o.Aggsize, Variables: &o.Dynvarsize}[b]
}

// halve makes a buffer smaller, to a power of two, unless it is very small.
func (o *Options) halve(b Buffer) bool {
	size := o.size(b)
	if *size <= os.Getpagesize() {
		return false
	}
	smaller := 1
	for smaller < (*size+1)/2 {
		smaller *= 2
	}
	*size = smaller
	return true
}

// A memoryError is that there is not enough memory for a buffer.
type memoryError struct {
	buffer Buffer
	error
}

func (e *memoryError) Unwrap() error { return e.error }

// mapError says what an error of the kernel's is about if it is that there is
// no memory for a buffer, or not for maps so large.
func mapError(name string, spec *ebpf.MapSpec, err error) error {
	err = fmt.Errorf("creating the map %s of %d entries of %d bytes: %w", name, spec.MaxEntries, spec.ValueSize, err)
	b, ok := bufferOf(name)
	if !ok || !errors.Is(err, unix.ENOMEM) && !errors.Is(err, unix.E2BIG) {
		return err
	}
	return &memoryError{b, fmt.Errorf("%w; set a smaller %s", err, optionNames[b])}
}

// checkMemory refuses buffers that would take more than a quarter of the
// machine's available memory: the kernel takes much of it at once, and a tracer
// must not be what a machine dies of.
func (o *Options) checkMemory(maps map[string]*ebpf.MapSpec) error {
	free, err := availableMemory()
	if err != nil {
		return err
	}
	used := make(map[Buffer]bool)
	for name := range maps {
		if b, ok := bufferOf(name); ok {
			used[b] = true
		}
	}
	for b := range buffers {
		size, copies := *o.size(b), o.CPUs
		if b == Variables {
			copies = 1
		}
		if used[b] && (size > free/4/copies || b == Records && size > maxRing) {
			return &memoryError{b, fmt.Errorf("%d times %d bytes, as %s says, are more than a quarter of the %d bytes of memory that are available; set a smaller one",
				copies, size, optionNames[b], free)}
		}
	}
	return nil
}

// bufferOf returns what a map is part of.
func bufferOf(name string) (b Buffer, ok bool) {
	switch {
	case name == ringsMap || strings.HasPrefix(name, ringPrefix):
		return Records, true
	case strings.HasPrefix(name, aggPrefix):
		return Aggregations, true
	case name == selfMap || strings.HasPrefix(name, dynamicPrefix):
		return Variables, true
	}
	return 0, false
}

// availableMemory is how many bytes the kernel could give without swapping.
func availableMemory() (int, error) {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0, fmt.Errorf("reading how much memory is available: %w", err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var kilobytes int
		if n, _ := fmt.Sscanf(s.Text(), "MemAvailable: %d kB", &kilobytes); n == 1 {
			return kilobytes << 10, nil
		}
	}
	return 0, fmt.Errorf("reading how much memory is available: /proc/meminfo does not have MemAvailable")
}
