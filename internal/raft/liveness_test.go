package raft

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	whyOneWay      = "it and a majority can't connect to each other in both directions"
	whyNoWayHere   = "it can't connect to this unit's server"
	whyNoWayThere  = "this unit's server can't connect to it"
	whyNoWay       = "neither it nor this unit's server can connect to the other"
	whyDeaf        = "it has no connection to this unit"
	whySilent      = "it does not answer on its client port"
	whyForeign     = "it answers as a member of another cluster"
	whyOutOfTouch  = "it reports that it is disconnected from the cluster"
	whyNoLeader    = "it has no leader"
	whyNeverHeard  = "the leader has never heard from it"
	whyOldMessage3 = "its last message is 3.1 s old, election timer 1.0 s"
)

// R0: the members that are up in captured states. why has all others.
func TestR0_leader_needs_message_and_log(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		file      string
		edit      func(*testing.T, *Status)
		reference uint64
		up        []string
		why       map[string]string
	}{
		"all three are up":                {file: "nb-3member-leader", up: []string{"c14a", "7d80", "6e62"}},
		"nothing was written for long":    {file: "sb-3member-leader-long-idle", up: []string{"4126", "7ee0", "8631"}},
		"IPv6":                            {file: "nb-ipv6-leader", up: shorts(captureStatus(t, "nb-ipv6-leader"))},
		"OVS 3.6":                         {file: "ovs36-nb-leader", up: shorts(captureStatus(t, "ovs36-nb-leader"))},
		"just elected by a transfer":      {file: "nb-leader-after-transfer", up: shorts(captureStatus(t, "nb-leader-after-transfer"))},
		"another one is leaving":          {file: "nb-peer-while-other-is-leaving", up: []string{"6afe", "3b64", "43a8"}},
		"the only member":                 {file: "nb-single-server", up: []string{"3d68"}},
		"one is being added":              {file: "nb-leader-adding-committing", up: []string{"5e39", "26c4", "05be", "d2c5"}},
		"entries of others are under way": {file: "nb-leader-two-removals-pending", up: []string{"2695", "0c7b", "3680", "e880"}},
		"one of three is dead": {
			file: "nb-leader-one-of-three-dead", up: []string{"3494", "847c"},
			why: map[string]string{"ca3c": whyOldMessage3},
		},
		"one of five is dead": {
			file: "sb-5member-leader-one-dead", up: []string{"6c29", "617e", "5bb3", "a00e"},
			why: map[string]string{"431d": "its last message is 1.2 s old, election timer 1.0 s"},
		},
		"a stale member at the address of a new one": {
			file: "nb-leader-stale-and-new-same-address", up: []string{"7f3d", "697f", "8db1"},
			why: map[string]string{"89b2": "its last message is 4.2 s old, election timer 1.0 s"},
		},
		"full_disk_messages_stopped": {
			file: "nb-leader-with-disk-full-follower", up: []string{"42d4", "e1f0"},
			why: map[string]string{"c3c1": "its last message is 1.2 s old, election timer 1.0 s"},
		},
		"full_disk_messages_continue": {
			file: "nb-leader-with-disk-full-follower", up: []string{"42d4", "e1f0"},
			edit: func(t *testing.T, s *Status) { rowOf(t, s, "c3c1").LastMsg = new(ms(5)) },
			why:  map[string]string{"c3c1": "it does not store what it is sent: 2 entries behind"},
		},
		"entries on their way don't count against a reference": {
			file: "nb-leader-with-disk-full-follower", reference: 5,
			edit: func(t *testing.T, s *Status) { rowOf(t, s, "c3c1").LastMsg = new(ms(5)) },
			up:   []string{"c3c1", "42d4", "e1f0"},
		},
		"one entry behind": {
			file: "nb-leader-with-disk-full-follower", reference: 6, up: []string{"42d4", "e1f0"},
			edit: func(t *testing.T, s *Status) { rowOf(t, s, "c3c1").LastMsg = new(ms(5)) },
			why:  map[string]string{"c3c1": "it does not store what it is sent: 1 entry behind"},
		},
		"killed a moment ago": {
			file: "nb-leader-one-of-three-dead", up: []string{"3494", "847c"},
			edit: func(t *testing.T, s *Status) {
				s.ElectionTimer = 16 * time.Second
				rowOf(t, s, "ca3c").Match = new(uint64(11))
			},
			why: map[string]string{"ca3c": "its connection is gone"},
		},
		"no index at all": {
			file: "nb-3member-leader", up: []string{"7d80", "6e62"},
			edit: func(t *testing.T, s *Status) { rowOf(t, s, "c14a").Match = nil },
			why:  map[string]string{"c14a": "it does not store what it is sent: 5 entries behind"},
		},
		"no message at all": {
			file: "nb-3member-leader", up: []string{"7d80", "6e62"},
			edit: func(t *testing.T, s *Status) { rowOf(t, s, "c14a").LastMsg = nil },
			why:  map[string]string{"c14a": whyNeverHeard},
		},
		"a message as old as the election timer": {
			file: "nb-3member-leader", up: []string{"7d80", "6e62"},
			edit: func(t *testing.T, s *Status) { rowOf(t, s, "c14a").LastMsg = new(time.Second) },
			why:  map[string]string{"c14a": "its last message is 1.0 s old, election timer 1.0 s"},
		},
		"a message a little younger than that": {
			file: "nb-3member-leader", up: []string{"7d80", "6e62", "c14a"},
			edit: func(t *testing.T, s *Status) { rowOf(t, s, "c14a").LastMsg = new(ms(999)) },
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := captureStatus(t, tt.file)
			if tt.edit != nil {
				tt.edit(t, &s)
			}
			checkPeers(t, View{Status: s, CommitIndexFloor: tt.reference}, tt.up, tt.why)
		})
	}
}

