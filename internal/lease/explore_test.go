package lease

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/exploretest"
)

// These tests explore every order in which three units can take the lock, judge, record an intent, check the clock,
// act, see the end and release the lock. Each unit can be stopped for any time or killed at any point, while the lock's
// time passes and units remove ended intents. A command takes effect at any time after it was sent. The members that
// are up must be a majority at every point.

// op is a unit's operation: to leave, to kick the server target, or to restart.
type op struct {
	kind   Kind
	target int
}

// phase is a unit's progress.
type phase int

const (
	idle    phase = iota
	holding       // it has the lock
	noted         // judged, intent recorded
	sent          // the command is in flight
	ended         // it took effect; for a restart: the server is down
	back          // for a restart: the server is up again
	orphan        // killed; the command is in flight
	over          // done, given up, or killed
)

const (
	fresh   = iota // less than half of the TTL has passed since the write
	late           // the holder may begin no change
	expired        // others may take over
)

const actors = 3

// world is one state. Servers are numbers; the units' own servers come first.
type world struct {
	members, up uint8
	store       Record
	age         int // since the last write
	phases      [actors]phase
	ages        [actors]int  // since the unit's own last write
	valid       [actors]bool // the store has the value that the unit wrote
}

// point is a world as a map key: its intents are a subset of the three units' intents.
type point struct {
	members, up, marks, orphans uint8
	holder                      string
	age                         int
	phases                      [actors]phase
	ages                        [actors]int
	valid                       [actors]bool
}

func (x *explorer) point(w world) point {
	p := point{
		members: w.members, up: w.up, holder: w.store.Holder, age: w.age, phases: w.phases, ages: w.ages,
		valid: w.valid,
	}
	for _, m := range w.store.Intents {
		for i := range actors {
			if m.By == unitOf(i) {
				p.marks |= bit(i)
				if m.Seen != 0 {
					p.orphans |= bit(i)
				}
			}
		}
	}
	return p
}

func bit(server int) uint8   { return 1 << server }
func serverOf(id string) int { return int(id[0] - 'A') }
func idOf(server int) string { return string(rune('A' + server)) }

var unitNames = [actors]string{"u/0", "u/1", "u/2"}

func unitOf(i int) string        { return unitNames[i] }
func (w world) gone() gone       { return func(id string) bool { return w.members&bit(serverOf(id)) == 0 } }
func (w world) works(i int) bool { return w.members&w.up&bit(i) != 0 }

type gone = func(string) bool

func count(set uint8) (n int) {
	for ; set != 0; set &= set - 1 {
		n++
	}
	return n
}

func quorum(members, up uint8) bool { return count(members&up) > count(members)/2 }

// rules are the product's rules, or all of them but one.
type rules struct {
	tidied    func(Record, LiveOwner) (Record, bool)
	notesDown bool
	done      func(Record, gone) bool
}

func product() rules { return rules{Record.WithoutEnded, true, Record.HolderIsDone} }

type explorer struct {
	rules
	ops  [actors]op
	seen map[point]bool
	bad  []world
}

func (x *explorer) mark(i int) Intent {
	return Intent{ID: idOf(x.ops[i].target), Kind: x.ops[i].kind, By: unitOf(i), From: idOf(i)}
}

// permitted is a short form of the judgement of package raft: a removed server is gone, a stopped one is down.
func (x *explorer) permitted(w world, i int) bool {
	members, up := w.members, w.members&w.up
	if !quorum(members, up) || members&bit(x.ops[i].target) == 0 {
		return false
	}
	for _, m := range w.store.Intents {
		if s := serverOf(m.ID); m.Kind == Down && s != i {
			up &^= bit(s)
		}
	}
	for _, m := range w.store.Intents {
		if s := serverOf(m.ID); m.Kind != Down && up&bit(s) != 0 && s != x.ops[i].target {
			members, up = members&^bit(s), up&^bit(s)
		}
	}
	up &^= bit(x.ops[i].target)
	if x.ops[i].kind != Down {
		members &^= bit(x.ops[i].target)
	}
	return quorum(members, up)
}

// write is a successful compare-and-swap of unit i.
func (w world) write(i int, r Record) world {
	w.store, w.age, w.ages[i] = r, fresh, fresh
	w.valid = [actors]bool{}
	w.valid[i] = true
	return w
}

func (w world) to(i int, p phase) world {
	w.phases[i] = p
	if p == over || p == idle || p == orphan {
		w.ages[i], w.valid[i] = fresh, false
	}
	return w
}

// release releases the lock without the ended intents, if the unit still holds it.
func (x *explorer) release(w world, i int, next phase) world {
	if w.valid[i] {
		p := w.phases[i]
		restarted := x.ops[i].kind == Down && (p == back || p == noted)
		w = w.write(i, w.store.WithoutIntents(func(m Intent) bool {
			return w.gone()(m.ID) && m.By == unitOf(i) || restarted && m == x.mark(i)
		}).Released())
	}
	return w.to(i, next)
}

func (x *explorer) effect(w world, i int) world {
	if x.ops[i].kind != Down {
		w.members &^= bit(x.ops[i].target)
	}
	w.up &^= bit(x.ops[i].target)
	return w
}

