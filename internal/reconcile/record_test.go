package reconcile

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// A unit that was removed by force leaves its record on the machine: the next one isn't
// paused because that one was, and tells Juju of its ports though that one has.
func TestRecordOfAnotherUnitIsNotUsed(t *testing.T) {
	t.Parallel()
	paths, log := ovndb.Paths{DB: t.TempDir()}, new(bytes.Buffer)
	unit := func(name string) *Reconciler {
		return &Reconciler{Env: juju.Env{Unit: name}, Paths: paths, Log: slog.New(slog.NewTextHandler(log, nil))}
	}
	former, next := unit("ovn-central/1"), unit("ovn-central/5")
	require.NoError(t, former.saveRecord(&record{Known: true, Paused: true, Ports: []int{6641}, Version: "23.03.1", Settled: true}))
	r, err := former.loadRecord()
	require.NoError(t, err)
	assert.True(t, r.Paused, "its own it goes by")
	assert.Empty(t, log.String())

	r, err = next.loadRecord()
	require.NoError(t, err)
	assert.Equal(t, &record{}, r)
	assert.Contains(t, log.String(), "another unit was on this machine before")

	// What it then records is its own.
	require.NoError(t, next.saveRecord(&record{Known: true}))
	r, err = next.loadRecord()
	require.NoError(t, err)
	assert.Equal(t, &record{Unit: "ovn-central/5", Known: true}, r)
}
