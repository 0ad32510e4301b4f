package steps

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

// Servers of 2.17 are played: what they do with it, ovsdb-server(1) says.
func TestTrimMemory_only_old_servers_that_run(t *testing.T) {
	t.Parallel()
	both := map[ovndb.Database]ovndb.Condition{ovndb.NB: ovndb.Serving, ovndb.SB: ovndb.Serving}
	for title, c := range map[string]struct {
		runs       map[ovndb.Service]ovndb.Version
		conditions map[ovndb.Database]ovndb.Condition
		told       []ovndb.Database
	}{
		"both are old": {
			map[ovndb.Service]ovndb.Version{ovndb.NorthboundServer: {OVS: "2.17.9"}, ovndb.SouthboundServer: {OVS: "2.17.9"}},
			both, ovndb.Databases(),
		},
		"one was restarted": {
			map[ovndb.Service]ovndb.Version{ovndb.NorthboundServer: {OVS: "3.3.0"}, ovndb.SouthboundServer: {OVS: "2.17.9"}},
			both,
			[]ovndb.Database{ovndb.SB},
		},
		"neither is old": {
			map[ovndb.Service]ovndb.Version{ovndb.NorthboundServer: {OVS: "3.3.0"}, ovndb.SouthboundServer: {OVS: "3.3.0"}},
			both, nil,
		},
		"one is down": {
			map[ovndb.Service]ovndb.Version{ovndb.NorthboundServer: {OVS: "2.17.9"}, ovndb.SouthboundServer: {OVS: "2.17.9"}},
			map[ovndb.Database]ovndb.Condition{ovndb.NB: ovndb.Serving, ovndb.SB: ovndb.Down},
			[]ovndb.Database{ovndb.NB},
		},
		"their age isn't known": {map[ovndb.Service]ovndb.Version{ovndb.NorthboundServer: {OVN: "22.03.0-1"}}, both, nil},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			paths := ovndb.Paths{Run: t.TempDir(), DB: t.TempDir()}
			var calls []runtest.Call
			for _, db := range ovndb.Databases() {
				require.NoError(t, os.WriteFile(paths.Control(db), nil, 0o600))
			}
			for _, db := range c.told {
				calls = append(
					calls,
					runtest.Expect(
						"ovs-appctl", "-T", "6", "-t", paths.Control(db), "ovsdb-server/memory-trim-on-compaction", "on",
					).Fails(2, "\"ovsdb-server/memory-trim-on-compaction\" is not a valid command\n"),
				)
			}
			u := unit(t, &observe.Machine{Control: ovsctl.Control{Runner: runtest.New(t, calls...), Paths: paths}})
			for service, version := range c.runs {
				u.Restarts.Started(service, version)
			}
			servers := map[ovndb.Database]observe.ServerState{}
			for db, condition := range c.conditions {
				servers[db] = observe.ServerState{Database: db, Condition: condition, Err: errors.New("not asked")}
			}
			u.TrimMemory(t.Context(), servers) // one that is too old for it fails no hook
		})
	}
}

// Servers may run on although their packages are gone.
func TestPublishDamage_unobserved_stays_published(t *testing.T) {
	t.Parallel()
	log := new(bytes.Buffer)
	u := unit(t, &observe.Machine{Log: slog.New(slog.NewTextHandler(log, nil))})
	l := observe.ServerState{
		Database: ovndb.NB, Condition: ovndb.Serving,
		Status: raft.Status{Server: "a", State: raft.ClusterMember, Leader: "a"},
	}
	o := Snapshot{
		Report: observe.Report{Clusters: []observe.Cluster{{ServerState: l, View: raft.View{Lost: []raft.ID{"a"}}}}},
	}
	o.Servers = map[ovndb.Database]observe.ServerState{ovndb.NB: l}
	u.PublishDamage(t.Context(), o) // Members is nil
	assert.Empty(t, log.String())
}
