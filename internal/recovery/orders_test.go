package recovery

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// world simulates units that run hooks in any order, are lost and come back. Any unit may get a request.
type world struct {
	t       *testing.T
	random  *rand.Rand
	n       int
	cluster raft.ID
	leader  int
	units   []played
	made    int
	// accepted is the acceptance that Juju's leader has published, acceptedIn the event in which it did.
	accepted   Acceptance
	acceptedIn int
	// events counts the events, half a minute each; takenBack the new clusters that were withdrawn since the old one had
	// a quorum again; byDying the clusters that a dying leader has published; removals the requests that were withdrawn
	// because a removal began.
	events, takenBack, byDying, removals int
}

type played struct {
	copied  Copy
	gone    bool // its copy of the cluster was put away
	held    string
	request *Request
	// published is the unit's data as the other units see it.
	copy    *Copy
	asked   *Request
	running bool
	off     bool
	// dying reports whether the unit is being removed, in a `stop` that fails. It publishes only acceptances.
	dying bool
	// staged is the new cluster beside the unit's file.
	staged    raft.ID
	published raft.ID // the staged cluster when its last hook ended, and in which event
	seenIn    int
}

func (w *world) quorum() bool {
	up := 0
	for _, u := range w.units {
		if u.running && !u.off && !u.gone {
			up++
		}
	}
	return up >= w.n/2+1
}

// state returns the state of unit i.
func (w *world) state(i int) State {
	s := of(w.n)
	u := w.units[i]
	s.Now, s.Accepted, s.Staged = w.now(), w.accepted, u.staged
	s.Unit, s.Cluster, s.JujuLeader = unit(i), w.cluster, w.leader == i
	s.Dying, s.HeldFor, s.Request = u.dying, u.held, u.request
	s.Own, s.Peers = nil, nil
	if !u.gone {
		c := u.copied
		c.Stopped, c.HasRaftLeader = u.held != "" && !u.running, u.running && w.quorum()
		s.Own = &c
	}
	for j, p := range w.units {
		if j != i {
			s.Peers = append(s.Peers, Peer{
				Unit: unit(j), Dying: p.dying, Read: true, Copy: p.copy, Request: p.asked, Reached: !p.off,
			})
		}
	}
	if w.quorum() {
		s.Serving = []string{"ssl:10.0.0.9:6643"}
	}
	return s
}

func (w *world) now() time.Time { return noon.Add(time.Duration(w.events) * 30 * time.Second) }

// hook runs a hook on unit i, which makes the given number of steps and then publishes.
func (w *world) hook(i int, steps int) {
	for range steps {
		u := &w.units[i]
		if w.cluster != old { // done by package plan outside the test
			u.gone, u.running, u.request, u.held = true, false, nil, ""
			break
		}
		s := w.state(i)
		next := s.Next()
		switch next.Action {
		case Accept:
			require.Empty(w.t, s.leaving(s.standing()[next.For]), "a request was accepted during a removal")
			w.accepted, w.acceptedIn = s.Accept(next.For), w.events
			continue
		case Stop:
			u.running, u.held = false, next.For
			continue
		case Release:
			u.held, u.running = "", true
			continue
		case Withdraw:
			if u.request.New != "" && w.quorum() {
				w.takenBack++
			}
			if len(s.leaving(*u.request)) > 0 {
				w.removals++
			}
			u.request = nil
			continue
		case Make:
			w.make(i)
			continue
		case Publish:
			w.publish(i, next)
			continue
		}
		break
	}
	u := &w.units[i]
	if u.dying {
		return
	}
	s := w.state(i)
	u.asked, u.copy = u.request, s.Publishes()
	if u.request != nil {
		copied := s.Answer(*u.request)
		u.asked = &copied
	}
	u.published, u.seenIn = u.staged, w.events
}

// dying returns the units that are being removed.
func (w *world) dying() (all []int) {
	for i, u := range w.units {
		if u.dying {
			all = append(all, i)
		}
	}
	return all
}

