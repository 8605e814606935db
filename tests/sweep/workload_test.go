package sweep

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// jobs are pieces of work that look at their own results.
var jobs = map[string]func(dir string) error{
	"files":     useFiles,
	"pipes":     usePipes,
	"processes": useProcesses,
	"sockets":   useSockets,
	"maps":      useMaps,
	"timers":    useTimers,
}

// How long each job rests between its rounds: while probes are put in and taken
// out the workload goes on, but is to leave time to those who do that.
const (
	pause     = 5 * time.Millisecond
	longPause = time.Second
)

// A workload does all jobs again and again, each in a thread of its own, until
// the test ends. A result that is wrong fails it.
type workload struct {
	pause atomic.Int64 // nanoseconds
}

// during has the workload at full speed while f runs.
func (w *workload) during(f func()) {
	w.pause.Store(int64(pause))
	f()
	w.pause.Store(int64(longPause))
}

func startWorkload(t *testing.T) *workload {
	if out, err := exec.Command("ifconfig", "lo", "up").CombinedOutput(); err != nil {
		t.Fatalf("the loopback device: %v: %s", err, out)
	}
	w := new(workload)
	w.pause.Store(int64(longPause))
	stop := make(chan struct{})
	var all sync.WaitGroup
	for name, job := range jobs {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			rounds := 0
			for ; ; rounds++ {
				select {
				case <-stop:
					t.Logf("%s: %d rounds", name, rounds)
					return
				case <-time.After(time.Duration(w.pause.Load())):
				}
				if err := job(dir); err != nil {
					t.Errorf("the workload's %s, round %d: %v", name, rounds, err)
				}
			}
		})
	}
	t.Cleanup(func() { close(stop); all.Wait() })
	return w
}

// noise is bytes that are not the same twice.
func noise(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return b
}

// same returns an error unless what came back is what was sent.
func same(got, want []byte) error {
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%d bytes came back, not the %d that were sent", len(got), len(want))
	}
	return nil
}

func useFiles(dir string) error {
	data := noise(20_000)
	name, other := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		return err
	}
	errs := []error{os.Truncate(name, 15_000), os.Symlink("a", other), os.Chmod(name, 0o640)}
	got, err := os.ReadFile(other)
	errs = append(errs, err, same(got, data[:15_000]))
	names, err := os.ReadDir(dir)
	if len(names) != 2 {
		errs = append(errs, fmt.Errorf("the directory has %d entries, not 2", len(names)))
	}
	info, err2 := os.Stat(name)
	errs = append(errs, err, err2)
	if err2 == nil && (info.Size() != 15_000 || info.Mode() != 0o640) {
		errs = append(errs, fmt.Errorf("the file has %d bytes and mode %v", info.Size(), info.Mode()))
	}
	errs = append(errs, os.Rename(name, other), os.Remove(other))
	if _, err := os.Stat(other); !errors.Is(err, os.ErrNotExist) {
		errs = append(errs, fmt.Errorf("a file that was removed: %v", err))
	}
	return errors.Join(errs...)
}

func usePipes(string) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	data := noise(100_000) // more than a pipe holds
	sent := make(chan error)
	go func() {
		_, err := w.Write(data)
		sent <- errors.Join(err, w.Close())
	}()
	got, err := io.ReadAll(r)
	return errors.Join(err, <-sent, same(got, data))
}

func useProcesses(dir string) error {
	cmd := exec.Command("/bin/sh", "-c", `read x; echo $x; cd "$1"; pwd; exit 7`, "sh", dir)
	cmd.Stdin = strings.NewReader("to and fro\n")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 7 {
		return fmt.Errorf("the status is not 7: %v", err)
	}
	return same(out, []byte("to and fro\n"+dir+"\n"))
}

func useSockets(string) error {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return // the other side says so too
		}
		defer c.Close()
		_, _ = io.Copy(c, c)
	}()
	c, err := net.DialTimeout("tcp4", l.Addr().String(), time.Minute)
	if err != nil {
		return err
	}
	defer c.Close()
	data := noise(30_000)
	if _, err := c.Write(data); err != nil {
		return err
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		return err
	}
	got, err := io.ReadAll(c)
	return errors.Join(err, same(got, data))
}

func useMaps(dir string) error {
	const size = 64 << 12
	shared, err := os.Create(filepath.Join(dir, "map"))
	if err != nil {
		return err
	}
	defer shared.Close()
	if err := shared.Truncate(size); err != nil {
		return err
	}
	m, err := unix.Mmap(int(shared.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	data := noise(size)
	copy(m, data)
	errs := []error{unix.Msync(m, unix.MS_SYNC), unix.Mprotect(m, unix.PROT_READ)}
	got := make([]byte, size)
	_, err = shared.ReadAt(got, 0)
	errs = append(errs, err, same(got, data), same(m, data))
	private, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err == nil {
		errs = append(errs, same(private, make([]byte, size)), unix.Munmap(private))
	}
	return errors.Join(append(errs, err, unix.Munmap(m))...)
}

func useTimers(string) error {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	const wait = 2 * time.Millisecond
	start := time.Now()
	err = unix.TimerfdSettime(fd, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(wait))}, nil)
	if err != nil {
		return err
	}
	var times [8]byte
	if _, err := unix.Read(fd, times[:]); err != nil || times[0] != 1 {
		return fmt.Errorf("a timer went off %d times: %v", times[0], err)
	}
	nap := unix.NsecToTimespec(int64(wait))
	if err := unix.Nanosleep(&nap, nil); err != nil && !errors.Is(err, unix.EINTR) {
		return err
	}
	if d := time.Since(start); d < wait {
		return fmt.Errorf("a timer of %v went off after %v", wait, d)
	}
	return nil
}
