package soak

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// Whatever a recovery is refused for, or waits for, has a way out that the player knows; the
// texts are the product's own.
func TestEachRefusalOfARecoveryHasAWayOut(t *testing.T) {
	t.Parallel()
	member := func(unit string, exists bool) []recovery.Member {
		return []recovery.Member{{ID: "aaaa0000", Unit: "ovn-central/0", Exists: true}, {ID: "bbbb0000", Unit: unit, Exists: exists}}
	}
	peer := func(copied *recovery.Copy) []recovery.Peer {
		return []recovery.Peer{{Unit: "ovn-central/1", Read: true, Copy: copied}}
	}
	own := recovery.Copy{Cluster: "c", Term: 2, Index: 5}
	state := func(change func(*recovery.State)) recovery.State {
		s := recovery.State{Database: ovndb.NB, Unit: "ovn-central/0", Cluster: "c", Own: &own, Members: member("ovn-central/1", true), Peers: peer(nil)}
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		state recovery.State
		want  way
	}{
		"it has a leader": {state(func(s *recovery.State) { s.Own = &recovery.Copy{Cluster: "c", HasRaftLeader: true} }), way{do: hasQuorum}},
		"another has one": {state(func(s *recovery.State) {
			s.Peers = peer(&recovery.Copy{Cluster: "c", HasRaftLeader: true})
		}), way{do: hasQuorum}},
		"it is served": {state(func(s *recovery.State) { s.Serving = []string{"ssl:10.0.0.1:6643"} }), way{do: hasQuorum}},
		"no copy":      {state(func(s *recovery.State) { s.Own = nil }), way{do: runOther}},
		"damaged":      {state(func(s *recovery.State) { s.Own = &recovery.Copy{Cluster: "c", Damage: "x"} }), way{do: runOther}},
		"another's is damaged": {state(func(s *recovery.State) {
			s.Peers = peer(&recovery.Copy{Cluster: "c", Stopped: true, Damage: "x"})
		}), way{do: giveUp, name: "ovn-central/1"}},
		"newer":    {state(func(s *recovery.State) { s.Peers = peer(&recovery.Copy{Cluster: "c", Term: 3}) }), way{runThere, "ovn-central/1"}},
		"not said": {state(func(*recovery.State) {}), way{start, "ovn-central/1"}},
		"to be stopped": {state(func(s *recovery.State) {
			s.Peers = peer(&recovery.Copy{Cluster: "c", Term: 1})
		}), way{start, "ovn-central/1"}},
		"removed": {state(func(s *recovery.State) { s.Members, s.Peers = member("ovn-central/1", false), nil }), way{giveUp, "bbbb"}},
		"unknown": {state(func(s *recovery.State) { s.Members = member("", false) }), way{giveUp, "bbbb"}},
	} {
		v := c.state.Judge(recovery.Request{Cluster: "c"})
		text := ""
		for _, refusal := range v.Refusals {
			text += refusal.String() + "\n"
		}
		text += strings.Join(v.Waiting, "\n")
		assert.Contains(t, waysOut(text), c.want, "%s: %s", name, text)
	}
	newer := state(func(s *recovery.State) { s.Peers = peer(&recovery.Copy{Cluster: "c", Term: 3}) })
	v := newer.Judge(recovery.Request{Cluster: "c", GivenUp: []string{"ovn-central/1"}})
	assert.Contains(t, waysOut(v.Refusals[0].String()), way{force, "ovn-central/1"})
	assert.Equal(t, []way{{notAName, "ovn-central/9"}}, waysOut("nothing was done: ovn-central/9 is neither a unit nor an identity of a member"))
	both := state(func(s *recovery.State) {
		s.Members = append(s.Members, recovery.Member{ID: "cccc0000", Unit: "ovn-central/2", Exists: true}, recovery.Member{ID: "dddd0000"}, recovery.Member{ID: "eeee0000", Unit: "ovn-central/4"})
		s.Peers = append(s.Peers, recovery.Peer{Unit: "ovn-central/2", Read: true})
	}).Judge(recovery.Request{Cluster: "c"})
	var refused []way
	for _, r := range both.Refusals {
		refused = append(refused, waysOut(r.String())...)
	}
	assert.ElementsMatch(t, []way{{start, "ovn-central/1"}, {start, "ovn-central/2"}, {giveUp, "dddd"}, {giveUp, "eeee"}}, refused)
	assert.Empty(t, waysOut("terminated"))
	assert.Equal(t, []way{{start, "ovn-central/1"}}, waysOut(strings.Join(recovery.Proof{Units: []recovery.UnitProof{{Unit: "ovn-central/1"}}}.Lines(), "\n")))
	assert.Equal(t, []way{{kickLost, "ovn-central/2"}},
		waysOut("the new cluster is in place, but not every member serves it; repair that member's server, then run the same command again: nb: an "+
			"acknowledged write was not read back from ovn-central/2: not seen within 10s; if ovn-central/2 is lost for good: juju run ovn-central/1 kick unit=ovn-central/2 dry-run=true"))
}

func TestWhatARecoveryWaitsForIsAWayOutToo(t *testing.T) {
	t.Parallel()
	s := recovery.State{
		Database: ovndb.NB, Unit: "ovn-central/0", JujuLeader: true, Cluster: "c", Own: &recovery.Copy{Cluster: "c", Stopped: true},
		Staged: "d", Request: &recovery.Request{Cluster: "c", New: "d", Backup: "/b"}, Serving: []string{"ssl:10.99.0.11:6643"}, HeldFor: "ovn-central/0",
	}
	assert.Equal(t, []way{{stopServer, "ssl:10.99.0.11:6643"}}, waysOut("waiting: nb: "+s.Next().Waiting))
	s.JujuLeader, s.Serving = false, nil
	assert.Equal(t, []way{{do: again}}, waysOut("waiting: nb: "+s.Next().Waiting))

	s.Request.Backup, s.Serving = "", []string{"ssl:10.99.0.11:6643"}
	assert.Equal(t, []way{{do: hasQuorum}}, waysOut("blocked: recovery withdrawn: "+s.Next().Reason))

	s.JujuLeader, s.Serving, s.Request = true, nil, nil
	s.Peers = []recovery.Peer{{Unit: "ovn-central/1", Read: true, Request: &recovery.Request{Cluster: "c", New: "d"}}}
	s.Now = time.Unix(1764000000, 0)
	s.Asked = s.Now
	assert.Equal(t, []way{{start, "ovn-central/1"}}, waysOut("waiting: nb: "+s.Next().Waiting))
	s.Peers[0].Reached = true
	assert.Equal(t, []way{{start, "ovn-central/1"}}, waysOut("waiting: nb: "+s.Next().Waiting))
}