// checkPeers checks that only these members are up, and why the others are not.
func checkPeers(t *testing.T, v View, up []string, why map[string]string) {
	t.Helper()
	peers := v.Peers()
	require.Len(t, peers, len(v.Status.Servers))
	var gotUp []string
	gotWhy := map[string]string{}
	for _, p := range peers {
		if p.Up {
			gotUp = append(gotUp, p.Short)
			assert.Empty(t, p.Why, p.Short)
			continue
		}
		gotWhy[p.Short] = p.Why
	}
	if why == nil {
		why = map[string]string{}
	}
	assert.ElementsMatch(t, up, gotUp)
	assert.Equal(t, why, gotWhy)
}

func shorts(s Status) []string {
	var all []string
	for _, m := range s.Servers {
		all = append(all, m.Short)
	}
	return all
}

func TestPeers_full_disk_is_down(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"nb-3member-leader", "nb-3member-follower2"} {
		v := View{Status: captureStatus(t, file)}
		before := v.Quorum()
		v.Full = true
		self := v.Peers()[slices.IndexFunc(v.Status.Servers, func(m Member) bool { return m.Self })]
		assert.Equal(t, []any{false, true, "its disk is full"}, []any{self.Up, self.Noted, self.Why})
		if v.Status.Role == Leader {
			assert.Equal(t, Quorum{Members: before.Members, Up: before.Up - 1}, v.Quorum())
		}
	}
}

func TestStored_leader_that_cannot_store(t *testing.T) {
	t.Parallel()
	for file, stored := range map[string]uint64{"nb-single-fsync-failed": 3, "nb-single-server": 3} {
		s := captureStatus(t, file)
		entry, known := s.Stored()
		assert.True(t, known, file)
		assert.Equal(t, stored, entry, file)
		assert.Equal(t, file == "nb-single-server", entry == s.Log.End-1, "the last of those that it has: %s", file)
	}
	_, known := captureStatus(t, "nb-3member-follower2").Stored()
	assert.False(t, known, "a follower has no such row")
}

func TestSameMembers_any_order(t *testing.T) {
	of := func(short ...string) (s Status) {
		for _, id := range short {
			s.Servers = append(s.Servers, Member{Short: id})
		}
		return s
	}
	assert.True(t, of("aa00", "aa01").SameMembers(of("aa01", "aa00")))
	assert.False(t, of("aa00", "aa01").SameMembers(of("aa00")))
	assert.False(t, of("aa00", "aa01").SameMembers(of("aa00", "aa02")))
}
