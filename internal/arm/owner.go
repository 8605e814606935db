package arm

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// groupPrefix begins the names of all our groups of events.
const groupPrefix = "kinst_"

// owner is the process that an event belongs to. A process number alone would
// do for as long as it is not given to another process, hence the start time;
// and it only means something in its own namespace.
type owner struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks after boot, field 22 of /proc/PID/stat
	NS    uint64 `json:"ns"`    // the PID namespace's inode number
}

// initialNS is the inode number of the initial PID namespace, PROC_PID_INIT_INO
// in the kernel's include/linux/proc_ns.h.
const initialNS = 0xEFFFFFFC

func selfOwner() (owner, error) {
	pid := os.Getpid()
	start, err := startTime(pid)
	if err != nil {
		return owner{}, err
	}
	ns, err := pidNamespace()
	if err != nil {
		return owner{}, err
	}
	return owner{pid, start, ns}, nil
}

func pidNamespace() (uint64, error) {
	var st unix.Stat_t
	if err := unix.Stat("/proc/self/ns/pid", &st); err != nil {
		return 0, fmt.Errorf("finding this process's PID namespace: %w", err)
	}
	return st.Ino, nil
}

// startTime returns when a process started, in clock ticks after boot. Of one
// that has ended and is not waited for yet it says os.ErrNotExist.
func startTime(pid int) (uint64, error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, unix.ESRCH) {
		return 0, os.ErrNotExist
	}
	if err != nil {
		return 0, err
	}
	return parseStartTime(string(stat))
}

func parseStartTime(stat string) (uint64, error) {
	// The second field, the name in parentheses, may hold anything.
	_, rest, _ := cutLast(stat, ")")
	fields := strings.Fields(rest)
	if len(fields) < 20 {
		return 0, errors.New("no start time in /proc/PID/stat")
	}
	// A first thread that has ended is a zombie too, while others still run.
	const state, threads, start = 0, 17, 19
	if strings.Contains("ZX", fields[state]) && (fields[threads] == "0" || fields[threads] == "1") {
		return 0, os.ErrNotExist
	}
	return strconv.ParseUint(fields[start], 10, 64)
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// group is the name of the owner's group of events: kinst_PID_START or, in a
// namespace of its own, kinst_PID_START_NS, the last two in hexadecimal.
func (o owner) group() string {
	name := fmt.Sprintf("%s%d_%x", groupPrefix, o.PID, o.Start)
	if o.NS != initialNS {
		name += fmt.Sprintf("_%x", o.NS)
	}
	return name
}

func parseOwner(group string) (o owner, ok bool) {
	rest, ok := strings.CutPrefix(group, groupPrefix)
	if !ok {
		return owner{}, false
	}
	f := strings.Split(rest, "_")
	if len(f) != 2 && len(f) != 3 {
		return owner{}, false
	}
	o.NS = initialNS
	var errs [3]error
	o.PID, errs[0] = strconv.Atoi(f[0])
	o.Start, errs[1] = strconv.ParseUint(f[1], 16, 64)
	if len(f) == 3 {
		o.NS, errs[2] = strconv.ParseUint(f[2], 16, 64)
	}
	return o, errors.Join(errs[:]...) == nil
}

// dead reports whether the process is known to live no more. Of a process in
// another namespace than ours we know nothing.
func (o owner) dead(ours uint64) bool {
	if o.NS != ours {
		return false
	}
	start, err := startTime(o.PID)
	if errors.Is(err, os.ErrNotExist) {
		return true
	}
	return err == nil && start != o.Start
}
