package recovery

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

const old raft.ID = "5418e1b5-284d-47b2-9acc-fb82170132ed"

func unit(n int) string { return fmt.Sprintf("ovn-central/%d", n) }

func id(n int) raft.ID { return raft.ID(fmt.Sprintf("%04d0000-e8e4-4719-b344-902444227dd7", n)) }

// of is what unit 0 of n knows; the others have published nothing yet.
func of(n int) State {
	s := State{Database: ovndb.NB, Unit: unit(0), Cluster: old, Own: &Copy{Cluster: old, Term: 2, Index: 10}}
	for i := range n {
		s.Members = append(s.Members, Member{ID: id(i), Unit: unit(i), Exists: true})
		if i > 0 {
			s.Peers = append(s.Peers, Peer{Unit: unit(i), Read: true})
		}
	}
	return s
}

// publishes is what unit 1 has said of its copy.
func (s State) publishes(c Copy) State {
	s.Peers = append([]Peer{}, s.Peers...)
	c.Cluster = old
	s.Peers[0].Copy = &c
	return s
}

func givingUp(units ...int) Request {
	r := Request{Cluster: old}
	for _, n := range units {
		r.GivenUp = append(r.GivenUp, unit(n))
	}
	return r
}

func forced(units ...int) Request {
	r := givingUp(units...)
	r.Force = true
	return r
}

// answers says that the server of unit n does.
func (s State) answers(n int) State {
	s.Members = slices.Clone(s.Members)
	s.Members[n].Answers = true
	return s
}

// What is given up by the identities of members is given up as the units that have them, but
// for a unit that has another member too: that one may serve.
func TestUnitsAreGivenUpByTheIdentitiesOfAllTheirMembers(t *testing.T) {
	s := of(3)
	s.Members = append(s.Members, Member{ID: id(7), Unit: unit(2), Exists: true}, Member{ID: id(8)})
	r := Request{Cluster: old, GivenUp: []string{id(1).Short(), id(2).Short(), id(8).Short()}}
	found := s.WithUnits(r)
	assert.Equal(t, []string{"0001", "0002", "0008", unit(1)}, found.GivenUp)
	assert.Equal(t, found, s.WithUnits(found))
	assert.Len(t, r.GivenUp, 3, "the request that was given is left as it is")
	r.GivenUp = append(r.GivenUp, string(id(7)))
	assert.Contains(t, s.WithUnits(r).GivenUp, unit(2))

	// So the request of a unit that is lost by now is not yielded to.
	s = of(2)
	s.Own.Stopped = true
	s.Peers[0].Request = &Request{Cluster: old, New: "a cluster that no unit has"}
	asked := s.WithUnits(Request{Cluster: old, GivenUp: []string{id(1).Short()}})
	s.Request = &asked
	assert.Equal(t, Make, s.Next().Action)
}

