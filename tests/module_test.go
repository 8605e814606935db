package tests

import (
	"regexp"
	"strings"
	"testing"
)

// TestModuleUnloaded takes a module away while it is traced.
func TestModuleUnloaded(t *testing.T) {
	cmd := kinstCommand("-q", "-n", "kinst:dummy:: {@[probefunc] = count();}", "-c", "sh -c 'rmmod dummy; sleep 3'")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || !regexp.MustCompile(`(?m)^  dummy_\w+ +[1-9]`).Match(out) {
		t.Errorf("%v\n%s\n%s", err, out, &stderr)
	}
	if n := strings.Count(stderr.String(), "kinst: module dummy is not loaded; the probes in it have gone with it\n"); n != 1 {
		t.Errorf("said %d times:\n%s", n, &stderr)
	}
	missing := kinstCommand("-n", "kinst:dummy::")
	said, err := missing.CombinedOutput()
	if err == nil || !strings.Contains(string(said), "module dummy is not loaded") {
		t.Errorf("afterwards: %v\n%s", err, said)
	}
}
