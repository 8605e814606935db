package vm

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A transport is a way of carrying the program's outputs and the control line.
type transport string

const (
	// virtio-serial ports: a write is one exit from the guest.
	transportVirtio transport = "virtio"
	// 16550 serial ports, in every kernel: an exit for each byte.
	transportSerial transport = "serial"
)

// transports are those that a machine offers; init takes the first one that its
// kernel has a driver for.
var transports = []transport{transportVirtio, transportSerial}

// What init says on the control line, a line each, and what it is told, a byte
// each.
const (
	wordHello   = "hello"
	wordExit    = "exit"    // and the program's status, as wait(2) gives it
	wordFailure = "failure" // and the reason

	byteInterrupt = 'I'
)

// A line is a byte stream between the host and QEMU: one end is kept, one goes
// to QEMU.
type line struct {
	host, qemu *os.File
}

// A bundle has the lines of one transport.
type bundle struct {
	stdout, stderr, control line
}

// lines are all lines of a machine.
type lines struct {
	console line
	of      map[transport]*bundle
}

// each calls f with every line, in the order in which QEMU's command line names
// them.
func (l *lines) each(f func(*line)) {
	f(&l.console)
	for _, t := range transports {
		b := l.of[t]
		if b == nil {
			continue
		}
		f(&b.stdout)
		f(&b.stderr)
		f(&b.control)
	}
}

func newLines() (l *lines, err error) {
	l = &lines{of: map[transport]*bundle{}}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if l.console, err = outputLine(); err != nil {
		return l, err
	}
	for _, t := range transports {
		b := new(bundle)
		l.of[t] = b
		if b.stdout, err = outputLine(); err != nil {
			return l, err
		}
		if b.stderr, err = outputLine(); err != nil {
			return l, err
		}
		if b.control, err = controlLine(); err != nil {
			return l, err
		}
	}
	return l, nil
}

// outputLine returns a line from QEMU to the host: a pipe, because QEMU's serial
// port writes byte by byte and a socket keeps a buffer for each write.
func outputLine() (line, error) {
	host, qemu, err := os.Pipe()
	return line{host, qemu}, err
}

// controlLine returns a line for both directions.
func controlLine() (line, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return line{}, os.NewSyscallError("socketpair", err)
	}
	// So that Go's runtime polls the host's end.
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return line{}, os.NewSyscallError("fcntl", err)
	}
	return line{os.NewFile(uintptr(fds[0]), "guest"), os.NewFile(uintptr(fds[1]), "qemu")}, nil
}

func (l *lines) close() {
	l.each(func(one *line) {
		one.host.Close() // closing nil, or twice, is an error without effect
		one.qemu.Close()
	})
}

// Output that comes byte by byte, as a serial port's does, is left to gather:
// being woken for each byte costs more than the byte.
const (
	smallRead = 1 << 10
	gathering = time.Millisecond
)

// copyUntil copies src to dst up to, and without, the marker. Nothing is held
// back but what may be the marker's beginning. It returns io.EOF when src ends
// first, nil at the marker, or dst's error. The marker's first byte occurs
// nowhere else in it.
func copyUntil(dst io.Writer, src io.Reader, marker string) error {
	buf := make([]byte, 256<<10)
	held := 0 // bytes at the start of buf which begin the marker
	for {
		n, err := src.Read(buf[held:])
		if n < smallRead {
			time.Sleep(gathering)
		}
		pending := buf[:held+n]
		end := bytes.Index(pending, []byte(marker))
		if end >= 0 {
			_, err := dst.Write(pending[:end])
			return err
		}
		keep := markerPrefix(pending, marker)
		if err != nil {
			keep = 0
		}
		if ready := pending[:len(pending)-keep]; len(ready) > 0 {
			if _, err := dst.Write(ready); err != nil {
				return err
			}
		}
		if err != nil {
			return io.EOF // a reset is an end too: QEMU was killed
		}
		held = copy(buf, pending[len(pending)-keep:])
	}
}

// markerPrefix returns the length of the longest end of b that begins the
// marker.
func markerPrefix(b []byte, marker string) int {
	at := bytes.LastIndexByte(b, marker[0])
	if at < 0 || !strings.HasPrefix(marker, string(b[at:])) {
		return 0
	}
	return len(b) - at
}

// A tail keeps the end of a log, and passes the log on.
type tail struct {
	mu   sync.Mutex
	text []byte
	next io.Writer
}

const (
	tailBytes = 64 << 10
	tailLines = 60
)

func newTail(next io.Writer) *tail { return &tail{next: next} }

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if over := len(t.text) - tailBytes; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	if t.next != nil {
		if _, err := t.next.Write(bytes.ReplaceAll(b, []byte("\r"), nil)); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// lastLines returns the last lines, without the empty ones and without carriage
// returns.
func (t *tail) lastLines() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var kept []string
	for s := range strings.Lines(strings.ReplaceAll(string(t.text), "\r", "")) {
		if s = strings.TrimRight(s, " \n"); s != "" {
			kept = append(kept, s)
		}
	}
	return strings.Join(kept[max(0, len(kept)-tailLines):], "\n")
}

// panicReason returns what the kernel gave as the reason of its panic, or "".
func (t *tail) panicReason() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, after, found := strings.Cut(string(t.text), "Kernel panic - not syncing: ")
	if !found {
		return ""
	}
	reason, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(reason)
}
