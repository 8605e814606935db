package kernel

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestRemedy(t *testing.T) {
	const all = 1<<41 - 1
	without := func(capabilities ...int) uint64 {
		set := uint64(all)
		for _, c := range capabilities {
			set &^= 1 << c
		}
		return set
	}
	bpf := []int{unix.CAP_BPF, unix.CAP_PERFMON}
	for name, test := range map[string]struct {
		privileges
		takes []int
		want  string
	}{
		"a user":               {privileges{user: 1000}, bpf, "run as root, or with CAP_BPF and CAP_PERFMON"},
		"a user without three": {privileges{user: 1000}, append(bpf, unix.CAP_SYS_PTRACE), "run as root, or with CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE"},
		"a user with one":      {privileges{user: 1000, effective: 1 << unix.CAP_BPF}, bpf, "run as root, or with CAP_PERFMON"},
		"root without": {privileges{effective: without(unix.CAP_SYS_ADMIN, unix.CAP_PERFMON)}, bpf,
			"this process is root without CAP_PERFMON, as in a container: run where it has that"},
		"CAP_SYS_ADMIN stands for others": {privileges{effective: without(bpf...)}, bpf,
			"this process has the capabilities for it: a security module, a seccomp filter or a container's read-only mount forbids it"},
		"CAP_DAC_OVERRIDE too": {privileges{user: 1000, effective: 1 << unix.CAP_DAC_OVERRIDE}, []int{unix.CAP_DAC_READ_SEARCH, unix.CAP_SYSLOG},
			"run as root, or with CAP_SYSLOG"},
		"reading": {privileges{user: 1000}, []int{unix.CAP_DAC_READ_SEARCH}, "run as root, or with CAP_DAC_READ_SEARCH"},
		"but not for all": {privileges{effective: without(unix.CAP_SYSLOG)}, []int{unix.CAP_SYSLOG},
			"this process is root without CAP_SYSLOG, as in a container: run where it has that"},
		"root of a namespace": {privileges{effective: all, confined: true}, bpf,
			"this process is in a user namespace, as of a container, where root is not the machine's: run outside of it"},
		"locked down": {privileges{effective: all, lockdown: "confidentiality"}, bpf,
			"the kernel is locked down (confidentiality): boot with lockdown=none, or with secure boot switched off"},
		"not locked down": {privileges{effective: all, lockdown: "none"}, bpf,
			"this process has the capabilities for it: a security module, a seccomp filter or a container's read-only mount forbids it"},
	} {
		if got := test.remedy(test.takes); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, test.want)
		}
	}
}
