package reconcile

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/operate"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// recorded keeps on the disk what an operator has asked of the unit, and returns the record.
func recorded(t *testing.T, u *Reconciler, k kept) *record {
	t.Helper()
	r, err := u.loadRecord()
	require.NoError(t, err)
	r.kept = k
	require.NoError(t, u.saveRecord(r))
	return r
}

// A unit that was removed by force leaves its record on the machine: the next one isn't
// paused because that one was, and tells Juju of its ports though that one has.
func TestRecord_of_other_unit_is_ignored(t *testing.T) {
	t.Parallel()
	paths, log := ovndb.Paths{DB: t.TempDir()}, new(bytes.Buffer)
	unit := func(name string) *Reconciler {
		return &Reconciler{
			Machine: &observe.Machine{Env: juju.Env{Unit: name}, Log: slog.New(slog.NewTextHandler(log, nil))}, Paths: paths,
		}
	}
	former, next := unit("ovn-central/1"), unit("ovn-central/5")
	recorded(t, former, kept{Known: true, Asked: operate.Asked{Paused: true}, Settled: true})
	r, err := former.loadRecord()
	require.NoError(t, err)
	assert.True(t, r.Paused, "its own record")
	assert.Empty(t, log.String())

	r, err = next.loadRecord()
	require.NoError(t, err)
	assert.Equal(t, kept{}, r.kept)
	assert.Contains(t, log.String(), "ignoring the record of another unit that was on this machine before")

	// Its own record replaces that.
	recorded(t, next, kept{Known: true})
	r, err = next.loadRecord()
	require.NoError(t, err)
	assert.Equal(t, "ovn-central/5", r.state.Owner().Unit)
	assert.Equal(t, kept{Known: true}, r.kept)
}

// The machine may get a unit of the same name from another model, which goes by no pause and no clusters of that one.
func TestRecord_of_other_model_is_ignored(t *testing.T) {
	t.Parallel()
	paths := ovndb.Paths{DB: t.TempDir()}
	unit := func(model string) *Reconciler {
		env := juju.Env{Unit: "ovn-central/1", ModelUUID: model}
		return &Reconciler{Machine: &observe.Machine{Env: env, Log: slog.New(slog.DiscardHandler)}, Paths: paths}
	}
	recorded(t, unit("former"), kept{Known: true, Asked: operate.Asked{Paused: true}})
	r, err := unit("former").loadRecord()
	require.NoError(t, err)
	assert.True(t, r.Paused)
	r, err = unit("next").loadRecord()
	require.NoError(t, err)
	assert.Equal(t, kept{}, r.kept)
}
