package kernel

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"

	"kinst/internal/isa"
)

// A Check is one thing that tracing needs or can use.
type Check struct {
	Name     string
	OK       bool
	Required bool   // without it no instruction can be traced
	Detail   string // what was found
	Remedy   string // what to do, where it is not OK
}

// Check says what this kernel and these privileges allow. It tries each thing
// rather than to conclude it from versions and settings.
func (k *Kernel) Check() []Check {
	checks := []Check{
		checkArch(),
		checkPrivileges(),
		checkLockdown(),
		k.checkSymbols(),
		k.checkText(),
		checkKprobes(),
		checkArmed(),
		checkPerf(),
		checkBPF(),
		k.checkTypes(),
		checkBreakpoints(),
		checkBlacklist(),
		k.checkProbeTable(),
		checkJIT(),
		checkOptimization(),
		checkExpedited(),
	}
	if c := checkMemlock(); c.Name != "" {
		checks = append(checks, c)
	}
	return checks
}

// outcome makes a check of an error and of what is to be said without one.
func outcome(name string, required bool, err error, detail, remedy string) Check {
	if refused := (*RefusedError)(nil); errors.As(err, &refused) {
		return Check{name, false, required, refused.Err.Error(), refused.Remedy}
	}
	if err != nil {
		return Check{name, false, required, err.Error(), remedy}
	}
	return Check{name, true, required, detail, ""}
}

// remedyFor says what to do about an error: of missing privileges, or else the
// rest.
func remedyFor(err error, rest string, capabilities ...int) string {
	if refused := (*RefusedError)(nil); errors.As(err, &refused) {
		return refused.Remedy
	}
	if errors.Is(err, os.ErrPermission) {
		return Remedy(capabilities...)
	}
	return rest
}

func checkArch() Check {
	arch, err := isa.Native()
	if err != nil {
		return outcome("processor", true, err, "", "trace on one of the architectures that kinst knows")
	}
	return outcome("processor", true, nil, arch.Name, "")
}

func checkPrivileges() Check {
	const name = "privileges"
	takes := []int{unix.CAP_BPF, unix.CAP_PERFMON}
	notes := map[string]string{"CAP_DAC_OVERRIDE": " (for tracefs)", "CAP_SYSLOG": " (for the addresses of symbols)"}
	if os.Geteuid() != 0 {
		takes = append(takes, unix.CAP_DAC_OVERRIDE)
	}
	missing, err := Missing(append(takes, unix.CAP_SYSLOG)...)
	for i, c := range missing {
		missing[i] += notes[c]
	}
	switch {
	case err != nil:
	case len(missing) > 0:
		err = fmt.Errorf("user %d lacks %s", os.Geteuid(), strings.Join(missing, ", "))
	case confined():
		err = fmt.Errorf("user %d has the capabilities that tracing takes in a user namespace only", os.Geteuid())
	}
	return outcome(name, true, err, fmt.Sprintf("user %d with the capabilities that tracing takes", os.Geteuid()), Remedy(append(takes, unix.CAP_SYSLOG)...))
}

func checkLockdown() Check {
	const name = "lockdown"
	mode := lockdown()
	if mode == "" {
		return Check{Name: name, OK: true, Detail: "unknown: /sys/kernel/security/lockdown is not there; what it would forbid is tried below"}
	}
	if mode == "confidentiality" {
		return Check{name, false, true, "the kernel is locked down to keep its memory confidential, which forbids probes and BPF programs that read it",
			"boot with lockdown=none or lockdown=integrity, or with secure boot switched off"}
	}
	return Check{Name: name, OK: true, Detail: mode}
}

func (k *Kernel) checkSymbols() Check {
	syms, err := k.Symbols()
	if err != nil {
		return outcome("symbols", true, err, "", "")
	}
	return outcome("symbols", true, nil, fmt.Sprintf("%d in %s", syms.Len(), syms.source), "")
}

func (k *Kernel) checkText() Check {
	const name = "kernel text"
	remedy := "it takes " + kcorePath + " (CONFIG_PROC_KCORE) or BPF; " + Remedy(unix.CAP_SYS_RAWIO, unix.CAP_BPF, unix.CAP_PERFMON)
	mem, err := k.memory()
	if err != nil {
		return outcome(name, true, err, "", remedy)
	}
	syms, err := k.Symbols()
	if err != nil {
		return outcome(name, true, err, "", "")
	}
	text, _ := syms.Data("_stext")
	if _, err := k.LiveText(text, 16); err != nil {
		return outcome(name, true, err, "", remedy)
	}
	return outcome(name, true, nil, "read through "+mem.source(), "")
}

