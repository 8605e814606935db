package kernel

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// capabilityNames are those that tracing takes.
var capabilityNames = map[int]string{
	unix.CAP_BPF:             "CAP_BPF",
	unix.CAP_DAC_OVERRIDE:    "CAP_DAC_OVERRIDE",
	unix.CAP_DAC_READ_SEARCH: "CAP_DAC_READ_SEARCH",
	unix.CAP_PERFMON:         "CAP_PERFMON",
	unix.CAP_SYS_ADMIN:       "CAP_SYS_ADMIN",
	unix.CAP_SYS_PTRACE:      "CAP_SYS_PTRACE",
	unix.CAP_SYS_RAWIO:       "CAP_SYS_RAWIO",
	unix.CAP_SYSLOG:          "CAP_SYSLOG",
}

// widerThan names for some capabilities one that allows all that they do: that
// which they were split off in Linux 5.8, and that of writing besides reading.
var widerThan = map[int]int{
	unix.CAP_BPF:             unix.CAP_SYS_ADMIN,
	unix.CAP_PERFMON:         unix.CAP_SYS_ADMIN,
	unix.CAP_DAC_READ_SEARCH: unix.CAP_DAC_OVERRIDE,
}

// A RefusedError is that the kernel has refused something to this process, with
// what to do.
type RefusedError struct {
	Err    error
	Remedy string
}

func (e *RefusedError) Error() string { return e.Err.Error() + "; " + e.Remedy }
func (e *RefusedError) Unwrap() error { return e.Err }

// Refused adds to an error (EPERM, EACCES) what this process lacks, and what to
// do. Capabilities are those that what was tried takes.
func Refused(err error, capabilities ...int) error {
	return &RefusedError{err, Remedy(capabilities...)}
}

// Remedy says what to do where the kernel has refused what takes capabilities.
func Remedy(capabilities ...int) string {
	effective, err := effectiveCapabilities()
	if err != nil {
		effective = 0
	}
	return privileges{
		user:      os.Geteuid(),
		effective: effective,
		confined:  confined(),
		lockdown:  lockdown(),
	}.remedy(capabilities)
}

// privileges are what decides on what a process may do.
type privileges struct {
	user      int    // its effective user
	effective uint64 // its capabilities, as a mask
	confined  bool   // they count in a user namespace only
	lockdown  string // "" or "none" where the kernel is not locked down
}

func (p privileges) remedy(capabilities []int) string {
	missing := enumerate(p.missing(capabilities))
	switch {
	case p.confined:
		return "this process is in a user namespace, as of a container, where root is not the machine's: run outside of it"
	case p.user != 0 && missing != "":
		return "run as root, or with " + missing
	case missing != "":
		return fmt.Sprintf("this process is root without %s, as in a container: run where it has that", missing)
	case p.lockdown != "" && p.lockdown != "none":
		return fmt.Sprintf("the kernel is locked down (%s): boot with lockdown=none, or with secure boot switched off", p.lockdown)
	}
	return "this process has the capabilities for it: a security module, a seccomp filter or a container's read-only mount forbids it"
}

// enumerate returns words as a sentence has them.
func enumerate(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// missing names those of some capabilities that the process does not have.
func (p privileges) missing(capabilities []int) (names []string) {
	has := func(c int) bool { return p.effective>>c&1 != 0 }
	for _, c := range capabilities {
		if wider, ok := widerThan[c]; !has(c) && !(ok && has(wider)) {
			names = append(names, capabilityNames[c])
		}
	}
	return names
}

// Missing names those of some capabilities that this process does not have.
func Missing(capabilities ...int) ([]string, error) {
	effective, err := effectiveCapabilities()
	if err != nil {
		return nil, err
	}
	return privileges{effective: effective}.missing(capabilities), nil
}

// effectiveCapabilities returns the set as the kernel's bit mask.
func effectiveCapabilities() (uint64, error) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return 0, fmt.Errorf("reading the capabilities: %w", err)
	}
	return uint64(data[1].Effective)<<32 | uint64(data[0].Effective), nil
}

// confined reports whether the process is in a user namespace that is not the
// initial one: that one has all users.
func confined() bool {
	text, err := os.ReadFile("/proc/self/uid_map")
	return err == nil && strings.Join(strings.Fields(string(text)), " ") != "0 0 4294967295"
}

// lockdown returns the mode that the kernel is locked down in, or "" where it
// does not say.
func lockdown() string {
	text, err := os.ReadFile("/sys/kernel/security/lockdown")
	if err != nil {
		return ""
	}
	_, mode, _ := strings.Cut(string(text), "[")
	mode, _, _ = strings.Cut(mode, "]")
	return mode
}
