package relation_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

func TestUnitState_round_trip(t *testing.T) {
	t.Parallel()
	at := time.Unix(1764000000, 7).UTC()
	state := relation.UnitState{
		Address:  netip.MustParseAddr("2001:db8::1"),
		Hostname: "juju-3", Charm: "1.0-3-gabcdef0", CharmsSeen: []string{"1.0", "1.1"}, Paused: true, DiskFull: true,
		Running:     []ovndb.Version{{OVN: "23.03.1-1", OVS: "3.1.0-2"}, {OVN: "25.03.0-1", OVS: "3.5.0-1"}},
		Clients:     map[ovndb.Database]int{ovndb.SB: 103, ovndb.NB: 0},
		Northd:      ovndb.NorthdUnresponsive,
		NorthdAsked: at, NorthdHeard: map[string]time.Time{"ovn-central/1": at.Add(time.Second)},
		Requests: map[ovndb.Database]recovery.Request{ovndb.NB: {
			Cluster: old, GivenUp: []string{"ovn-central/2", "13fe"}, Asked: at, New: fresh,
			Heard: recovery.Acceptance{Cluster: old, Unit: "ovn-central/1", By: "ovn-central/2", At: at.Add(9)},
		}},
		Copies: map[ovndb.Database]recovery.Copy{ovndb.SB: {Cluster: old, Term: 13, Index: 1e10, Stopped: true}},
		Rejoin: map[ovndb.Database]raft.ID{ovndb.SB: fresh}, NoRoom: map[ovndb.Database]bool{ovndb.NB: true},
		Unusable: map[ovndb.Database]bool{ovndb.SB: true},
	}
	databag := state.Databag()
	read, problems := relation.ParseUnitState(databag)
	assert.Empty(t, problems)
	assert.Equal(t, state, read)
	for key, want := range map[string]string{
		"bound-address": `"[2001:db8::1]"`, "hostname": "juju-3", "charm-versions-seen": "1.0,1.1", "nb-clients": "0",
		"running-version": "23.03.1-1 openvswitch 3.1.0-2,25.03.0-1 openvswitch 3.5.0-1",
	} {
		assert.Equal(t, want, databag[key])
	}
	for key := range databag {
		value, found := relation.UnitState{}.Databag()[key]
		assert.True(t, found && value == "", "%s is deleted", key)
	}
}

func TestUnitState_omits_malformed(t *testing.T) {
	t.Parallel()
	databag := map[string]string{
		"nb-recovery": "yes", "sb-copy": "{", "northd-none-active": "yes", "northd-none-active-heard": "yes",
		"northd": "dances", "nb-clients": "-1", "sb-clients": "many", // numbers of clients are approximate anyway
	}
	read, problems := relation.ParseUnitState(databag)
	assert.Len(t, problems, 4)
	empty, _ := relation.ParseUnitState(nil)
	assert.Equal(t, empty, read)
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
		"nb_cid": string(fresh), "nb_superseded": string(fresh) + "," + string(old), "sb_cid": string(other),
		"sb_superseded": string(other),
	}
	assert.Equal(t, []string{"nb_superseded", "sb_superseded"}, relation.SupersedeThemselves(settings))
	itself, problems := relation.ParseClusters(settings)
	assert.Empty(t, problems)
	assert.Equal(t, map[ovndb.Database][]raft.ID{ovndb.NB: {old}}, itself.Superseded,
		"a cluster does not supersede itself")
	_, problems = relation.ParseClusters(map[string]string{"nb_superseded": string(old) + ",x"})
	assert.Len(t, problems, 1, "a malformed ID may be a superseded cluster")
}

const (
	old   raft.ID = "5418e1b5-284d-47b2-9acc-fb82170132ed"
	other raft.ID = "833a862d-5eb9-4c82-8fea-07aa05f2b0fd"
	fresh raft.ID = "1f7b9548-627b-4df3-84f1-e78ee49c7d16"
)

func TestAccepted_round_trip(t *testing.T) {
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	all := map[ovndb.Database]recovery.Acceptance{ovndb.SB: {
		Cluster: "c", Unit: "ovn-central/1", Asked: at,
		By: "ovn-central/0", At: at.Add(time.Second),
	}}
	settings := relation.Accepted(all)
	assert.Equal(t, map[string]string{"sb_recovery": `{"cluster":"c","unit":"ovn-central/1",` +
		`"asked":"2026-11-23T12:00:00Z","by":"ovn-central/0","at":"2026-11-23T12:00:01Z"}`}, settings)
	assert.Equal(t, all, relation.ParseAccepted(settings))
	settings["sb_recovery"] = "noon"
	assert.Empty(t, relation.ParseAccepted(settings))
}
