package cpc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestParse(t *testing.T) {
	const user, kernel = unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv, unix.PerfBitExcludeUser | unix.PerfBitExcludeHv
	p := &Provider{devices: sysfs(t)}
	for _, test := range []struct {
		name   string
		kind   uint32
		config [3]uint64
		period uint64
		bits   uint64
	}{
		{"page_faults-all-1", unix.PERF_TYPE_SOFTWARE, [3]uint64{2}, 1, 0},
		{"cpu_clock-kernel-1000000", unix.PERF_TYPE_SOFTWARE, [3]uint64{0}, 1000000, kernel},
		{"instructions-user-5000", unix.PERF_TYPE_HARDWARE, [3]uint64{1}, 5000, user},
		{"PAPI_tot_ins-user-5000", unix.PERF_TYPE_HARDWARE, [3]uint64{1}, 5000, user},
		{"LLC_load_misses-all-10000", unix.PERF_TYPE_HW_CACHE, [3]uint64{2 | 0<<8 | 1<<16}, 10000, 0},
		{"dTLB_stores-all-10000", unix.PERF_TYPE_HW_CACHE, [3]uint64{3 | 1<<8}, 10000, 0},
		{"topdown_fetch_bubbles-all-10000", 4, [3]uint64{0x019c | 1<<23 | 5<<32, 0x7, 0}, 10000, 0},
	} {
		c, err := p.parse(test.name)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		} else if c.kind != test.kind || c.config != test.config || c.period != test.period || c.bits != test.bits {
			t.Errorf("%s: %+v, want %+v", test.name, c, test)
		}
	}
}

// sysfs is a directory as the kernel shows it, with one unit of the processor
// and one elsewhere.
func sysfs(t *testing.T) string {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"cpu/type":                         "4\n",
		"cpu/events/topdown-fetch-bubbles": "event=0x9c,umask=0x1,inv,offcore_rsp=0x7,split=0xa\n",
		"cpu/events/odd":                   "event=what\n",
		"cpu/events/large":                 "event=0x100\n",
		"cpu/events/elsewhere":             "place=1\n",
		"cpu/events/formless":              "form=1\n",
		"cpu/format/event":                 "config:0-7\n",
		"cpu/format/umask":                 "config:8-15\n",
		"cpu/format/inv":                   "config:23\n",
		"cpu/format/offcore_rsp":           "config1:0-63\n",
		"cpu/format/split":                 "config:24-24,32-35\n",
		"cpu/format/place":                 "config9:0\n",
		"uncore/type":                      "11\n",
		"uncore/cpumask":                   "0\n",
		"uncore/events/clockticks":         "event=0xff\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestParseRefuses(t *testing.T) {
	p := &Provider{devices: sysfs(t)}
	for name, want := range map[string]string{
		"":                            "the provider cpc has EVENT-MODE-N",
		"page_faults":                 "the provider cpc has EVENT-MODE-N",
		"page_faults-all":             "the provider cpc has EVENT-MODE-N",
		"x-all-umask_0x7-10000":       "the provider cpc has EVENT-MODE-N",
		"page_faults-never-1":         `says when to count by "never"; it can be all, user or kernel`,
		"page_faults-all-0":           "ends in no number above zero",
		"page_faults-all-many":        "ends in no number above zero",
		"nonsense-all-1":              `"nonsense" is no event that is counted here: kinst_cpc(4) lists them`,
		"clockticks-all-5000":         `"clockticks" is no event that is counted here: kinst_cpc(4) lists them`,
		"cpu_cycles-all-4999":         "4999 is too small a number of events from one firing to the next; it can be 5000 or more",
		"cpu_clock-all-1":             "it can be 200000 or more",
		"topdown_fetch_bubbles-all-1": "it can be 5000 or more",
		"odd-all-5000":                `"what" is no number`,
		"large-all-5000":              `a number too large for "config:0-7"`,
		"elsewhere-all-5000":          `a format of "config9:0"`,
		"formless-all-5000":           "no such file",
	} {
		if _, err := p.parse(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", name, err, want)
		}
	}
}
