package publish

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/facts"
	"github.com/ovn-central/ovn-central-operator/internal/jujuleader"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/restarts"
	"github.com/ovn-central/ovn-central-operator/internal/restore"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// tools keep the published data; a call that is named in fails fails.
type tools struct {
	calls []string
	data  map[string]map[string]string
	fails string
}

func (t *tools) call(name string) error {
	t.calls = append(t.calls, name)
	if t.fails == name {
		return errors.New("no")
	}
	return nil
}

func (t *tools) RelationSet(_ context.Context, id string, values map[string]string) error {
	t.data[id] = values
	return t.call("relation-set " + id)
}

func (t *tools) RelationSetApp(_ context.Context, id string, values map[string]string) error {
	t.data["app "+id] = values
	return t.call("relation-set --app " + id)
}

func (t *tools) OpenPorts(context.Context, ...int) error { return t.call("open-port") }

func (t *tools) ApplicationVersionSet(_ context.Context, version string) error {
	return t.call("application-version-set " + version)
}

func manager(t *testing.T) (*Manager, *tools) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	state, err := unitstate.Open(filepath.Join(t.TempDir(), "state.json"), log)
	require.NoError(t, err)
	juju := &tools{data: map[string]map[string]string{}}
	return &Manager{
		Juju: juju, Leader: &jujuleader.Manager{State: state}, Restarts: &restarts.Manager{State: state},
		Recovery: new(restore.Unit), State: state, Log: log,
	}, juju
}

// serving returns a unit whose servers are members, in a thorough hook.
func serving(t *testing.T) (s facts.Facts) {
	t.Helper()
	s.Decision.Ready, s.Thorough, s.Clients = true, true, []observe.Client{{ID: "ovsdb:3"}}
	s.Addresses = observe.Addresses{Own: netip.MustParseAddr("10.0.0.1"), Hosts: []string{"m"}}
	s.Application = observetest.Three(t).Application()
	s.Application.Relations = []string{"ovsdb-peer:0"}
	s.State.Packages = plan.Packages{Installed: true, Version: ovndb.Version{OVN: "25.03.1-1", OVS: "3.5"}}
	return s
}

func TestEnsure_repeats_nothing(t *testing.T) {
	t.Parallel()
	m, juju := manager(t)
	s := serving(t)
	ensure := func(want ...string) {
		t.Helper()
		juju.calls = nil
		_, err := m.Ensure(t.Context(), s)
		require.NoError(t, err)
		assert.Equal(t, want, juju.calls)
	}
	s.Preview = true
	ensure()
	s.Preview = false
	ensure("relation-set ovsdb-peer:0", "relation-set ovsdb:3", "open-port", "application-version-set 25.03.1")
	ensure("relation-set ovsdb-peer:0", "relation-set ovsdb:3", "open-port")
	m.Event = "start"
	ensure("relation-set ovsdb-peer:0", "relation-set ovsdb:3", "open-port", "application-version-set 25.03.1")

	m.Event, s.Thorough, s.Clients = "", false, nil
	ensure()
	s.State.Disk = "/var/lib/ovn"
	ensure("relation-set ovsdb-peer:0")
	s.State.Disk, s.State.Paused = "", true
	ensure("relation-set ovsdb-peer:0")
	ensure("relation-set ovsdb-peer:0") // Juju drops the data of a hook that fails
	s.Addresses.Own = netip.MustParseAddr("10.0.0.9")
	ensure("relation-set ovsdb-peer:0", "relation-set ovsdb:3")
	s.Decision.Ready, s.Addresses.Own = false, netip.MustParseAddr("10.0.0.8")
	ensure("relation-set ovsdb-peer:0")
}

// If publishing fails, the next hook publishes again.
func TestEnsure_failure(t *testing.T) {
	t.Parallel()
	m, juju := manager(t)
	juju.fails = "open-port"
	_, err := m.Ensure(t.Context(), serving(t))
	require.Error(t, err)
	assert.Equal(t, kept{}, section.Get(m.State))
}

