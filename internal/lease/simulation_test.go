package lease

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"
)

// These tests simulate agents, the store and the network in ticks of an eighth of the TTL. They try every pair of
// faults, of each kind, beginning and duration, and random faults. A holder sends a guarded change in every tick. Each
// change arrives after any delay, and the store takes it only if the record is still the sender's.

const (
	ttl      = 8 * tick
	tick     = time.Second
	quiet    = 24 // ticks without faults at the end: three TTLs
	settling = 16 // of these, the ticks within which one agent must act
)

// trouble is a kind of fault.
type trouble int

const (
	killed     trouble = iota // the process ends; another one starts after the fault
	paused                    // SIGSTOP, or a sleeping machine
	noDatabase                // its connection to the database is cut
	election                  // no member of the database has a leader
	unreached                 // it reaches no other agent, but they reach it
	alone                     // no agent reaches it, nor it them
	unlinked                  // it and the next agent don't reach each other
	noNorthd                  // its ovn-northd doesn't work
	answerLost                // its writes get no answer
	behind                    // its member of the database is three ticks behind the leader
	stopped                   // it is stopped gracefully; another process starts afterwards
	ahead                     // its clock jumps ahead by one and a half TTLs and stays ahead
	setBack                   // its clock is set back by a TTL and stays behind
	frozen                    // its clock stops, and then continues from there
	troubles
)

// fault is a trouble of one agent that begins at a tick and lasts for some ticks.
type fault struct {
	what            trouble
	agent, from, to int
}

func (f fault) String() string {
	return fmt.Sprintf("{%d of %d in %d–%d}", f.what, f.agent, f.from, f.to)
}

// change is a guarded change in flight.
type change struct {
	guard     string
	agent     string // the process
	arrives   int
	committed bool
}

type simulation struct {
	t         require.TestingT
	agents    []Election
	processes int
	lostView  []bool
	store     []string // the value after each tick
	swaps     int
	pending   []lateSwap
	sent      []change
	faults    []fault
	now       int
	actors    [][]string // the agents that acted in each tick
	delay     func() int
	clocks    []time.Duration // how far each agent's clock is ahead
}

type lateSwap struct {
	Swap
	arrives int
}

func simulate(t require.TestingT, agents, until int, delay func() int, faults ...fault) *simulation {
	p := &simulation{t: t, store: []string{""}, faults: faults, lostView: make([]bool, agents), delay: delay}
	for i := range agents {
		p.agents = append(p.agents, Election{})
		p.clocks = append(p.clocks, time.Duration(1+7*i)*time.Hour) // each machine's clock starts at boot
	}
	for i := range agents {
		p.begin(i)
	}
	for p.now = 1; p.now <= until; p.now++ {
		p.step()
	}
	return p
}

func (p *simulation) begin(i int) {
	p.processes++
	p.agents[i] = Election{
		Unit: fmt.Sprintf("u/%d", i), Instance: fmt.Sprint(p.processes),
		Address: fmt.Sprintf("10.0.0.%d:16402", i+1), TTL: ttl,
	}
}

func (p *simulation) value() string { return p.store[len(p.store)-1] }

func (p *simulation) has(what trouble, agent int) bool {
	for _, f := range p.faults {
		if f.what == what && f.agent == agent && f.from <= p.now && p.now < f.to {
			return true
		}
	}
	return false
}

func (p *simulation) ended(what trouble, agent int) bool {
	for _, f := range p.faults {
		if f.what == what && f.agent == agent && f.to == p.now {
			return true
		}
	}
	return false
}

func (p *simulation) clock(i int) time.Duration { return p.clocks[i] + time.Duration(p.now)*tick }

// skew applies the clock faults of this tick.
func (p *simulation) skew() {
	for _, f := range p.faults {
		switch {
		case f.what == ahead && f.from == p.now:
			p.clocks[f.agent] += ttl + ttl/2
		case f.what == setBack && f.from == p.now:
			p.clocks[f.agent] -= ttl
		case f.what == frozen && f.from <= p.now && p.now < f.to:
			p.clocks[f.agent] -= tick
		}
	}
}

func (p *simulation) seesDatabase(i int) bool {
	for j := range p.agents {
		if p.has(election, j) {
			return false
		}
	}
	return !p.has(noDatabase, i)
}

