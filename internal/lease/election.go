package lease

import "time"

// Election is one agent's part in finding the one unit that acts: what it has seen and
// heard, and what follows from that. It is fed by its driver and asked by [Election.Next];
// it reads no clock, and does no I/O.
//
// The record in the store changes only when the holder does (every write to the Northbound
// database makes ovn-northd compute everything anew). That a holder lives, the agents tell
// each other: each asks all others every [Election.Beat]. So the record alone says which unit may
// act, and each change that a holder makes waits in its transaction for the record that it
// has written: two may think that they hold it, but only what one of them sends commits.
//
// Of silence only what this process has seen counts, and only for as long as it sees the
// database itself: during an election of the database no agent can tell a dead holder from
// one that waits.
//
// All times are readings of one clock that never jumps and goes on while the machine
// sleeps, as CLOCK_BOOTTIME (clock_gettime(2)); 0 is never. What the wall clock says has no
// influence.
type Election struct {
	// Unit is this agent's name, Instance what tells this process from another one of the
	// same unit, Address where other agents ask it, on which no other process listens.
	Unit, Instance, Address string
	// TTL is how long a holder may stay silent.
	TTL time.Duration

	record    Record
	value     string
	known     bool          // the record was seen, and the connection on which it was still is there
	since     time.Duration // when this process first saw the record, or saw it on a new connection
	confirmed time.Duration // when the last question began that a member with a leader has answered
	fresh     time.Duration // since when the database is seen without a gap
	heard     time.Duration // the last sign of the holder, from itself or through others
	direct    time.Duration // the last one from itself
	denied    time.Duration // when the holder itself was asked and said that it does not act
	eligible  bool
	unfit     time.Duration // since when this unit is not eligible

	written  string // the value of the record by which this process holds it
	pending  Swap
	asked    time.Duration // when the pending swap was asked for
	stopping bool
	deposed  string                  // the holder before the record's
	flaps    [maxFlaps]time.Duration // when the last flaps were seen, the latest first
}

// A flap is a takeover by the unit that was just deposed: two agents that don't hear each
// other can take the record from one another for ever. From the second one on within
// flapWindow TTLs each waits twice as long as the one before, at most as after maxFlaps.
const (
	maxFlaps   = 8
	flapWindow = 120
)

// Swap is a compare-and-swap of the record.
type Swap struct{ Old, New string }

// Outcome is what is known of a swap.
type Outcome int

// The outcomes of a swap.
const (
	SwapUnknown Outcome = iota // no answer came: it may be done, now or later
	SwapDone
	SwapRefused // another value stood there
)

// Answer is what an agent tells others that ask it.
type Answer struct {
	// Unit is the agent, Instance its process, empty where it doesn't say; Term the term
	// of the record that it sees.
	Unit     string `json:"unit"`
	Instance string `json:"instance,omitempty"`
	Term     uint64 `json:"term"`
	// Acts says that the agent holds the record now.
	Acts bool `json:"acts"`
	// HeardAgo is how long ago it has heard the holder of that term itself; negative is
	// not at all.
	HeardAgo time.Duration `json:"heard_ago_ns"`
}

// Decision is what an agent is to do.
type Decision struct {
	// Acts says that this agent holds the record, and may begin changes until Until.
	Acts  bool
	Until time.Duration
	// Swap is to be written, where New is not empty; the driver says what came of it
	// by [Election.Wrote].
	Swap Swap
}

// Beat is how often an agent asks the others, and confirms that it sees the database: four times
// in each TTL.
func (e *Election) Beat() time.Duration { return e.TTL / 4 }

// Holder is the record's holder and its address; ok is false where that isn't known now.
func (e *Election) Holder(now time.Duration) (r Record, ok bool) {
	return e.record, e.known && e.isFresh(now)
}

// Saw takes the record's value, as a member that is connected to a leader has it. Asked is
// when the question began that it has answered, so that nothing before that is missing.
func (e *Election) Saw(value string, asked time.Duration) {
	if e.fresh == 0 || asked-e.confirmed > e.TTL/2 {
		e.fresh = asked
	}
	e.confirmed = max(e.confirmed, asked)
	if e.known && value == e.value {
		return
	}
	before := e.record
	record, err := Parse(value)
	if err != nil { // no unit holds it; the next one writes one that is well-formed
		record = Record{Term: before.Term}
	}
	if e.known && record.Holder != "" && before.Holder != "" && record.Holder != before.Holder {
		if record.Holder == e.deposed {
			copy(e.flaps[1:], e.flaps[:])
			e.flaps[0] = asked
		}
		e.deposed = before.Holder
	}
	if !e.known || record.Term != before.Term || record.Holder != before.Holder {
		e.heard, e.direct, e.denied = 0, 0, 0
	}
	e.record, e.value, e.known, e.since = record, value, true, asked
}

// Lost says that the connection to the database is gone: what was seen on it counts no
// more, and a holder's silence is measured anew.
func (e *Election) Lost() { e.known, e.fresh = false, 0 }

