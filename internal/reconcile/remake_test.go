package reconcile

import (
	"context"
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// playedUnit is a unit of a scenario, on a machine.
func playedUnit(s observetest.Scenario, m *observetest.Machine) *Reconciler {
	o := s.ObserverOn(m)
	o.Log = slog.New(slog.DiscardHandler)
	changer := &membership.Changer{Machine: o.Machine, Observer: o, Progress: func(context.Context, string) {}}
	return &Reconciler{Machine: o.Machine, Observer: o, Members: changer, Paths: o.Control.Paths}
}

// R0: a server whose file lacks entries has acknowledged them, and may be the only one that is left
// of those that have. It is not stopped for a recovery before they stand in its file.
func TestServerWhoseFileLacksEntriesIsNotStoppedForARecovery(t *testing.T) {
	t.Parallel()
	m := new(observetest.Machine)
	u, r := playedUnit(observetest.Three(t), m), new(record)
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
