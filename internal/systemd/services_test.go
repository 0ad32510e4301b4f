package systemd_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

func TestServicesAreStoppedWriterFirstAndThenDisabled(t *testing.T) {
	dir := runtest.Install(t, map[string]string{"systemctl": runtest.KeepCall})
	require.NoError(t, systemd.Services{Runner: run.Exec{}}.StopForGood(t.Context()))
	assert.Equal(t, []string{
		"stop ovn-northd ovn-ovsdb-server-nb ovn-ovsdb-server-sb ovn-central",
		"disable ovn-northd ovn-ovsdb-server-nb ovn-ovsdb-server-sb ovn-central",
	}, runtest.Calls(t, dir))
}

func TestServicesThatDoNotStopStayEnabled(t *testing.T) {
	dir := runtest.Install(t, map[string]string{"systemctl": runtest.KeepCall + `; echo "Job for ovn-northd failed." >&2; exit 1`})
	err := systemd.Services{Runner: run.Exec{}}.StopForGood(t.Context())
	require.EqualError(t, err, "cannot stop the services: systemctl: Job for ovn-northd failed.")
	assert.Len(t, runtest.Calls(t, dir), 1)
}

func TestServicesThatCannotBeDisabledAreAnError(t *testing.T) {
	runtest.Install(t, map[string]string{"systemctl": `test "$1" != disable || { echo "Access denied" >&2; exit 1; }`})
	err := systemd.Services{Runner: run.Exec{}}.StopForGood(t.Context())
	require.EqualError(t, err, "cannot disable the services: systemctl: Access denied")
}

func TestServicesThatTakeForEverEndAtTheDeadline(t *testing.T) {
	runtest.Install(t, map[string]string{"systemctl": `exec sleep 60`})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begun := time.Now()
	require.ErrorIs(t, systemd.Services{Runner: run.Exec{}}.StopForGood(ctx), context.DeadlineExceeded)
	assert.Less(t, time.Since(begun), 30*time.Second, "the program sleeps for a minute")
}

// systemctl's own words, of systemd 252, where the packages were never installed.
func TestServicesThatAreNotInstalledNeedNoStopping(t *testing.T) {
	runtest.Install(t, map[string]string{"systemctl": `for u in ovn-northd ovn-central; do
case "$1" in
stop) echo "Failed to stop $u.service: Unit $u.service not loaded." >&2; code=5 ;;
disable) echo "Failed to disable unit: Unit file $u.service does not exist." >&2; code=1 ;;
esac; done; exit $code`})
	require.NoError(t, systemd.Services{Runner: run.Exec{}}.StopForGood(t.Context()))
}

func TestServiceThatDoesNotStopIsAnErrorThoughAnotherIsNotInstalled(t *testing.T) {
	runtest.Install(t, map[string]string{"systemctl": `echo "Failed to stop ovn-northd.service: Unit ovn-northd.service not loaded." >&2
echo "Job for ovn-central failed." >&2; exit 5`})
	require.ErrorContains(t, systemd.Services{Runner: run.Exec{}}.StopForGood(t.Context()), "Job for ovn-central failed")
}

func TestServicesAreDrivenByTheirNames(t *testing.T) {
	ctx := t.Context()
	tests := map[string]struct {
		do     func(systemd.Services) error
		wanted []string
	}{
		"start":   {func(s systemd.Services) error { return s.Start(ctx, ovndb.NorthboundServer, ovndb.SouthboundServer) }, []string{"start ovn-ovsdb-server-nb ovn-ovsdb-server-sb"}},
		"stop":    {func(s systemd.Services) error { return s.Stop(ctx, ovndb.Northd) }, []string{"stop ovn-northd"}},
		"restart": {func(s systemd.Services) error { return s.Restart(ctx, ovndb.Northd) }, []string{"restart ovn-northd"}},
		"enable":  {func(s systemd.Services) error { return s.Enable(ctx, ovndb.Umbrella) }, []string{"enable ovn-central"}},
		"disable": {func(s systemd.Services) error { return s.Disable(ctx, ovndb.Umbrella) }, []string{"disable ovn-central"}},
		"mask": {func(s systemd.Services) error { return s.Mask(ctx, ovndb.AllServices()...) }, []string{
			"mask ovn-northd ovn-ovsdb-server-nb ovn-ovsdb-server-sb ovn-central",
		}},
		"unmask": {func(s systemd.Services) error { return s.Unmask(ctx, ovndb.NorthboundServer) }, []string{
			"unmask ovn-ovsdb-server-nb", "unmask --runtime ovn-ovsdb-server-nb",
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := runtest.Install(t, map[string]string{"systemctl": runtest.KeepCall})
			require.NoError(t, test.do(systemd.Services{Runner: run.Exec{}}))
			assert.Equal(t, test.wanted, runtest.Calls(t, dir))

			runtest.Install(t, map[string]string{"systemctl": `echo "Access denied" >&2; exit 1`})
			require.ErrorContains(t, test.do(systemd.Services{Runner: run.Exec{}}), "the services: systemctl: Access denied")
		})
	}
}

// A service that can't be started since it isn't there is no success.
func TestServiceThatIsNotInstalledCannotBeStarted(t *testing.T) {
	runtest.Install(t, map[string]string{"systemctl": `echo "Failed to $1 ovn-northd.service: Unit ovn-northd.service not found." >&2; exit 5`})
	s := systemd.Services{Runner: run.Exec{}}
	require.EqualError(t, s.Start(t.Context(), ovndb.Northd),
		"cannot start the services: systemctl: Failed to start ovn-northd.service: Unit ovn-northd.service not found.")
	require.Error(t, s.Restart(t.Context(), ovndb.Northd))
	require.NoError(t, s.Stop(t.Context(), ovndb.Northd))
}

func TestEachDatabaseHasAServer(t *testing.T) {
	t.Parallel()
	assert.Equal(t, ovndb.NorthboundServer, ovndb.ServiceOf(ovndb.NB))
	assert.Equal(t, ovndb.SouthboundServer, ovndb.ServiceOf(ovndb.SB))
}

func TestReleaseOfSystemdIsReadFromItsVersion(t *testing.T) {
	for text, version := range map[string]int{"252.39-1~deb12u2": 252, "255.4-1ubuntu8.8": 255, "v257.7": 257, "249": 249} {
		dir := runtest.Install(t, map[string]string{"systemctl": runtest.KeepCall + "; echo " + text})
		got, err := systemd.Services{Runner: run.Exec{}}.Version(t.Context())
		require.NoError(t, err)
		assert.Equal(t, version, got)
		assert.Equal(t, []string{"show --property=Version --value"}, runtest.Calls(t, dir))
	}
	runtest.Install(t, map[string]string{"systemctl": "echo"})
	_, err := systemd.Services{Runner: run.Exec{}}.Version(t.Context())
	require.EqualError(t, err, `cannot read systemd's version: ""`)
}
