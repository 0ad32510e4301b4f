package story

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/machines/juju"
)

// cutAndKick cuts one machine off, kicks its members through another unit, and
// puts the cable back: the unit finds itself removed and joins again.
func (s *story) cutAndKick(ctx context.Context, t *testing.T) {
	units := s.alive(ctx, t)
	lost, survivor := units[len(units)-1], units[0]
	args := []string{
		"nb-identity=" + s.identity(ctx, t, lost, "nb", "OVN_Northbound"),
		"sb-identity=" + s.identity(ctx, t, lost, "sb", "OVN_Southbound"),
		"i-really-mean-it=true", "force=true",
	}
	m := s.machines[lost]
	require.NoError(t, m.Cut(ctx, true))
	// The controller is reached by a socket, not by the network that is cut.
	_, err := m.Exec(ctx, "systemctl", "stop", juju.AgentService(lost))
	require.NoError(t, err)
	s.writes(ctx, t)

	eventually(ctx, t, 2*time.Minute, func() error {
		result, err := s.Run(ctx, survivor, "kick", args...)
		if err == nil && result.Status != "completed" {
			err = fmt.Errorf("kick %v: %s: %s", args, result.Status, result.Message)
		}
		return err
	})
	status, err := clusterStatus(ctx, s.machines[survivor], "nb", "OVN_Northbound")
	require.NoError(t, err)
	assert.Len(t, status.Servers, 2)
	s.writes(ctx, t)

	require.NoError(t, m.Cut(ctx, false))
	_, err = m.Exec(ctx, "systemctl", "start", juju.AgentService(lost))
	require.NoError(t, err)
	s.settle(ctx, t)
	assert.NotContains(t, args, "nb-identity="+s.identity(ctx, t, lost, "nb", "OVN_Northbound"), "it joins as a new member")
	s.writes(ctx, t)
}

// addOnUsedMachine removes a unit and adds another on its machine, where the
// files of the first one are.
func (s *story) addOnUsedMachine(ctx context.Context, t *testing.T) {
	units := s.alive(ctx, t)
	old := units[len(units)-1]
	m := s.machines[old]
	require.NoError(t, s.RemoveUnit(ctx, old, false))
	s.gone(ctx, t, old)
	fresh := s.deploy(ctx, t, m)
	s.settle(ctx, t)
	assert.NotEqual(t, old, fresh[0])
	s.followRelations(ctx, t)
	s.writes(ctx, t)
}

// restartMachines restarts one machine after another, and waits for each until
// its members have caught up.
func (s *story) restartMachines(ctx context.Context, t *testing.T) {
	for _, unit := range s.alive(ctx, t) {
		require.NoError(t, s.machines[unit].Reboot(ctx))
		s.settle(ctx, t)
		s.writes(ctx, t)
	}
	// The firewall is there again too.
	for _, unit := range s.alive(ctx, t) {
		out, err := s.machines[unit].Exec(ctx, "ufw", "status")
		require.NoError(t, err)
		assert.Contains(t, out, "6644/tcp", unit)
	}
}

// powerCut pulls the power of the machine that leads both databases, or one of
// them: the others go on, and it comes back by itself.
func (s *story) powerCut(ctx context.Context, t *testing.T) {
	unit := s.leaderOf(ctx, t, "sb", "OVN_Southbound")
	m := s.machines[unit]
	require.NoError(t, m.Kill(ctx))
	s.writes(ctx, t)
	require.NoError(t, m.Start(ctx))
	s.settle(ctx, t)
	s.writes(ctx, t)
}

func (s *story) changeElectionTimer(ctx context.Context, t *testing.T) {
	for _, seconds := range []int{16, 2} {
		require.NoError(t, s.Configure(ctx, map[string]string{"ovsdb-server-election-timer": fmt.Sprint(seconds)}))
		eventually(ctx, t, convergence, func() error {
			for _, unit := range s.alive(ctx, t) {
				// A step is taken at each hook: the wait between two is not a hook's to wait.
				if err := s.UpdateStatus(ctx, unit); err != nil {
					return err
				}
			}
			if _, err := s.Settled(ctx, convergence); err != nil {
				return err
			}
			for _, db := range databases {
				leader := s.leaderOf(ctx, t, db.short, db.schema)
				status, err := clusterStatus(ctx, s.machines[leader], db.short, db.schema)
				if err != nil {
					return err
				}
				if want := time.Duration(seconds) * time.Second; status.ElectionTimer != want {
					return fmt.Errorf("%s has an election timer of %v, not %v", db.schema, status.ElectionTimer, want)
				}
			}
			return nil
		})
	}
	require.NoError(t, s.Configure(ctx, map[string]string{"ovsdb-server-election-timer": "61"}))
	_, err := s.Settled(ctx, convergence)
	require.NoError(t, err)
	status, err := s.Status(ctx)
	require.NoError(t, err)
	for _, unit := range s.alive(ctx, t) {
		assert.Equal(t, "blocked", status.Units[unit].Workload.Status, unit)
		assert.Contains(t, status.Units[unit].Workload.Message, "ovsdb-server-election-timer", unit)
	}
	require.NoError(t, s.Configure(ctx, map[string]string{"ovsdb-server-election-timer": "4"}))
	s.settle(ctx, t)
	assert.True(t, slices.IsSorted(s.alive(ctx, t)))
}
