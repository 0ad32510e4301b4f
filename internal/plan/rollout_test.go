package plan_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

func TestRaftLeader_works_for_all_members(t *testing.T) {
	t.Parallel()
	nb := func(change func(*plan.Database)) func(*plan.State) {
		return func(s *plan.State) { edit(s, ovndb.NB, change) }
	}
	newSchema := func(more func(*plan.State)) func(*plan.State) {
		return func(s *plan.State) {
			edit(s, ovndb.NB, func(x *plan.Database) { x.Schema = plan.Drifted })
			more(s)
		}
	}
	check(t, map[string]situation{
		"other listeners": {nb(func(x *plan.Database) { x.Listeners = plan.Drifted }), ready("configure the listeners of nb")},
		"other listeners, not the leader": {
			func(s *plan.State) { edit(s, ovndb.SB, func(x *plan.Database) { x.Listeners = plan.Drifted }) }, ready(""),
		},
		"a cluster was replaced":                 {nb(func(x *plan.Database) { x.Superseded = plan.Drifted }), ready("note the replaced clusters in nb")},
		"a cluster was replaced, not the leader": {func(s *plan.State) { edit(s, ovndb.SB, func(x *plan.Database) { x.Superseded = plan.Drifted }) }, ready("")},
		"unrestricted_until_restart": {
			nb(func(x *plan.Database) { x.Unrestricted = true }),
			ready("", "warning ROLES_NOT_ENFORCED nb -> ovn-central/0 restart-services services=ovn-ovsdb-server-nb"),
		},
		"an older schema": {
			newSchema(func(*plan.State) {}), ready("convert the schema of nb at an election timer of 4000 ms (every unit runs the packages that bring the new schema)"),
		},
		"an older schema, and the election timer is shorter than any conversion may need": {
			newSchema(func(s *plan.State) {
				s.Settings.ElectionTimer = time.Second
				for _, db := range ovndb.Databases() {
					edit(s, db, func(x *plan.Database) { x.Status.ElectionTimer = time.Second })
				}
			}),
			ready("set the election timer of nb to 2000 ms",
				"info SCHEMA_OLDER nb Detail=the election timer rises to 4000 ms to convert it"),
		},
		"an older schema of a large database, and the change of the timer is under way": {
			newSchema(func(s *plan.State) {
				edit(s, ovndb.NB, func(x *plan.Database) { x.Size, x.Runs, x.Status.ChangingTo = 160<<20, "3.5.0", 8*time.Second })
			}),
			ready("", "info SCHEMA_OLDER nb Detail=the election timer rises to 14000 ms to convert it"),
		},
		"an older schema of a large database, and the option can't be used, so that there is no way back": {
			newSchema(func(s *plan.State) {
				edit(s, ovndb.NB, func(x *plan.Database) { x.Size = 160 << 20 })
				s.Invalid = map[string]string{plan.OptionElectionTimer: "no number"}
			}),
			ready("",
				"info SCHEMA_OLDER nb Detail=the conversion needs a valid ovsdb-server-election-timer, since it raises the election timer",
				"error OPTION_INVALID ovsdb-server-election-timer Value=no number -> config ovn-central --reset ovsdb-server-election-timer"),
		},
		"an older schema that was not converted at this election timer": {
			newSchema(func(s *plan.State) {
				edit(s, ovndb.NB, func(x *plan.Database) { x.Tried = 4 * time.Second })
			}),
			ready("set the election timer of nb to 8000 ms",
				"info SCHEMA_OLDER nb Detail=the election timer rises to 8000 ms to convert it"),
		},
		"an older schema that was not converted at the longest one": {
			newSchema(func(s *plan.State) {
				edit(s, ovndb.NB, func(x *plan.Database) {
					x.Tried, x.Status.ElectionTimer = 5*time.Minute, 5*time.Minute
					x.Socket, x.SchemaFile = "/run/nb.sock", "/usr/nb.ovsschema"
				})
			}),
			ready("set the election timer of nb to 4000 ms",
				"error CONVERSION_FAILED nb Duration=5m0s -> WHEN_CLIENTS_MAY_WAIT: ssh ovn-central/0 sudo ovsdb-client convert unix:/run/nb.sock /usr/nb.ovsschema",
				"info ELECTION_TIMER_CHANGES nb Value=4000 ms Duration=5m0s"),
		},
		"an older schema, and another member leads": {
			func(s *plan.State) { edit(s, ovndb.SB, func(x *plan.Database) { x.Schema = plan.Drifted }) },
			ready("", "info SCHEMA_OLDER sb Detail=the leader converts it"),
		},
		"an older schema, and this unit is to restart": {
			newSchema(func(s *plan.State) { s.Pending = map[ovndb.Service]string{ovndb.Northd: "upgrade"} }),
			ready("restart ovn-northd (upgrade)",
				"info SCHEMA_OLDER nb Detail=converted after the restarts",
				"info RESTART_DUE Value=ovn-northd (upgrade)"),
		},
		"another election timer, which the leader of nb sets": {
			func(s *plan.State) { s.Settings.ElectionTimer = 16 * time.Second },
			ready("set the election timer of nb to 8000 ms",
				"info ELECTION_TIMER_CHANGES nb Value=16000 ms Duration=4s",
				"info ELECTION_TIMER_CHANGES sb Value=16000 ms Duration=4s"),
		},
		"a change of it is under way": {
			func(s *plan.State) {
				s.Settings.ElectionTimer = 16 * time.Second
				edit(s, ovndb.NB, func(x *plan.Database) { x.Status.ChangingTo = 8 * time.Second })
				edit(s, ovndb.SB, func(x *plan.Database) { x.Status.ElectionTimer = 16 * time.Second })
			},
			ready("", "info ELECTION_TIMER_CHANGES nb Value=16000 ms Duration=4s"),
		},
		"the servers of one database are not members yet": {
			func(s *plan.State) {
				s.Settings.ElectionTimer = 16 * time.Second
				edit(s, ovndb.SB, func(x *plan.Database) { x.Status.State, x.Status.Leader = raft.JoiningCluster, raft.UnknownRef })
			},
			finds("waiting SERVER_JOINING sb Count=2 Total=3"),
		},
	})
}

