package agent

import (
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// most bounds the time until another unit acts (003-5). lateNotice is how much later a holder reports that it no longer
// acts if its member of the database is cut off: the member knows no leader only after its election timer and up to a
// second more (raft_reset_election_timer() in raft.c of ovsdb-server).
const (
	most       = 10 * time.Second
	lateNotice = electionTimer + time.Second
)

const electionTimer = 4 * time.Second

// The packets that an iptables rule drops: other agents' questions, and the databases' packets.
const (
	questions     = "-p tcp --dport 16402"
	databasePorts = "-p tcp -m multiport --ports 6642,6643"
)

// everything has the rules that cut a machine off.
var everything = []string{"-A OUTPUT ! -o lo -j DROP", "-A INPUT ! -i lo -j DROP"}

// both returns the rules that drop such packets in both directions; host is the other machine, or empty for all.
func both(packets, host string) []string {
	to, from := "", ""
	if host != "" {
		to, from = " -d "+host, " -s "+host
	}
	return []string{"-A OUTPUT " + packets + to + " -j DROP", "-A INPUT " + packets + from + " -j DROP"}
}

// fill makes a server's disk look full: its file can't grow.
func fill(t testing.TB, s *ovsdbtest.Server) (size uint64) {
	t.Helper()
	found, err := os.Stat(s.File())
	require.NoError(t, err)
	size = uint64(found.Size())
	require.NoError(t, unix.Prlimit(s.Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: size, Max: math.MaxUint64}, nil))
	return size
}

func (p *plane) number(a *process) int { return slices.Index(p.agents, a) }

const forever = time.Hour

// becomes waits until the condition holds ten times in a row, because one answer may be missing. It allows for
// [lateNotice]: the agent of a unit whose member is cut off notices that late, and until then its writes have no
// effect.
func (p *plane) becomes(isSo func() bool, why string) {
	p.t.Helper()
	row := 0
	eventually(p.t, func() bool {
		if row++; !isSo() {
			row = 0
		}
		return row >= 10
	}, lateNotice+2*ttl, 100*time.Millisecond, why)
}

// handsOver causes a fault at the holder. Another unit has to act in time, the old holder has to report soon that it
// does not, and after the fault all have to name the same unit. During some faults the old holder may rightly act
// again, once that much time has passed since it was replaced: these faults end earlier. On a machine that is too slow
// for that, it only checks that one unit acts in the end.
func (p *plane) handsOver(t *testing.T, most, rightly time.Duration, fault func(n int) (end func())) {
	t.Helper()
	old := p.holder(p.agents...)
	begun := time.Now()
	end := fault(p.number(old))
	next, took := p.replaced(old, begun)
	deadline := time.Now().Add(rightly / 2) // the agent needs the other half to hear of the next one
	assert.LessOrEqual(t, took, most)
	t.Logf("%s after %s: %s", next.unit, old.unit, took.Round(time.Millisecond))
	quiet := func() bool { return !p.status(old).Acts && p.name(old) != old.unit }
	p.becomes(quiet, "the one before acts, or says so")
	always(t, quiet, min(ttl/2, time.Until(deadline)), ttl/20, "the one before acts, or says so")
	end()
	if time.Now().After(deadline.Add(ttl / 10)) {
		t.Logf("too slow to see whether %s stays away", old.unit)
		next = p.holder(p.agents...)
	} else {
		always(t, quiet, ttl/2, ttl/10, "the one before acts again, or says so")
	}
	p.until(func() bool { return p.all(p.agents, next.unit) }, "not all name it afterwards")
	assert.True(t, p.status(next).Acts, "it still acts")
}

// stays requires that the holder keeps the lease during a fault.
func (p *plane) stays(t *testing.T, fault func(n int) (end func())) {
	t.Helper()
	holder := p.holder(p.agents...)
	term := p.status(holder).Term
	end := fault(p.number(holder))
	named := func() bool { return p.status(holder).Acts && p.all(p.agents, holder.unit) }
	eventually(t, named, ttl, 50*time.Millisecond)
	always(t, named, 2*ttl, ttl/10, "it does not stay")
	end()
	always(t, named, ttl/2, ttl/10, "it does not stay afterwards")
	assert.Equal(t, term, p.status(holder).Term)
}

