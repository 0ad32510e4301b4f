package plan_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

func TestRaftLeader(t *testing.T) {
	t.Parallel()
	drifted := func(x *plan.Database) { x.Schema = plan.Drifted }
	timer := func(d time.Duration) func(*plan.Database) {
		return func(x *plan.Database) { x.Status.ElectionTimer = d }
	}
	tried := func(d time.Duration) func(*plan.Database) { return func(x *plan.Database) { x.TriedTimer = d } }
	sized := func(mib int64, runs string) func(*plan.Database) {
		return func(x *plan.Database) { x.Size, x.Runs = mib<<20, runs }
	}
	changing := func(x *plan.Database) { x.Status.ChangingTo = 8 * time.Second }
	option := func(d time.Duration) change { return func(s *plan.State) { s.Settings.ElectionTimer = d } }
	const (
		old        = "info SCHEMA_OLDER nb"
		notTried   = "error CONVERSION_FAILED nb Duration=5m0s -> WHEN_CLIENTS_MAY_WAIT: ssh ovn-central/0 "
		nbChanges  = "info ELECTION_TIMER_CHANGES nb Value=16000 ms Duration=4s"
		badOption  = "error OPTION_INVALID ovsdb-server-election-timer Value=invalid"
		resets     = " -> config ovn-central --reset ovsdb-server-election-timer"
		rolesNotOn = "warning ROLES_NOT_ENFORCED nb -> ovn-central/0 restart-services services=" + nbServer
	)
	check(t, map[string]situation{
		"listeners": {
			nb(func(x *plan.Database) { x.Listeners = plan.Drifted }), works(plan.ConfigureListeners, "nb"),
		},
		"listeners, follower": {sb(func(x *plan.Database) { x.Listeners = plan.Drifted }), ready()},
		"superseded": {
			nb(func(x *plan.Database) { x.Superseded = plan.Drifted }), works(plan.NoteSuperseded, "nb"),
		},
		"superseded, follower": {sb(func(x *plan.Database) { x.Superseded = plan.Drifted }), ready()},
		"roles":                {nb(func(x *plan.Database) { x.Unrestricted = true }), ready(rolesNotOn)},
		"schema":               {nb(drifted), works(plan.ConvertSchema, "nb 4s")},
		"schema, follower":     {sb(drifted), ready("info SCHEMA_OLDER sb Reasons=LEADER_CONVERTS")},
		"schema, tried at timer": {
			all(nb(drifted), nb(tried(4*time.Second))), works(plan.SetElectionTimer, "nb 8s", old+" Reasons=TIMER_RISES 8s"),
		},
		"schema, timer changing": {all(nb(drifted), nb(sized(160, "3.5.0")), nb(changing)), ready(old + " Reasons=TIMER_RISES 14s")},
		"schema, short timer": {
			all(nb(drifted), option(time.Second), nb(timer(time.Second)), sb(timer(time.Second))),
			works(plan.SetElectionTimer, "nb 2s", old+" Reasons=TIMER_RISES 4s"),
		},
		"schema, large, option invalid": { // there would be no way back
			all(nb(drifted), nb(sized(160, "")), invalid(plan.OptionElectionTimer)), ready(old+" Reasons=TIMER_INVALID "+plan.OptionElectionTimer, badOption+resets),
		},
		"schema, tried at the longest": {
			all(nb(drifted), nb(tried(5*time.Minute)), nb(timer(5*time.Minute)), nb(func(x *plan.Database) {
				x.Socket, x.SchemaFile = "/run/nb.sock", "/usr/nb.ovsschema"
			})),
			works(plan.SetElectionTimer, "nb 4s",
				notTried+"sudo ovsdb-client convert unix:/run/nb.sock /usr/nb.ovsschema",
				"info ELECTION_TIMER_CHANGES nb Value=4000 ms Duration=5m0s"),
		},
		"schema, restart due": {
			all(nb(drifted), func(s *plan.State) { s.Pending = map[ovndb.Service]string{ovndb.Northd: "upgrade"} }),
			works(plan.Restart, "ovn-northd", old+" Reasons=AFTER_RESTARTS", "info RESTART_DUE Value=ovn-northd (upgrade)"),
		},
		"timer": {
			option(16 * time.Second),
			works(plan.SetElectionTimer, "nb 8s", nbChanges, "info ELECTION_TIMER_CHANGES sb Value=16000 ms Duration=4s"),
		},
		"timer, changing": {all(option(16*time.Second), nb(changing), sb(timer(16*time.Second))), ready(nbChanges)},
		"timer, no member": {all(option(16*time.Second), sb(func(x *plan.Database) {
			x.Status.State, x.Status.Leader = raft.JoiningCluster, raft.UnknownRef
		})), finds("waiting SERVER_JOINING sb Count=2 Total=3")},
	})
}

