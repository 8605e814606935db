// Package io is the provider of input and output on block devices:
// io:vmlinux::start and done when a request is given to a device and when the
// device is done with it, and wait-start and wait-done around waiting for one,
// with the arguments that DTrace gives them.
package io

import "kinst/internal/provider/derived"

// New returns the provider.
func New(k derived.Kernel) *derived.Provider { return derived.New("io", k, probes) }

// about are a buffer, its device and its file, which Linux does not tell.
func about(d string) []derived.Arg {
	return []derived.Arg{{Value: d, As: "bufinfo_t *"}, {Value: d, As: "devinfo_t *"}, {Value: d, As: "fileinfo_t *"}}
}

var waiting = []string{"submit_bio_wait"}

var probes = []derived.Definition{
	{Name: "done", From: []derived.Source{{Tracepoint: "block_rq_complete", Args: about("{rq}")}}},
	{Name: "start", From: []derived.Source{{Tracepoint: "block_rq_issue", Args: about("{rq}")}}},
	{Name: "wait-done", From: []derived.Source{{Functions: waiting, Returned: true}}},
	{Name: "wait-start", From: []derived.Source{{Functions: waiting, Args: about("{bio}")}}},
}