// filtered applies iptables rules to the holder's machine during the fault.
func (p *plane) filtered(rules ...string) func(n int) func() {
	return func(n int) func() {
		p.filter(n, rules...)
		return func() { p.filter(n) }
	}
}

// 003-5, R14: the network of the holder's machine is cut in different ways, with real members and with TLS.
func TestLease_network_of_holder_is_cut(t *testing.T) {
	t.Parallel()
	p := newPlaneOnMachines(t, tested(t))
	const again = ttl // agents that are only cut off from each other may act again after a TTL
	for _, c := range []struct {
		what    string
		rightly time.Duration
		rules   []string
	}{
		{"all of it", forever, everything},
		{"only to the databases", forever, both(databasePorts, "")},
		{"only between agents", again, both(questions, "")},
		{"one way: it is not asked", again, both(questions, "")[1:]},
	} {
		t.Log(c.what)
		p.handsOver(t, most, c.rightly, p.filtered(c.rules...))
	}
}

// 003-5: the holder stays as long as another agent hears it.
func TestLease_holder_that_another_agent_hears_stays(t *testing.T) {
	t.Parallel()
	p := newPlaneOnMachines(t, tested(t))
	t.Log("it asks no other one")
	p.stays(t, p.filtered(both(questions, "")[:1]...))
	t.Log("one of two others does not reach it, nor it that one")
	p.stays(t, p.filtered(both(questions, p.host((p.number(p.holder(p.agents...))+1)%hub))...))
}

// 003-5: faults of the database's members. An election is no reason for another holder.
func TestLease_database_of_holder_fails(t *testing.T) {
	t.Parallel()
	p := newPlaneOnMachines(t, tested(t))
	connected := func() {
		for n := range hub {
			p.run("ovsdb-client", "--timeout=60", "wait", p.servers[n].Endpoint(), "OVN_Northbound", "connected")
		}
	}
	none := func() bool {
		return !slices.ContainsFunc(p.agents, func(a *process) bool { return p.status(a).Acts || p.name(a) != "" })
	}

	t.Log("quorum lost and back")
	holder := p.holder(p.agents...)
	n := p.number(holder)
	stopped := []*ovsdbtest.Server{p.servers[n], p.servers[(n+1)%hub]}
	for _, s := range stopped {
		require.NoError(t, s.Signal(syscall.SIGSTOP))
	}
	const isConnected = `["_Server",{"op":"select","table":"Database",` +
		`"where":[["name","==","OVN_Northbound"]],"columns":["connected"]}]`
	third := p.servers[(n+2)%hub].Endpoint()
	p.until(func() bool { // the third server has noticed it, which takes a while
		return strings.Contains(p.run("ovsdb-client", "--timeout=60", "query", third, isConnected), `"connected":false`)
	})
	p.becomes(none, "one acts without a quorum, or is named")
	always(t, none, ttl, ttl/10, "one acts without a quorum, or is named")
	for _, s := range stopped {
		require.NoError(t, s.Signal(syscall.SIGCONT))
	}
	connected()
	begun := time.Now()
	p.holder(p.agents...)
	assert.LessOrEqual(t, time.Since(begun), most)

	t.Log("another leader of NB")
	holder = p.holder(p.agents...)
	term := p.status(holder).Term
	leader := p.otherLeader(-1)
	for leader == p.number(holder) { // otherwise its own member would be gone until it has started
		require.NoError(t, p.servers[leader].Signal(syscall.SIGSTOP))
		p.otherLeader(leader)
		require.NoError(t, p.servers[leader].Signal(syscall.SIGCONT))
		connected()
		holder = p.holder(p.agents...)
		term = p.status(holder).Term
		leader = p.otherLeader(-1)
	}
	p.servers[leader].Kill(p.t)
	p.otherLeader(leader)
	begun = time.Now()
	p.servers[leader].Start(p.t)
	assert.Equal(t, holder.unit, p.holder(p.agents...).unit, "an election is no reason for another one")
	assert.LessOrEqual(t, time.Since(begun), most)
	assert.Equal(t, term, p.status(holder).Term)

	t.Log("disk full") // a follower may stay connected, and its unit the holder
	n = p.number(p.holder(p.agents...))
	fill(t, p.servers[n])
	p.nb("set", "NB_Global", ".", "external_ids:touched=1") // this write can't be stored by that member
	longest, since := time.Duration(0), time.Now()
	for watched := since; time.Since(watched) < 2*most; require.NoError(t, poll.Wait(t.Context(), 100*time.Millisecond)) {
		if p.agree() {
			since = time.Now()
		}
		longest = max(longest, time.Since(since))
	}
	assert.LessOrEqual(t, longest, most, "not one acts that all name which know it")
	p.servers[n].Kill(p.t)
	p.servers[n].Start(p.t)
	p.holder(p.agents...)
}

