package reconcile

import (
	"errors"
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

// Servers of 2.17 are played: what they do with it, ovsdb-server(1) says.
func TestOnlyOldServersThatRunAreToldToGiveMemoryBack(t *testing.T) {
	t.Parallel()
	both := map[ovndb.Database]ovndb.Condition{ovndb.NB: ovndb.Serving, ovndb.SB: ovndb.Serving}
	for title, c := range map[string]struct {
		runs       map[ovndb.Service]ovndb.Version
		conditions map[ovndb.Database]ovndb.Condition
		told       []ovndb.Database
	}{
		"both are old":          {map[ovndb.Service]ovndb.Version{ovndb.NorthboundServer: {OVS: "2.17.9"}, ovndb.SouthboundServer: {OVS: "2.17.9"}}, both, ovndb.Databases()},
		"one was restarted":     {map[ovndb.Service]ovndb.Version{ovndb.NorthboundServer: {OVS: "3.3.0"}, ovndb.SouthboundServer: {OVS: "2.17.9"}}, both, []ovndb.Database{ovndb.SB}},
		"neither is old":        {map[ovndb.Service]ovndb.Version{ovndb.NorthboundServer: {OVS: "3.3.0"}, ovndb.SouthboundServer: {OVS: "3.3.0"}}, both, nil},
		"one is down":           {map[ovndb.Service]ovndb.Version{ovndb.NorthboundServer: {OVS: "2.17.9"}, ovndb.SouthboundServer: {OVS: "2.17.9"}}, map[ovndb.Database]ovndb.Condition{ovndb.NB: ovndb.Serving, ovndb.SB: ovndb.Down}, []ovndb.Database{ovndb.NB}},
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
				calls = append(calls, runtest.Expect("ovs-appctl", "-T", "6", "-t", paths.Control(db), "ovsdb-server/memory-trim-on-compaction", "on").Fails(2, "\"ovsdb-server/memory-trim-on-compaction\" is not a valid command\n"))
			}
			u := &Reconciler{Paths: paths, Machine: &observe.Machine{Control: ovsctl.Control{Runner: runtest.New(t, calls...), Paths: paths}, Log: slog.New(slog.DiscardHandler)}}
			o := Result{Snapshot: observe.Snapshot{Servers: map[ovndb.Database]observe.ServerState{}}}
			for db, condition := range c.conditions {
				o.Snapshot.Servers[db] = observe.ServerState{Database: db, Condition: condition, Err: errors.New("not asked")}
			}
			r, err := u.loadRecord()
			require.NoError(t, err)
			for service, version := range c.runs {
				r.restarts.Started(service, version)
			}
			u.trimMemory(t.Context(), r, o) // one that is too old for it fails no hook
		})
	}
}