func checkKprobes() Check {
	const name = "kprobes"
	dir, err := TraceFS()
	if err != nil {
		return outcome(name, true, err, "", remedyFor(err, "a kernel with CONFIG_FTRACE", unix.CAP_SYS_ADMIN))
	}
	f, err := os.OpenFile(filepath.Join(dir, "kprobe_events"), os.O_WRONLY|os.O_APPEND, 0)
	if errors.Is(err, os.ErrNotExist) {
		err = errors.New("this kernel has none")
	}
	if err != nil {
		return outcome(name, true, err, "", remedyFor(err, "a kernel with CONFIG_KPROBE_EVENTS; or trace another kernel with kinst vm", unix.CAP_DAC_OVERRIDE))
	}
	f.Close()
	return outcome(name, true, nil, "kprobe_events in "+dir, "")
}

// checkArmed looks at the switch with which an administrator can disarm all
// kprobes.
func checkArmed() Check {
	const name = "kprobes switched on"
	dir, err := DebugFS()
	if err != nil {
		return outcome(name, false, err, "", "mount debugfs to know")
	}
	path := filepath.Join(dir, "kprobes", "enabled")
	text, err := os.ReadFile(path)
	if failed, ok := errors.AsType[*os.PathError](err); ok { // of a path that only this process has
		err = fmt.Errorf("kprobes/enabled in debugfs: %w", failed.Err)
	}
	if err != nil {
		return outcome(name, false, err, "", "a kernel with CONFIG_KPROBES tells in debugfs")
	}
	if strings.TrimSpace(string(text)) != "1" {
		return outcome(name, true, errors.New("all kprobes of the system are disarmed: none is ever hit"), "", "echo 1 >"+path)
	}
	return outcome(name, true, nil, "yes", "")
}

// checkPerf opens a perf event of the kind that probes are opened with.
func checkPerf() Check {
	const name = "perf events"
	attr := unix.PerfEventAttr{
		Type:   unix.PERF_TYPE_SOFTWARE,
		Size:   uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Config: unix.PERF_COUNT_SW_DUMMY,
	}
	fd, err := unix.PerfEventOpen(&attr, -1, 0, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		paranoid, _ := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
		return outcome(name, true, fmt.Errorf("opening one for the whole system: %w (kernel.perf_event_paranoid is %q)", err, strings.TrimSpace(string(paranoid))),
			"", remedyFor(err, "a kernel with CONFIG_PERF_EVENTS", unix.CAP_PERFMON))
	}
	unix.Close(fd)
	return outcome(name, true, nil, "for the whole system", "")
}

// checkBPF loads a program of the kind that probes run.
func checkBPF() Check {
	const name = "BPF"
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: "kinst_check", Type: ebpf.Kprobe, License: "GPL",
		Instructions: asm.Instructions{
			asm.Mov.Reg(asm.R1, asm.RFP),
			asm.Add.Imm(asm.R1, -8),
			asm.Mov.Imm(asm.R2, 8),
			asm.Mov.Imm(asm.R3, 0),
			asm.FnProbeReadKernel.Call(),
			asm.Mov.Imm(asm.R0, 0),
			asm.Return(),
		},
	})
	if err != nil {
		return outcome(name, true, fmt.Errorf("loading a program: %w", err), "",
			remedyFor(err, "a kernel with CONFIG_BPF_SYSCALL and CONFIG_BPF_EVENTS", unix.CAP_BPF, unix.CAP_PERFMON))
	}
	prog.Close()
	return outcome(name, true, nil, "programs for kprobes, with access to the kernel's memory", "")
}

func (k *Kernel) checkTypes() Check {
	const path = "/sys/kernel/btf/vmlinux"
	if _, err := os.Stat(path); err != nil {
		return outcome("BTF", false, errors.New("the kernel does not describe its types"), "",
			"a kernel with CONFIG_DEBUG_INFO_BTF; without, structures of the kernel are unknown to D")
	}
	return outcome("BTF", false, nil, path, "")
}

// checkBreakpoints opens an execution breakpoint, on user memory that is never
// executed.
func checkBreakpoints() Check {
	fd, err := OpenBreakpoint(8, os.Getpid(), -1)
	if err != nil {
		return outcome("hardware breakpoints", false, err, "",
			"without, instructions that the kernel refuses kprobes on cannot be traced; virtual machines may lack them, or others use all")
	}
	unix.Close(fd)
	return outcome("hardware breakpoints", false, nil, "for instructions that kprobes are refused on", "")
}

