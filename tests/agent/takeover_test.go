package agent

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/lease"
)

const ttl = 5 * time.Second

// replaced waits until an agent other than gone acts and all name it. It returns that agent, and the time it took.
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
	named := func() bool { return p.all(others, next.unit) }
	eventually(p.t, named, ttl, 10*time.Millisecond, "/ is not right within the TTL")
	return next, took
}

// 003-5: a killed holder is replaced within ten seconds, a stopped one within one, since it releases the lease.
func TestLease_killed_and_stopped_holders_are_replaced(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	first := p.holder(p.agents...)
	begun := time.Now()
	first.Kill(t)
	next, took := p.replaced(first, begun)
	t.Logf("%s after %s: %s", next.unit, first.unit, took)
	assert.LessOrEqual(t, took, 10*time.Second)
	assert.GreaterOrEqual(t, took, ttl/2, "this test can fail: the first one was the holder")
	assert.Equal(t, 1, p.status(next).Changes)
	assert.Equal(t, first.unit, p.status(next).Previous)

	p.agents[p.number(first)] = p.agent(p.number(first))
	p.holder(p.agents...)
	begun = time.Now()
	require.NoError(t, next.Signal(syscall.SIGTERM))
	_, took = p.replaced(next, begun)
	assert.LessOrEqual(t, took, time.Second)
	_ = next.Wait(t)
	assert.NotContains(t, next.Output(), "error:")
	for line := range strings.Lines(next.Output()) {
		assert.Regexp(t, event, line, "each event is one line of keys and values")
	}
}

// event is a line of the log (log/slog's TextHandler).
var event = regexp.MustCompile(`^time=\S+ level=[A-Z]+ msg=("[^"]+"|\S+)( [\w.-]+=("([^"\\]|\\.)*"|\S*))*\n$`)

// R17: the agents cause no commit to NB or SB, and no computation of ovn-northd. OVN_CENTRAL_IDLE=1h looks for longer.
func TestAgent_idle_writes_nothing(t *testing.T) {
	t.Parallel()
	idle := 2 * time.Minute
	if long, err := time.ParseDuration(os.Getenv("OVN_CENTRAL_IDLE")); err == nil {
		idle = long
	}
	p := newCloud(t, 2, 3, "--mode", "on", "--hold-down", "1s")
	p.northd()
	holder := p.holder(p.agents...)
	p.complete(2)
	p.until(func() bool { return p.calm(holder) })
	p.nb("--wait=sb", "sync")
	term := p.status(holder).Term
	asking := -p.recomputed()
	computed := p.recomputed()
	asking += computed
	before, southbound := p.database(), p.southboundSize()
	assert.Positive(t, before.Committed())
	always(t, func() bool { return p.status(holder).Acts }, idle, ttl/4)
	after := p.database()
	require.Equal(t, before.Term, after.Term, "the database has had an election")
	assert.Equal(t, before.Committed(), after.Committed(), "commits in %s", idle)
	assert.Equal(t, southbound, p.southboundSize(), "bytes of the Southbound database")
	assert.Equal(t, computed+asking, p.recomputed(), "recomputations, except that of the question")
	assert.Equal(t, term, p.status(holder).Term, "the record was not written either")
	p.nb("--wait=sb", "set", "NB_Global", ".", "external_ids:touched=1")
	assert.Greater(t, p.database().Committed(), after.Committed(), "this test can fail")
	assert.Greater(t, p.recomputed(), computed+2*asking, "this test can fail")
}

func (p *plane) southboundSize() int64 {
	p.t.Helper()
	found, err := os.Stat(p.south.File())
	require.NoError(p.t, err)
	return found.Size()
}

// 003-4: the holder learns of the other name from its monitor: with a TTL of 160 s it asks the database only every 40
// s.
func TestLease_holder_stops_once_record_names_another(t *testing.T) {
	t.Parallel()
	p := newPlane(t, "--lease-ttl", "160s")
	holder := p.holder(p.agents...)
	taken := lease.Record{
		Holder: "ovn-central/9", Address: p.host((p.number(holder)+1)%3) + ":16402", Instance: "x",
		Term: p.status(holder).Term + 1, TTLSeconds: 160,
	}
	begun := time.Now()
	p.nb("set", "NB_Global", ".", `external_ids:"ovn-central:agent"=`+strconv.Quote(taken.String()))
	p.until(func() bool { return !p.status(holder).Acts && p.name(holder) == taken.Holder })
	assert.Less(t, time.Since(begun), 25*time.Second)
}
