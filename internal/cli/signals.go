package cli

import (
	"context"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// interrupts returns a context that ends with the first SIGINT, SIGTERM or
// SIGHUP; the second one ends the process. SIGPIPE is left to the errors of
// write(2), so that what is armed is taken out in order.
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
		signal.Reset(unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
		cancel()
	}()
	return ctx, cancel
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
