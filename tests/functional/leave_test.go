package functional

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

// 000-1, 000-2, R6, R10.
func TestFollowerLeavesBothClusters(t *testing.T) {
	m := deploy(t, 3)
	m.sameLeader()
	u := m.followers()[0]
	w := m.StartWriter(t.Context(), 0)
	m.remove(u)
	w.Stop()
	m.requireMembers(m.rest()...)
	m.verified(w)
	left, live := leftFiles(t, u)
	assert.Len(t, left, 2, "both files are put away")
	assert.Empty(t, live)
	for _, service := range []string{"ovn-ovsdb-server-nb", "ovn-ovsdb-server-sb", "ovn-northd", "ovn-central"} {
		out, _, err := u.Systemctl(t.Context(), "is-active", service)
		require.NoError(t, err)
		assert.NotEqual(t, "active", strings.TrimSpace(out), service)
		out, _, err = u.Systemctl(t.Context(), "is-enabled", service)
		require.NoError(t, err)
		assert.NotEqual(t, "enabled", strings.TrimSpace(out), service)
	}
}

// 000-1: a leader needs one election timer to leave; its server is not stopped
// before.
func TestLeaderLeavesBothClusters(t *testing.T) {
	t.Parallel()
	for name, timer := range map[string]time.Duration{"election timer 1 s": time.Second, "election timer 4 s": 4 * time.Second} {
		t.Run(name, func(t *testing.T) {
			m := deployWith(t, 3, lab.Options{ElectionTimer: timer})
			u := m.sameLeader()
			w := m.StartWriter(t.Context(), 0)
			m.remove(u)
			w.Stop()
			m.verified(w)
			m.requireMembers(m.rest()...)
			m.requireWritable()
		})
	}
}

// The specification's own example: five units, two of them removed, is a cluster
// of three without a fault.
func TestFiveToThreeByLeaveThenOneFailureIsSurvived(t *testing.T) {
	m := deploy(t, 5)
	m.remove(m.followers()[0])
	m.remove(m.leader(lab.NB))
	rest := m.rest()
	require.Len(t, rest, 3)
	m.requireMembers(rest...)
	m.killServers(rest[0])
	m.requireDown(rest[0])
	m.requireWritable()
}

// R5: each is judged with the other's leave done.
func TestTwoLeaveAtOnce(t *testing.T) {
	m := deploy(t, 4)
	going := []*lab.Unit{m.leader(lab.NB), m.followers()[0]}
	for _, err := range atOnce(going, func(u *lab.Unit) error {
		return m.RemoveUnit(t.Context(), u, lab.RemoveOptions{})
	}) {
		require.NoError(t, err)
	}
	rest := m.rest()
	require.Len(t, rest, 2)
	m.requireMembers(rest...)
	m.requireWritable()
}

// R5: measured without the lock, both pass R1, both report success, and the
// quorum is lost.
func TestOfTwoThatLeaveFourMembersWithOneDeadExactlyOneMay(t *testing.T) {
	m := deploy(t, 4)
	m.sameLeader()
	followers := m.followers()
	dead, going := followers[0], followers[1:3]
	m.powerOff(dead)
	m.requireDown(dead)
	var refused []string
	var waits *lab.Unit
	for i, err := range atOnce(going, func(u *lab.Unit) error {
		return m.RemoveUnit(t.Context(), u, lab.RemoveOptions{})
	}) {
		if err != nil {
			refused, waits = append(refused, m.hookFailed(err, "stop")), going[i]
		}
	}
	require.Len(t, refused, 1, "exactly one may leave")
	assert.Contains(t, refused[0], "of 3 members 2 are up")
	m.requireWritable()

	// P2: Juju shows of the unit only that its hook failed; the one that stays names it,
	// and what it waits for.
	stays := m.leader(lab.NB)
	require.NotContains(t, going, stays, "the premise")
	require.NoError(t, m.RunHook(t.Context(), stays, "update-status"))
	said := stays.Workload().Message
	assert.Contains(t, said, waits.Name()+" waits to leave")
	assert.Contains(t, said, "juju run "+stays.Name()+" kick unit="+dead.Name()+" force=true i-really-mean-it=true (if it is lost; else start its servers; ")
}

// R4: of five, one is off, and two leave, the leader among them: both may. What is
// said while the leader goes sends to no kick, least of all to one of a good member.
func TestTwoOfFiveLeaveAtOnceWithOneOffAndNoKickIsPrintedMeanwhile(t *testing.T) {
	m := deploy(t, 5)
	leader := m.sameLeader()
	off, going := m.followers()[0], []*lab.Unit{leader, m.followers()[1]}
	stays := m.followers()[2:]
	m.powerOff(off)
	m.requireDown(off)
	ended := make(chan struct{})
	var statuses []string
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			for _, u := range stays {
				if err := m.RunHook(t.Context(), u, "update-status"); err != nil {
					assert.NoError(t, err)
					return
				}
				statuses = append(statuses, u.Workload().Status+": "+u.Workload().Message)
			}
			select {
			case <-ended:
				return
			default:
			}
		}
	})
	for i, err := range atOnce(going, func(u *lab.Unit) error { return m.RemoveUnit(t.Context(), u, lab.RemoveOptions{}) }) {
		if err == nil {
			continue
		}
		said := m.hookFailed(err, "stop")
		assert.NotContains(t, said, "kick", "a refusal while the leader goes")
		assert.Contains(t, said, "wait")
		_, err = m.RetryUntil(t.Context(), going[i])
		require.NoError(t, err)
	}
	close(ended)
	watching.Wait()
	require.NotEmpty(t, statuses)
	for _, line := range statuses {
		assert.NotContains(t, line, "kick")
		assert.NotContains(t, line, "no quorum")
	}
	for _, db := range lab.Databases {
		assert.Len(t, m.members(stays[0], db), 3)
	}
	m.requireWritable()
}