func checkBlacklist() Check {
	spans := loadBlacklist()
	if len(spans) == 0 {
		return outcome("blacklist", false, errors.New("kprobes/blacklist in debugfs cannot be read: what must not be probed is found out by trying"), "",
			blacklistRemedy())
	}
	return outcome("blacklist", false, nil, fmt.Sprintf("%d functions must not be probed", len(spans)), "")
}

func blacklistRemedy() string {
	const config = "a kernel with CONFIG_DEBUG_FS"
	dir, err := DebugFS()
	if err == nil {
		_, err = os.ReadFile(filepath.Join(dir, "kprobes", "blacklist"))
	}
	return remedyFor(err, config, unix.CAP_SYS_ADMIN)
}

func (k *Kernel) checkProbeTable() Check {
	const name = "text under probes"
	if _, err := k.kprobeTable(); err != nil {
		return outcome(name, false, fmt.Errorf("functions that others have probes on cannot be read: %w", err), "", "a kernel with CONFIG_KALLSYMS_ALL")
	}
	if _, err := os.Stat("/sys/kernel/btf/vmlinux"); err != nil {
		return outcome(name, false, errors.New("functions that others have probes on cannot be read without BTF"), "", "a kernel with CONFIG_DEBUG_INFO_BTF")
	}
	return outcome(name, false, nil, "functions can be read also while others have probes on them", "")
}

func checkJIT() Check {
	const name, remedy = "BPF compiler", "sysctl net.core.bpf_jit_enable=1"
	text, err := os.ReadFile("/proc/sys/net/core/bpf_jit_enable")
	if err != nil {
		return Check{Name: name, OK: true, Detail: "unknown: net.core.bpf_jit_enable is not there"}
	}
	if strings.TrimSpace(string(text)) == "0" {
		return outcome(name, false, errors.New("programs are interpreted, several times slower"), "", remedy)
	}
	return outcome(name, false, nil, "programs are compiled", "")
}

func checkOptimization() Check {
	const name = "optimized kprobes"
	text, err := os.ReadFile("/proc/sys/debug/kprobes-optimization")
	if err != nil {
		return outcome(name, false, errors.New("the kernel uses breakpoints only, which are several times slower than jumps"), "", "a kernel with CONFIG_OPTPROBES")
	}
	if strings.TrimSpace(string(text)) == "0" {
		return outcome(name, false, errors.New("switched off: the kernel uses breakpoints only, which are several times slower than jumps"), "", "sysctl debug.kprobes-optimization=1")
	}
	return outcome(name, false, nil, "jumps instead of breakpoints, where possible", "")
}

func checkExpedited() Check {
	const name = "fast disarming"
	if text, err := os.ReadFile("/sys/kernel/rcu_normal"); err == nil && strings.TrimSpace(string(text)) == "1" {
		return outcome(name, false, errors.New("/sys/kernel/rcu_normal is 1, so that removing a site takes 10 to 20 ms"), "",
			"echo 0 >/sys/kernel/rcu_normal, unless it is a real-time system that must not be interrupted")
	}
	if err := unix.Access("/sys/kernel/rcu_expedited", unix.W_OK); err != nil {
		return outcome(name, false, errors.New("/sys/kernel/rcu_expedited cannot be written, so that removing a site takes 10 to 20 ms"), "",
			remedyFor(err, "a kernel that has it, or with /sys mounted so that it can be written", unix.CAP_DAC_OVERRIDE))
	}
	return outcome(name, false, nil, "/sys/kernel/rcu_expedited can be turned", "")
}

// checkMemlock is for kernels before 5.11, where BPF maps count as locked
// memory: the limit is lifted as it is before programs are loaded.
func checkMemlock() Check {
	err := rlimit.RemoveMemlock()
	if err == nil {
		var m *ebpf.Map
		m, err = ebpf.NewMap(&ebpf.MapSpec{Name: "kinst_check", Type: ebpf.Array, KeySize: 4, ValueSize: 4096, MaxEntries: 256})
		if err == nil {
			m.Close()
			return Check{}
		}
	}
	var limit unix.Rlimit
	_ = unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit)
	return outcome("memory for BPF", true, fmt.Errorf("a map of 1 MB cannot be made: %w (locked memory is limited to %d bytes)", err, limit.Cur), "", "ulimit -l unlimited")
}
