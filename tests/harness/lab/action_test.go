package lab_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// How actions end, and what they are given, is in the recorded stories.
func TestActionsOutputThatIsNotTextIsEncoded(t *testing.T) {
	l, units := withUnits(t, 1, true, scripts{"run": `printf '\377\n'`})
	got, err := l.RunAction(ctx(t), units[0], "run")
	require.NoError(t, err)
	assert.NotEmpty(t, got.ID)
	assert.Equal(t, map[string]string{"return-code": "0", "stdout": "/wo=", "stdout-encoding": "base64"}, got.Results)
	assert.Equal(t, "idle", units[0].Agent().Status)
}

func TestActionThatSaysThatItFailedKeepsItsWrites(t *testing.T) {
	l, units := withUnits(t, 2, true, scripts{"run": `relation-set -r ovsdb-peer:1 a=1; action-fail no`})
	_, err := l.RunAction(ctx(t), units[0], "run")
	require.NoError(t, err)
	assert.Equal(t, "1", units[0].Data()["a"])
	assert.Equal(t, "ovsdb-peer-relation-changed ovn-central/0", units[1].Hooks()[len(units[1].Hooks())-1])
}

func TestActionsRunOnUnitsInErrorAndNotOnThoseThatAreGone(t *testing.T) {
	l, units := withUnits(t, 3, true, scripts{"stop": "exit 1"})
	require.Error(t, l.RemoveUnit(ctx(t), units[0], lab.RemoveOptions{}))
	result, err := l.RunAction(ctx(t), units[0], "run")
	require.NoError(t, err)
	assert.Equal(t, "completed", result.Status)
	_, err = l.RunAction(ctx(t), units[0], "nope")
	require.EqualError(t, err, `action "nope" not defined on unit "ovn-central/0"`)
	require.NoError(t, units[1].PowerOff())
	_, err = l.RunAction(ctx(t), units[1], "run")
	require.ErrorIs(t, err, lab.ErrLost)
	require.NoError(t, l.RemoveUnit(ctx(t), units[2], lab.RemoveOptions{Force: true}))
	_, err = l.RunAction(ctx(t), units[2], "run")
	require.Error(t, err)
}
