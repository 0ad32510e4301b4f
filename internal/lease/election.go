package lease

import "time"

// Limits of [Election.TTL], and its default, from document 003. The record has whole seconds. With a shorter TTL the
// lease would change hands on a busy machine.
const (
	MinTTL     = 2 * time.Second
	MaxTTL     = 5 * time.Minute
	DefaultTTL = 5 * time.Second
)

// Election is one agent's part in electing the unit that acts. Its driver passes it the agent's observations and calls
// [Election.Next]. Election reads no clock and does no I/O.
//
// The record in the store changes only if the holder changes, because ovn-northd recomputes everything after each write
// to the Northbound database. The agents tell each other that the holder lives: each asks all others once per
// [Election.Beat]. So the record alone decides which unit may act. Each change by a holder requires, in its
// transaction, the holder's own record. Two units may believe that they hold it, but only the changes of one of them
// commit.
//
// Silence counts only if this process observed it, and only while it sees the database: during a Raft election no agent
// can tell a dead holder from a waiting one.
//
// All times are readings of one clock that never jumps and also runs while the machine sleeps, such as CLOCK_BOOTTIME
// (clock_gettime(2)); 0 means never. The wall clock has no influence.
type Election struct {
	// Unit is this agent's name. Instance distinguishes this process from others of the same unit. Address is where other
	// agents ask this process; no other process listens there.
	Unit, Instance, Address string
	// TTL is how long a holder may stay silent.
	TTL time.Duration

	record          Record
	value           string
	known           bool          // whether the record was seen on a connection that is still open
	since           time.Duration // when this process first saw the record on this connection
	confirmed       time.Duration // start of the last query that was answered by a member with a leader
	visibleSince    time.Duration // since when the database has been visible without a gap
	heard           time.Duration // the last sign of life of the holder, direct or through another agent
	heardDirectly   time.Duration // the last sign of life from the holder itself
	deniedAt        time.Duration // when the holder was asked, if it answered that it does not act
	eligible        bool
	ineligibleSince time.Duration // since when this unit has not been eligible

	written  string // the value of the record that this process wrote
	pending  Swap
	asked    time.Duration // when the pending swap was proposed
	stopping bool
	deposed  string                  // the holder before the current one
	flaps    [maxFlaps]time.Duration // when the last flaps were seen, the latest first
}

// A flap is a takeover by the unit that was just deposed: two agents that don't hear each other could take the record
// from each other for ever. From the second flap within flapWindow TTLs on, each flap doubles the wait, up to maxFlaps.
const (
	maxFlaps   = 8
	flapWindow = 120
)

// Swap is a compare-and-swap of the record.
type Swap struct{ Old, New string }

// Outcome is the result of a swap.
type Outcome int

// The outcomes of a swap.
const (
	SwapUnknown Outcome = iota // no answer arrived: the swap may have been done, or may be done later
	SwapDone
	SwapRefused // the record had another value
)

// Answer is an agent's answer to other agents.
type Answer struct {
	// Unit is the agent, Instance its process (empty if unknown), Term the term of the record that the agent sees.
	Unit     string `json:"unit"`
	Instance string `json:"instance,omitempty"`
	Term     uint64 `json:"term"`
	// Acts reports whether the agent holds the record now.
	Acts bool `json:"acts"`
	// HeardAgo is how long ago the agent last heard the holder of that term directly; it is negative if it never did.
	HeardAgo time.Duration `json:"heard_ago_ns"`
}

// Decision is what an agent should do next.
type Decision struct {
	// Acts reports whether this agent holds the record and may begin changes.
	Acts bool
	// Swap is the write to make, unless New is empty. The driver reports its result by [Election.SwapEnded].
	Swap Swap
}

// Beat returns the interval at which an agent asks the others and confirms that it sees the database: a quarter of the
// TTL.
func (e *Election) Beat() time.Duration { return e.TTL / 4 }

// Holder returns the record; ok is false if the record is not known now.
func (e *Election) Holder(now time.Duration) (r Record, ok bool) {
	return e.record, e.known && e.isFresh(now)
}

// ObserveRecord stores the record's value as read from a member that is connected to a leader. asked is when the query
// that returned it began.
func (e *Election) ObserveRecord(value string, asked time.Duration) {
	if e.visibleSince == 0 || asked-e.confirmed > e.TTL/2 {
		e.visibleSince = asked
	}
	e.confirmed = max(e.confirmed, asked)
	if e.known && value == e.value {
		return
	}
	before := e.record
	record, err := Parse(value)
	if err != nil { // no unit holds it; the next holder writes a well-formed record
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
		e.heard, e.heardDirectly, e.deniedAt = 0, 0, 0
	}
	e.record, e.value, e.known, e.since = record, value, true, asked
}

// Disconnected notes that the connection to the database is lost. Observations on it no longer count, and the
// measurement of the holder's silence starts again.
func (e *Election) Disconnected() { e.known, e.visibleSince = false, 0 }