func atOnce(units []*lab.Unit, do func(*lab.Unit) error) []error {
	errs := make([]error, len(units))
	var wg sync.WaitGroup
	for i, u := range units {
		wg.Go(func() { errs[i] = do(u) })
	}
	wg.Wait()
	return errs
}

// R1, R9: refused before anything is touched, with the command that helps; that
// command works as printed; the next try succeeds by itself.
func TestLeaveWithOneOfThreeDeadIsRefusedUntilTheDeadOneIsKicked(t *testing.T) {
	m := deploy(t, 3)
	m.sameLeader()
	followers := m.followers()
	gone, u := followers[0], followers[1]
	m.vanish(gone)
	m.requireDown(gone)
	said := m.refuseRemoval(u)
	assert.Contains(t, said, "of 3 members 2 are up; without")
	assert.Contains(t, said, "(was "+gone.Name()+")")
	for _, db := range lab.Databases {
		assert.Len(t, m.members(u, db), 3, "nothing was touched")
		assert.True(t, u.Running(db), "the server goes on serving")
	}

	survivor := m.leader(lab.NB)
	require.NoError(t, m.RunHook(t.Context(), survivor, "update-status"))
	status := survivor.Workload().Message
	assert.Contains(t, status, u.Name()+" waits to leave: juju run "+survivor.Name()+" kick unit="+gone.Name()+" i-really-mean-it=true ("+
		"nb "+m.short(gone, lab.NB)+" (was "+gone.Name()+") is down, sb "+m.short(gone, lab.SB)+" (was "+gone.Name()+") is down)")

	command := lineWith(t, said, "kick "+m.short(gone, lab.NB)+" (was "+gone.Name()+") and "+m.short(gone, lab.SB)+" (was "+gone.Name()+") first: ")
	assert.Contains(t, status, command, "one command for both databases, and the same one")
	assert.Equal(t, "completed", m.typed(command).Status, command)
	_, err := m.RetryUntil(t.Context(), u)
	require.NoError(t, err)
	m.requireMembers(survivor)
	m.requireWritable()
}

// R2, R9: the last unit of the application keeps its data.
func TestLastMembersStopKeepsTheData(t *testing.T) {
	m := deploy(t, 1)
	u := m.units[0]
	start := time.Now()
	require.NoError(t, m.RemoveApplication(t.Context()))
	assert.Less(t, time.Since(start), patience)
	left, live := leftFiles(t, u)
	assert.Empty(t, left)
	assert.Equal(t, []string{"ovnnb_db.db", "ovnsb_db.db"}, live)
}

// R9: the only copy waits for the others' joins.
func TestSoleMembersStopIsRefusedUntilAnotherUnitHasJoined(t *testing.T) {
	m := deploy(t, 1)
	u := m.units[0]
	next := m.addSilent()
	said := m.refuseRemoval(u)
	assert.Contains(t, said, "only member")
	assert.Contains(t, said, "juju resolved --no-retry "+u.Name())
	require.NoError(t, next.JoinDatabases(t.Context()))
	_, err := m.RetryUntil(t.Context(), u)
	require.NoError(t, err)
	m.units = append(m.units, next)
	m.requireMembers(next)
	m.requireWritable()
}

// R9: the only copy waits whatever its server's state; what is printed brings it back.
func TestOnlyCopyIsNotTakenAwayWhileItsServerIsDown(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*model, *lab.Unit){
		"paused": func(m *model, u *lab.Unit) { m.act(u, "pause") },
		"dead":   func(m *model, u *lab.Unit) { m.killServers(u) },
		"hung": func(m *model, u *lab.Unit) {
			for _, db := range lab.Databases {
				require.NoError(m.t, u.Hang(db))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := deploy(t, 1)
			u := m.units[0]
			require.NoError(t, m.RunHook(t.Context(), u, "update-status"))
			next := m.addSilent()
			spoil(m, u)
			said := m.refuseRemoval(u)
			assert.Contains(t, said, "the only copy of the database is in "+u.DBFile(lab.NB))
			assert.Contains(t, said, "juju resolved --no-retry "+u.Name())
			command := lineWith(t, said, "start it again: juju ")
			if name != "hung" {
				require.Equal(t, "run "+u.Name()+" resume", command)
				m.act(u, "resume")
			} else {
				services := lab.NB.Service() + " " + lab.SB.Service()
				require.Equal(t, "ssh "+u.Name()+` "sudo systemctl unmask `+services+" && sudo systemctl restart "+services+`"`, command)
				_, code, err := u.Systemctl(t.Context(), append([]string{"restart"}, strings.Fields(services)...)...)
				require.NoError(t, err)
				require.Zero(t, code)
			}
			for _, db := range lab.Databases {
				m.eventually("the only member serves", func() bool {
					s, err := m.status(u, db)
					return err == nil && s.HasLeader()
				})
			}
			require.NoError(t, next.JoinDatabases(t.Context()))
			_, err := m.RetryUntil(t.Context(), u)
			require.NoError(t, err)
			m.units = append(m.units, next)
			m.requireMembers(next)
			m.requireWritable()
		})
	}
}

