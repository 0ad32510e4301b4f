package lab_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLeaderSettingsReachTheOthersAtOnceAndSurviveAFailedHook(t *testing.T) {
	l, units := withUnits(t, 2, true, scripts{
		"leader-elected":          "leader-set nb_cid=1 sb_cid=2",
		"leader-settings-changed": "leader-get --format=json > got",
	})
	assert.Equal(t, map[string]string{"nb_cid": "1", "sb_cid": "2"}, l.LeaderSettings())
	assert.JSONEq(t, `{"nb_cid":"1","sb_cid":"2"}`, read(t, units[1].CharmDir(), "got"))

	before := len(units[1].Hooks())
	on(t, units[0], "update-status", "leader-set nb_cid= ready=True; exit 1")
	require.Error(t, l.RunHook(ctx(t), units[0], "update-status"))
	require.NoError(t, l.Settle(ctx(t)))
	assert.Equal(t, map[string]string{"sb_cid": "2", "ready": "True"}, l.LeaderSettings())
	assert.Equal(t, []string{"leader-settings-changed"}, since(units[1], before))

	before = len(units[1].Hooks())
	on(t, units[1], "update-status", "leader-set a=b 2> refused; echo $? >> refused")
	require.NoError(t, l.RunHook(ctx(t), units[1], "update-status"))
	assert.Equal(t, "ERROR cannot write leadership settings: cannot write settings: not the leader\n1\n", read(t, units[1].CharmDir(), "refused"))
	assert.Equal(t, []string{"update-status"}, since(units[1], before))
}

func TestLeadershipPassesToAnotherUnit(t *testing.T) {
	l, units := withUnits(t, 3, true, scripts{"leader-elected": "is-leader --format=json > leads"})
	before := []int{len(units[0].Hooks()), len(units[1].Hooks())}
	require.NoError(t, l.SetLeader(ctx(t), units[1]))
	assert.Equal(t, units[1], l.Leader())
	assert.Equal(t, "true\n", read(t, units[1].CharmDir(), "leads"))
	assert.Equal(t, []string{"leader-elected"}, since(units[1], before[1]))
	assert.Equal(t, []string{"leader-settings-changed"}, since(units[0], before[0]), "it never ran that as the leader")

	before[0] = len(units[0].Hooks())
	require.NoError(t, l.SetLeaderSettings(ctx(t), map[string]string{"a": "b"}))
	assert.Equal(t, []string{"leader-settings-changed"}, since(units[0], before[0]))
	require.NoError(t, l.SetLeader(ctx(t), units[0]))
	assert.Equal(t, "leader-elected", units[0].Hooks()[len(units[0].Hooks())-1])
}