func TestRefusals(t *testing.T) {
	behind := Copy{Term: 2, Index: 9}
	tests := map[string]struct {
		state State
		asked Request
		want  string
	}{
		"a server is connected to a leader": {
			func() State { s := of(3); s.Serving = []string{"ssl:10.0.0.2:6643"}; return s }(), givingUp(1, 2), "the cluster has a quorum: ssl:10.0.0.2:6643",
		},
		"a unit says that it has a leader":       {of(3).publishes(Copy{HasLeader: true}), givingUp(2), "ovn-central/1 has a leader"},
		"the others went on without this unit":   {of(3).publishes(Copy{Term: 3, Index: 90, HasLeader: true}), givingUp(2), "ovn-central/1 has a leader: the quorum is not lost; this unit is cut off"},
		"a unit has a longer log":                {of(3).publishes(Copy{Term: 2, Index: 11}), givingUp(2), "ovn-central/1 has newer data (term 2, index 11;"},
		"a unit has a shorter log of later term": {of(3).publishes(Copy{Term: 3, Index: 4}), givingUp(2), "ovn-central/1 has newer data (term 3, index 4;"},
		"newer data are not given up by name": {
			of(3).publishes(Copy{Term: 3, Index: 4}), givingUp(1, 2),
			"ovn-central/1 has newer data (term 3, index 4; this unit's end with term 2, index 10); run it there; its server does not answer: if its machine is lost for good, power it off, and add force=true",
		},
		"a leader is not given up by name":              {of(3).publishes(Copy{HasLeader: true}), givingUp(1, 2), "its server does not answer: if its machine is lost for good, power it off, and add force=true"},
		"newer data whose unit force does not name":     {of(3).publishes(Copy{Term: 3, Index: 4}), forced(2), "ovn-central/1 has newer data"},
		"force that names no unit":                      {of(3).publishes(behind), forced(), "force=true gives up newer data of units that are lost; name these in give-up="},
		"newer data of a server that answers, by force": {of(3).publishes(Copy{Term: 3, Index: 4}).answers(1), forced(1, 2), "ovn-central/1 has newer data (term 3, index 4; this unit's end with term 2, index 10); run it there; its server answers, so it is not given up, with force either"},
		"a leader whose server answers, by force":       {of(3).publishes(Copy{HasLeader: true}).answers(1), forced(1, 2), "ovn-central/1 has a leader: the quorum is not lost"},
		"a leader that a server is connected to, by force": {
			func() State {
				s := of(3).publishes(Copy{HasLeader: true})
				s.Serving = []string{"ssl:10.0.0.2:6643"}
				return s
			}(), forced(1, 2), "the cluster has a quorum: ssl:10.0.0.2:6643",
		},
		"a unit has said nothing": {of(3).publishes(behind), givingUp(), "ovn-central/2 has not said how far its copy goes"},
		"a unit is being removed": {
			func() State { s := of(3).publishes(behind); s.Peers[1].Dying = true; return s }(), givingUp(), "ovn-central/2 may come back",
		},
		"a unit is gone": {
			func() State {
				s := of(3).publishes(behind)
				s.Members[2].Exists = false
				s.Peers = s.Peers[:1]
				return s
			}(), givingUp(), "(was ovn-central/2) may come back",
		},
		"nothing is known of a member's unit": {
			func() State { s := of(3).publishes(behind); s.Members[2] = Member{ID: id(7)}; return s }(), givingUp(), "member 0007, whose unit is not known, may come back",
		},
		"the file here is damaged": {func() State { s := of(3); s.Own.Damage = "record 7"; return s }(), givingUp(1, 2), "this unit's file is damaged: record 7"},
		"there is no copy here":    {func() State { s := of(3); s.Own = nil; return s }(), givingUp(1, 2), "this unit has no copy of cluster"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			refusals := test.state.Judge(test.asked).Refusals
			require.NotEmpty(t, refusals)
			assert.Contains(t, refusals[0], test.want)
		})
	}
	assert.Empty(t, of(3).publishes(behind).Judge(givingUp(2)).Refusals)
	restored := givingUp()
	restored.Backup = "/var/backups/ovn-central/20261123T190312Z"
	assert.Empty(t, of(3).publishes(Copy{HasLeader: true, Term: 9}).Judge(restored).Refusals, "a backup replaces what there is")
}

// What a unit has published outlives its machine. An operator who knows that it is lost can
// say so, and is told what that costs.
func TestNewerDataOfAUnitThatIsLostAreGivenUpByForceWhichSaysWhatIsLost(t *testing.T) {
	v := of(3).publishes(Copy{Term: 3, Index: 40}).Judge(forced(1, 2))
	assert.Empty(t, v.Refusals)
	assert.Equal(t, []string{
		"nb: copy of ovn-central/0: term 2, index 10",
		"nb: copy of ovn-central/1: term 3, index 40, the newest, as it was last heard; its server does not answer; given up",
		"nb: copy of ovn-central/2: not known, it can't be asked; given up",
		"nb: a new cluster is made of the file of ovn-central/0 (term 2, index 10), in the place of " + string(old),
		"nb: ovn-central/1, ovn-central/2 must never serve the old one again: power off their machines, or remove them; a unit that comes back puts its file away",
		"nb: lost is what ovn-central/1 has beyond term 2, index 10: it had term 3, index 40 when it was last heard",
		"nb: each change that only the 2 of 3 members which are given up have stored is lost; how many is not known",
	}, v.Plan)
	led := of(3).publishes(Copy{Term: 2, Index: 10, HasLeader: true}).Judge(forced(1, 2))
	assert.Empty(t, led.Refusals)
	assert.Contains(t, led.Plan, "nb: lost is what ovn-central/1 has beyond term 2, index 10: it had term 2, index 10 when it was last heard, and a leader, so that it may have stored more since")
	assert.NotContains(t, fmt.Sprint(of(3).publishes(Copy{Term: 2, Index: 9}).Judge(forced(1, 2)).Plan), "lost is what")
}

