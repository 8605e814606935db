package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A load makes events at a rate.
type load struct {
	rate    float64
	seconds float64
	read    bool
	report  string
}

func loadFlags() *load {
	l := new(load)
	flag.Float64Var(&l.rate, "rate", 0, "events/s of the load; 0 for as many as it can make")
	flag.Float64Var(&l.seconds, "seconds", 3, "how long the load lasts")
	flag.BoolVar(&l.read, "read", false, "have the load read 7 bytes of /dev/zero")
	flag.StringVar(&l.report, "report", "", "`file` for what the load has achieved")
	return l
}

// tick is how often a load that has a rate catches up with it.
const tick = time.Millisecond

// run makes the events and reports how many and how long it took.
func (l *load) run() {
	event := func() { unix.RawSyscall(unix.SYS_GETPPID, 0, 0, 0) }
	if l.read {
		zero, err := os.Open("/dev/zero")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fd, buf := int(zero.Fd()), make([]byte, 7)
		event = func() { unix.Read(fd, buf) }
	}
	start := time.Now()
	end := start.Add(time.Duration(l.seconds * float64(time.Second)))
	threads := runtime.NumCPU()
	made := make(chan int)
	for range threads {
		go func() { made <- makeEvents(event, l.rate/float64(threads), start, end) }()
	}
	events := 0
	for range threads {
		events += <-made
	}
	r := report{os.Getpid(), events, time.Since(start)}
	if err := os.WriteFile(l.report, []byte(r.String()), 0o666); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// makeEvents makes events in a thread of its own and returns how many.
func makeEvents(event func(), rate float64, start, end time.Time) (events int) {
	runtime.LockOSThread()
	for time.Now().Before(end) {
		n := 1000
		if rate > 0 {
			time.Sleep(time.Until(start.Add(tick * (time.Since(start)/tick + 1))))
			n = int(rate*time.Since(start).Seconds()) - events
		}
		for range n {
			event()
		}
		events += max(n, 0)
	}
	return events
}

// A report is what a load has achieved.
type report struct {
	pid     int
	events  int
	elapsed time.Duration
}

func (r report) String() string { return fmt.Sprintf("%d %d %d\n", r.pid, r.events, r.elapsed) }

func (r report) rate() float64 { return float64(r.events) / r.elapsed.Seconds() }

func readReport(file string) (r report, err error) {
	text, err := os.ReadFile(file)
	if err == nil {
		_, err = fmt.Sscan(string(text), &r.pid, &r.events, &r.elapsed)
	}
	return r, err
}

// countLines returns how many lines of a file begin with a number.
func countLines(file string, first int) (lines int, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	prefix := fmt.Sprintf("%d ", first)
	s := bufio.NewScanner(f)
	for s.Scan() {
		if strings.HasPrefix(s.Text(), prefix) {
			lines++
		}
	}
	return lines, s.Err()
}
