package raft

import "time"

// While a server works on a whole database, it does not answer. Measured: an exit takes 10 s near 350 MiB, a join 30
// s near 450 MiB; a compaction keeps a member silent for 8 to 30 s at 160 MiB, which is 5 MiB a second.
const (
	// bytesPerSecond is below the slowest of these speeds.
	bytesPerSecond = 4 << 20
	// longestPatience limits the added time: hooks and actions have 20 minutes in total for their waits.
	longestPatience = 3 * time.Minute
)

// Patience returns the timeout for a server whose database file has size bytes. base is enough for a small file;
// Patience adds a second for each 4 MiB, at most 3 minutes.
func Patience(base time.Duration, size int64) time.Duration {
	seconds := max(size, 0) / bytesPerSecond
	return base + time.Duration(min(seconds, int64(longestPatience/time.Second)))*time.Second
}
