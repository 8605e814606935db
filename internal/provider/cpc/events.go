package cpc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"kinst/internal/kernel"
	"kinst/internal/provider"
)

// An event is what is counted.
type event struct {
	kind   uint32    // PERF_TYPE_…
	config [3]uint64 // config, config1, config2 of perf_event_open(2)
	least  uint64    // events from one firing to the next
	// exact says that what the counter has counted tells how often the probe
	// was due.
	exact bool
}

// Limits of how often a probe fires, as DTrace has them: 5,000 events of the
// processor, and of clocks 200 microseconds.
const (
	leastEvents      = 5000
	leastNanoseconds = 200_000
)

func hardware(config uint64) event {
	return event{kind: unix.PERF_TYPE_HARDWARE, config: [3]uint64{config}, least: leastEvents}
}

func software(config uint64) event {
	return event{kind: unix.PERF_TYPE_SOFTWARE, config: [3]uint64{config}, least: 1, exact: true}
}

func clock(config uint64) event {
	return event{kind: unix.PERF_TYPE_SOFTWARE, config: [3]uint64{config}, least: leastNanoseconds}
}

// generic are the events that have a number of their own in every kernel, by
// the names that perf(1) has for them, with _ for -. The names that begin with
// PAPI are Solaris's for the same.
var generic = func() map[string]event {
	events := map[string]event{
		"cpu_cycles":              hardware(unix.PERF_COUNT_HW_CPU_CYCLES),
		"instructions":            hardware(unix.PERF_COUNT_HW_INSTRUCTIONS),
		"cache_references":        hardware(unix.PERF_COUNT_HW_CACHE_REFERENCES),
		"cache_misses":            hardware(unix.PERF_COUNT_HW_CACHE_MISSES),
		"branch_instructions":     hardware(unix.PERF_COUNT_HW_BRANCH_INSTRUCTIONS),
		"branch_misses":           hardware(unix.PERF_COUNT_HW_BRANCH_MISSES),
		"bus_cycles":              hardware(unix.PERF_COUNT_HW_BUS_CYCLES),
		"stalled_cycles_frontend": hardware(unix.PERF_COUNT_HW_STALLED_CYCLES_FRONTEND),
		"stalled_cycles_backend":  hardware(unix.PERF_COUNT_HW_STALLED_CYCLES_BACKEND),
		"ref_cycles":              hardware(unix.PERF_COUNT_HW_REF_CPU_CYCLES),
		"PAPI_tot_cyc":            hardware(unix.PERF_COUNT_HW_CPU_CYCLES),
		"PAPI_tot_ins":            hardware(unix.PERF_COUNT_HW_INSTRUCTIONS),
		"PAPI_br_ins":             hardware(unix.PERF_COUNT_HW_BRANCH_INSTRUCTIONS),
		"PAPI_br_msp":             hardware(unix.PERF_COUNT_HW_BRANCH_MISSES),

		"cpu_clock":        clock(unix.PERF_COUNT_SW_CPU_CLOCK),
		"task_clock":       clock(unix.PERF_COUNT_SW_TASK_CLOCK),
		"page_faults":      software(unix.PERF_COUNT_SW_PAGE_FAULTS),
		"minor_faults":     software(unix.PERF_COUNT_SW_PAGE_FAULTS_MIN),
		"major_faults":     software(unix.PERF_COUNT_SW_PAGE_FAULTS_MAJ),
		"context_switches": software(unix.PERF_COUNT_SW_CONTEXT_SWITCHES),
		"cpu_migrations":   software(unix.PERF_COUNT_SW_CPU_MIGRATIONS),
		"alignment_faults": software(unix.PERF_COUNT_SW_ALIGNMENT_FAULTS),
		"emulation_faults": software(unix.PERF_COUNT_SW_EMULATION_FAULTS),
	}
	addCaches(events)
	return events
}()

// addCaches adds the events of caches, such as L1_dcache_load_misses.
func addCaches(events map[string]event) {
	for id, cache := range []string{"L1_dcache", "L1_icache", "LLC", "dTLB", "iTLB", "branch", "node"} {
		for op, names := range [][2]string{{"loads", "load_misses"}, {"stores", "store_misses"}, {"prefetches", "prefetch_misses"}} {
			for result, what := range names {
				e := hardware(uint64(id | op<<8 | result<<16))
				e.kind = unix.PERF_TYPE_HW_CACHE
				events[cache+"_"+what] = e
			}
		}
	}
}

// event finds an event by its name: a generic one, or one that the processor's
// own unit describes in sysfs.
func (p *Provider) event(name string) (event, error) {
	if e, ok := generic[name]; ok {
		return e, nil
	}
	units, _ := filepath.Glob(filepath.Join(p.devices, "*", "events"))
	for _, dir := range units {
		files, err := os.ReadDir(dir)
		if err != nil {
			return event{}, fmt.Errorf("looking for the event %s: %w", name, err)
		}
		for _, f := range files {
			if strings.ReplaceAll(f.Name(), "-", "_") == name && isProcessor(filepath.Dir(dir)) {
				e, err := readEvent(filepath.Dir(dir), f.Name())
				if err != nil {
					return event{}, fmt.Errorf("the event %s: %w", name, err)
				}
				return e, nil
			}
		}
	}
	return event{}, provider.NoMatch("%q is no event that is counted here: kinst_cpc(4) lists them", name)
}

// isProcessor reports whether a unit counts on every CPU: one that does not
// lists the CPUs where it is read.
func isProcessor(unit string) bool {
	_, err := os.Stat(filepath.Join(unit, "cpumask"))
	return os.IsNotExist(err)
}

// readEvent reads what sysfs says of an event
// (Documentation/ABI/testing/sysfs-bus-event_source-devices-events).
func readEvent(unit, name string) (event, error) {
	read := func(path ...string) (string, error) {
		text, err := os.ReadFile(filepath.Join(append([]string{unit}, path...)...))
		return strings.TrimSpace(string(text)), err
	}
	kind, err := read("type")
	if err != nil {
		return event{}, err
	}
	number, err := strconv.ParseUint(kind, 10, 32)
	if err != nil {
		return event{}, err
	}
	text, err := read("events", name)
	if err != nil {
		return event{}, err
	}
	e := event{kind: uint32(number), least: leastEvents}
	for term := range strings.SplitSeq(text, ",") {
		field, value, ok := strings.Cut(term, "=")
		if !ok {
			value = "1"
		}
		v, err := strconv.ParseUint(value, 0, 64)
		if err != nil {
			return event{}, fmt.Errorf("%q: %q is no number", text, value)
		}
		format, err := read("format", field)
		if err != nil {
			return event{}, err
		}
		if err := e.set(format, v); err != nil {
			return event{}, fmt.Errorf("%q: %s: %w", text, field, err)
		}
	}
	return e, nil
}

// set puts a number where a format says, such as config:0-7,32-35: the bits of
// the number in order, the lowest first.
func (e *event) set(format string, v uint64) error {
	word, ranges, _ := strings.Cut(format, ":")
	at := slices.Index([]string{"config", "config1", "config2"}, word)
	if at < 0 {
		return fmt.Errorf("a format of %q", format)
	}
	bits, err := kernel.ParseList(ranges)
	if err != nil || slices.Max(bits) > 63 {
		return fmt.Errorf("a format of %q", format)
	}
	for _, bit := range bits {
		e.config[at] |= v & 1 << bit
		v >>= 1
	}
	if v != 0 {
		return fmt.Errorf("a number too large for %q", format)
	}
	return nil
}