// A server from before OVS 3.2 that gets a conversion of a newer one exits.
func TestConversion_waits_for_each_unit(t *testing.T) {
	t.Parallel()
	situations := map[string]situation{}
	for name, tt := range map[string]struct {
		change func(*plan.State)
		waits  string
	}{
		"older packages":     {func(s *plan.State) { s.Peers[0].Running[0].OVN = "23.03" }, "ovn-central/1 runs 24.03"},
		"older Open vSwitch": {func(s *plan.State) { s.Peers[0].Running[0].OVS = "3.1" }, "ovn-central/1 runs 24.03"},
		"not all restarted": {func(s *plan.State) {
			s.Peers[0].Running = append(s.Peers[0].Running, ovndb.Version{OVN: "23.03", OVS: "3.1"})
		}, "ovn-central/1 runs 24.03"},
		"unknown version": {func(s *plan.State) { s.Peers[1].Running = nil }, "ovn-central/2 says what it runs"},
		"never heard": {
			func(s *plan.State) { s.Peers = append(s.Peers, plan.Peer{Unit: "ovn-central/3"}) },
			"ovn-central/3 has joined (if it can't, remove it)",
		},
		"unread": {func(s *plan.State) { s.Peers[0].Data = plan.Unread }, "ovn-central/1 says what it runs"},
		"dying":  {func(s *plan.State) { s.Peers[0].Running[0].OVN, s.Peers[0].Dying = "23.03", true }, "ovn-central/1 is removed"},
	} {
		situations[name] = situation{func(s *plan.State) {
			edit(s, ovndb.NB, func(x *plan.Database) { x.Schema = plan.Drifted })
			tt.change(s)
		}, ready("", "info SCHEMA_OLDER nb Detail=converted once "+tt.waits)}
	}
	situations["down"] = situation{func(s *plan.State) {
		edit(s, ovndb.NB, func(x *plan.Database) { x.Schema = plan.Drifted })
		s.Peers[0].Running[0].OVN = "23.03"
		silence(s, 1)
	}, ready("", "info SCHEMA_OLDER nb Detail=start or remove ovn-central/1, which is down (it must run 24.03)")}
	check(t, situations)
}

// It rises at most twofold per step, and falls at once.
func TestElectionTimer_legal_steps(t *testing.T) {
	t.Parallel()
	for from := 1; from <= 60; from++ {
		for to := 1; to <= 60; to++ {
			s := well()
			s.Settings.ElectionTimer = time.Duration(to) * time.Second
			now := time.Duration(from) * time.Second
			for steps := 0; ; steps++ {
				set(&s, serving(ovndb.SB, 1), ovndb.SB)
				edit(&s, ovndb.SB, func(x *plan.Database) { x.Status.ElectionTimer = s.Settings.ElectionTimer })
				edit(&s, ovndb.NB, func(x *plan.Database) { x.Status.ElectionTimer = now })
				d := plan.Decide(s)
				if now == s.Settings.ElectionTimer {
					require.Nil(t, d.Step)
					break
				}
				require.Less(t, steps, 6, "from %d s to %d s", from, to)
				require.NotNil(t, d.Step)
				require.Equal(t, plan.SetElectionTimer, d.Step.Kind)
				require.LessOrEqual(t, d.Step.Timer, 2*now)
				require.True(t, to > from || d.Step.Timer == s.Settings.ElectionTimer)
				now = d.Step.Timer
			}
		}
	}
}

