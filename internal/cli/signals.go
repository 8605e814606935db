package cli

import (
	"context"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// interrupts returns a context that ends with the first SIGINT, SIGTERM or
// SIGHUP; the second one, if it is not the first one again, ends the process.
// SIGPIPE is left to the errors of write(2), so that what is armed is
// taken out in order.
func interrupts(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 2)
	for _, s := range []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE)
	go func() {
		<-signals
		cancel()
		time.Sleep(againInterval)
		signal.Reset(unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	}()
	return ctx, cancel
}

// againInterval is how long after a signal another one is the same again:
// timeout(1) sends it to the command and then to the command's process group,
// and who ends tracing so wants the results. Nobody presses Ctrl-C twice as fast.
const againInterval = 200 * time.Millisecond

// withoutRepeats returns a channel of what in brings, without what follows within
// againInterval of the one before it, until ctx ends.
func withoutRepeats(ctx context.Context, in <-chan os.Signal) <-chan os.Signal {
	out := make(chan os.Signal)
	go func() {
		var last time.Time
		for {
			select {
			case <-ctx.Done():
				return
			case s := <-in:
				again := time.Since(last) < againInterval
				if last = time.Now(); again {
					continue
				}
				select {
				case out <- s:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return out
}

// untilUnread returns a context that also ends, with EPIPE as its cause, when
// nobody can read any more what is written to f: so "kinst ... | head" ends with
// head, and not at the first event after it.
func untilUnread(ctx context.Context, f *os.File, watch bool) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	stop := func() { close(done); cancel(nil) }
	if fi, err := f.Stat(); !watch || err != nil || fi.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return ctx, stop
	}
	go func() {
		fds := []unix.PollFd{{Fd: int32(f.Fd())}}
		for {
			select {
			case <-done:
				return
			default:
			}
			if n, _ := unix.Poll(fds, unreadInterval); n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLNVAL) != 0 {
				cancel(unix.EPIPE)
				return
			}
		}
	}()
	return ctx, stop
}

// unreadInterval is how often untilUnread looks whether it is to stop, in
// milliseconds. Of a reader that goes away it hears at once.
const unreadInterval = 500