// The plan says whose copy is the newest, and which is not known.
func TestPlanHasALineForEachCopy(t *testing.T) {
	s := of(4).publishes(Copy{Term: 2, Index: 10, Stopped: true})
	s.Peers[1].Copy = &Copy{Cluster: old, Term: 1, Index: 90, Damage: "entries 5 to 7"}
	s.Members[3] = Member{ID: id(3), Answers: true}
	assert.Equal(t, []string{
		"nb: copy of ovn-central/0: term 2, index 10, the newest",
		"nb: copy of ovn-central/1: term 2, index 10, the newest",
		"nb: copy of ovn-central/2: term 1, index 90, damaged",
		"nb: copy of member 0003, whose unit is not known: not known; its server answers, and its next update-status says it; given up",
	}, s.answers(2).Judge(Request{Cluster: old, GivenUp: []string{"0003"}}).Plan[:4])
	restored := givingUp(2)
	restored.Backup = "/var/backups/ovn-central/20261123T190312Z"
	plan := s.Judge(restored).Plan
	assert.Contains(t, plan[0], "a new cluster is made of the backup")
	assert.Contains(t, plan, "nb: lost is every change since the backup was taken")
}

// A committed entry is on a majority. Where the copies that are looked at meet every
// majority, the newest has all that was acknowledged; where they don't, that is said.
func TestLossIsDeniedOnlyWhereEveryMajorityIsMet(t *testing.T) {
	for n := 1; n <= 7; n++ {
		for copies := 1; copies <= n; copies++ {
			lost := n - copies // the most that can have stored an entry which no copy has
			assert.Equal(t, lost < n/2+1, surelyComplete(n, copies), "%d of %d", copies, n)
		}
	}
}

// world plays units that run hooks in any order, are lost and come back, with recoveries
// asked for on any of them.
type world struct {
	t       *testing.T
	random  *rand.Rand
	n       int
	cluster raft.ID
	leader  int
	units   []played
	made    int
}