// A server from before OVS 3.2 that gets a conversion of a newer one exits.
func TestConversion_waits_for_each_unit(t *testing.T) {
	t.Parallel()
	situations := map[string]situation{}
	for name, tt := range map[string]struct {
		change change
		waits  string
	}{
		"older OVN":       {func(s *plan.State) { s.Peers[0].Running[0].OVN = "23.03" }, "ONCE_RUNS ovn-central/1 24.03"},
		"older OVS":       {func(s *plan.State) { s.Peers[0].Running[0].OVS = "3.1" }, "ONCE_RUNS ovn-central/1 24.03"},
		"unknown version": {func(s *plan.State) { s.Peers[1].Running = nil }, "ONCE_PUBLISHED ovn-central/2"},
		"unread":          {func(s *plan.State) { s.Peers[0].Data = relation.Data{} }, "ONCE_PUBLISHED ovn-central/1"},
		"not joined": {
			func(s *plan.State) { s.Peers = append(s.Peers, plan.Peer{Unit: "ovn-central/3", Data: published}) }, "ONCE_JOINED ovn-central/3",
		},
		"dying": {
			func(s *plan.State) { s.Peers[0].Running[0].OVN, s.Peers[0].Dying = "23.03", true }, "ONCE_REMOVED ovn-central/1",
		},
		"down": {func(s *plan.State) { s.Peers[0].Running[0].OVN = "23.03"; silence(s, 1) }, "ONCE_UP ovn-central/1 24.03"},
		"not all restarted": {func(s *plan.State) {
			s.Peers[0].Running = append(s.Peers[0].Running, ovndb.Version{OVN: "23.03", OVS: "3.1"})
		}, "ONCE_RUNS ovn-central/1 24.03"},
	} {
		drifted := nb(func(x *plan.Database) { x.Schema = plan.Drifted })
		situations[name] = situation{all(drifted, tt.change), ready("info SCHEMA_OLDER nb Reasons=" + tt.waits)}
	}
	check(t, situations)
}

