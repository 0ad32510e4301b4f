// Package writes says what became of a client's writes to a database: which of those that were acknowledged are lost,
// and how long none was acknowledged. How they are made and read back is their writer's.
package writes

import "time"

// Log is what a writer notes of its writes to one database.
type Log struct {
	Acknowledged []Acknowledgement // in their order
	// Failed counts the writes whose client failed: their rows may or may not be there.
	Failed int
	// Begun and Ended are the times of the start and the end of the writing; zero if unknown.
	Begun, Ended time.Time
}

// Acknowledgement is a write that was reported as done.
type Acknowledgement struct {
	Row string
	At  time.Time
}

// Outcome counts the writes by their result.
type Outcome struct {
	// Acknowledged is the number of writes that the client reported as done, Lost how many of their rows were missing
	// when they were read back.
	Acknowledged, Lost int
	// Missing are the numbers of lost acknowledged writes, from 0 in the order of their acknowledgement.
	Missing []int
	// Unacknowledged are those whose client failed: they may or may not be there.
	Unacknowledged int
	// LongestGap is the longest time without an acknowledgement.
	LongestGap time.Duration
}

// Judge compares what was acknowledged with the rows that are there now, after the writing.
func (l Log) Judge(there map[string]bool) Outcome {
	o := Outcome{Acknowledged: len(l.Acknowledged), Unacknowledged: l.Failed, LongestGap: l.LongestGap(time.Time{})}
	for n, a := range l.Acknowledged {
		if !there[a.Row] {
			o.Lost++
			o.Missing = append(o.Missing, n)
		}
	}
	return o
}

// LongestGap returns the longest time without an acknowledgement that had not ended before from.
func (l Log) LongestGap(from time.Time) (longest time.Duration) {
	last := l.Begun
	next := func(at time.Time) {
		if at.IsZero() {
			return
		}
		if !last.IsZero() && !at.Before(from) {
			longest = max(longest, at.Sub(last))
		}
		last = at
	}
	for _, a := range l.Acknowledged {
		next(a.At)
	}
	next(l.Ended)
	return longest
}
