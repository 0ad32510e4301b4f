package lab_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

func TestWriterLosesNothingWhenTheLeaderDies(t *testing.T) {
	t.Parallel()
	l, _ := withUnits(t, 3, false, nil)
	w := l.StartWriter(ctx(t), 10*time.Millisecond)
	leader, err := l.RaftLeader(ctx(t), lab.NB)
	require.NoError(t, err)
	await(t, func() bool { return w.Acknowledged(lab.NB) > 10 && w.Acknowledged(lab.SB) > 10 })
	require.NoError(t, leader.Kill(lab.NB))
	before := w.Acknowledged(lab.NB)
	await(t, func() bool { return w.Acknowledged(lab.NB) > before+10 })
	w.Stop()
	result, err := w.Verify(ctx(t))
	require.NoError(t, err)
	for _, db := range lab.Databases {
		assert.Zero(t, result[db].Lost, db)
		assert.Greater(t, result[db].Acknowledged, 20, db)
	}
	assert.Greater(t, result[lab.NB].LongestGap, 500*time.Millisecond, "the election")
	assert.Less(t, result[lab.NB].LongestGap, 20*time.Second)
}

func TestWriterSeesWhatIsLost(t *testing.T) {
	t.Parallel()
	l, units := withUnits(t, 1, false, nil)
	w := l.StartWriter(ctx(t), 10*time.Millisecond)
	await(t, func() bool { return w.Acknowledged(lab.NB) > 3 && w.Acknowledged(lab.SB) > 3 })
	w.Stop()
	names, err := units[0].Exec(ctx(t), "ovn-nbctl", "--timeout=5", "--db="+l.Remotes(lab.NB), "--bare", "--columns=name", "list", "Logical_Switch")
	require.NoError(t, err)
	_, err = units[0].Exec(ctx(t), "ovn-nbctl", "--timeout=5", "--db="+l.Remotes(lab.NB), "ls-del", strings.Fields(names)[0])
	require.NoError(t, err)
	_, err = units[0].Exec(ctx(t), "ovn-sbctl", "--timeout=5", "--db="+l.Remotes(lab.SB), "--all", "destroy", "Controller_Event")
	require.NoError(t, err)
	result, err := w.Verify(ctx(t))
	require.NoError(t, err)
	assert.Equal(t, 1, result[lab.NB].Lost)
	assert.Equal(t, result[lab.SB].Acknowledged, result[lab.SB].Lost)
}

func TestWriterCountsWhatWasNotAcknowledged(t *testing.T) {
	t.Parallel()
	l, units := withUnits(t, 1, false, nil)
	w := l.StartWriter(ctx(t), 0)
	await(t, func() bool { return w.Acknowledged(lab.SB) > 0 })
	require.NoError(t, units[0].Kill(lab.SB))
	await(t, func() bool { return w.Unacknowledged(lab.SB) > 0 })
	require.NoError(t, units[0].Start(ctx(t), lab.SB))
	w.Stop()
	result, err := w.Verify(ctx(t))
	require.NoError(t, err)
	assert.Positive(t, result[lab.SB].Unacknowledged)
	assert.Zero(t, result[lab.SB].Lost)
}

func await(t *testing.T, done func() bool) {
	t.Helper()
	require.Eventually(t, done, 3*time.Minute, 10*time.Millisecond)
}
