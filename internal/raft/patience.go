package raft

import "time"

// A server that works on a whole database is silent for some time. Measured: an exit takes 10 s near 350 MiB, a join 30
// s near 450 MiB; a compaction keeps a member silent for 8 to 30 s at 160 MiB, which is 5 MiB a second.
const (
	// bytesPerSecond is below the slowest of these.
	bytesPerSecond = 4 << 20
	// longestPatience limits the added time: hooks and actions have 20 minutes for all their waits.
	longestPatience = 3 * time.Minute
)

// Patience is the timeout for a server of a database with a file of size bytes, if base suffices for a small one: a
// second more for each 4 MiB, at most 3 minutes more.
func Patience(base time.Duration, size int64) time.Duration {
	seconds := max(size, 0) / bytesPerSecond
	return base + time.Duration(min(seconds, int64(longestPatience/time.Second)))*time.Second
}
