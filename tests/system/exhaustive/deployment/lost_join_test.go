package deployment

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// A join that never ends, on Open vSwitch before 2.17.10, 3.1.5, 3.2.3 and 3.3.1: the leader lost its role briefly, and
// with it the answer of the server that it was adding; it takes each retry for a join in progress (ovn-org/ovn, issue
// 235). The unit detects that its server makes no progress, and replaces it. The minutes are played.
func TestJoin_lost_by_leader_goes_through_another_server(t *testing.T) {
	t.Parallel()
	c, units := labtest.Fresh(t, 2, lab.Options{Charm: labtest.CharmWithClock(t)})
	leader := c.LeaderOf(lab.SB)
	fillSouthbound(c, leader, 4) // so much takes the leader a moment to send, and the new server to store
	other := units[0]
	if other == leader {
		other = units[1]
	}
	u := c.AddEmpty()
	// It reaches that leader alone: the other would add it.
	labtest.Output(t, u, "ip", "route", "add", "blackhole", other.Address())
	lost := make(chan error, 1)
	go func() { lost <- loseJoin(c, leader, other, u) }()
	require.NoError(t, c.Settle(t.Context()))
	require.NoError(t, <-lost)
	labtest.Output(t, u, "ip", "route", "del", "blackhole", other.Address())

	before := c.Raft(u, lab.SB)
	c.Says(u, "waiting")
	c.RunUpdateStatus(u)
	c.Says(u, "waiting")
	c.Finds(u, finding.ServerJoining, "sb")
	assert.Empty(t, c.PutAway(u, lab.SB), "it is waited for")
	after := c.Raft(u, lab.SB)
	require.Equal(t, raft.JoiningCluster, after.State, "the servers were repaired: this test is of a defect")
	require.Equal(t, before.Server, after.Server)

	require.NoError(t, u.SetClock(10*time.Minute))
	c.RunUpdateStatus(u)
	c.Tick("it is a member", func() bool { return c.IsMember(u) })
	assert.Len(t, c.PutAway(u, lab.SB), 1)
	assert.Empty(t, c.PutAway(u, lab.NB))
	c.Tick("all are active", c.AllActive)
	c.RequireOneCluster(append(units, u)...)
}

// loseJoin moves the leadership away as soon as the leader adds the unit's hung server, and back once it answers.
func loseJoin(c *labtest.Model, leader, other, joiner *lab.Unit) error {
	c.T.Helper()
	ctx := c.Patient()
	await := func(condition func() bool) error {
		for !condition() {
			if err := poll.Wait(ctx, time.Millisecond); err != nil {
				return err
			}
		}
		return nil
	}
	is := func(u *lab.Unit, so func(raft.Status) bool) func() bool {
		return func() bool {
			s, err := c.RaftStatus(u, lab.SB)
			return err == nil && so(s)
		}
	}
	leads := func(s raft.Status) bool { return s.Role == raft.Leader }
	give := func(from, to *lab.Unit) error {
		_, err := from.Appctl(ctx, lab.SB, "cluster/failure-test", "transfer-leadership")
		return errors.Join(err, await(is(to, leads)))
	}
	added := regexp.MustCompile("starting to add server .* at ssl:" + regexp.QuoteMeta(joiner.Address()) + ":6644")
	if err := await(func() bool {
		text, err := os.ReadFile(filepath.Join(leader.LogDir(), "ovsdb-server-sb.log"))
		return err == nil && added.Match(text)
	}); err != nil {
		return err
	}
	return errors.Join(
		joiner.Hang(lab.SB), give(leader, other),
		joiner.Resume(lab.SB), await(is(joiner, raft.Status.HasLeader)), give(other, leader),
	)
}

// A drain without progress for five minutes has stalled, in the acting unit's status. The minutes are played.
func TestDrain_stalled_is_in_status_of_acting_unit(t *testing.T) {
	t.Parallel()
	c, units := labtest.Fresh(t, 1, lab.Options{Charm: labtest.CharmWithClock(t)})
	u := labtest.ActingUnit(t, units...)
	labtest.Tool(t, u, "ovn-sbctl", lab.SB, "chassis-add", "gw1", "geneve", "192.0.2.1")
	c.Act(u, "hold", "node=gw1", "name=bgp")
	c.Refuse(u, "drain", "node=gw1", "timeout=5", "grace-period=0", "i-really-mean-it=true")
	c.Tick("the drain is not in the status", func() bool { return labtest.Shows(u, "gw1") })

	fast := time.Duration(0)
	c.Tick("the drain does not stall", func() bool {
		fast += 5 * time.Minute
		require.NoError(t, u.SetBoottime(fast))
		labtest.ActingUnit(t,
			u) // it may act again once it has seen the database; an agent that looks earlier forgets what it saw
		labtest.Tool(t, u, "ovn-nbctl", lab.NB, "set", "NB_Global", ".", "external_ids:touched="+fast.String())
		return c.HasFinding(u, finding.DrainStalled, "")
	})
	assert.Contains(t, c.Act(u, "agent-status")["agent"], "STALLED")
}
