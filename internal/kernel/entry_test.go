package kernel

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"kinst/internal/isa"
)

// TestEntries compares the functions that can be traced with the function
// tracer's list: by address where it has them (from Linux 6.5 on), else by
// name.
func TestEntries(t *testing.T) {
	k, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	arch, err := isa.Native()
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	entries, err := k.Entries(arch, "", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d functions in %v", len(entries), time.Since(start))
	listed, byAddress := tracerList(t)
	got := make(map[string]bool)
	for _, e := range entries {
		key := e.Name
		if byAddress {
			key = strconv.FormatUint(e.Code, 16)
		}
		got[key] = true
		for _, a := range e.Aliases {
			if !byAddress {
				got[a] = true
			}
		}
		if !listed[key] && (byAddress || len(e.Aliases) == 0) {
			t.Errorf("%s is not in the tracer's list", e)
		}
		if e.Body <= e.Code {
			t.Errorf("%s has no nop for the tracer", e)
		}
	}
	for key := range listed {
		if !got[key] && !strings.HasPrefix(key, "__ftrace_invalid_address__") && !blacklisted(t, k, key, byAddress) {
			t.Errorf("%s is in the tracer's list only", key)
		}
	}
}

// blacklisted reports whether kprobes shun a function of the tracer's list.
func blacklisted(t *testing.T, k *Kernel, key string, byAddress bool) bool {
	if byAddress {
		addr, err := strconv.ParseUint(key, 16, 64)
		return err == nil && inSpans(k.blacklist(), addr)
	}
	syms, err := k.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, sym := range syms.Lookup(key) {
		if inSpans(k.blacklist(), sym.Addr) {
			return true
		}
	}
	return false
}

// tracerList reads lines of "ffffffff81000000 vfs_read [module]", or without
// the address.
func tracerList(t *testing.T) (list map[string]bool, byAddress bool) {
	dir, err := TraceFS()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "available_filter_functions_addrs"))
	byAddress = err == nil
	if !byAddress {
		if text, err = os.ReadFile(filepath.Join(dir, "available_filter_functions")); err != nil {
			t.Fatal(err)
		}
	}
	list = make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		list[strings.Fields(line)[0]] = true
	}
	return list, byAddress
}