// Heard takes another agent's answer to a question that was asked then.
func (e *Election) Heard(a Answer, asked time.Duration) {
	if !e.known || a.Term != e.record.Term || e.record.Holder == "" {
		return
	}
	switch {
	case e.fromHolder(a) && a.Acts:
		e.heard, e.direct, e.denied = max(e.heard, asked), max(e.direct, asked), 0
	case e.fromHolder(a):
		e.denied = max(e.denied, asked)
	case a.HeardAgo >= 0:
		e.heard = max(e.heard, asked-a.HeardAgo)
	}
}

// fromHolder says whether the answer is the holder's, and not another process' of the same name.
func (e *Election) fromHolder(a Answer) bool {
	return a.Unit == e.record.Holder && (a.Instance == "" || a.Instance == e.record.Instance)
}

// Tell is what this agent answers to others.
func (e *Election) Tell(now time.Duration) Answer {
	a := Answer{Unit: e.Unit, Instance: e.Instance, Term: e.record.Term, Acts: e.acts(now), HeardAgo: -1}
	if e.direct != 0 {
		a.HeardAgo = max(now-e.direct, 0)
	}
	return a
}

// Stand says whether this unit is able to act: its databases and its ovn-northd work.
func (e *Election) Stand(eligible bool, now time.Duration) {
	if e.eligible && !eligible || e.unfit == 0 {
		e.unfit = now
	}
	e.eligible = eligible
}

// Stop has the agent give the record up, and take it no more.
func (e *Election) Stop() { e.stopping = true }

// Next is what to do now. It is to be asked after all that the election is told, and each
// quarter of a Beat.
func (e *Election) Next(now time.Duration) Decision {
	d := Decision{Acts: e.acts(now), Until: e.deadline()}
	if e.pending.New != "" || !e.known || !e.isFresh(now) {
		return d
	}
	switch {
	case e.mine() && (e.stopping || e.resigns(now)):
		d.Acts = false
		e.propose(Swap{e.value, e.record.Released().String()}, now)
	case !e.mine() && e.eligible && !e.stopping && e.mayTake(now):
		next := e.record.Taken(e.Unit, e.TTL)
		next.Instance, next.Address = e.Instance, e.Address
		e.propose(Swap{e.value, next.String()}, now)
	}
	d.Swap = e.pending
	return d
}

func (e *Election) propose(s Swap, now time.Duration) { e.pending, e.asked = s, now }

// Wrote says what came of the swap that was asked for. One whose answer is lost may still
// come about: the record shows it.
func (e *Election) Wrote(o Outcome) {
	swap, asked := e.pending, e.asked
	e.pending = Swap{}
	record, _ := Parse(swap.New)
	if record.Holder == e.Unit && o != SwapRefused {
		e.written = swap.New
	}
	if o == SwapDone {
		e.Saw(swap.New, asked)
	}
}

// Guard is the value of the record that everything which this agent changes has to wait for
// in its transaction; ok is false where it may begin nothing.
func (e *Election) Guard(now time.Duration) (value string, ok bool) { return e.written, e.acts(now) }

// Holds says whether the record is this process', or may become so by a swap that is under
// way: what stops waits until it is not.
func (e *Election) Holds() bool { return e.pending.New != "" || e.mine() }

// mine says whether the record is the one that this process has written.
func (e *Election) mine() bool { return e.value != "" && e.value == e.written }

// deadline is until when a holder may begin a change.
func (e *Election) deadline() time.Duration { return e.confirmed + e.TTL/actShare }

func (e *Election) acts(now time.Duration) bool {
	return e.known && e.mine() && !e.stopping && now < e.deadline()
}

// isFresh says whether the database was seen a moment ago. It is what a takeover needs, and
// is shorter than what lets a holder act.
func (e *Election) isFresh(now time.Duration) bool {
	return e.fresh != 0 && now-e.confirmed < e.TTL/2
}

// resigns says whether the unit was unable to act for so long that another should.
func (e *Election) resigns(now time.Duration) bool { return !e.eligible && now-e.unfit >= e.TTL }

// Namesake says whether the record is that of another agent under this one's name, which listens
// elsewhere: both may run. It is waited for as any other; else each would take the record from the
// other at once, for ever.
func (e *Election) Namesake() bool {
	return e.known && e.record.Holder == e.Unit && e.record.Address != "" && e.record.Address != e.Address
}

// mayTake says whether the holder is gone: it gave the record up, was this unit's process of
// before, on whose address this one listens, says itself that it does not act though the database
// can be seen, or no agent has heard it.
func (e *Election) mayTake(now time.Duration) bool {
	if e.record.Holder == "" || e.record.Holder == e.Unit && !e.Namesake() {
		return true
	}
	seen := max(e.since, e.heard, e.fresh)
	wait := e.TTL + e.patience(now)
	if e.denied > e.heard {
		wait -= e.TTL - e.Beat()
	}
	return now-seen >= wait
}

// patience is how much longer a takeover waits after flaps.
func (e *Election) patience(now time.Duration) time.Duration {
	recent := 0
	for recent < maxFlaps && e.flaps[recent] != 0 && now-e.flaps[recent] <= flapWindow*e.TTL {
		recent++
	}
	if recent < 2 {
		return 0
	}
	return e.TTL / 2 << (recent - 2)
}
