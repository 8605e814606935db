// Package peer finds the tracers that kinst is measured beside.
package peer

import (
	"os/exec"
	"slices"
	"strings"
)

// A Peer is another tracer that is installed here.
type Peer struct {
	Name string
	Path string
	// Wrap is what its commands are run by, if anything.
	Wrap []string
}

// withTracefs runs a command where tracefs is mounted, which bpftrace needs.
var withTracefs = []string{"unshare", "-m", "sh", "-c",
	`[ -e /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing; exec "$@"`, "sh"}

// Bpftrace finds bpftrace.
func Bpftrace() (Peer, bool) {
	path, err := exec.LookPath("bpftrace")
	return Peer{"bpftrace", path, withTracefs}, err == nil
}

// DTrace finds Oracle's dtrace, which it tells from that of SystemTap, which
// makes headers.
func DTrace() (Peer, bool) {
	path, err := exec.LookPath("dtrace")
	if err != nil {
		return Peer{}, false
	}
	out, err := exec.Command(path, "-V").CombinedOutput()
	return Peer{Name: "dtrace", Path: path}, err == nil && strings.Contains(string(out), "D ")
}

// Args returns the command with its arguments.
func (p Peer) Args(args ...string) []string {
	return slices.Concat(p.Wrap, []string{p.Path}, args)
}
