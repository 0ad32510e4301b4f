package relation_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

func TestUnitState_running_versions(t *testing.T) {
	t.Parallel()
	before, after := ovndb.Version{OVN: "23.03.1-1", OVS: "3.1.0-2"}, ovndb.Version{OVN: "25.03.0-1", OVS: "3.5.0-1"}
	databag := relation.UnitState{Running: []ovndb.Version{before, after}}.Databag()
	assert.Equal(t, "23.03.1-1 openvswitch 3.1.0-2,25.03.0-1 openvswitch 3.5.0-1", databag["running-version"])
	d, problems := relation.ParseUnitState(databag)
	assert.Empty(t, problems)
	assert.Equal(t, []ovndb.Version{before, after}, d.Running)

	assert.Empty(t, relation.UnitState{}.Databag()["running-version"])
}

func TestUnitState_missing_count_is_not_zero(t *testing.T) {
	t.Parallel()
	databag := relation.UnitState{Clients: map[ovndb.Database]int{ovndb.SB: 103, ovndb.NB: 0}}.Databag()
	d, _ := relation.ParseUnitState(databag)
	assert.Equal(t, map[ovndb.Database]int{ovndb.SB: 103, ovndb.NB: 0}, d.Clients)
	d, _ = relation.ParseUnitState(map[string]string{"nb-clients": "-1", "sb-clients": "many"})
	assert.Empty(t, d.Clients)
	assert.Empty(t, relation.UnitState{}.Databag()["sb-clients"])
}

func TestUnitState_hostname(t *testing.T) {
	t.Parallel()
	d, _ := relation.ParseUnitState(relation.UnitState{Hostname: "juju-3"}.Databag())
	assert.Equal(t, "juju-3", d.Hostname)
	assert.Equal(t, "juju-3", relation.UnitState{Hostname: "juju-3"}.Databag()["hostname"])
}

func TestUnitState_charm_round_trip(t *testing.T) {
	t.Parallel()
	told := relation.UnitState{Charm: "1.0-3-gabcdef0", CharmsSeen: []string{"1.0", "1.1"}}
	assert.Equal(t, "1.0,1.1", told.Databag()["charm-versions-seen"])
	d, problems := relation.ParseUnitState(told.Databag())
	assert.Empty(t, problems)
	assert.Equal(t, []any{told.Charm, told.CharmsSeen}, []any{d.Charm, d.CharmsSeen})
}

func TestNorthdAsked(t *testing.T) {
	t.Parallel()
	at := time.Unix(1764000000, 7).UTC()
	told := relation.UnitState{NorthdAsked: at, NorthdHeard: map[string]time.Time{"ovn-central/1": at.Add(time.Second)}}
	d, problems := relation.ParseUnitState(told.Databag())
	assert.Empty(t, problems)
	assert.Equal(t, []any{told.NorthdAsked, told.NorthdHeard}, []any{d.NorthdAsked, d.NorthdHeard})
	for _, key := range []string{"northd-none-active", "northd-none-active-heard"} {
		value, there := relation.UnitState{}.Databag()[key]
		assert.True(t, there && value == "", key)
		d, problems = relation.ParseUnitState(map[string]string{key: "yes"})
		assert.Len(t, problems, 1, key)
		assert.True(t, d.NorthdAsked.IsZero() && len(d.NorthdHeard) == 0)
	}
}

func TestUnitState_recovery_round_trip(t *testing.T) {
	t.Parallel()
	told := relation.UnitState{
		Requests: map[ovndb.Database]recovery.Request{ovndb.NB: {
			Cluster: old, GivenUp: []string{"ovn-central/2", "13fe"}, Asked: time.Unix(1764000000, 0).UTC(), New: fresh,
			Heard: recovery.Acceptance{Cluster: old, Unit: "ovn-central/1", By: "ovn-central/2", At: time.Unix(1764000009, 0).UTC()},
		}},
		Copies: map[ovndb.Database]recovery.Copy{ovndb.SB: {Cluster: old, Term: 13, Index: 1e10, Stopped: true}},
		Rejoin: map[ovndb.Database]raft.ID{ovndb.SB: fresh}, NoRoom: map[ovndb.Database]bool{ovndb.NB: true}, Paused: true,
	}
	d, problems := relation.ParseUnitState(told.Databag())
	assert.Empty(t, problems)
	assert.Equal(t, []any{told.Requests, told.Copies, told.Rejoin, told.NoRoom, told.Paused}, []any{d.Requests, d.Copies, d.Rejoin, d.NoRoom, d.Paused})

	nothing := relation.UnitState{}.Databag()
	for _, key := range []string{"nb-recovery", "sb-copy", "sb-rejoin"} {
		value, there := nothing[key]
		assert.True(t, there && value == "", key)
	}
	d, problems = relation.ParseUnitState(map[string]string{"nb-recovery": "yes", "sb-copy": "{"})
	assert.Len(t, problems, 2)
	assert.Empty(t, d.Requests)
}

func TestClusters_superseded_and_malformed(t *testing.T) {
	t.Parallel()
	c := relation.Clusters{IDs: map[ovndb.Database]raft.ID{ovndb.NB: old, ovndb.SB: other}, CreatedBy: "ovn-central/0"}
	c = c.Supersede(ovndb.NB, fresh, "ovn-central/1")
	read, problems := relation.ParseClusters(c.Settings())
	assert.Empty(t, problems)
	assert.Equal(t, c, read)
	assert.Equal(t, []raft.ID{old}, read.Superseded[ovndb.NB])
	assert.Equal(t, map[ovndb.Database]raft.ID{ovndb.NB: fresh, ovndb.SB: other}, read.IDs)
	assert.Empty(t, relation.SupersedeThemselves(c.Settings()))
	settings := map[string]string{
		"nb_cid": string(fresh), "nb_superseded": string(fresh) + "," + string(old), "sb_cid": string(other), "sb_superseded": string(other),
	}
	assert.Equal(t, []string{"nb_superseded", "sb_superseded"}, relation.SupersedeThemselves(settings))
	itself, problems := relation.ParseClusters(settings)
	assert.Empty(t, problems)
	assert.Equal(t, map[ovndb.Database][]raft.ID{ovndb.NB: {old}}, itself.Superseded, "no cluster takes its own place")
	_, problems = relation.ParseClusters(map[string]string{"nb_superseded": string(old) + ",x"})
	assert.Len(t, problems, 1, "nothing may be taken for not superseded that can't be read")
}

const (
	old   raft.ID = "5418e1b5-284d-47b2-9acc-fb82170132ed"
	other raft.ID = "833a862d-5eb9-4c82-8fea-07aa05f2b0fd"
	fresh raft.ID = "1f7b9548-627b-4df3-84f1-e78ee49c7d16"
)

func TestAccepted_round_trip(t *testing.T) {
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	all := map[ovndb.Database]recovery.Acceptance{ovndb.SB: {Cluster: "c", Unit: "ovn-central/1", Asked: at, By: "ovn-central/0", At: at.Add(time.Second)}}
	settings := relation.Accepted(all)
	assert.Equal(t, map[string]string{"sb_recovery": `{"cluster":"c","unit":"ovn-central/1","asked":"2026-11-23T12:00:00Z","by":"ovn-central/0","at":"2026-11-23T12:00:01Z"}`}, settings)
	assert.Equal(t, all, relation.ParseAccepted(settings))
	settings["sb_recovery"] = "noon"
	assert.Empty(t, relation.ParseAccepted(settings))
}
