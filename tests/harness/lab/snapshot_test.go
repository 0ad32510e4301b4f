package lab_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// seen is what a lab's units, and their charm, see of themselves.
func seen(t *testing.T, l *lab.Lab) (all []string) {
	t.Helper()
	for _, u := range l.Units() {
		services := []string{"ovn-central", "ovn-northd", lab.NB.Service(), lab.SB.Service()}
		args := append([]string{"show", "-p", "ActiveState,InvocationID"}, services...)
		invocations, _, err := u.Systemctl(ctx(t), args...)
		require.NoError(t, err)
		all = append(all, u.Name(), invocations, strings.Join(u.Hooks(), "\n"))
		for _, db := range lab.Databases {
			id, err := u.ServerID(ctx(t), db)
			require.NoError(t, err)
			all = append(all, id)
		}
	}
	for _, db := range lab.Databases {
		leader, err := l.RaftLeader(ctx(t), db)
		require.NoError(t, err)
		all = append(all, leader.Name())
	}
	return all
}

func TestSnapshot_copy_equals_lab(t *testing.T) {
	original, _ := withUnits(t, 3, false, scripts{"update-status": "echo \"$OVN_RUNDIR\""})
	before := seen(t, original)
	snapshot, err := original.Snapshot(ctx(t), filepath.Join(t.TempDir(), "snapshot"))
	require.NoError(t, err)
	write := func(l *lab.Lab, row string) {
		_, err := l.Exec(ctx(t), "ovn-nbctl", "--db="+l.Remotes(lab.NB), "ls-add", row)
		require.NoError(t, err)
	}
	write(original, "after")
	for _, name := range []string{"first", "second"} {
		l, err := snapshot.Open(ctx(t), t.Output())
		require.NoError(t, err)
		t.Cleanup(func() { l.CloseOrKeep(t) })
		assert.Equal(t, before, seen(t, l))
		require.NoError(t, l.UpdateStatus(ctx(t)))
		for _, u := range l.Units() {
			assert.Contains(t, read(t, l.Dir(), strings.ReplaceAll(u.Name(), "/", "-"), "hooks.log"), u.RunDir()+"\n")
		}
		write(l, name)
		rows, err := l.Copy(ctx(t), l.Units()[1], lab.NB)
		require.NoError(t, err)
		assert.Equal(t, map[string]bool{name: true}, rows)
		u := l.Units()[2]
		require.NoError(t, u.PowerOff())
		require.NoError(t, u.PowerOn(ctx(t)), "it boots as any machine")
		added, err := l.AddUnit(ctx(t))
		require.NoError(t, err, "the CA still issues certificates")
		require.NoError(t, l.RemoveUnit(ctx(t), added, lab.RemoveOptions{Force: true}))
	}
	assert.Equal(t, before[:3], seen(t, original)[:3], "it is another lab")
}
