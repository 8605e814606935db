package codegen

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"kinst/internal/vm"
	"kinst/internal/vm/vmtest"
)

// TestGuests runs the programs of testdata/run on the kernels that kinst is
// tested on: their verifiers take what the compiler writes, with bounded
// loops on 6.1 and with may_goto on 6.12.
func TestGuests(t *testing.T) {
	if vmtest.InGuest() {
		return // this is that run
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "testdata")
	for _, kernel := range vmtest.Kernels() {
		t.Run(kernel, func(t *testing.T) {
			t.Parallel()
			defer vmtest.Acquire(t)()
			var out bytes.Buffer
			status, err := vm.Run(t.Context(), vm.Config{
				Kernel: kernel,
				Args:   []string{"-test.run=^TestPrograms$"},
				Env:    []string{"KINST_TEST_GUEST=" + kernel},
				Dir:    dir,
				Files:  []vm.File{{Host: data, Guest: data}},
			}, &out, &out)
			if err != nil || status != 0 {
				t.Errorf("status %d, %v\n%s", status, err, out.Bytes())
			}
		})
	}
}
