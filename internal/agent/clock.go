package agent

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
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