func TestNorthd(t *testing.T) {
	t.Parallel()
	services := func(northd, umbrella plan.ServiceState, up bool) change {
		return func(s *plan.State) {
			s.Services = map[ovndb.Service]plan.ServiceState{ovndb.Northd: northd, ovndb.Umbrella: umbrella}
			if !up {
				s.Northds = plan.Northd{Found: plan.NorthdNone, Since: s.Now}
			}
		}
	}
	none := func(ago time.Duration, standby bool) plan.Northd {
		return plan.Northd{Found: plan.NorthdNone, Since: noon.Add(-ago), Standby: standby, Asked: noon, Answered: true}
	}
	is := func(own ovndb.NorthdHealth, application plan.Northd) change {
		return func(s *plan.State) { s.Northd, s.Northds = own, application }
	}
	unitCame := func(own ovndb.NorthdHealth, lostAgo time.Duration) change {
		return func(s *plan.State) {
			s.NorthdParams, s.Northd, s.Northds.Lost = plan.NeedsRestart, own, noon.Add(-lostAgo)
		}
	}
	held := func(s *plan.State) { s.NorthdHeld, s.Services[ovndb.Northd] = true, plan.ServiceState{} }
	active := plan.Northd{Found: plan.NorthdActive, Unit: "ovn-central/1"}
	unanswered, otherHangs := none(120*time.Second, true), none(0, true)
	unanswered.Answered, otherHangs.Hangs = false, "ovn-central/1"
	off, on, boots := plan.ServiceState{}, plan.ServiceState{Active: true}, plan.ServiceState{Active: true, Enabled: true}
	const (
		hung    = ovndb.NorthdUnresponsive
		standby = ovndb.NorthdStandby
		noneOn  = "NORTHD_NONE_ACTIVE"
		soon    = "waiting NORTHD_NONE_ACTIVE Reasons=TAKES_OVER 12:02:00"
		here    = " Reasons=HANGS_HERE"
		restart = " -> ovn-central/0 restart-services services=ovn-northd"
		lasts   = " -> IF_THIS_LASTS: "
		there   = "ovn-central/1 restart-services services=ovn-northd"
		release = " -> ovn-central/0 release-northd"
		paused  = "error NORTHD_PAUSED -> ssh ovn-central/0 sudo ovn-appctl -t ovn-northd resume"
		probe   = "warning NORTHD_PROBE_OFF -> config ovn-central ovsdb-server-inactivity-probe=60"
	)
	check(t, map[string]situation{
		"params": {func(s *plan.State) { s.NorthdParams = plan.Drifted }, works(plan.WriteNorthdParams, "")},
		"params, restart": {
			func(s *plan.State) { s.NorthdParams = plan.NeedsRestart }, works(plan.WriteNorthdParams, ""),
		},
		// A dead machine's session may wait for the lock, which a restart of the active ovn-northd would pass on.
		"params, active, member lost": {unitCame(ovndb.NorthdActive, 119*time.Second), ready()},
		"params, active, member lost long ago": {
			unitCame(ovndb.NorthdActive, 120*time.Second), works(plan.WriteNorthdParams, ""),
		},
		"params, active, clock set back": {unitCame(ovndb.NorthdActive, -time.Hour), works(plan.WriteNorthdParams, "")},
		"params, standby, member lost":   {unitCame(standby, 0), works(plan.WriteNorthdParams, "")},
		"params, active, restart is due": {
			all(unitCame(ovndb.NorthdActive, 0), func(s *plan.State) {
				s.Settings.AutoRestarts, s.Pending = true, map[ovndb.Service]string{ovndb.Northd: "options changed"}
			}), works(plan.WriteNorthdParams, "", "info RESTART_DUE Value=ovn-northd (options changed)"),
		},
		"down, no takeover": {
			all(services(off, boots, false), is("", none(120*time.Second, false))),
			works(plan.Start, "ovn-northd", "error "+noneOn+" Reasons=STOPPED_HERE"),
		},
		"down, none active":       {services(off, boots, false), works(plan.Start, "ovn-northd", "waiting "+noneOn+" Reasons=STOPPED_HERE")},
		"down, another active":    {services(off, boots, true), works(plan.Start, "ovn-northd", "info NORTHD_DOWN")},
		"none active":             {services(on, boots, false), ready(soon)},
		"hangs, others too":       {is(hung, none(0, false)), ready("error NORTHD_HANGS" + restart)},
		"hangs, another active":   {is(hung, active), ready("warning NORTHD_HANGS Reasons=ACTIVE_ELSEWHERE" + restart)},
		"hangs, others stand by":  {is(hung, none(119*time.Second, true)), ready("waiting " + noneOn + here + restart)},
		"hangs, no takeover":      {is(hung, none(120*time.Second, true)), ready("error " + noneOn + here + restart)},
		"standby, all":            {is(standby, none(0, true)), ready(soon)},
		"standby, all unanswered": {is(standby, unanswered), ready("waiting " + noneOn + " Reasons=AS_LAST_SEEN")},
		"standby, another hangs": {
			is(standby, otherHangs), ready("waiting " + noneOn + " Reasons=HANGS_ON ovn-central/1" + lasts + there),
		},
		"standby, others unknown": {is(standby, plan.Northd{}), ready()},
		"standby, no takeover": {
			is(standby, none(120*time.Second, true)), ready("error " + noneOn + lasts + string(finding.RestartNorthd)),
		},
		"paused":               {is(ovndb.NorthdPaused, none(0, false)), ready(paused)},
		"held, another active": {held, ready("info NORTHD_HELD" + release)},
		"held, none active":    {all(held, is("", none(0, false))), ready("waiting " + noneOn + " Reasons=HELD_HERE" + release)},
		"probe off":            {func(s *plan.State) { s.Settings.InactivityProbe = 0 }, ready(probe)},
		"boot, not enabled":    {services(on, plan.ServiceState{Active: true}, true), works(plan.Start, "ovn-central")},
		"boot, not active":     {services(on, plan.ServiceState{Enabled: true}, true), works(plan.Start, "ovn-central")},
	})
}

