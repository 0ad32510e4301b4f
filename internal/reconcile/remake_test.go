package reconcile

import (
	"context"
	"crypto/sha1" //nolint:gosec // the file format's own checksum, no secret
	"fmt"
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/jujuleader"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// playedUnit is a unit of a scenario, on a machine.
func playedUnit(s observetest.Scenario, m *observetest.Machine) *Reconciler {
	o := s.ObserverOn(m)
	o.Log = slog.New(slog.DiscardHandler)
	changer := &membership.Changer{Machine: o.Machine, Observer: o, Progress: func(context.Context, string) {}}
	return &Reconciler{Machine: o.Machine, Observer: o, Members: changer, Paths: o.Control.Paths}
}

// R0: a server whose file lacks entries has acknowledged them, and may be the only one that is left
// of those that have. It is not stopped for a recovery before its file has them.
func TestServerWhoseFileLacksEntriesIsNotStoppedForARecovery(t *testing.T) {
	t.Parallel()
	m := new(observetest.Machine)
	u := playedUnit(observetest.Three(t), m)
	r := recorded(t, u, unitKept{})
	lost := (*membership.DamagedFileError)(nil)
	require.ErrorAs(t, u.stopFor(t.Context(), r, ovndb.NB, "ovn-central/1"), &lost)
	require.Len(t, m.Told, 1)
	assert.Contains(t, m.Told[0], "ovsdb-server/compact", "it is told to write its file anew, which it can't here")
	assert.Empty(t, r.Held)

	require.NoError(t, os.Remove(u.Paths.Control(ovndb.NB)), "it is down")
	require.NoError(t, u.stopFor(t.Context(), r, ovndb.NB, "ovn-central/1"))
	assert.Equal(t, "ovn-central/1", r.Held[ovndb.NB])
	assert.Contains(t, m.Told[1], "systemctl stop")
}

// ends is a runner of programs that end so.
type ends struct{ err error }

func (e ends) Run(context.Context, run.Command) ([]byte, error) { return nil, e.err }

// A reboot, or a restart of Juju's agent, ends a hook amid the copy of a large database. That
// says nothing of the data: the recovery continues in the next hook.
func TestRecoveryIsWithdrawnForWhatIsWrongWithItsDataAndNotForTheEndOfAHook(t *testing.T) {
	t.Parallel()
	_, terminated := run.Exec{}.Run(t.Context(), run.Command{Name: "sh", Args: []string{"-c", "kill -TERM $$"}})
	_, failed := run.Exec{}.Run(t.Context(), run.Command{Name: "sh", Args: []string{"-c", "exit 1"}})
	over, end := context.WithCancel(t.Context())
	end()
	for name, c := range map[string]struct {
		hook      context.Context //nolint:containedctx // it is what the cases differ in
		program   error
		withdrawn bool
	}{
		"the hook is told to end":               {hook: over, program: failed},
		"what it runs is told to end before it": {hook: t.Context(), program: terminated},
		"what it runs fails":                    {hook: t.Context(), program: failed, withdrawn: true},
	} {
		u := playedUnit(observetest.Three(t), new(observetest.Machine))
		u.Files.Runner = ends{c.program}
		text := `{"name":"OVN_Northbound","prev_index":1,"prev_term":1,"prev_data":[{"name":"OVN_Northbound","tables":{},"version":"7.0.0"},{}]}`
		text = fmt.Sprintf("OVSDB CLUSTER %d %x\n%s", len(text), sha1.Sum([]byte(text)), text) //nolint:gosec // the file format's own checksum
		require.NoError(t, os.WriteFile(u.Paths.File(ovndb.NB), []byte(text), 0o600))
		request := recovery.Request{Cluster: observetest.Cluster(ovndb.NB)}
		r := requests(request)
		r.leader = &jujuleader.Manager{}
		r.leader.Clusters.IDs = map[ovndb.Database]raft.ID{ovndb.NB: request.Cluster}
		err := u.remake(c.hook, pass{record: r}, ovndb.NB)
		require.Error(t, err, name)
		assert.Equal(t, c.withdrawn, r.Attempts[ovndb.NB].Why.Code == finding.RecoveryDataUnusable, name)
		assert.Equal(t, !c.withdrawn, r.Requested(), name)
	}
}