// make checks that only given up servers can vote or have newer data.
func (w *world) make(i int) {
	r := w.units[i].request
	for j, p := range w.units {
		if j == i || r.givesUp(Member{ID: id(j), Unit: unit(j)}) || p.gone {
			continue
		}
		require.False(w.t, p.running, "unit %d made a cluster while %d could vote", i, j)
		require.False(w.t, p.copied.newer(w.units[i].copied), "unit %d has newer data than %d", j, i)
	}
	require.False(w.t, w.units[i].dying, "unit %d, which is being removed, made a cluster", i)
	w.made++
	copied := *r
	copied.New = raft.ID(fmt.Sprintf("%08d-0000-4000-8000-000000000000", w.made))
	w.units[i].request, w.units[i].staged = &copied, copied.New
}

// publish checks that the cluster's unit is up, and has answered since Juju's leader asked.
func (w *world) publish(leader int, next Step) {
	for j, u := range w.units {
		if unit(j) != next.For {
			continue
		}
		if w.units[leader].dying {
			w.byDying++
		}
		require.False(w.t, u.off, "the new cluster of unit %d, which is off, was published", j)
		if j != leader {
			require.Equal(w.t, next.New, u.published, "unit %d lacks what was published", j)
			require.Equal(w.t, unit(leader), w.accepted.By)
			require.Greater(w.t, u.seenIn, w.acceptedIn, "unit %d has not answered", j)
		}
	}
	require.Equal(w.t, next.For, w.accepted.Unit, "it was not accepted")
	require.Equal(w.t, old, w.cluster, "a second cluster was put in the place of the first")
	require.False(w.t, w.quorum(), "the old cluster served when it was replaced")
	w.cluster = next.New
}

func TestR21_one_cluster_replaces_old_one_in_any_order(t *testing.T) {
	done, withdrawn, takenBack, byDying, removals := 0, 0, 0, 0, 0
	for seed := range uint64(3000) {
		w := &world{t: t, random: rand.New(rand.NewPCG(seed, 1)), n: 3 + 2*int(seed%2), cluster: old}
		for range w.n {
			w.units = append(w.units, played{
				running: true, copied: Copy{Cluster: old, Term: 2, Index: uint64(8 + w.random.IntN(3))},
			})
		}
		var lost []int
		for i := range w.n {
			if w.random.IntN(2) == 0 && len(lost) < w.n-1 {
				w.units[i].off = true
				lost = append(lost, i)
			}
		}
		begun := false
		for range 150 {
			w.events++
			i := w.random.IntN(w.n)
			u := &w.units[i]
			switch w.random.IntN(15) {
			case 14:
				u.dying = u.dying || w.leader == i && w.random.IntN(2) == 0 || w.random.IntN(16) == 0
			case 0:
				u.off = !u.off // it is lost, or comes back
			case 1:
				w.leader = i
			case 2:
				r := givingUp(append(w.dying(), lost...)...)
				r.Force = w.random.IntN(2) == 0
				begins := !u.off && !w.quorum() && w.cluster == old && u.request == nil && !u.dying
				if begins && len(w.state(i).Judge(r).Refusals) == 0 {
					r.Asked = w.state(i).AskedAt("")
					u.request, begun = &r, true
				} else if u.request != nil && w.random.IntN(16) == 0 {
					u.request = nil // an operator takes it back
				} else if !u.off && w.cluster == old && u.request != nil && u.request.New != "" {
					again := u.request.Repeated(r.GivenUp, r.Force)
					u.request = &again
				}
			default:
				if !u.off {
					w.hook(i, 1+w.random.IntN(4))
				}
			}
		}
		if w.cluster != old {
			done++
		} else if begun {
			withdrawn++
		}
		byDying, removals = byDying+w.byDying, removals+w.removals
		if takenBack += w.takenBack; t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	assert.Greater(t, takenBack, 3, "and some that were made are taken back")
	assert.Greater(t, byDying, 3, "and some are published by a unit that is being removed")
	assert.Greater(t, removals, 3, "and some are withdrawn as a removal begins")
	assert.Greater(t, done, 100, "the premise: many recoveries end")
	assert.Greater(t, withdrawn, 10, "and some are withdrawn, or go on")
	t.Log(done, withdrawn, takenBack, byDying, removals)
}
