package agent

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
)

// The time from a kill -9 of the holder until the next one acts, in TTLs: at most 1.5. Commits: 0 while idle, 1 for a
// takeover.
func BenchmarkTakeoverAgainstItsTTL(b *testing.B) {
	var took time.Duration
	var idle, changed, rounds uint64
	for b.Loop() {
		p := newPlane(b)
		first := p.holder(p.agents...)
		before := p.database().Committed()
		always(b, func() bool { return p.status(first).Acts }, 2*ttl, ttl/4)
		idle += p.database().Committed() - before
		begun, before := time.Now(), p.database().Committed()
		first.Kill(b)
		_, one := p.replaced(first, begun)
		took, rounds = took+one, rounds+1
		changed += p.database().Committed() - before
	}
	b.ReportMetric(float64(took)/float64(rounds)/float64(ttl), "times-TTL")
	b.ReportMetric(float64(idle)/float64(rounds), "commits-idle")
	b.ReportMetric(float64(changed)/float64(rounds), "commits-a-change")
}

// The time from a new chassis' row until every gateway has it as a candidate, without the hold-down, as a multiple of
// the same plan and writes by themselves. It uses a real ovn-northd and GATEWAYS gateways, or 500. The bound is 2. The
// agent reads changing databases at most once a second, which matters if the writes take no longer.
func BenchmarkRowToPlanAgainstPlanAndWrite(b *testing.B) {
	const holdDown = time.Second
	count := 200 // with 500, ovn-sbctl may take more than 20 s to read the Southbound database
	if text := os.Getenv("GATEWAYS"); text != "" {
		var err error
		count, err = strconv.Atoi(text)
		require.NoError(b, err)
	}
	var agents, alone time.Duration
	for b.Loop() {
		p := newCloud(b, 1, count, "--mode", "on", "--hold-down", holdDown.String())
		p.northd()
		p.holder(p.agents...)
		arrive := func(chassis string) {
			p.arrive(chassis)
			p.followAll()
		}
		arrive("c2")
		p.listed("c2", count)

		p.nb("--wait=sb", "sync")
		begun := time.Now()
		arrive("c3")
		p.listed("c3", count)
		agents += time.Since(begun) - holdDown

		for _, a := range p.agents {
			a.Kill(b)
		}
		p.nb("--wait=sb", "sync")
		s := &gateway.Service{
			Dialer: new(ovsdb.Dialer), NB: []string{p.servers[0].Endpoint()}, SB: []string{p.south.Endpoint()},
			By: "a benchmark", Now: time.Now, NorthdTimeout: gateway.DefaultNorthdTimeout,
		}
		begun = time.Now()
		arrive("c4")
		o, err := s.Reschedule(b.Context(), gateway.Request{})
		require.NoError(b, err)
		require.NoError(b, o.Apply(b.Context()))
		p.listed("c4", count)
		alone += time.Since(begun)
		s.Close()
	}
	b.ReportMetric(float64(agents)/float64(alone), "times-plan-and-write")
	b.ReportMetric(alone.Seconds()/float64(b.N), "s-alone")
}

// listed waits until a chassis is a candidate of that many gateways.
func (p *plane) listed(chassis string, gateways int) {
	p.t.Helper()
	eventually(p.t, func() bool {
		found := p.nb("--bare", "--columns=chassis_name", "find", "Gateway_Chassis", "chassis_name="+chassis)
		return strings.Count(found, chassis) == gateways
	}, 10*time.Minute, 50*time.Millisecond, chassis)
}

// followAll makes every chassis follow nb_cfg at once.
func (p *plane) followAll() {
	p.t.Helper()
	p.sb("--all", "destroy", "Chassis_Private")
	ovsdbtest.Follow(p.t, p.south.Endpoint())
}
