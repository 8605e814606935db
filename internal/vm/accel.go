package vm

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The values of Config.Accel.
const (
	accelKVM         = "kvm"
	accelTCG         = "tcg"
	accelMultiThread = "tcg,thread=multi"
)

// Accelerators are the values of Config.Accel, but for none.
var Accelerators = []string{accelKVM, accelTCG, accelMultiThread}

// An accelerator runs the guest's instructions.
type accelerator struct {
	kvm bool
	// trial: it is not known whether it works, and there is another one.
	trial bool
}

// ErrUnsafe says what comes of several virtual CPUs emulated in threads of their
// own.
var ErrUnsafe = errors.New("virtual CPUs emulated in several threads: " +
	"QEMU does not patch kernel text safely there, so probes on busy functions may crash the guest")

// accelerators returns those to try, in order.
func accelerators(cfg *Config) ([]accelerator, error) {
	switch cfg.Accel {
	case accelKVM:
		return []accelerator{{kvm: true}}, nil
	case accelTCG, accelMultiThread:
		return []accelerator{{}}, nil
	case "":
	default:
		return nil, fmt.Errorf("a guest does not run on %q: %s, %s and %s are known", cfg.Accel, accelKVM, accelTCG, accelMultiThread)
	}
	works, known := kvmVerdict()
	switch {
	case known && works:
		return []accelerator{{kvm: true}}, nil
	case known:
		return []accelerator{{}}, nil
	}
	return []accelerator{{kvm: true, trial: true}, {}}, nil
}

func (a accelerator) option(cfg *Config) string {
	switch {
	case a.kvm:
		return accelKVM
	case cfg.Accel == accelMultiThread:
		return accelMultiThread
	}
	return accelTCG + ",thread=single"
}

func (a accelerator) cpuModel(cfg *Config) string {
	switch {
	case cfg.CPUModel != "":
		return cfg.CPUModel
	case a.kvm:
		return "host"
	}
	return host.emulatedCPU
}

// bootTimeout is how long a guest may take to reach its init.
func (a accelerator) bootTimeout(cfg *Config) time.Duration {
	limit := cmp.Or(cfg.BootTimeout, defaultBootTimeout)
	if a.trial {
		limit = min(limit, trialTimeout)
	}
	return limit
}

// kvmVerdict returns whether KVM works, as far as that is known. That /dev/kvm
// can be opened and a virtual CPU be made says little: nested KVM may accept all
// that and never get through a kernel's boot. So a boot is tried and what came
// of it remembered until the host boots again.
func kvmVerdict() (works, known bool) {
	f, err := os.OpenFile("/dev/kvm", os.O_RDWR, 0)
	if err != nil {
		return false, true
	}
	f.Close()
	text, err := os.ReadFile(verdictFile())
	if err != nil {
		return false, false
	}
	verdict, ok := strings.CutSuffix(strings.TrimSpace(string(text)), " "+bootID())
	return verdict == kvmWorks, ok
}

// remember keeps what came of a trial.
func (a accelerator) remember(works bool) {
	if !a.trial {
		return
	}
	verdict := kvmFails
	if works {
		verdict = kvmWorks
	}
	// Without a place to write, the next run tries again.
	name := verdictFile()
	if os.MkdirAll(filepath.Dir(name), 0o755) == nil {
		os.WriteFile(name, []byte(verdict+" "+bootID()+"\n"), 0o644)
	}
}

// The verdict on KVM, which the host's boot it was found in follows.
const (
	kvmWorks = "works"
	kvmFails = "fails"
)

func verdictFile() string { return filepath.Join(cacheDir(), "kvm") }

// bootID names this boot of the host.
func bootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
}
