package membership

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// R8: stop is idempotent, wherever it is killed.
func TestStop_killed_at_any_step_completes_when_run_again(t *testing.T) {
	m := labtest.DeployWith(t, 4, lab.Options{JujuVersion: lab.Juju4})
	m.MakeOneLeader()
	u := m.Followers()[0]
	require.NoError(t, m.BeginRemoval(t.Context(), u))
	killed := m.KillEverywhere(1, labtest.Always, func(call int) bool {
		killed := m.KillHookAt(u, "stop", call)
		for _, db := range lab.Databases {
			assert.Contains(t, []int{3, 4}, len(m.MemberIDs(m.LeaderOf(db), db)))
		}
		return killed
	})
	assert.Greater(t, killed, 10, "there were steps to be killed at")
	m.Remove(u)
	m.RequireMembers(m.Remaining()...)
	m.RequirePutAway(u)
}

// R1, R9: if the others are a majority without it, a server that can't be told to leave is stopped, and remains as a
// stale member. If its unit's other database is served, nothing is touched.
func TestStop_server_without_control_socket_is_stopped_if_spare(t *testing.T) {
	m := labtest.Deploy(t, 4)
	m.Run("both databases", func(m *labtest.Model) {
		t := m.T
		m.MakeOneLeader()
		u, survivor := m.LeaderOf(lab.NB), m.Followers()[0]
		pids := map[lab.DB]int{}
		for _, db := range lab.Databases {
			pid, err := u.ServerPID(db)
			require.NoError(t, err)
			pids[db] = pid
		}
		w := m.StartWriter(t.Context(), 0)
		labtest.Output(t, u, "sh", "-c", "rm -rf "+u.RunDir()+"/*")
		require.NoError(t, m.BeginRemoval(t.Context(), u))
		m.Remove(u)
		for db, pid := range pids {
			assert.NoDirExists(t, filepath.Join("/proc", strconv.Itoa(pid)), "its %s server", db)
		}
		m.Eventually("what it left behind is seen", func() bool {
			require.NoError(t, m.UpdateStatus(t.Context()))
			return slices.Contains(m.NextCommands(survivor), "juju run "+survivor.Name()+" kick unit="+u.Name()+" i-really-mean-it=true")
		})
		assert.Equal(t, "completed", m.Type("juju run "+survivor.Name()+" kick unit="+u.Name()+" i-really-mean-it=true").Status)
		m.RequireMembers(m.Remaining()...)
		m.RequireWritable()
		m.Verify(w)
	})
	m.Run("one database is served", func(m *labtest.Model) {
		t := m.T
		m.MakeOneLeader()
		u, leader := m.Followers()[0], m.LeaderOf(lab.NB)
		require.NoError(t, os.Remove(u.Ctl(lab.NB)))
		assert.Contains(t, m.RefuseRemoval(u), filepath.Base(u.Ctl(lab.NB)))
		for _, db := range lab.Databases {
			s := m.Raft(leader, db)
			assert.Len(t, s.Servers, 3)
			assert.True(t, u.Running(db))
		}
	})
}

// R9: stop starts the services that a pause has stopped, so that the unit leaves no member behind.
func TestStop_paused_unit_leaves(t *testing.T) {
	m := labtest.Deploy(t, 2)
	u := m.Followers()[0]
	m.Act(u, "pause")
	require.NoError(t, m.BeginRemoval(t.Context(), u))
	m.Remove(u)
	m.RequireMembers(m.Remaining()...)
	m.RequireWritable()
}

// R6, R9: a leave that can't end fails the hook at its deadline: the server hangs, or the quorum was lost after the
// judgement. The server leaves later, and the retry ends.
func TestLeave_beyond_deadline_is_awaited_by_retry(t *testing.T) {
	for name, hangs := range map[string]func(u *lab.Unit, others []*lab.Unit) []*lab.Unit{
		"own_server":    func(u *lab.Unit, _ []*lab.Unit) []*lab.Unit { return []*lab.Unit{u} },
		"other_servers": func(_ *lab.Unit, others []*lab.Unit) []*lab.Unit { return others },
	} {
		t.Run(name, func(t *testing.T) {
			m := labtest.Deploy(t, 3)
			u := m.MakeOneLeader()
			id, others := m.ShortID(u, lab.NB), m.Followers()
			hung := hangs(u, others)
			u.OnCall(func(call string) {
				if strings.Contains(call, "cluster/leave OVN_Northbound") {
					for _, h := range hung {
						assert.NoError(t, h.Hang(lab.NB))
					}
				}
			})
			said := m.RefuseRemoval(u)
			u.OnCall(nil)
			assert.Contains(t, labtest.LineWith(t, said, "ERROR "), "nb: "+id+" ")
			for _, h := range hung {
				require.NoError(t, h.Resume(lab.NB))
			}
			_, err := m.RetryUntil(t.Context(), u)
			require.NoError(t, err)
			m.RequireMembers(others...)
		})
	}
}

// If a tool of Juju fails once the servers are stopped, the status does not say that all is well.
func TestPause_failed_publication_is_shown(t *testing.T) {
	m := labtest.Deploy(t, 1)
	u := m.LeaderOf(lab.NB)
	broken := errors.New("connection is shut down")
	u.OnTool(func(call string) error {
		if strings.HasPrefix(call, "relation-get ") && !u.Running(lab.NB) && !u.Running(lab.SB) {
			return broken
		}
		return nil
	})
	r, err := m.RunAction(t.Context(), u, "pause")
	require.NoError(t, err)
	assert.Equal(t, "failed", r.Status)
	assert.Contains(t, r.Message, broken.Error())
	assert.Equal(t, "maintenance", u.Workload().Status)
	assert.Contains(t, u.Workload().Message, "juju run "+u.Name()+" resume")

	u.OnTool(nil)
	m.Finds(u, finding.Paused, "")
	assert.Equal(t, []string{"juju run " + u.Name() + " resume"}, m.NextCommands(u))
	m.Act(u, "resume")
	assert.Equal(t, "active", u.Workload().Status)
}
