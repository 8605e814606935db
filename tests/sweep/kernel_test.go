package sweep

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kinst/internal/kernel"
)

// traced returns names of functions that the kernel executes under the workload,
// as its function tracer tells them.
func traced(t *testing.T, w *workload) map[string]bool {
	dir, err := kernel.TraceFS()
	if err != nil {
		t.Fatal(err)
	}
	set := func(file, value string) {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(value), 0); err != nil {
			t.Fatal(err)
		}
	}
	set("buffer_size_kb", "2048")
	set("current_tracer", "function")
	w.during(func() { time.Sleep(500 * time.Millisecond) })
	set("tracing_on", "0")
	text, err := os.ReadFile(filepath.Join(dir, "trace"))
	if err != nil {
		t.Fatal(err)
	}
	set("current_tracer", "nop")
	set("tracing_on", "1")
	set("buffer_size_kb", "1408")
	names := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		if _, after, ok := strings.Cut(line, ": "); ok && !strings.HasPrefix(line, "#") {
			name, _, _ := strings.Cut(strings.TrimSpace(after), " ")
			names[name] = true
		}
	}
	t.Logf("the workload executes %d functions", len(names))
	return names
}

// A log is the kernel's messages that have not been looked at.
type log struct{ fd int }

func openLog(t *testing.T) *log {
	fd, err := unix.Open("/dev/kmsg", unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	l := &log{fd}
	l.read(t)
	return l
}

// trouble is how the kernel begins to tell of it.
var trouble = regexp.MustCompile(`Oops|BUG|WARNING|Call Trace|lockup|stall|general protection|unable to handle|hung|corrupt`)

// check fails the test if the kernel has complained while functions were
// traced.
func (l *log) check(t *testing.T, batch []*kernel.Listing) {
	text := l.read(t)
	if !trouble.MatchString(text) {
		return
	}
	var names []string
	for _, listing := range batch {
		names = append(names, listing.Function.String())
	}
	t.Errorf("while %s were traced the kernel said:\n%s", strings.Join(names, ", "), text)
}

func (l *log) read(t *testing.T) string {
	var all strings.Builder
	buf := make([]byte, 8192)
	for {
		n, err := unix.Read(l.fd, buf)
		switch {
		case errors.Is(err, unix.EAGAIN):
			return all.String()
		case errors.Is(err, unix.EPIPE): // some were overwritten before they were read
			t.Error("the kernel's log has overflowed")
		case err != nil:
			t.Fatal(err)
		default:
			all.Write(buf[:n])
		}
	}
}
