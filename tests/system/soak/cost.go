package soak

// Why says why a member is not up, or that it is.
type Why int

// The reasons, of which the first that holds counts.
const (
	// Up: its server runs, and all others reach it.
	Up Why = iota
	// New is a fault of the step that is judged: the charm could not know of it
	// when it decided.
	New
	// Standing is a fault that was there before the step.
	Standing
	// Asked is a pause whose price the operator knows.
	Asked
	// Ours: there is no fault, the charm has stopped or lost it.
	Ours
)

// Cost is what became of one database's cluster in a step.
type Cost struct {
	// Before is whether there was a quorum when the step began.
	Before bool
	// Members are those of the configuration after it.
	Members []Why
}

// Verdict says what has to be, or whose doing it is that it isn't.
type Verdict int

// The verdicts.
const (
	// Serves: a majority is up, there has to be a leader.
	Serves Verdict = iota
	// Faults took the quorum; nothing is expected of the cluster.
	Faults
	// OurDoing: what was there before the step, and the charm's own acts, are enough
	// to lose the quorum.
	OurDoing
)

// Judge is the model of what the faults alone would have cost. A majority that is
// up has to serve. If there is none, the step's own faults are taken back: if
// there still is none, the charm has gone below what the older faults had left, by
// stopping a server or by shrinking the configuration.
func (c Cost) Judge() Verdict {
	count := map[Why]int{}
	for _, why := range c.Members {
		count[why]++
	}
	majority := len(c.Members)/2 + 1
	switch {
	case count[Up] >= majority:
		return Serves
	case !c.Before, count[Up]+count[New]+count[Asked] >= majority:
		return Faults
	}
	return OurDoing
}
