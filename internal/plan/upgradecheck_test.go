package plan_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/goldentest"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/render"
)

// upgradable is a unit whose Northbound database has a file of 4 MiB, and the other one of so many.
func upgradable(sb int64) (plan.State, plan.UpgradeCandidate) {
	member := func(db ovndb.Database, mib int64) plan.Database {
		return plan.Database{
			Condition: ovndb.Serving, Size: mib << 20, Socket: "/var/run/ovn/ovn" + db.Short() + "_db.sock",
			Status: raft.Status{State: raft.ClusterMember, Role: raft.Follower, Leader: "aa04", ElectionTimer: 4 * time.Second},
		}
	}
	old := ovndb.Version{OVN: "23.03.1-1", OVS: "3.1.0-2"}
	s := plan.State{
		Unit: "ovn-central/0", Packages: plan.Packages{Installed: true, Version: old},
		Databases: map[ovndb.Database]plan.Database{ovndb.NB: member(ovndb.NB, 4), ovndb.SB: member(ovndb.SB, sb)},
	}
	u := plan.UpgradeCandidate{
		Source: "cloud:jammy-caracal", Offered: ovndb.Version{OVN: "24.03.1-0", OVS: "3.1.5-0"}, Disk: 100 << 30,
		Memory: 16 << 30, Typed: juju.Version{}.Render,
		Schemas: map[ovndb.Database]plan.UpgradeSchema{
			ovndb.NB: {Served: "7.0.0", Brought: "7.0.0"}, ovndb.SB: {Served: "20.27.0", Brought: "20.33.0", Newer: true},
		},
	}
	return s, u
}

func TestCheckUpgrade_text(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*plan.State, *plan.UpgradeCandidate){
		"small": func(*plan.State, *plan.UpgradeCandidate) {},
		"large-before-ovs-3.2": func(s *plan.State, _ *plan.UpgradeCandidate) {
			*s, _ = upgradable(160)
		},
		"large-since-ovs-3.2": func(s *plan.State, u *plan.UpgradeCandidate) {
			*s, _ = upgradable(160)
			u.Offered.OVS = "3.3.0-1"
		},
		"too-large": func(s *plan.State, u *plan.UpgradeCandidate) {
			*s, _ = upgradable(500)
			u.Disk, u.Memory = 1<<30, 2<<30
		},
		"nothing-newer": func(s *plan.State, u *plan.UpgradeCandidate) {
			u.Offered = s.Packages.Version
			u.Schemas[ovndb.SB] = plan.UpgradeSchema{Served: "20.27.0", Brought: "20.27.0"}
		},
		"source-that-can-not-be-looked-into": func(_ *plan.State, u *plan.UpgradeCandidate) {
			u.Offered, u.Unknown = ovndb.Version{}, "cannot look into the package source: a personal archive can be "+
				"looked into only once it was added"
			for db, schema := range u.Schemas {
				u.Schemas[db] = plan.UpgradeSchema{Served: schema.Served}
			}
		},
		"units-that-block": func(s *plan.State, u *plan.UpgradeCandidate) {
			servers := map[ovndb.Database]raft.ID{ovndb.NB: "aaaaaaaa-e8e4-4719-b344-902444227dd7"}
			x := s.Databases[ovndb.NB]
			x.Damage = "entries 5 to 7"
			s.Databases[ovndb.NB], s.Databases[ovndb.SB] = x, plan.Database{Condition: ovndb.Down}
			u.Schemas[ovndb.SB] = plan.UpgradeSchema{Brought: "20.33.0"}
			s.Peers = []plan.Peer{
				{Unit: "ovn-central/1", Servers: servers},
				{Unit: "ovn-central/2", Dying: true},
				{Unit: "ovn-central/3"},
				{Unit: "ovn-central/4", Data: plan.Unread},
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, u := upgradable(5)
			change(&s, &u)
			r := s.CheckUpgrade(u)
			goldentest.Equal(t, "upgrade-check/"+name+".txt", document.Upgrade(r))
			yaml, err := render.YAML(r)
			require.NoError(t, err)
			goldentest.Equal(t, "upgrade-check/"+name+".yaml", yaml)
			json, err := render.JSON(r)
			require.NoError(t, err)
			goldentest.Equal(t, "upgrade-check/"+name+".json", json)
			for _, d := range r.Databases {
				assert.LessOrEqual(t, d.LeastGapSeconds, d.MostGapSeconds)
				if d.Converted && d.NeededTimerSeconds < 300 {
					assert.LessOrEqual(t, d.MostGapSeconds, d.NeededTimerSeconds, "a member that is silent for longer loses the lead")
				}
			}
		})
	}
}

// Which servers can read the file afterwards depends on Open vSwitch, not on the schema: each row is a version and its
// format according to NEWS of Open vSwitch.
func TestCheckUpgrade_file_format(t *testing.T) {
	t.Parallel()
	for installed, format := range map[string]string{
		"":                        "",
		"2.8.1-0ubuntu1":          "",
		"2.13.8-0ubuntu1":         "2.9",
		"2.15.0-1":                "2.15",
		"2.17.9-0ubuntu0.22.04.1": "2.15",
		"3.1.7-1":                 "2.15",
		"3.2.0-1":                 "3.2",
		"3.3.0-1":                 "3.2",
		"4.0.0~git1":              "3.2",
	} {
		s, u := upgradable(5)
		s.Packages.Version.OVS, u.Offered.OVS = installed, "3.5.0-1"
		for _, d := range s.CheckUpgrade(u).Databases {
			assert.Equal(t, format, d.FileFormat, "%s with %q", d.Name, installed)
			assert.Equal(t, "3.2", d.BroughtFileFormat, d.Name)
		}
		text := document.Upgrade(s.CheckUpgrade(u))
		assert.Equal(t, format != "3.2", strings.Contains(text, "no ovsdb-server before 3.2"), text)
	}
}
