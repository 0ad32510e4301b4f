package agent

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

var (
	seed  = flag.Uint64("seed", 1, "the first random schedule on real servers")
	count = flag.Int("count", 5, "how many of them")
	long  = flag.Duration("for", 0, "begin further ones for so long")
)

// own and neutrons are numbers of gateways. pool is the number of chassis, so small that each gateway has all of them.
const (
	own      = 3
	neutrons = 2
	pool     = 5
)

type played struct {
	*plane
	r       *rand.Rand
	options []string
	there   map[string]bool   // chassis
	neutron map[string]string // the master that Neutron has chosen, by its router
	events  int               // of chassis, so far
	changed map[string]int    // how often agents have changed each gateway
	seen    map[string]bool   // rows of the journal
	last    map[string][]schedule.Candidate
}

// event adds or removes a chassis, or moves Neutron's router if the database is writable.
func (p *played) event(writable bool) string {
	name := fmt.Sprintf("c%d", 1+p.r.IntN(pool))
	if p.r.IntN(4) == 0 && writable {
		router := fmt.Sprintf("n%d", p.r.IntN(neutrons))
		port := "lrp-" + router
		p.nb("lrp-del-gateway-chassis", port, p.neutron[router], "--", "lrp-set-gateway-chassis", port, name, "2")
		p.neutron[router] = name
		return "Neutron chooses " + name + " for " + router
	}
	p.events++
	if p.there[name] && len(p.there) > 1 {
		p.depart(name)
		delete(p.there, name)
		return name + " goes"
	} else if !p.there[name] {
		p.arrive(name)
		p.there[name] = true
		return name + " comes"
	}
	return name + " stays"
}

// Faults during which a write to NB may have to wait for their end. Of the faults that cut a member off, that is so
// while two last.
const (
	quorumLost, diskFull = "quorum lost", "disk full"
	cutOff, databasesCut = "cut off", "cut off from the databases"
)

// fault begins a fault at a unit, and returns its name and the function that ends it.
func (p *played) fault(n int) (what string, end func()) {
	a, server := p.agents[n], p.servers[n]
	filtered := func(what string, rules []string) (string, func()) { return what, p.filtered(rules...)(n) }
	switch p.r.IntN(11) {
	case 0:
		a.Kill(p.t)
		return "kill -9", func() { p.agents[n] = p.agent(n, p.options...) }
	case 1:
		require.NoError(p.t, a.Signal(syscall.SIGTERM))
		_ = a.Wait(p.t)
		return "graceful stop", func() { p.agents[n] = p.agent(n, p.options...) }
	case 2, 3:
		require.NoError(p.t, a.Signal(syscall.SIGSTOP))
		return "SIGSTOP", func() { require.NoError(p.t, a.Signal(syscall.SIGCONT)) }
	case 4:
		return filtered(cutOff, everything)
	case 5:
		return filtered(databasesCut, both(databasePorts, ""))
	case 6:
		return filtered("cut off from other agents", both(questions, ""))
	case 7:
		return filtered("reaches no other agent", both(questions, "")[:1])
	case 8:
		return filtered("cut off from the next agent", both(questions, p.host((n+1)%hub)))
	case 9:
		other := p.servers[(n+1)%hub]
		_ = server.Signal(syscall.SIGSTOP)
		_ = other.Signal(syscall.SIGSTOP)
		return quorumLost, func() {
			_ = server.Signal(syscall.SIGCONT) // another fault may have ended it
			_ = other.Signal(syscall.SIGCONT)
		}
	default: // as on a full disk; a server that could not write is restarted
		fill(p.t, server)
		return diskFull, func() {
			server.Kill(p.t)
			server.Start(p.t)
		}
	}
}

// play runs faults and events, ends them, and waits until everything has settled.
func (p *played) play(t *testing.T) {
	type ending struct {
		at  time.Time
		end func()
	}
	var ends []ending
	faulty := p.r.Perm(hub)[:1+p.r.IntN(2)]
	wait := func(d time.Duration) { require.NoError(t, poll.Wait(t.Context(), d)) }
	moment := func() time.Duration { return time.Duration(p.r.IntN(700)) * time.Millisecond }
	for range 2 {
		writable, cut := true, 0
		t.Log(p.event(writable))
		wait(moment())
		for _, n := range faulty {
			what, end := p.fault(n)
			t.Logf("%s: %s", p.agents[n].unit, what)
			if what == cutOff || what == databasesCut {
				cut++
			}
			writable = writable && what != quorumLost && what != diskFull && cut < 2
			ends = append(ends, ending{time.Now().Add(time.Duration(500+p.r.IntN(3500)) * time.Millisecond), end})
		}
		t.Log(p.event(writable))
		wait(moment())
		for _, e := range ends {
			wait(time.Until(e.at))
			e.end()
		}
		ends = nil
	}
	p.settles()
}