// agree reports whether one agent holds the lease and all agents name it. An agent whose database fails may name none.
func (p *plane) agree() bool {
	acting, named := "", map[string]bool{"": true}
	for _, a := range p.agents {
		s := p.status(a)
		if named[s.Acting] = true; s.Acts {
			if acting != "" {
				return false
			}
			acting = a.unit
		}
	}
	return acting != "" && named[acting] && len(named) == 2
}

// otherLeader waits until another member leads, and returns it.
func (p *plane) otherLeader(than int) (leader int) {
	p.t.Helper()
	p.until(func() bool { leader = p.leader(); return leader >= 0 && leader != than }, "no other member leads")
	return leader
}

// leader returns the member that reports itself as leader, or -1.
func (p *plane) leader() int {
	for n := range hub {
		out, err := exec.CommandContext(p.t.Context(), "ovs-appctl", "--timeout=2", "-t", p.servers[n].Control(),
			"cluster/status", "OVN_Northbound").Output()
		if err != nil {
			continue
		}
		if status, err := raft.Parse(string(out)); err == nil && status.Role == raft.Leader {
			return n
		}
	}
	return -1
}

// R0, R17: a member whose file lacks entries counts as down for every unit, by one write, before its hook runs.
func TestAgent_reports_file_that_lacks_entries_between_hooks(t *testing.T) {
	t.Parallel()
	p := newPlaneOnMachines(t, tested(t))
	p.nb("init")
	p.holder(p.agents...)
	n := (p.leader() + 1) % hub
	paths := ovndb.Paths{Run: p.runDir(n), DB: p.runDir(n)}
	require.NoError(t, os.Symlink(p.servers[n].Paths.Socket(ovndb.NB), paths.Socket(ovndb.NB)))
	require.NoError(t, os.Symlink(p.servers[n].File(), paths.File(ovndb.NB)))

	logEnd := func() uint64 { return p.servers[n].Status(t).Log.End }
	end, size := logEnd(), fill(t, p.servers[n])
	p.nb("set", "NB_Global", ".", "external_ids:lost=1")
	p.until(func() bool { return logEnd() > end }, "the premise: it has that in memory")
	require.Equal(t, size, fill(t, p.servers[n]), "the premise: its file has not")
	room := unix.Rlimit{Cur: math.MaxUint64, Max: math.MaxUint64}
	require.NoError(t, unix.Prlimit(p.servers[n].Pid, unix.RLIMIT_FSIZE, &room, nil))
	p.nb("set", "NB_Global", ".", "external_ids:acknowledged=1")

	published := func() int {
		return strings.Count(p.nb("get", "NB_Global", ".", "external_ids"), "ovn-central:unhealthy/")
	}
	p.until(func() bool { return published() > 0 })
	assert.Equal(t, 1, published())

	p.run("ovs-appctl", "-t", p.servers[n].Control(), "ovsdb-server/compact", "OVN_Northbound")
	p.until(func() bool { return published() == 0 }, "there is no charm whose hook would withdraw it")
}