func TestNorthd_runs_beside_every_member(t *testing.T) {
	t.Parallel()
	services := func(northd, umbrella plan.ServiceState, up bool) func(*plan.State) {
		return func(s *plan.State) {
			s.Services = map[ovndb.Service]plan.ServiceState{ovndb.Northd: northd, ovndb.Umbrella: umbrella}
			if s.Northds = (plan.Northd{Found: plan.NorthdActive, Unit: "ovn-central/1"}); !up {
				s.Northds = plan.Northd{Found: plan.NorthdNone, Since: s.Now}
			}
		}
	}
	none := func(ago time.Duration, standby bool) plan.Northd {
		return plan.Northd{Found: plan.NorthdNone, Since: noon.Add(-ago), Standby: standby, Asked: noon, Answered: true}
	}
	on, boots := plan.ServiceState{Active: true}, plan.ServiceState{Active: true, Enabled: true}
	const umbrella = "start ovn-central (the services must start at boot)"
	check(t, map[string]situation{
		"it does not know of all units": {
			func(s *plan.State) { s.NorthdParams = plan.NeedsRestart }, ready("tell ovn-northd which units there are"),
		},
		"its parameters look different": {
			func(s *plan.State) { s.NorthdParams = plan.Drifted }, ready("tell ovn-northd which units there are"),
		},
		"it does not run, nor does any": {
			services(plan.ServiceState{}, boots, false),
			ready("start ovn-northd (it was not running)",
				"waiting NORTHD_NONE_ACTIVE Detail=this unit's is not running"),
		},
		"it does not run, but another one does": {
			services(plan.ServiceState{}, boots, true),
			ready("start ovn-northd (it was not running)", "info NORTHD_DOWN"),
		},
		"none is active": {services(on, boots, false), ready("",
			"waiting NORTHD_NONE_ACTIVE Detail=another one takes over within 2m0s")},
		"it hangs, and so does every other": {
			func(s *plan.State) { s.Northd, s.Northds = ovndb.NorthdUnresponsive, none(0, false) },
			ready("", "error NORTHD_HANGS -> ovn-central/0 restart-services services=ovn-northd"),
		},
		"it hangs, and another one works": {
			func(s *plan.State) {
				s.Northd, s.Northds = ovndb.NorthdUnresponsive, plan.Northd{Found: plan.NorthdActive, Unit: "ovn-central/1"}
			},
			ready("",
				"warning NORTHD_HANGS Detail=another unit's is active -> ovn-central/0 restart-services services=ovn-northd"),
		},
		"it hangs, and another one may take over": {
			func(s *plan.State) { s.Northd, s.Northds = ovndb.NorthdUnresponsive, none(119*time.Second, true) },
			ready("",
				"waiting NORTHD_NONE_ACTIVE Detail=this unit's hangs -> ovn-central/0 restart-services services=ovn-northd"),
		},
		"it hangs, and no other one took over in time": {
			func(s *plan.State) { s.Northd, s.Northds = ovndb.NorthdUnresponsive, none(120*time.Second, true) },
			ready("",
				"error NORTHD_NONE_ACTIVE Detail=this unit's hangs -> ovn-central/0 restart-services services=ovn-northd"),
		},
		"all_on_standby": {
			func(s *plan.State) { s.Northd, s.Northds = ovndb.NorthdStandby, none(0, true) },
			ready("",
				"waiting NORTHD_NONE_ACTIVE Detail=another one takes over within 2m0s"),
		},
		"all stood by for too long, and not all have reported since": {
			func(s *plan.State) {
				s.Northd, s.Northds = ovndb.NorthdStandby, none(120*time.Second, true)
				s.Northds.Answered = false
			},
			ready("",
				"waiting NORTHD_NONE_ACTIVE Detail=another one takes over within 2m0s"),
		},
		"standby, and another unit's hangs": {
			func(s *plan.State) {
				s.Northd, s.Northds = ovndb.NorthdStandby, none(0, true)
				s.Northds.Hangs = "ovn-central/1"
			},
			ready("", "waiting NORTHD_NONE_ACTIVE Detail=ovn-central/1's hangs -> IF_THIS_LASTS: ovn-central/1 restart-services services=ovn-northd"),
		},
		"all_on_standby_too_long": {
			func(s *plan.State) { s.Northd, s.Northds = ovndb.NorthdStandby, none(120*time.Second, true) },
			ready("",
				"error NORTHD_NONE_ACTIVE -> IF_THIS_LASTS: restart the ovn-northd that hangs in the table of cluster-status"),
		},
		"on_standby_and_others_unknown": {
			func(s *plan.State) { s.Northd, s.Northds = ovndb.NorthdStandby, plan.Northd{} },
			ready(""),
		},
		"it is paused, and none works": {
			func(s *plan.State) { s.Northd, s.Northds = ovndb.NorthdPaused, none(0, false) },
			ready("", "error NORTHD_PAUSED -> ssh ovn-central/0 sudo ovn-appctl -t ovn-northd resume"),
		},
		"it is held, and another one works": {
			func(s *plan.State) { s.NorthdHeld, s.Services[ovndb.Northd] = true, plan.ServiceState{} },
			ready("", "info NORTHD_HELD -> ovn-central/0 release-northd"),
		},
		"it is held, and none works": {
			func(s *plan.State) {
				s.NorthdHeld, s.Northds, s.Services[ovndb.Northd] = true, none(0, false), plan.ServiceState{}
			},
			ready("", "waiting NORTHD_NONE_ACTIVE Detail=this unit's is held -> ovn-central/0 release-northd"),
		},
		"probe_off_keeps_dead_one_active": {
			func(s *plan.State) { s.Settings.InactivityProbe = 0 },
			ready("", "warning NORTHD_PROBE_OFF -> config ovn-central ovsdb-server-inactivity-probe=60"),
		},
		"nothing starts at boot": {services(on, plan.ServiceState{Active: true}, true), ready(umbrella)},
		"not_enabled_at_boot":    {services(on, plan.ServiceState{Enabled: true}, true), ready(umbrella)},
		"nothing is known of services": {services(plan.ServiceState{}, boots, true), ready("start ovn-northd (it was not running)",
			"info NORTHD_DOWN")},
	})
}

