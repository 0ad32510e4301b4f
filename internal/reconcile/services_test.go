package reconcile

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

// northd is a machine whose ovn-northd runs and is masked, in the words of systemd's UnitFileState.
type northd struct {
	masked string
	calls  []string
}

// Run implements run.Runner.
func (n *northd) Run(_ context.Context, c run.Command) ([]byte, error) {
	switch {
	case c.Name == "ovs-appctl":
		return []byte("connected\n"), nil
	case c.Name == "systemctl" && c.Args[0] == "show":
		var all []string
		for _, service := range ovndb.AllServices() {
			all = append(all, "Id="+string(service)+".service\nLoadState=masked\nActiveState=active\nUnitFileState="+n.masked+"\nMainPID=1\n")
		}
		return []byte(strings.Join(all, "\n")), nil
	case c.Name == "systemctl":
		n.calls = append(n.calls, c.String())
	}
	return nil, nil
}

// An upgrade that was killed leaves masks until the next boot, and systemctl's restart stops what it then finds masked.
func TestNorthdIsNotLeftDownForAMask(t *testing.T) {
	t.Parallel()
	synctest.Test(t, northdIsNotLeftDown) // it waits for one that has no control socket
}

func northdIsNotLeftDown(t *testing.T) {
	t.Helper()
	for masked, want := range map[string][]string{
		"masked-runtime": {"systemctl unmask --runtime ovn-northd", "systemctl restart ovn-northd"}, "masked": nil,
	} {
		n := &northd{masked: masked}
		u := &Reconciler{
			Machine:  &observe.Machine{Services: systemd.Services{Runner: n}, Control: ovsctl.Control{Runner: n}, Log: slog.New(slog.DiscardHandler)},
			Packages: apt.Packages{Runner: n}, Paths: ovndb.Paths{DB: t.TempDir()},
		}
		r, err := u.loadRecord()
		require.NoError(t, err)
		r.restarts.Due(ovndb.Northd, "upgrade")
		pending := func() map[ovndb.Service]string {
			all, err := r.restarts.Pending(ovndb.Version{})
			require.NoError(t, err)
			return all
		}
		err = u.restart(t.Context(), r, Result{}, ovndb.Northd)
		assert.Equal(t, want, slices.Clone(n.calls), masked)
		if want == nil {
			require.ErrorIs(t, err, systemd.ErrNotStartable)
			assert.Contains(t, pending(), ovndb.Northd)
			continue
		}
		require.NoError(t, err)
		assert.Empty(t, pending())
	}
}

// S5: a server that the start guard refuses would not be there after 30 seconds, either. Only what this start has noted
// counts.
func TestServerThatTheStartGuardRefusesIsNotAwaited(t *testing.T) {
	t.Parallel()
	u := &Reconciler{Machine: &observe.Machine{Log: slog.New(slog.DiscardHandler)}, Paths: ovndb.Paths{Run: t.TempDir()}}
	require.NoError(t, os.WriteFile(u.Paths.StartRefusal(ovndb.NB), []byte(`{"reason": "given up"}`), 0o600))
	assert.ErrorContains(t, u.awaitMember(t.Context(), ovndb.NB, time.Hour), "given up")
	require.NoError(t, u.forgetRefusal(ovndb.SouthboundServer))
	assert.FileExists(t, u.Paths.StartRefusal(ovndb.NB))
	require.NoError(t, u.forgetRefusal(ovndb.NorthboundServer))
	assert.NoFileExists(t, u.Paths.StartRefusal(ovndb.NB))
}
