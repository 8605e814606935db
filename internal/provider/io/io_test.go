package io_test

import (
	"os"
	"path/filepath"
	"testing"

	"kinst/internal/provider/tracetest"
)

// TestDirectWrites writes around the kernel's caches, so that each write is a
// request or more.
func TestDirectWrites(t *testing.T) {
	// The usual temporary directory may have no device.
	dir, err := os.MkdirTemp("/var/tmp", "kinst-io-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	const program = `
io:::start /pid == $target && args[0]->b_flags != B_READ && args[0]->b_bcount >= 65536/ {
	@["start"] = sum(args[0]->b_bcount);
	started[args[0]->b_edev, args[0]->b_blkno] = args[0]->b_bcount;
}
io:::done /started[args[0]->b_edev, args[0]->b_blkno]/ {
	@["done"] = sum(args[0]->b_bcount);
	@["more"] = sum(args[0]->b_bcount - started[args[0]->b_edev, args[0]->b_blkno]);
	@[args[1]->dev_statname == "" || args[1]->dev_pathname == "" ? "without a device" : "with a device"] = sum(1);
	started[args[0]->b_edev, args[0]->b_blkno] = 0;
}
END { printa("%s %@d\n", @); }
`
	got := tracetest.Lines(t, program, "dd if=/dev/zero of="+filepath.Join(dir, "file")+" bs=64k count=16 oflag=direct")
	for _, line := range []string{"start 1048576", "done 1048576", "more 0"} {
		if got[line] != 1 {
			t.Errorf("no %q in %v", line, got)
		}
	}
	for line := range got {
		if line == "without a device 1" {
			t.Errorf("%v", got)
		}
	}
}
