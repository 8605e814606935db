package vmtest

import (
	"testing"

	"kinst/internal/vm"
)

func TestRun(t *testing.T) {
	for _, kernel := range Kernels() {
		t.Run(kernel, func(t *testing.T) {
			r := Run(t, kernel, "uname -r; echo wrong >&2; dmesg | tail -3; exit 3", vm.Config{})
			t.Log(r)
		})
	}
}
