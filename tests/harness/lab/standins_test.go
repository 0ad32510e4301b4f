package lab_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

func TestStandInsOfAHookAreCountedAndDoWhatTheyAreAskedFor(t *testing.T) {
	t.Parallel()
	l, units := withUnits(t, 1, false, scripts{
		"update-status": "dpkg-query -W -f '${Package}' ovn-central > package; ufw --force enable > said; systemctl is-active none >> said; echo $? >> said; ufw allow 1/tcp",
	})
	u := units[0]
	got, err := l.RunHookKilledAt(ctx(t), u, "update-status", 0)
	require.NoError(t, err)
	assert.Equal(t, []string{"dpkg-query -W -f ${Package} ovn-central", "ufw --force enable", "systemctl is-active none", "ufw allow 1/tcp"}, got.Calls)
	assert.Equal(t, "ovn-central", read(t, u.CharmDir(), "package"))
	assert.Equal(t, "Firewall is active and enabled on system startup\ninactive\n4\n", read(t, u.CharmDir(), "said"))
	rules, err := u.Exec(ctx(t), "ufw", "status", "numbered")
	require.NoError(t, err)
	assert.Contains(t, rules, "1/tcp")
}

func TestWhatAKilledHookAskedAStandInForIsFinished(t *testing.T) {
	t.Parallel()
	l, units := withUnits(t, 1, false, scripts{
		"update-status": "systemctl stop ovn-ovsdb-server-sb & until [ -e asked ]; do sleep 0.01; done; is-leader",
	})
	u := units[0]
	u.OnCall(func(call string) {
		if strings.HasPrefix(call, "systemctl") {
			assert.NoError(t, os.WriteFile(filepath.Join(u.CharmDir(), "asked"), nil, 0o600))
		}
	})
	got, err := l.RunHookKilledWhen(ctx(t), u, "update-status", func(call string) bool { return call == "is-leader" })
	require.NoError(t, err)
	assert.True(t, got.Killed)
	await(t, func() bool { return !u.Running(lab.SB) })
}
