package vmtest

import (
	"debug/elf"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestGuestFlagsNameNoFilesOfTheHost(t *testing.T) {
	in := strings.Fields("-test.testlogfile=/tmp/x -test.v=true -test.run=A -test.coverprofile=/tmp/y -test.timeout=10m0s -update")
	want := strings.Fields("-test.v=true -test.run=A -test.timeout=10m0s -update")
	if got := guestFlags(in); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestKernels(t *testing.T) {
	t.Setenv("KINST_TEST_KERNELS", "6.12, 5.10")
	if got := Kernels(); !slices.Equal(got, []string{"6.12", "5.10"}) {
		t.Errorf("got %q", got)
	}
}

// There is a slot for each processor, and the next one waits.
func TestAcquire(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var releases []func()
	for range runtime.NumCPU() {
		releases = append(releases, Acquire(t))
	}
	acquired := make(chan func())
	go func() { acquired <- Acquire(t) }()
	select {
	case <-acquired:
		t.Error("one more guest than processors")
	case <-time.After(50 * time.Millisecond):
	}
	for _, release := range releases {
		release()
	}
	(<-acquired)()
}

func TestKinst(t *testing.T) {
	path := Kinst(t)
	if path != Kinst(t) {
		t.Error("built twice")
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("linked dynamically")
		}
	}
	if out, err := exec.Command(path, "-V").CombinedOutput(); err != nil || !strings.Contains(string(out), "kinst") {
		t.Errorf("-V: %q, %v", out, err)
	}
	if target, err := os.Readlink(path); err != nil || !strings.HasSuffix(target, "(deleted)") {
		t.Errorf("the file is %q, %v: it would stay behind", target, err)
	}
}
