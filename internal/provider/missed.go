package provider

import "github.com/cilium/ebpf"

// RecursionMisses returns how often the kernel skipped programs because
// another one was running on the CPU (the kernel counts it from 5.12 on;
// before, nothing tells).
func RecursionMisses(programs []*ebpf.Program) (uint64, error) {
	var total uint64
	for _, p := range programs {
		stats, err := p.Stats()
		if err != nil {
			return total, err
		}
		total += stats.RecursionMisses
	}
	return total, nil
}
