package codegen

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// setClock tells the programs what time it is, for walltimestamp.
func (c *Control) setClock() error {
	var mono, real unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &mono); err != nil {
		return fmt.Errorf("reading the monotonic clock: %w", err)
	}
	if err := unix.ClockGettime(unix.CLOCK_REALTIME, &real); err != nil {
		return fmt.Errorf("reading the clock: %w", err)
	}
	c.wall.Store(real.Nano() - mono.Nano())
	return nil
}

// farAway is a time that no clock reaches, in seconds.
const farAway = 1 << 33

// openClock returns what cannot be read before somebody sets the clock, and then
// fails with ECANCELED (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET).
func openClock() (*os.File, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_REALTIME, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("timerfd_create", err)
	}
	never := unix.ItimerSpec{Value: unix.Timespec{Sec: farAway}}
	if err := unix.TimerfdSettime(fd, unix.TFD_TIMER_ABSTIME|unix.TFD_TIMER_CANCEL_ON_SET, &never, nil); err != nil {
		unix.Close(fd)
		return nil, os.NewSyscallError("timerfd_settime", err)
	}
	return os.NewFile(uintptr(fd), "timerfd"), nil
}

// followClock calls setClock now and whenever somebody sets the clock, until
// stop is called.
func (c *Control) followClock() (stop func(), err error) {
	clock, err := openClock()
	if err != nil {
		return nil, err
	}
	if err := c.setClock(); err != nil {
		clock.Close()
		return nil, err
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			_, err := clock.Read(make([]byte, 8))
			if !errors.Is(err, unix.ECANCELED) || c.setClock() != nil {
				return
			}
		}
	}()
	return func() {
		clock.Close()
		<-stopped
	}, nil
}