func TestRestarts(t *testing.T) {
	t.Parallel()
	due := func(auto bool, services ...ovndb.Service) change {
		return func(s *plan.State) {
			s.Settings.AutoRestarts, s.Pending = auto, map[ovndb.Service]string{}
			for _, service := range services {
				s.Pending[service] = "options changed"
			}
		}
	}
	const (
		northd, nb, sb = ovndb.Northd, ovndb.NorthboundServer, ovndb.SouthboundServer
		isDue          = "info RESTART_DUE Value="
		why            = " (options changed)"
		deferred       = "info RESTARTS_HELD Reasons=RESTARTS_QUEUED "
		runs           = " -> ovn-central/0 restart-services deferred-only=true"
	)
	check(t, map[string]situation{
		"northd first": {
			due(true, sb, nb, northd), works(plan.Restart, "ovn-northd", isDue+"ovn-northd"+why+", "+nbServer+why+", "+sbServer+why),
		},
		"then nb": {due(true, sb, nb), works(plan.Restart, nbServer, isDue+nbServer+why+", "+sbServer+why)},
		"then sb": {due(true, sb), works(plan.Restart, sbServer, isDue+sbServer+why)},
		"deferred": {
			due(false, northd, nb, sb), ready(deferred + "ovn-central, ovn-northd, " + nbServer + ", " + sbServer + runs),
		},
		"deferred, upgrade": {
			all(due(false, northd), func(s *plan.State) { s.Settings.Source = "dalmatian" }),
			ready("info UPGRADE_WAITS Unit=ovn-central/2", deferred+"ovn-northd"+runs),
		},
		"no member": {all(due(true, northd), func(s *plan.State) {
			edit(s, ovndb.NB, func(x *plan.Database) { x.Status.Leader = raft.UnknownRef })
		}), decided{}},
	})
}

func TestAllSources(t *testing.T) {
	t.Parallel()
	of := func(source, overlay string) string {
		return plan.Settings{Source: source, Overlay: overlay}.AllSources()
	}
	assert.Equal(t, of("distro", ""), of("", ""))
	assert.Equal(t, of("distro", ""), of("distro", "distro"))
	assert.Equal(t, of("caracal", ""), of("caracal", "distro"))
	different := map[string]bool{}
	for _, both := range [][2]string{{"", ""}, {"caracal", ""}, {"caracal", "cloud:x"}, {"", "cloud:x"}, {"cloud:x", ""}} {
		different[of(both[0], both[1])] = true
	}
	assert.Len(t, different, 5)
	assert.NotContains(t, of("deb https://me:secret@host/ a b", ""), "secret")
}

// upgrading returns unit self's view of n units. Those that have upgraded publish it; two units lead.
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

// nextToUpgrade returns the one unit that upgrades; the others wait for it.
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
	// Only ovn-central/2, which leads, is before this unit.
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
