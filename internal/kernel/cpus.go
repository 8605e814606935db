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
	cpus, err := ParseList(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return cpus, nil
}

// ParseList reads numbers in the kernel's form for CPUs, and for the bits of a
// word: a list such as 0-3,8,10-11.
func ParseList(list string) (numbers []int, err error) {
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err1 := strconv.ParseUint(first, 10, 16)
		to, err2 := strconv.ParseUint(last, 10, 16)
		if err1 != nil || err2 != nil || to < from {
			return nil, fmt.Errorf("%q is not a list of numbers", list)
		}
		for n := from; n <= to; n++ {
			numbers = append(numbers, int(n))
		}
	}
	return numbers, nil
}
