package agent

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// ttl is the agent's own.
const ttl = 5 * time.Second

// replaced waits until another one than gone acts, and says how long that took; then until
// all name it.
func (p *plane) replaced(gone *process, begun time.Time) (next *process, took time.Duration) {
	p.t.Helper()
	others := p.but(gone)
	eventually(p.t, func() bool {
		for _, a := range others {
			if p.status(a).Acts {
				next, took = a, time.Since(begun)
			}
		}
		return next != nil
	}, patience, 10*time.Millisecond, "no other agent takes over")
	eventually(p.t, func() bool { return p.all(others, next.unit) }, ttl, 10*time.Millisecond, "/ is not right within the TTL")
	return next, took
}

// 003-5
func TestKilledHolderIsReplacedWithinTenSeconds(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	first := p.holder(p.agents...)
	begun := time.Now()
	require.NoError(t, first.Kill())
	next, took := p.replaced(first, begun)
	t.Logf("%s after %s: %s", next.unit, first.unit, took)
	assert.LessOrEqual(t, took, 10*time.Second)
	assert.GreaterOrEqual(t, took, ttl/2, "this test can fail: the first one was the holder")
	assert.Equal(t, 1, p.status(next).Changes)
}

// An agent that is started by hand under the name of a unit whose agent runs: each write of the
// record would have ovn-northd compute everything anew.
func TestAgentsOfOneNameDoNotTakeTheLeaseFromEachOther(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	first := p.holder(p.agents...)
	term := p.status(first).Term
	n := slices.Index(p.agents, first)
	twin := p.agent(n, "--listen", p.host(n)+":26401", "--peer-listen", p.host(n)+":26402")
	twin.url = "http://" + p.host(n) + ":26401"
	eventually(t, func() bool { return strings.Contains(twin.log.String(), "another agent has this unit's name") }, patience, 10*time.Millisecond, "it does not say so")
	for until := time.Now().Add(2 * ttl); time.Now().Before(until); {
		require.True(t, p.status(first).Acts)
		require.Equal(t, term, p.status(twin).Term)
		require.NoError(t, poll.Wait(t.Context(), ttl/20))
	}
	begun := time.Now()
	require.NoError(t, first.Kill())
	others := append(p.but(first), twin)
	next := p.holder(others...)
	assert.LessOrEqual(t, time.Since(begun), 10*time.Second)
	for until := time.Now().Add(ttl); time.Now().Before(until); {
		require.Equal(t, term+1, p.status(next).Term)
		require.NoError(t, poll.Wait(t.Context(), ttl/20))
	}
}

// What is released is taken at once.
func TestStoppedHolderHandsOverWithinASecond(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	first := p.holder(p.agents...)
	begun := time.Now()
	require.NoError(t, first.Signal(syscall.SIGTERM))
	_, took := p.replaced(first, begun)
	t.Logf("after %s", took)
	assert.LessOrEqual(t, took, time.Second)
	select {
	case <-first.ended:
	case <-time.After(patience):
		assert.Fail(t, "a stopped agent does not end")
	}
	assert.NotContains(t, first.log.String(), "error:")
}

// R14
func TestHolderThatSleptActsNoMore(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	first := p.holder(p.agents...)
	begun := time.Now()
	require.NoError(t, first.Signal(syscall.SIGSTOP))
	next, took := p.replaced(first, begun)
	assert.LessOrEqual(t, took, 10*time.Second)
	require.NoError(t, first.Signal(syscall.SIGCONT))
	answers := 0
	for until := time.Now().Add(ttl); time.Now().Before(until); {
		var said lease.Answer
		if json.Unmarshal([]byte(p.get(first, "/lease")), &said) == nil {
			answers++
			require.False(t, said.Acts)
		}
		require.NotEqual(t, first.unit, p.name(first), "it does not name itself either")
	}
	assert.Positive(t, answers)
	assert.True(t, p.all(p.agents, next.unit), "and knows who does")
	assert.True(t, p.status(next).Acts)
}

// R17. OVN_CENTRAL_IDLE=1h looks for longer.
func TestIdleAgentsWriteNothing(t *testing.T) {
	t.Parallel()
	idle := 2 * time.Minute
	if long, err := time.ParseDuration(os.Getenv("OVN_CENTRAL_IDLE")); err == nil {
		idle = long
	}
	p := newPlane(t)
	holder := p.holder(p.agents...)
	before := p.database()
	assert.Positive(t, before.Committed())
	always(t, func() bool { return p.status(holder).Acts }, idle, ttl/4)
	after := p.database()
	require.Equal(t, before.Term, after.Term, "the database has had an election")
	assert.Equal(t, before.Committed(), after.Committed(), "commits in %s", idle)
	assert.Equal(t, uint64(1), p.status(holder).Term, "the record was written once")
}