// ObserveAnswer stores another agent's answer to a question that was asked at the given time.
func (e *Election) ObserveAnswer(a Answer, asked time.Duration) {
	if !e.known || a.Term != e.record.Term || e.record.Holder == "" {
		return
	}
	switch {
	case e.fromHolder(a) && a.Acts:
		e.heard, e.heardDirectly, e.deniedAt = max(e.heard, asked), max(e.heardDirectly, asked), 0
	case e.fromHolder(a):
		e.deniedAt = max(e.deniedAt, asked)
	case a.HeardAgo >= 0:
		e.heard = max(e.heard, asked-a.HeardAgo)
	}
}

// fromHolder reports whether the answer comes from the process that holds the record, and not from another process with
// the same name.
func (e *Election) fromHolder(a Answer) bool {
	return a.Unit == e.record.Holder && (a.Instance == "" || a.Instance == e.record.Instance)
}

// Answer returns this agent's answer to other agents.
func (e *Election) Answer(now time.Duration) Answer {
	a := Answer{Unit: e.Unit, Instance: e.Instance, Term: e.record.Term, Acts: e.acts(now), HeardAgo: -1}
	if e.heardDirectly != 0 {
		a.HeardAgo = max(now-e.heardDirectly, 0)
	}
	return a
}

// SetEligible stores whether this unit is able to act: its databases and its ovn-northd work.
func (e *Election) SetEligible(eligible bool, now time.Duration) {
	if e.eligible && !eligible || e.ineligibleSince == 0 {
		e.ineligibleSince = now
	}
	e.eligible = eligible
}

// Stop makes the agent release the record and never take it again.
func (e *Election) Stop() { e.stopping = true }

// Next returns what to do now. Call it after each observation, and every quarter of a Beat.
func (e *Election) Next(now time.Duration) Decision {
	d := Decision{Acts: e.acts(now)}
	if e.pending.New != "" || !e.known || !e.isFresh(now) {
		return d
	}
	switch {
	case e.ownsRecord() && (e.stopping || !e.eligible && now-e.ineligibleSince >= e.TTL):
		d.Acts = false
		e.pending, e.asked = Swap{e.value, e.record.Released().String()}, now
	case !e.ownsRecord() && e.eligible && !e.stopping && e.mayTakeOver(now):
		next := e.record.Taken(e.Unit, e.TTL)
		next.Instance, next.Address = e.Instance, e.Address
		e.pending, e.asked = Swap{e.value, next.String()}, now
	}
	d.Swap = e.pending
	return d
}

// SwapEnded stores the result of the proposed swap. If its answer was lost, the swap may still happen; the record will
// show it.
func (e *Election) SwapEnded(o Outcome) {
	swap, asked := e.pending, e.asked
	e.pending = Swap{}
	record, _ := Parse(swap.New)
	if record.Holder == e.Unit && o != SwapRefused {
		e.written = swap.New
	}
	if o == SwapDone {
		e.ObserveRecord(swap.New, asked)
	}
}

// Guard returns the value of the record that each change of this agent requires in its transaction. ok is false if the
// agent may begin no change.
func (e *Election) Guard(now time.Duration) (value string, ok bool) { return e.written, e.acts(now) }

// Holds reports whether this process holds the record, or may soon hold it by a pending swap. An agent that stops waits
// until Holds returns false.
func (e *Election) Holds() bool { return e.pending.New != "" || e.ownsRecord() }

// ownsRecord reports whether this process wrote the current record.
func (e *Election) ownsRecord() bool { return e.value != "" && e.value == e.written }

func (e *Election) acts(now time.Duration) bool {
	return e.known && e.ownsRecord() && !e.stopping && now < e.confirmed+e.TTL/actShare
}

// isFresh reports whether the database was seen recently enough for a takeover. The limit is no longer than the limit
// for a holder that acts.
func (e *Election) isFresh(now time.Duration) bool {
	return e.visibleSince != 0 && now-e.confirmed < e.TTL/2
}

// HasNamesake reports whether another agent holds the record under this agent's name and listens on another address.
// Both may be running, so this one waits for the TTL as for any other holder: otherwise they would take the record from
// each other at once, for ever.
func (e *Election) HasNamesake() bool {
	return e.known && e.record.Holder == e.Unit && e.record.Address != "" && e.record.Address != e.Address
}

// mayTakeOver reports whether the holder is gone. It is gone if it released the record, if it was an earlier process of
// this unit on this address, if it answers that it does not act although the database is visible, or if no agent has
// heard it.
func (e *Election) mayTakeOver(now time.Duration) bool {
	if e.record.Holder == "" || e.record.Holder == e.Unit && !e.HasNamesake() {
		return true
	}
	seen := max(e.since, e.heard, e.visibleSince)
	wait := e.TTL + e.backoff(now)
	if e.deniedAt > e.heard {
		wait -= e.TTL - e.Beat()
	}
	return now-seen >= wait
}

// backoff returns how much longer a takeover waits after flaps.
func (e *Election) backoff(now time.Duration) time.Duration {
	recent := 0
	for recent < maxFlaps && e.flaps[recent] != 0 && now-e.flaps[recent] <= flapWindow*e.TTL {
		recent++
	}
	if recent < 2 {
		return 0
	}
	return e.TTL / 2 << (recent - 2)
}
