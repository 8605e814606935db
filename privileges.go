package kinst

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Capabilities that BPF programs take, by their bits in /proc/self/status.
var bpfCapabilities = []struct {
	name string
	bit  int
}{{"CAP_BPF", 39}, {"CAP_PERFMON", 38}}

const capSysAdmin = 21 // stands for both

// allowed explains an error that comes of missing privileges: doing is what was
// refused.
func allowed(doing string, err error) error {
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	missing := missingCapabilities()
	if missing == nil {
		return fmt.Errorf("this process may not %s, although it has %s: %w (lockdown, a security module or a container's seccomp filter may be why)",
			doing, "CAP_BPF and CAP_PERFMON", err)
	}
	return fmt.Errorf("this process may not %s: it lacks %s; run as root, or give it them", doing, strings.Join(missing, " and "))
}

// missingCapabilities returns those of bpfCapabilities that this process does
// not have.
func missingCapabilities() []string {
	effective := effectiveCapabilities()
	if effective&(1<<capSysAdmin) != 0 {
		return nil
	}
	var missing []string
	for _, c := range bpfCapabilities {
		if effective&(1<<c.bit) == 0 {
			missing = append(missing, c.name)
		}
	}
	return missing
}

func effectiveCapabilities() uint64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "CapEff:"); ok {
			set, err := strconv.ParseUint(strings.TrimSpace(text), 16, 64)
			if err != nil {
				return 0
			}
			return set
		}
	}
	return 0
}
