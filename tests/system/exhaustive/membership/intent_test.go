package membership

import (
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// R1, R5: a process that has recorded a kick may be stopped for longer than its lock holds, and then continue. Of four
// members, one of them dead, one more may go, not two: until it continues, the others and the kicked unit count its
// kick.
func TestR5_kick_of_stopped_process_counts_until_it_continues(t *testing.T) {
	m := labtest.Deploy(t, 4)
	kicks := m.MakeOneLeader()
	kicked, leaves, dead := m.Followers()[0], m.Followers()[1], m.Followers()[2]
	m.PowerOff(dead)
	m.RequireDown(dead)
	id := m.ServerID(kicked, lab.NB)
	m.Hold(true) // a hook of the unit whose action is stopped would wait for that

	stopped, done := make(chan struct{}), make(chan lab.ActionResult, 1)
	var once sync.Once
	kicks.OnCall(func(call string) {
		if strings.Contains(call, "cluster/kick") {
			once.Do(func() {
				assert.NoError(t, kicks.SignalHook(syscall.SIGSTOP))
				close(stopped)
			})
		}
	})
	go func() {
		r, err := m.RunAction(t.Context(), kicks, "kick", labtest.KickArgs("", id, "force=true")...)
		assert.NoError(t, err)
		done <- r
	}()
	select {
	case <-stopped:
	case r := <-done:
		require.Fail(t, "it was not stopped", "%v", r)
	}
	noted := func() string {
		record := labtest.Output(t, leaves, "ovn-nbctl", "--timeout=30", "--db="+kicks.Client(lab.NB), "get", "NB_Global",
			".", "external_ids:ovn-central\\:membership")
		return record
	}
	require.Contains(t, noted(), id, "the premise")

	require.NoError(t, m.Destroy(leaves))
	refused := func() string {
		for {
			hook, err := m.Deliver(t.Context(), leaves)
			if hook == "stop" {
				return m.HookFailed(err, "stop")
			}
			require.NoError(t, err)
		}
	}
	begun := time.Now()
	said := refused()
	assert.Greater(t, time.Since(begun), 10*time.Second, "the time of the lock has passed")
	assert.Contains(t, said, "nb: "+labtest.QuorumLost(3, 4, 1, 2))
	require.NoError(t, m.RunHook(t.Context(), kicked, "update-status"))
	assert.Contains(t, noted(), id, "it is not this unit's to take back")
	assert.Contains(t, refused(), labtest.Reason(finding.RemovalMayFollow, finding.Args{}))

	require.NoError(t, kicks.SignalHook(syscall.SIGCONT))
	// The call has outlived its deadline, so it is unknown whether it was carried out.
	if r := <-done; r.Status != "completed" {
		assert.Equal(t, membership.Pending, cluster.Outcome(r.Results["ovnnb"]))
		assert.Contains(t, r.Message, "nb: ")
		assert.Contains(t, r.Message, id[:4])
		assert.Contains(t, r.Message, "next: "+string(finding.RunAgain))
		r, err := m.RunAction(t.Context(), kicks, "kick", labtest.KickArgs("", id, "force=true")...)
		require.NoError(t, err)
		require.Equal(t, "completed", r.Status, r.Message)
	}
	assert.Contains(t, refused(), "nb: "+labtest.QuorumLost(2, 3, 1, 2))
	assert.Contains(t, m.MemberIDs(kicks, lab.NB), m.ShortID(leaves, lab.NB))
	m.RequireWritable()
}
