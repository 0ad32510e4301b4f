package plan_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// upgrading is unit self's view of n units; those that have upgraded publish it, and two lead.
func upgrading(self, n int, upgraded []bool, leaders map[ovndb.Database]int) plan.State {
	s := well()
	s.Unit, s.Units, s.Peers = fmt.Sprintf("ovn-central/%d", self), n, nil
	s.Settings.Source = "dalmatian"
	source := map[bool]string{false: applied("caracal"), true: applied("dalmatian")}
	s.Packages.Source = source[upgraded[self]]
	var others []int
	for i := range n {
		if i != self {
			p := peer(i)
			p.Source = source[upgraded[i]]
			s.Peers, others = append(s.Peers, p), append(others, i)
		}
	}
	for _, db := range ovndb.Databases() {
		edit(&s, db, func(x *plan.Database) {
			x.Listeners, x.Schema = "", ""
			x.Status.Server, x.Status.Role = serverOf(db, self), raft.Follower
			x.Status.Address = ovndb.RaftAddress(db, s.Address)
			x.Status.Leader = raft.Ref(serverOf(db, leaders[db]).Short())
			if leaders[db] == self {
				x.Status.Role, x.Status.Leader = raft.Leader, raft.Self
			}
			x.Status.Connections = nil
			for _, i := range others {
				x.Status.Connections = append(
					x.Status.Connections, raft.Connection{Peer: serverOf(db, i).Short(), Incoming: true, Up: true},
				)
			}
		})
	}
	return s
}

// Units that see the same leaders agree on which upgrades next, for any set of upgraded units; no follower waits for a
// leader, and each has its turn.
func TestRollout_one_unit_at_a_time(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "units")
		upgraded := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "upgraded")
		for slices.Contains(upgraded, false) {
			leaders := map[ovndb.Database]int{} // they change whenever a server restarts
			for _, db := range ovndb.Databases() {
				leaders[db] = rapid.IntRange(0, n-1).Draw(t, db.Short()+" leader")
			}
			upgraded[nextToUpgrade(t, n, upgraded, leaders)] = true
		}
	})
}

// nextToUpgrade is the one unit that upgrades, for which the others wait.
func nextToUpgrade(t require.TestingT, n int, upgraded []bool, leaders map[ovndb.Database]int) int {
	first, waits := -1, map[int][]string{}
	for i := range n {
		d := decide(upgrading(i, n, upgraded, leaders))
		switch upgrades := d.step == plan.Upgrade; {
		case upgraded[i]:
			require.False(t, upgrades, "unit %d has", i)
		case upgrades:
			require.Equal(t, -1, first, "units %d and %d both go first", first, i)
			first = i
		default:
			waits[i] = d.found
		}
	}
	require.NotEqual(t, -1, first, "none goes first")
	for i, found := range waits {
		assert.Equal(t, []string{fmt.Sprintf("info UPGRADE_WAITS Unit=ovn-central/%d", first)}, found)
		assert.LessOrEqual(t, leads(leaders, first), leads(leaders, i), "a leader before a follower")
	}
	return first
}

func leads(leaders map[ovndb.Database]int, unit int) (n int) {
	for _, leader := range leaders {
		if leader == unit {
			n++
		}
	}
	return n
}

func TestRollout_skips_units_that_may_never_upgrade(t *testing.T) {
	t.Parallel()
	// Only ovn-central/2 is before this unit, which leads.
	behind := func(change change) change {
		return all(func(s *plan.State) {
			s.Settings.Source = "dalmatian"
			s.Peers[0].Source = applied("dalmatian")
		}, change)
	}
	upgrades := works(plan.Upgrade, "")
	check(t, map[string]situation{
		"up":          {behind(func(*plan.State) {}), ready("info UPGRADE_WAITS Unit=ovn-central/2")},
		"down":        {behind(func(s *plan.State) { silence(s, 2) }), upgrades},
		"dying":       {behind(func(s *plan.State) { s.Peers[1].Dying = true }), upgrades},
		"no source":   {behind(func(s *plan.State) { s.Peers[1].Source = "" }), upgrades},
		"no server":   {behind(func(s *plan.State) { s.Peers[1].Servers = nil }), upgrades},
		"upgraded":    {behind(func(s *plan.State) { s.Peers[1].Source = applied("dalmatian") }), upgrades},
		"source back": {behind(func(s *plan.State) { s.Settings.Source = "caracal" }), ready()},
	})
}
