package tests

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// workFunctions are executed by a dd that copies, and small. None disables
// preemption: on its way out it would look whether another thread is due.
// Memory_open ends in an indirect jump.
var workFunctions = []string{
	"ksys_read", "ksys_write", "rw_verify_area", "security_file_permission", "read_zero", "write_null",
	"__x64_sys_read", "__x64_sys_write", "filp_close", "getname_flags*", "putname", "terminate_walk",
	"complete_walk", "__x64_sys_close", "memory_open", "vfs_open", "set_root", "nd_jump_root",
	"__x64_sys_openat", "fput", "close_fd", "security_inode_permission", "path_get", "path_put", "mntput", "mntget",
	"get_unused_fd_flags", "file_ra_state_init", "build_open_flags", "alloc_empty_file", "security_file_open", "ksys_dup3",
}

// TestBlocksCountAsAllSitesDo compares counting with a probe on each
// instruction to counting with those that are enough.
func TestBlocksCountAsAllSitesDo(t *testing.T) {
	var probes []string
	for _, f := range workFunctions {
		probes = append(probes, "kinst::"+f+":")
	}
	program := strings.Join(probes, ",") + ` /execname == "dd"/ {@[probefunc, probename] = count(); @of[probefunc] = count(); @all = count();}`
	count := func(sites string) []string {
		out := kinst(t, "-Z", "-q", "-x", "sites="+sites, "-x", "aggsortkey", "-n", program, "-c",
			"dd if=/dev/zero of=/dev/null bs=4321 count=500")
		return strings.Split(strings.TrimSpace(out), "\n")
	}
	// A thread that is preempted may take another path, as may the first of all
	// while caches are empty: then the comparison is made again.
	if err := exec.Command("dd", "if=/dev/zero", "of=/dev/null", "bs=4321", "count=500").Run(); err != nil {
		t.Fatal(err)
	}
	var diff string
	for range 3 {
		all, blocks := count("all"), count("blocks")
		if len(all) < 300 {
			t.Fatalf("only %d instructions were executed:\n%s", len(all), strings.Join(all, "\n"))
		}
		if diff = cmp.Diff(all, blocks); diff == "" {
			return
		}
		t.Logf("not the same (-all +blocks):\n%s", diff)
	}
	t.Errorf("those that are enough count otherwise (-all +blocks):\n%s", diff)
}

// kinst runs the command, which in a guest is this test binary, and returns
// what it prints.
func kinst(t *testing.T, args ...string) string {
	t.Helper()
	cmd := kinstCommand(args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("kinst %q: %v\n%s", args, err, &stderr)
	}
	if strings.Contains(stderr.String(), "drop") {
		t.Errorf("kinst %q: %s", args, &stderr)
	}
	return string(out)
}

func kinstCommand(args ...string) *exec.Cmd {
	cmd := exec.Command("/bin/kinst", args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "KINST_TEST_GUEST=") })
	return cmd
}
