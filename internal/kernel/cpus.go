package kernel

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// OnlineCPUs returns the numbers of the CPUs that are online.
func OnlineCPUs() ([]int, error) {
	const path = "/sys/devices/system/cpu/online"
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	cpus, err := parseCPUs(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return cpus, nil
}

// parseCPUs reads a list such as 0-3,8,10-11.
func parseCPUs(list string) (cpus []int, err error) {
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err1 := strconv.ParseUint(first, 10, 16)
		to, err2 := strconv.ParseUint(last, 10, 16)
		if err1 != nil || err2 != nil || to < from {
			return nil, fmt.Errorf("%q is not a list of CPUs", list)
		}
		for cpu := from; cpu <= to; cpu++ {
			cpus = append(cpus, int(cpu))
		}
	}
	return cpus, nil
}