// Only the leader writes for the application, and facts about the clusters that only units remember are not lost.
func TestEnsure_leader(t *testing.T) {
	t.Parallel()
	m, juju := manager(t)
	s := serving(t)
	m.Leader.Leads, m.Leader.Migrated = true, true
	m.Leader.Clusters = relation.Clusters{
		IDs: map[ovndb.Database]raft.ID{ovndb.NB: observetest.Full("ab01"), ovndb.SB: observetest.Full("ab02")},
	}
	juju.fails = "relation-set --app ovsdb-peer:0"
	_, err := m.Ensure(t.Context(), s)
	require.NoError(t, err, "another unit may have become the leader")
	assert.Subset(
		t, slices.Collect(maps.Keys(juju.data["app ovsdb-peer:0"])), slices.Collect(maps.Keys(m.Leader.Clusters.Settings())),
	)
}

// A unit that finds no active ovn-northd asks. A unit that was asked publishes the state of its own, and that it was
// asked.
func TestUnit_northd(t *testing.T) {
	t.Parallel()
	at := time.Unix(1764000000, 0).UTC()
	s := serving(t)
	s.Application.Peers = map[string]observe.Peer{
		"ovn-central/1": {State: relation.UnitState{NorthdAsked: at}}, "ovn-central/2": {},
		"ovn-central/9": {State: relation.UnitState{NorthdAsked: at}},
	}
	s.State.Northd, s.State.Northds = ovndb.NorthdActive, plan.Northd{Found: plan.NorthdActive}
	m, _ := manager(t)
	d := m.unit(s, nil)
	assert.Equal(t, ovndb.NorthdActive, d.Northd)
	assert.True(t, d.NorthdAsked.IsZero())
	assert.Equal(t, map[string]time.Time{"ovn-central/1": at}, d.NorthdHeard)

	s.State.Northd, s.State.Northds = ovndb.NorthdStandby, plan.Northd{
		Found: plan.NorthdNone, Since: at, Asked: at.Add(time.Minute),
	}
	assert.Equal(t, at.Add(time.Minute), m.unit(s, nil).NorthdAsked)

	for state, published := range map[ovndb.NorthdHealth]ovndb.NorthdHealth{
		ovndb.NorthdUnresponsive: ovndb.NorthdUnresponsive, // the others name the unit, and how to restart it
		ovndb.NorthdUnconnected:  "", ovndb.NorthdDown: "", ovndb.NorthdHeld: "", ovndb.NorthdPaused: "",
	} {
		s.State.Northd = state
		assert.Equal(t, published, m.unit(s, nil).Northd, state)
	}
}

// No server joins through a joining server, and a file of another cluster belongs to no unit.
func TestIdentities(t *testing.T) {
	t.Parallel()
	ours, other, server := observetest.Full("ab01"), observetest.Full("cd01"), observetest.Full("aa01")
	id := func(cluster raft.ID) relation.Identity { return relation.Identity{Server: server, Cluster: cluster} }
	for name, c := range map[string]struct {
		condition   ovndb.Condition
		state       raft.MemberState
		cluster     raft.ID
		application raft.ID
		adopted     bool
		want        relation.Identity
	}{
		"member":                          {ovndb.Serving, raft.ClusterMember, ours, ours, false, id(ours)},
		"joining":                         {ovndb.Serving, raft.JoiningCluster, ours, ours, false, id("")},
		"stopped":                         {ovndb.Down, "", ours, ours, false, id(ours)},
		"stopped_with_another_cluster":    {ovndb.Down, "", other, ours, false, relation.Identity{}},
		"serving_another_cluster":         {ovndb.Serving, raft.ClusterMember, other, ours, false, id(other)},
		"adopted_before_an_agreement":     {ovndb.Serving, raft.ClusterMember, other, "", true, id(other)},
		"not_adopted_before_an_agreement": {ovndb.Serving, raft.ClusterMember, other, "", false, relation.Identity{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s facts.Facts
			s.Own = relation.Identities{ovndb.NB: id(c.cluster)}
			s.Servers = map[ovndb.Database]observe.ServerState{
				ovndb.NB: {Condition: c.condition, Status: raft.Status{State: c.state}},
			}
			s.State.Packages.Adopted = c.adopted
			assert.Equal(t, c.want, identities(s, map[ovndb.Database]raft.ID{ovndb.NB: c.application})[ovndb.NB])
		})
	}
}
