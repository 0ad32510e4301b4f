package agent

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

const ttl = 5 * time.Second

// replaced waits until another agent than gone acts and all name it. It returns that agent, and the time it took.
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
func TestLease_killed_holder_is_replaced_within_ten_seconds(t *testing.T) {
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
}

// An agent with another unit's name must not write the record in turn: ovn-northd would recompute each time.
func TestLease_agents_with_one_name_do_not_take_it_over(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	first := p.holder(p.agents...)
	term := p.status(first).Term
	n := slices.Index(p.agents, first)
	twin := p.agent(n, "--listen", p.host(n)+":26401", "--peer-listen", p.host(n)+":26402")
	twin.url = "http://" + p.host(n) + ":26401"
	eventually(t, func() bool { return strings.Contains(twin.Output(), "another agent uses this unit's name") }, patience, 10*time.Millisecond, "it does not say so")
	for until := time.Now().Add(2 * ttl); time.Now().Before(until); {
		require.True(t, p.status(first).Acts)
		require.Equal(t, term, p.status(twin).Term)
		require.NoError(t, poll.Wait(t.Context(), ttl/20))
	}
	first.Kill(t)
	next := p.holder(p.but(first)...) // if the twin was first, they don't know its address
	for until := time.Now().Add(ttl); time.Now().Before(until); {
		require.True(t, p.status(next).Acts)
		require.LessOrEqual(t, p.status(next).Term, term+2)
		require.NoError(t, poll.Wait(t.Context(), ttl/20))
	}
}

// Any client of the Northbound database can write the record. If it names an agent that doesn't exist, though something
// answers, another agent takes over after a TTL of silence; and no unit shows its certificate there.
func TestLease_holder_that_is_no_unit_is_replaced(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	holder := p.holder(p.agents...)
	ghost := lease.Record{Holder: "ghost/9", Instance: "x", Address: p.host(hub) + ":16402", Term: p.status(holder).Term + 1, TTLSeconds: 5}
	var asked atomic.Int64
	pair, err := tls.LoadX509KeyPair(p.path("cert"), p.path("key"))
	require.NoError(t, err)
	l, err := tls.Listen("tcp", ghost.Address, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_ = json.NewEncoder(w).Encode(lease.Answer{Unit: ghost.Holder, Instance: ghost.Instance, Term: ghost.Term, Acts: true})
	})
	go func() { _ = http.Serve(l, answer) }() //nolint:gosec // of this test
	begun := time.Now()
	p.nb("set", "NB_Global", ".", `external_ids:"ovn-central:agent"=`+strconv.Quote(ghost.String()))
	next := p.holder(p.agents...)
	for time.Since(begun) < 3*ttl && p.status(next).Term == ghost.Term-1 { // it was asked before it saw the record
		require.NoError(t, poll.Wait(t.Context(), ttl/20))
		next = p.holder(p.agents...)
	}
	assert.LessOrEqual(t, time.Since(begun), 10*time.Second)
	assert.Equal(t, ghost.Term+1, p.status(next).Term)
	assert.Zero(t, asked.Load())
	assert.Contains(t, next.Output(), "the lease names an agent that this one does not know")
}

// What is released is taken at once.
func TestLease_stopped_holder_hands_over_within_a_second(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	first := p.holder(p.agents...)
	begun := time.Now()
	require.NoError(t, first.Signal(syscall.SIGTERM))
	_, took := p.replaced(first, begun)
	t.Logf("after %s", took)
	assert.LessOrEqual(t, took, time.Second)
	_ = first.Wait(t)
	assert.NotContains(t, first.Output(), "error:")
	for line := range strings.Lines(first.Output()) {
		assert.Regexp(t, event, line, "one line an event, in keys and values")
	}
}

// event is a line of the log (log/slog's TextHandler).
var event = regexp.MustCompile(`^time=\S+ level=[A-Z]+ msg=("[^"]+"|\S+)( [\w.-]+=("([^"\\]|\\.)*"|\S*))*\n$`)

// R17: no commit to NB or SB, and nothing that ovn-northd computes. OVN_CENTRAL_IDLE=1h looks for longer.
func TestAgent_idle_writes_nothing(t *testing.T) {
	t.Parallel()
	idle := 2 * time.Minute
	if long, err := time.ParseDuration(os.Getenv("OVN_CENTRAL_IDLE")); err == nil {
		idle = long
	}
	p := newPlane(t, "--mode", "on", "--hold-down", "1s")
	p.nb("init")
	p.northd()
	p.arrive("c1")
	p.gateways(3)
	holder := p.holder(p.agents...)
	p.arrive("c2")
	p.complete(2)
	eventually(t, func() bool {
		s := p.status(holder).Gateways
		return len(s.HeldDown)+len(s.Advice) == 0
	}, patience, 100*time.Millisecond)
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
	assert.Equal(t, computed+asking, p.recomputed(), "recomputations of ovn-northd, but for the one that the question costs")
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

// 003-4: by its monitor, and not by its next question, which a TTL of 160 s has it put every 40 s.
func TestLease_holder_stops_once_record_names_another(t *testing.T) {
	t.Parallel()
	p := newPlane(t, "--lease-ttl", "160s")
	holder := p.holder(p.agents...)
	taken := lease.Record{Holder: "ovn-central/9", Address: p.host((p.number(holder)+1)%3) + ":16402", Instance: "x", Term: p.status(holder).Term + 1, TTLSeconds: 160}
	begun := time.Now()
	p.nb("set", "NB_Global", ".", `external_ids:"ovn-central:agent"=`+strconv.Quote(taken.String()))
	eventually(t, func() bool { return !p.status(holder).Acts && p.name(holder) == taken.Holder }, patience, 10*time.Millisecond)
	assert.Less(t, time.Since(begun), 25*time.Second)
}