// R9: no unit stays, so nobody leaves; it ends, and the data stay on the disks.
func TestWholeApplicationsStopEndsAndKeepsTheData(t *testing.T) {
	m := deploy(t, 3)
	start := time.Now()
	require.NoError(t, m.RemoveApplication(t.Context()))
	assert.Less(t, time.Since(start), patience)
	files := 0
	for _, u := range m.units {
		_, live := leftFiles(t, u)
		files += len(live)
	}
	assert.GreaterOrEqual(t, files, 2, "at least one copy of each database stays")
}

// R1: without a leader nobody is named as dead, for this unit may be the one
// that is cut off; both ways out are said.
func TestLeaveWithoutQuorumNamesNobodyAsDead(t *testing.T) {
	m := deploy(t, 3)
	u := m.units[0]
	ids := []string{m.short(m.units[1], lab.NB), m.short(m.units[2], lab.NB)}
	m.powerOff(m.units[1:]...)
	m.eventually("a quorum that is lost", func() bool {
		s, err := m.status(u, lab.NB)
		return err == nil && !s.HasLeader()
	})
	said := m.refuseRemoval(u)
	for _, id := range ids {
		assert.NotContains(t, said, id)
	}
	assert.Contains(t, said, "knows no leader")
	assert.Contains(t, said, "nb-identity="+m.id(u, lab.NB)+" force=true i-really-mean-it=true", "the way out if it is cut off")
	assert.Contains(t, said, "docs/how-to/recover-quorum.md")
	assert.True(t, u.Running(lab.NB))
}

// A unit that is merely cut off is kicked from the other side, as its refusal
// says; then its own leave ends by the record that the kick has left.
func TestUnitThatIsCutOffLeavesOnceItIsKicked(t *testing.T) {
	m := deploy(t, 3)
	m.sameLeader()
	u := m.followers()[0]
	rest := append(m.followers()[1:], m.leader(lab.NB))
	for _, db := range lab.Databases {
		for _, other := range rest {
			require.NoError(t, other.Hang(db)) // u hears of nobody, as if its network were gone
		}
	}
	m.eventually("a server without leader", func() bool {
		s, err := m.status(u, lab.NB)
		return err == nil && !s.HasLeader()
	})
	said := m.refuseRemoval(u)
	for _, db := range lab.Databases {
		require.NoError(t, u.Hang(db))
		for _, other := range rest {
			require.NoError(t, other.Resume(db))
		}
	}
	for _, db := range lab.Databases {
		m.eventually("a leader on the other side", func() bool {
			s, err := m.status(m.leader(db), db)
			return err == nil && s.Role == "leader"
		})
	}
	m.requireDown(u)
	for _, line := range strings.Split(said, "\n") {
		if _, command, found := strings.Cut(line, "this unit is cut off: "); found {
			r := m.typed(strings.TrimSpace(command))
			assert.Equal(t, "completed", r.Status, r.Message)
		}
	}
	for _, db := range lab.Databases {
		require.NoError(t, u.Resume(db))
	}
	_, err := m.RetryUntil(t.Context(), u)
	require.NoError(t, err)
	m.requireMembers(rest...)
	left, _ := leftFiles(t, u)
	assert.Len(t, left, 2)
}

// R0: a hung peer stands in Connections for many seconds, and its kernel still
// accepts connections. Only that it doesn't answer tells.
func TestPeerThatHangsIsSeenThoughItStandsInConnections(t *testing.T) {
	m := deployWith(t, 3, lab.Options{ElectionTimer: 4 * time.Second})
	m.sameLeader()
	followers := m.followers()
	hung, u := followers[0], followers[1]
	for _, db := range lab.Databases {
		require.NoError(t, hung.Hang(db))
	}
	s, err := m.status(u, lab.NB)
	require.NoError(t, err)
	stands := false
	for _, c := range s.Connections {
		stands = stands || c.Up && c.Incoming && c.Peer == m.short(hung, lab.NB)
	}
	require.True(t, stands, "the premise: it still stands in Connections")
	said := m.refuseRemoval(u)
	assert.Contains(t, said, "down: "+m.short(hung, lab.NB))
	for _, db := range lab.Databases {
		require.NoError(t, hung.Resume(db))
	}
	_, err = m.RetryUntil(t.Context(), u)
	require.NoError(t, err)
	m.requireMembers(hung, m.leader(lab.NB))
}
