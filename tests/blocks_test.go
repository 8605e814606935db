package tests

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// workFunctions are executed by a dd that copies, and small.
var workFunctions = []string{
	"vfs_read", "ksys_read", "ksys_write", "rw_verify_area", "security_file_permission", "read_zero",
	"write_null", "__x64_sys_read", "__x64_sys_write", "do_filp_open", "walk_component", "lookup_fast",
	"may_open*", "inode_permission", "generic_permission", "alloc_fd", "filp_close", "ksys_dup3",
	"do_dup2", "getname_flags*", "putname", "terminate_walk", "complete_walk", "open_last_lookups",
	"__x64_sys_close", "chrdev_open", "memory_open", "vfs_open", "path_init", "set_root", "fd_install",
	"__x64_sys_openat", "do_sys_openat2", "nd_jump_root",
}

// TestBlocksCountAsAllSitesDo compares counting with a probe on each
// instruction to counting with one for each run of them.
func TestBlocksCountAsAllSitesDo(t *testing.T) {
	var probes []string
	for _, f := range workFunctions {
		probes = append(probes, "kinst::"+f+":")
	}
	program := strings.Join(probes, ",") + ` /execname == "dd"/ {@[probefunc, probename] = count();}`
	count := func(sites string) []string {
		out := kinst(t, "-Z", "-q", "-x", "sites="+sites, "-x", "aggsortkey", "-n", program, "-c",
			"dd if=/dev/zero of=/dev/null bs=4321 count=500")
		return strings.Split(strings.TrimSpace(out), "\n")
	}
	// The first run fills caches. After it, a thread that is preempted may still
	// take another path: then the comparison is made again.
	count("blocks")
	var diff string
	for range 3 {
		all, blocks := count("all"), count("blocks")
		if len(all) < 500 {
			t.Fatalf("only %d instructions were executed:\n%s", len(all), strings.Join(all, "\n"))
		}
		if diff = cmp.Diff(all, blocks); diff == "" {
			return
		}
		t.Logf("not the same (-all +blocks):\n%s", diff)
	}
	t.Errorf("one probe for each run counts otherwise (-all +blocks):\n%s", diff)
}

// kinst runs the command, which in a guest is this test binary, and returns
// what it prints.
func kinst(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("/bin/kinst", args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "KINST_TEST_GUEST=") })
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
