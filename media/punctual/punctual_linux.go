package punctual

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Run keeps timers in time while needed says so, until ctx ends. needed is called up to 500 times a second and must not block.
// Where the kernel has no such timers Run does nothing.
func Run(ctx context.Context, needed func() bool) error {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC) // nonblocking, so that it is read by the network poller
	if err != nil {
		<-ctx.Done()
		return nil
	}
	timer := os.NewFile(uintptr(fd), "timer")
	defer timer.Close()
	stop := context.AfterFunc(ctx, func() { timer.Close() })
	defer stop()
	pace := time.Duration(0)
	var expired [8]byte
	for {
		wanted := seldom
		if needed() {
			wanted = every
		}
		if wanted != pace {
			pace = wanted
			if err := set(timer, pace); err != nil {
				return ignore(ctx, err)
			}
		}
		if _, err := timer.Read(expired[:]); err != nil {
			return ignore(ctx, err)
		}
	}
}

// set has a timer expire again and again.
func set(timer *os.File, pace time.Duration) error {
	conn, err := timer.SyscallConn()
	if err != nil {
		return err
	}
	t := unix.NsecToTimespec(int64(pace))
	failed := conn.Control(func(fd uintptr) {
		err = unix.TimerfdSettime(int(fd), 0, &unix.ItimerSpec{Interval: t, Value: t}, nil)
	})
	if failed != nil {
		return failed
	}
	return err
}

// ignore is err, unless ctx has ended.
func ignore(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
