package agent

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// wall returns the time of the wall clock, for times that people read and for deadlines of sockets. No decision depends
// on it, since it can be set.
func wall() time.Time { return time.Now() }

// Boottime returns CLOCK_BOOTTIME (clock_gettime(2)).
func Boottime() time.Duration { return clock(unix.CLOCK_BOOTTIME) }

// processorTime returns the processor time used by all threads of the process.
func processorTime() time.Duration { return clock(unix.CLOCK_PROCESS_CPUTIME_ID) }

func clock(id int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		panic(fmt.Sprintf("cannot read clock %d, which every Linux has since 2.6.39: %v", id, err))
	}
	return time.Duration(t.Nano())
}

// after waits for the period and reports whether ctx is still alive.
func after(ctx context.Context, period time.Duration) bool {
	return poll.Wait(ctx, period) == nil
}

// earliest returns the earlier of two times; 0 means never.
func earliest(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