type played struct {
	copied  Copy
	gone    bool // its copy of the cluster was put away
	held    string
	request *Request
	// published is what the others see of it.
	copy    *Copy
	asked   *Request
	running bool
	off     bool
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

// state is what unit i knows.
func (w *world) state(i int) State {
	s := of(w.n)
	u := w.units[i]
	s.Unit, s.Cluster, s.Leads, s.HeldFor, s.Request = unit(i), w.cluster, w.leader == i, u.held, u.request
	s.Own, s.Peers = nil, nil
	if !u.gone {
		c := u.copied
		c.Stopped, c.HasLeader = u.held != "" && !u.running, u.running && w.quorum()
		s.Own = &c
	}
	for j, p := range w.units {
		if j != i {
			s.Peers = append(s.Peers, Peer{Unit: unit(j), Read: true, Copy: p.copy, Request: p.asked})
		}
	}
	if w.quorum() {
		s.Serving = []string{"ssl:10.0.0.9:6643"}
	}
	return s
}

// hook runs a hook on unit i, which may be killed after any step, and is then published
// or not.
func (w *world) hook(i int, steps int) {
	for range steps {
		u := &w.units[i]
		if w.cluster != old { // what package plan does
			u.gone, u.running, u.request, u.held = true, false, nil, ""
			break
		}
		next := w.state(i).Next()
		switch next.Action {
		case Stop:
			u.running, u.held = false, next.For
			continue
		case Release:
			u.held, u.running = "", true
			continue
		case Withdraw:
			u.request = nil
			continue
		case Make:
			w.make(i)
			continue
		case Publish:
			w.publish(next)
			continue
		}
		break
	}
	u := &w.units[i]
	s := w.state(i)
	u.asked, u.copy = u.request, s.Own
	if u.request != nil {
		copied := *u.request
		u.asked = &copied
	}
}

// make may be done only where no server that isn't given up can vote, and of the newest
// copy of these.
func (w *world) make(i int) {
	r := w.units[i].request
	for j, p := range w.units {
		if j == i || r.givesUp(Member{ID: id(j), Unit: unit(j)}) || p.gone {
			continue
		}
		require.False(w.t, p.running, "unit %d made a cluster while %d could vote", i, j)
		require.False(w.t, p.copied.newer(w.units[i].copied), "unit %d has newer data than %d", j, i)
	}
	w.made++
	copied := *r
	copied.New = raft.ID(fmt.Sprintf("%08d-0000-4000-8000-000000000000", w.made))
	w.units[i].request = &copied
}

func (w *world) publish(next Step) {
	require.Equal(w.t, old, w.cluster, "a second cluster was put in the place of the first")
	require.False(w.t, w.quorum(), "the old cluster served when it was replaced")
	w.cluster = next.New
}

func TestOneClusterAtMostIsPutInTheOldOnesPlaceWhateverHappensInWhateverOrder(t *testing.T) {
	done, withdrawn := 0, 0
	for seed := range uint64(3000) {
		w := &world{t: t, random: rand.New(rand.NewPCG(seed, 1)), n: 3 + 2*int(seed%2), cluster: old}
		for range w.n {
			w.units = append(w.units, played{running: true, copied: Copy{Cluster: old, Term: 2, Index: uint64(8 + w.random.IntN(3))}})
		}
		var lost []int
		for i := range w.n {
			if w.random.IntN(2) == 0 && len(lost) < w.n-1 {
				w.units[i].off = true
				lost = append(lost, i)
			}
		}
		begun := false
		for range 60 {
			i := w.random.IntN(w.n)
			u := &w.units[i]
			switch w.random.IntN(14) {
			case 0:
				u.off = !u.off // it is lost, or comes back
			case 1:
				w.leader = i
			case 2:
				r := givingUp(lost...)
				r.Force = w.random.IntN(2) == 0
				if !u.off && !w.quorum() && w.cluster == old && u.request == nil && len(w.state(i).Judge(r).Refusals) == 0 {
					r.Asked = time.Unix(int64(w.random.IntN(9)), 0)
					u.request, begun = &r, true
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
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	assert.Greater(t, done, 100, "the premise: many recoveries end")
	assert.Greater(t, withdrawn, 10, "and some are withdrawn, or go on")
	t.Log(done, withdrawn)
}

// A unit that was asked, and one that waits for it, say what keeps a new cluster that is made
// from being published, whichever of them leads the application.
func TestOldClusterThatIsServedIsNamedByUnitsThatDoNotLead(t *testing.T) {
	made := givingUp(1, 2)
	made.New = "aaaaaaaa-284d-47b2-9acc-fb82170132ed"
	for _, served := range [][]string{nil, {"ssl:10.0.0.9:6643"}} {
		asked := of(3)
		asked.Request, asked.Serving, asked.Own.Stopped = &made, served, true
		waits := of(3)
		waits.Peers[0].Request, waits.Serving, waits.Own.Stopped = &made, served, true
		for _, s := range []State{asked, waits} {
			step := s.Next()
			require.True(t, step.Held)
			if served == nil {
				assert.Contains(t, step.Waiting, "publishes its ID")
			} else {
				assert.Contains(t, step.Waiting, "the old one is served at ssl:10.0.0.9:6643; stop that server")
			}
		}
	}
}