// next returns all states that a step of unit i can lead to.
func (x *explorer) next(w world, i int) (all []world) {
	add := func(next world) { all = append(all, next) }
	switch w.phases[i] {
	case idle:
		free := w.store.Holder == "" || w.store.Holder == unitOf(i) || w.age == expired || x.done(w.store, w.gone())
		if free && w.works(i) {
			r := w.store.Taken(unitOf(i), time.Second)
			r.Intents = w.store.UnfinishedIntents(w.gone())
			add(w.write(i, r).to(i, holding))
		}
	case holding:
		switch {
		case !w.valid[i]:
			add(w.to(i, idle))
		case !x.permitted(w, i):
			add(x.release(w, i, idle))
		case x.ops[i].kind == Down && !x.notesDown:
			add(w.write(i, w.store.Renewed()).to(i, noted))
		default:
			add(w.write(i, w.store.WithIntent(x.mark(i))).to(i, noted))
		}
	case noted:
		if w.ages[i] == fresh && w.works(i) {
			add(w.to(i, sent))
		} else {
			add(x.release(w, i, over))
		}
	case sent:
		add(x.effect(w, i).to(i, ended))
	case orphan:
		add(x.effect(w, i).to(i, over))
		add(w.to(i, over)) // the lock was lost
	case ended:
		if x.ops[i].kind == Down {
			up := w
			up.up |= bit(i)
			add(up.to(i, back))
		} else {
			add(x.release(w, i, over))
		}
	case back:
		add(x.release(w, i, over))
	}
	switch p := w.phases[i]; p {
	case idle, over:
		if w.store.Holder == "" && w.works(i) {
			if r, changed := x.tidied(w.store, LiveOwner{
				Unit: unitOf(i), Server: idOf(i), Gone: w.gone(),
				Now: start,
			}); changed {
				add(w.write(i, r).to(i, p))
			}
		}
		if x.ops[i].kind == Down && p == over && w.up&bit(i) == 0 { // systemd starts it
			w.up |= bit(i)
			add(w)
		}
	case holding, noted, ended, back:
		add(w.to(i, over)) // killed
	case sent:
		add(w.to(i, orphan))
	}
	// The unit renews the lock while it waits.
	if p := w.phases[i]; (p == sent || p == ended) && w.valid[i] && w.ages[i] != fresh {
		add(w.write(i, w.store.Renewed()))
	}
	return all
}

func (x *explorer) explore(first world) {
	queue := []world{first}
	x.seen = map[point]bool{x.point(first): true}
	for len(queue) > 0 && len(x.bad) == 0 {
		w := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if !quorum(w.members, w.up) {
			x.bad = append(x.bad, w)
		}
		var all []world
		for i := range actors {
			all = append(all, x.next(w, i)...)
		}
		if w.age < expired {
			w.age++
			for i := range actors {
				if w.phases[i] != idle && w.phases[i] != over {
					w.ages[i] = min(w.ages[i]+1, expired)
				}
			}
			all = append(all, w)
		}
		for _, next := range all {
			if key := x.point(next); !x.seen[key] {
				x.seen[key] = true
				queue = append(queue, next)
			}
		}
	}
}

// exploreAll explores all possible steps of three units in clusters of three to largest servers, with the last server
// up or down. It returns the number of states, and the first bad state.
func exploreAll(r rules, largest int) (points int, found string) {
	for members := 3; members <= largest; members++ {
		for _, dead := range []bool{false, true} {
			all := uint8(1)<<members - 1
			up := all
			if dead {
				up &^= bit(members - 1)
			}
			for combination := range 4 * 4 * 4 {
				if rotated := combination/4 + combination%4*16; members > actors &&
					combination > min(rotated, rotated/4+rotated%4*16) {
					continue // equivalent up to names
				}
				x := explorer{rules: r}
				for i, rest := 0, combination; i < actors; i, rest = i+1, rest/4 {
					x.ops[i] = []op{{Leave, i}, {Down, i}, {Kick, (i + 1) % actors}, {Kick, members - 1}}[rest%4]
				}
				if slices.ContainsFunc(x.ops[:], func(o op) bool { return o.target >= actors && o.target != members-1 }) ||
					!valid(x.ops, up) {
					continue
				}
				x.explore(world{members: all, up: up})
				if points += len(x.seen); len(x.bad) > 0 {
					return points, fmt.Sprintf("%d members, one of them dead: %v; units want %v: %+v", members, dead, x.ops, x.bad[0])
				}
			}
		}
	}
	return points, ""
}

// valid excludes kicks of the unit's own server, and units that don't run.
func valid(ops [actors]op, up uint8) bool {
	for i, o := range ops {
		if o.kind == Kick && o.target == i || up&bit(i) == 0 {
			return false
		}
	}
	return true
}

// R1, R5. Clusters of five only with EXPLORE.
func TestLock_no_interleaving_loses_quorum(t *testing.T) {
	largest := 4
	if exploretest.Factor(t) > 1 {
		largest = 5
	}
	points, found := exploreAll(product(), largest)
	require.Empty(t, found)
	t.Logf("%d points", points)
	assert.Greater(t, points, 100_000)
}

// Each rule is needed: without it the exploration finds a lost quorum.
func TestLock_without_any_rule_quorum_is_lost(t *testing.T) {
	for name, change := range map[string]func(*rules){
		"target_withdraws_others_intent": func(r *rules) {
			r.tidied = func(r Record, t LiveOwner) (Record, bool) {
				next := r.WithoutIntents(func(m Intent) bool { return m.ID == t.Server })
				return next, len(next.Intents) != len(r.Intents)
			}
		},
		"a restart is not noted": func(r *rules) { r.notesDown = false },
		"any change that is done frees the lock, and a restart is not noted": func(r *rules) {
			r.notesDown = false
			r.done = func(r Record, gone gone) bool { return len(r.Intents) > 0 && len(r.UnfinishedIntents(gone)) == 0 }
		},
	} {
		r := product()
		change(&r)
		_, found := exploreAll(r, 5)
		assert.NotEmpty(t, found, name)
	}
}