func TestRestartsThatAreDue(t *testing.T) {
	t.Parallel()
	due := func(held bool, services ...ovndb.Service) func(*plan.State) {
		return func(s *plan.State) {
			s.Settings.AutoRestarts, s.Pending = !held, map[ovndb.Service]string{}
			for _, service := range services {
				s.Pending[service] = "options changed"
			}
		}
	}
	check(t, map[string]situation{
		"northd_first": {
			due(false, ovndb.SouthboundServer, ovndb.NorthboundServer, ovndb.Northd),
			ready("restart ovn-northd (options changed)",
				"info RESTART_DUE Value=ovn-northd (options changed), ovn-ovsdb-server-nb (options changed), ovn-ovsdb-server-sb (options changed)"),
		},
		"then nb": {
			due(false, ovndb.SouthboundServer, ovndb.NorthboundServer),
			ready("restart ovn-ovsdb-server-nb (options changed)",
				"info RESTART_DUE Value=ovn-ovsdb-server-nb (options changed), ovn-ovsdb-server-sb (options changed)"),
		},
		"then sb": {
			due(false, ovndb.SouthboundServer),
			ready("restart ovn-ovsdb-server-sb (options changed)",
				"info RESTART_DUE Value=ovn-ovsdb-server-sb (options changed)"),
		},
		"held back": {
			due(true, ovndb.Northd, ovndb.NorthboundServer, ovndb.SouthboundServer),
			ready("",
				"info RESTARTS_HELD Detail=Services queued for restart: ovn-central, ovn-northd, ovn-ovsdb-server-nb, ovn-ovsdb-server-sb -> ovn-central/0 restart-services deferred-only=true"),
		},
		"held back, while another unit upgrades": {
			func(s *plan.State) {
				due(true, ovndb.Northd)(s)
				s.Settings.Source = "dalmatian"
			},
			ready("",
				"info UPGRADE_WAITS Unit=ovn-central/2",
				"info RESTARTS_HELD Detail=Services queued for restart: ovn-northd -> ovn-central/0 restart-services deferred-only=true"),
		},
		"nothing is restarted that is no member": {
			func(s *plan.State) {
				due(false, ovndb.Northd)(s)
				edit(s, ovndb.NB, func(x *plan.Database) { x.Status.Leader = raft.UnknownRef })
			},
			decided{},
		},
	})
}

func TestAllSources_equal_meaning_is_no_upgrade(t *testing.T) {
	t.Parallel()
	of := func(source, overlay string) string {
		return plan.Settings{Source: source, Overlay: overlay}.AllSources()
	}
	assert.Equal(t, of("distro", ""), of("", ""))
	assert.Equal(t, of("distro", ""), of("distro", "distro"))
	assert.Equal(t, of("caracal", ""), of("caracal", "distro"))
	different := map[string]string{}
	for _, both := range [][2]string{{"", ""}, {"caracal", ""}, {"caracal", "cloud:focal-ovn-22.03"}, {"", "cloud:focal-ovn-22.03"}, {"cloud:focal-ovn-22.03", ""}} {
		different[of(both[0], both[1])] = both[0]
	}
	assert.Len(t, different, 5)
}

func TestAllSources_hides_password(t *testing.T) {
	t.Parallel()
	assert.NotContains(t, plan.Settings{Source: "deb https://me:secret@host/ a b"}.AllSources(), "secret")
}
