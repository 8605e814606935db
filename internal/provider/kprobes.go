package provider

import (
	"os"
	"path/filepath"

	"kinst/internal/kernel"
)

// HaveKprobes returns why there can be no probes in the kernel's text, if that
// is so.
func HaveKprobes() error {
	dir, err := kernel.TraceFS()
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "kprobe_events")); err != nil {
		return NoMatch("this kernel has no kprobes; it takes one built with CONFIG_KPROBE_EVENTS")
	}
	return nil
}