func (p *played) settles() {
	p.t.Helper()
	holder := p.holder(p.agents...)
	p.until(func() bool {
		for i := range own {
			have := p.candidates(fmt.Sprint("r", i))
			slices.Sort(have)
			if len(have) != len(p.there) || slices.ContainsFunc(have, func(c string) bool { return !p.there[c] }) {
				return false
			}
		}
		return true
	}, "%v: %v, %s", p.there, p.candidates("r0"), holder.unit)
}

// check requires that each of the agents' records begins with the state in which the previous one ended.
func (p *played) check(t *testing.T) {
	for _, run := range p.unseen() {
		require.True(t, strings.HasSuffix(run.By, ", agent"), run.By)
		for _, c := range run.Changes {
			group := strings.TrimPrefix(c.Group, "lrp-")
			require.True(t, strings.HasPrefix(group, "r"), "%s is Neutron's", group)
			require.Equal(t, p.last[group], c.Before, "%s: a change was repeated, or is missing in the journal", group)
			p.last[group] = c.After
			p.changed[group]++
		}
	}
	// An agent that takes over plans for everything, and may order backups more evenly.
	most := p.events + int(p.status(p.holder(p.agents...)).Term)
	for group, n := range p.changed {
		require.LessOrEqual(t, n, most, "%s: more changes than events and takeovers", group)
	}
	for i := range own {
		group := fmt.Sprint("r", i)
		ranked := schedule.Group{Candidates: p.last[group]}.Ranked()
		require.Equal(t, ranked, p.candidates(group), "%s: the candidates are those of the journal", group)
	}
	for router, chassis := range p.neutron {
		require.Equal(t, []string{chassis}, p.candidates(router))
	}
}

func (p *played) unseen() (all []noted) {
	p.t.Helper()
	for _, one := range p.changes() {
		if !p.seen[one.row] {
			p.seen[one.row] = true
			all = append(all, one)
		}
	}
	return all
}

// enoughForMemory is the number of schedules that tells a leak from the heap's fluctuation.
const enoughForMemory = 40

// mostMemory is the limit in kB: twice the maximum of 216 schedules (docs/reference/reliability.md).
const mostMemory = 64 << 10

// resources returns a process' memory in kB and its number of descriptors.
func resources(t *testing.T, one *process) (kilobytes, descriptors int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", one.Pid))
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	_, err = fmt.Sscan(rest, &kilobytes)
	require.NoError(t, err)
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", one.Pid))
	require.NoError(t, err)
	return kilobytes, len(open)
}

// R14, 003-5, 003-7: whatever happens to agents, members and networks while chassis come and go and Neutron writes,
// agents handle each event once, and all agree in the end. See the flags -seed, -count and -for.
func TestLease_random_faults_each_event_handled_once(t *testing.T) {
	t.Parallel()
	options := []string{"--mode", "on", "--hold-down", "1s", "--lease-ttl", "3s"}
	p := &played{
		plane: newPlaneOnMachines(t, shipped(t), options...), options: options,
		changed: map[string]int{}, there: map[string]bool{}, neutron: map[string]string{}, seen: map[string]bool{},
		last: map[string][]schedule.Candidate{},
	}
	p.populate(3, own)
	for _, c := range []string{"c1", "c2", "c3"} {
		p.there[c] = true
	}
	for i := range own {
		p.last[fmt.Sprint("r", i)] = []schedule.Candidate{{Chassis: "c1", Priority: 5}}
	}
	for i := range neutrons {
		n := fmt.Sprint("n", i)
		p.neutrons(n)
		p.neutron[n] = "c1"
	}
	p.settles()
	p.events = len(p.there) // each of them came
	p.check(t)
	most, begun, i := 0, time.Now(), 0
	for ; i < *count || time.Since(begun) < *long; i++ {
		s := *seed + uint64(i)
		p.r = rand.New(rand.NewPCG(s, 14)) //nolint:gosec // a schedule is no secret
		t.Logf("seed %d, after %s", s, time.Since(begun).Round(time.Second))
		p.play(t)
		p.check(t)
		for _, a := range p.agents {
			memory, descriptors := resources(t, a)
			assert.Less(t, descriptors, 40, "of %s", a.unit)
			assert.Less(t, memory, mostMemory, "kB of %s", a.unit)
			switch {
			case i < *count/2 || time.Since(begun) < *long/2:
				most = max(most, memory)
			case i >= enoughForMemory:
				assert.Less(t, memory, most+most/4, "kB of %s: more than in the first half", a.unit)
			}
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%d schedules from seed %d in %s; at most %d kB in the first half", i, *seed,
		time.Since(begun).Round(time.Second), most)
}
