package agent

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// interrupted writes the journal's record of an interrupted run.
func (p *plane) interrupted(id, by string) {
	p.t.Helper()
	record := fmt.Sprintf(`{"id":%q,"number":1,"at":"2026-01-02T03:04:05Z","operation":"reschedule","by":%q,"left":2,`+
		`"changes":[]}`, id, by)
	p.nb("create", "DNS", "external_ids:ovn-central-operator=gateways",
		`external_ids:"ovn-central-operator:plan"=`+strconv.Quote(record))
}

func (p *plane) records() string {
	p.t.Helper()
	return p.nb("--bare", "--columns=external_ids", "find", "DNS")
}

// 003-6, R14, R15: orphans are reported when they appear and disappear, in the status, the metrics and the log, and are
// not deleted. The agent ends only unfinished runs of removed units' agents, in one write, once nothing is left to do.
func TestAgent_reports_orphans_and_removes_its_own(t *testing.T) {
	t.Parallel()
	p := newCloud(t, 2, 1, "--hold-down", "1s") // something is left to do: c2 is not a candidate
	first := p.holder(p.agents...)
	p.interrupted("g1", "ovn-central/9, agent")
	p.interrupted("g2", "ovn-central/9")
	require.NoError(t, first.Signal(syscall.SIGTERM))
	holder, _ := p.replaced(first, time.Now())
	is := func(want ...string) func() bool {
		return func() bool {
			var found []string
			for _, o := range p.status(holder).Gateways.Orphans {
				found = append(found, o.Code+" "+o.Subject)
			}
			slices.Sort(found)
			return slices.Equal(found, want)
		}
	}
	run := "PLAN_UNFINISHED g1"
	p.until(is(run))
	assert.Contains(t, p.get(holder, "/metrics"), "\novn_central_orphans 1")
	for _, other := range p.but(holder) {
		if other != first {
			assert.Empty(t, p.status(other).Gateways.Orphans, "only the unit that acts reports them")
		}
	}
	p.until(func() bool { return len(p.status(holder).Gateways.Advice) == 1 })
	before := p.database().Committed()
	assert.True(t, is(run)(), "there is something left to do")

	p.depart("c2")
	p.until(is(), "nothing is left to do")
	assert.Equal(t, before+1, p.database().Committed(), "in one write")
	assert.Len(t, p.journal(), 2, "what was done can be taken back still")
	assert.Contains(t, p.records(), `"left":2`, "what a person has begun is no agent's")

	halves := []string{"CANDIDATE_UNKNOWN c8", "CHASSIS_INCOMPLETE c1", "CHASSIS_INCOMPLETE c7"}
	p.sb("create", "Chassis_Private", "name=c7", "--", "--if-exists", "destroy", "Chassis_Private", "c1")
	p.nb("lrp-set-gateway-chassis", "lrp-r0", "c8", "1")
	p.until(is(halves...))
	assert.Contains(t, p.get(holder, "/metrics"), "\novn_central_orphans 3")
	always(t, is(halves...), 3*time.Second, time.Second, "they are deleted by people only")
	p.sb("destroy", "Chassis_Private", "c7")
	p.nb("lrp-del-gateway-chassis", "lrp-r0", "c8")
	p.until(is())
	log := holder.Output()
	for _, c := range []string{"g1", "c1", "c7", "c8"} {
		told := regexp.MustCompile(` where="?`+c+`"? `).FindAllString(log, -1)
		assert.GreaterOrEqual(t, len(told), 2, "%s is logged as it is found, and as it is resolved", c)
	}
}

// R14: the agent does not end a person's run; the next command finishes it. It does end agents' runs.
func TestAgent_change_does_not_end_operator_run(t *testing.T) {
	t.Parallel()
	p := newCloud(t, 1, 3, "--mode", "on", "--hold-down", "1s")
	p.interrupted("g1", "ovn-central/9, agent")
	p.interrupted("g2", "ovn-central/9")
	p.arrive("c2")
	p.complete(2)
	left := func() int { return strings.Count(p.records(), `"left":2`) }
	p.until(func() bool { return left() < 2 }, "what an agent has begun is over")
	always(t, func() bool { return left() == 1 }, 3*time.Second, 500*time.Millisecond, "what a person has begun is not")
	assert.Contains(t, p.records(), `"by":"ovn-central/9","left":2`)
}

// Commands need no lease. The later command plans again: nothing is lost or done twice, and the journal has the
// authors.
func TestAgent_concurrent_commands_lose_nothing(t *testing.T) {
	t.Parallel()
	p := newCloud(t, 1, 3, "--mode", "on", "--hold-down", "1s")
	holder := p.holder(p.agents...)
	p.arrive("c2")
	p.complete(2) // by the agent
	for n := range 6 {
		name := fmt.Sprintf("c%d", 3+n%3)
		if n < 3 {
			p.arrive(name)
		} else {
			p.depart(name)
		}
		var commands []*process
		for range 2 {
			commands = append(commands, p.start(p.program.environment, p.program.path, "gateways", "reschedule", "--wait", "0",
				"--nb", p.servers[n%hub].Endpoint(), "--sb", p.southbound()))
		}
		for _, c := range commands {
			_ = c.Wait(t)
			assert.NotContains(t, c.Output(), "error", "%s", c.Output())
		}
	}
	p.complete(2)
	p.until(func() bool { return p.calm(holder) })

	by, left := map[bool]int{}, map[string]map[string]int{}
	for _, record := range p.changes() {
		require.NotEmpty(t, record.By)
		by[strings.HasSuffix(record.By, ", agent")]++
		for _, c := range record.Changes {
			if left[c.Group] == nil {
				left[c.Group] = map[string]int{}
			}
			left[c.Group][fmt.Sprint(c.Before)]--
			left[c.Group][fmt.Sprint(c.After)]++
		}
	}
	t.Logf("%d of the agent, %d of people", by[true], by[false])
	assert.Positive(t, by[true])
	assert.Positive(t, by[false])
	for i := range 3 {
		group := fmt.Sprintf("lrp-r%d", i)
		require.Contains(t, left, group)
		for list, n := range left[group] { // each began where another ended, except the first and the last
			switch {
			case list == "[{c1 5}]":
				assert.Equal(t, -1, n, "%s: it was so at first", group)
			case n != 0:
				assert.Equal(t, 1, n, "%s: %s", group, list)
				assert.Equal(t, len(p.candidates(fmt.Sprint("r", i))), strings.Count(list, "{"), "%s: it is so in the end", group)
			}
		}
	}
}