// reaches reports whether agent i gets an answer from agent j.
func (p *simulation) reaches(i, j int) bool {
	next := func(a, b int) bool { return (a+1)%len(p.agents) == b && p.has(unlinked, a) }
	return !p.has(unreached, i) && !p.has(alone, i) && !p.has(alone, j) && !p.has(killed, j) && !p.has(paused, j) &&
		!next(i, j) && !next(j, i)
}

func (p *simulation) apply(s Swap) Outcome {
	if p.value() != s.Old {
		return SwapRefused
	}
	p.swaps++
	p.store[len(p.store)-1] = s.New
	return SwapDone
}

func (p *simulation) step() {
	p.store = append(p.store, p.value())
	p.actors = append(p.actors, nil)
	p.skew()
	for k, s := range p.pending {
		if s.arrives == p.now && p.value() == s.Old {
			p.apply(p.pending[k].Swap)
		}
	}
	for k, c := range p.sent {
		if c.arrives == p.now && p.value() == c.guard {
			p.sent[k].committed = true
		}
	}
	for i := range p.agents {
		if p.ended(killed, i) || p.ended(stopped, i) {
			p.begin(i)
		}
		if !p.has(killed, i) && !p.has(paused, i) {
			p.run(i)
		}
	}
}

func (p *simulation) run(i int) {
	e, now := &p.agents[i], p.clock(i)
	e.SetEligible(!p.has(noNorthd, i), now)
	if p.has(stopped, i) {
		e.Stop()
	}
	switch sees := p.seesDatabase(i); {
	case sees && p.lostView[i]:
		p.lostView[i] = false
		e.Disconnected()
		e.ObserveRecord(p.seen(i), now)
	case sees:
		e.ObserveRecord(p.seen(i), now)
	case p.has(noDatabase, i): // otherwise the connection stays: its member has no leader
		p.lostView[i] = true
	}
	if p.now%2 == i%2 { // a beat is two ticks
		for j := range p.agents {
			if i != j && p.reaches(i, j) {
				e.ObserveAnswer(p.agents[j].Answer(p.clock(j)), now)
			}
		}
	}
	d := e.Next(now)
	if d.Swap.New != "" {
		p.write(i, d.Swap)
		d = e.Next(now)
	}
	if d.Acts {
		name := e.Unit + " " + e.Instance
		p.actors[p.now-1] = append(p.actors[p.now-1], name)
		p.sent = append(p.sent, change{guard: e.value, agent: name, arrives: p.now + 1 + p.delay()})
	}
}

// seen returns the record's value at the agent's member of the database.
func (p *simulation) seen(i int) string {
	if p.has(behind, i) {
		return p.store[max(len(p.store)-4, 0)]
	}
	return p.value()
}

func (p *simulation) write(i int, s Swap) {
	switch {
	case !p.seesDatabase(i):
		p.pending = append(p.pending, lateSwap{s, p.now + 1 + p.delay()})
		p.agents[i].SwapEnded(SwapUnknown)
	case p.has(answerLost, i):
		p.apply(s)
		p.agents[i].SwapEnded(SwapUnknown)
	default:
		p.agents[i].SwapEnded(p.apply(s))
	}
}

// holders returns the processes that acted at the end of a tick.
func (p *simulation) holders(at int) []string { return p.actors[at-1] }

// check asserts the properties of every run that ends with quiet ticks.
func (p *simulation) check(until int) {
	t, msg := p.t, fmt.Sprint(p.faults)
	by := map[uint64]string{}
	for _, c := range p.sent {
		if !c.committed {
			continue
		}
		r, err := Parse(c.guard)
		require.NoError(t, err)
		if by[r.Term] == "" {
			by[r.Term] = c.agent
		}
		require.Equal(t, by[r.Term], c.agent, "two processes have committed in term %d: %s", r.Term, msg)
	}
	for at := until - quiet + settling; at <= until; at++ {
		require.Len(t, p.holders(at), 1, "tick %d of %d: %s", at, until, msg)
	}
	require.Equal(t, p.holders(until-quiet+settling), p.holders(until), "it changes hands without a reason: %s", msg)
}

func immediate() int { return 0 }
