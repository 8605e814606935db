package rawtp

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"kinst/internal/provider"
)

// Programs are programs on raw tracepoints. It is a provider.Armed.
type Programs struct {
	links    []link.Link
	programs []*ebpf.Program
}

var _ provider.Armed = (*Programs)(nil)

// Attach has the program run whenever the kernel passes the tracepoint.
func (p *Programs) Attach(tracepoint string, prog *ebpf.Program) error {
	l, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: tracepoint, Program: prog})
	if err != nil {
		return fmt.Errorf("attaching to the raw tracepoint %s: %w", tracepoint, err)
	}
	p.links = append(p.links, l)
	p.programs = append(p.programs, prog)
	return nil
}

// Refused returns nothing: a tracepoint that cannot be had is an error.
func (*Programs) Refused() []provider.Refusal { return nil }

// Missed returns how often a program was skipped because it was running on
// the CPU already.
func (p *Programs) Missed() (uint64, error) { return provider.RecursionMisses(p.programs) }

// Close detaches the programs.
func (p *Programs) Close() error {
	var errs []error
	for _, l := range p.links {
		errs = append(errs, l.Close())
	}
	p.links = nil
	return errors.Join(errs...)
}
