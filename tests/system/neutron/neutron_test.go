// Package neutron compares gateways as the program plans them with gateways as Neutron does, which is what the charm's
// users have had until now: Neutron's own code, on the same input, in one run.
package neutron

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

var large = flag.Bool("neutron.large", false, "also 10,000 gateways on 200 chassis, for which Neutron takes more than 10 minutes")

// version is the version of Neutron that scheduler.py can run.
const version = "21."

// missing returns why Neutron can't be asked.
func missing() string {
	out, err := exec.Command("/usr/bin/python3", "-c", "import importlib.metadata as m; print(m.version('neutron'))").Output()
	if err != nil {
		return "Neutron is not installed: run tests/install-deps neutron"
	}
	if found := strings.TrimSpace(string(out)); !strings.HasPrefix(found, version) {
		return fmt.Sprintf("Neutron is %s, and scheduler.py runs that of Debian 12, %s", found, version)
	}
	return ""
}

// patience bounds a run of Neutron; the largest cloud may take half of it.
const patience = 50 * time.Minute

// asked runs the operations in Neutron.
func asked(tb testing.TB, c cloud) (all []outcome) {
	tb.Helper()
	input, err := json.Marshal(c)
	require.NoError(tb, err)
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/usr/bin/python3", "scheduler.py")
	cmd.Env = append(os.Environ(), "PYTHONHASHSEED=0") // so that each run is the same
	cmd.Stdin = bytes.NewReader(input)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	require.NoError(tb, err, "%s", errs.String())
	require.NoError(tb, json.Unmarshal(out, &all))
	require.Len(tb, all, len(c.Operations))
	return all
}

// The planner against Neutron's scheduler in each phase of the clouds' life: the time, how even the load is, also if
// any one chassis fails, and how many gateways lose their traffic. Only the planner rebalances, after its own restarts
// and after Neutron's.
func BenchmarkPlansAgainstNeutron(b *testing.B) {
	if reason := missing(); reason != "" {
		b.Skip(reason)
	}
	clouds := []cloud{newCloud(100, 10, 1), newCloud(1000, 50, 1), newCloud(1000, 50, 4)}
	if *large {
		c := newCloud(10_000, 200, 4)
		c.Operations = c.Operations[:3]
		clouds = append(clouds, c)
	}
	for _, c := range clouds {
		b.Run(c.name(), func(b *testing.B) {
			theirs, ours := asked(b, c), planned(c)
			for _, p := range c.phases() {
				b.Run(p.name, func(b *testing.B) { against(b, c, p, theirs, ours) })
			}
			last := len(c.Operations) - 1
			b.Run("rebalance", func(b *testing.B) { rebalance(b, c, ours[last].Candidates) })
			b.Run("rebalance-of-neutrons", func(b *testing.B) { rebalance(b, c, theirs[last].Candidates) })
		})
	}
}

func against(b *testing.B, c cloud, p phase, theirs, ours []outcome) {
	b.Helper()
	var took float64
	for b.Loop() {
		took += seconds(c.carryOut(p, ours))
	}
	took /= float64(b.N)
	t, o := c.judge(p, theirs), c.judge(p, ours)
	b.ReportMetric(seconds(theirs[p.first:p.last+1])/took, "neutron-times-ours")
	b.ReportMetric(took*1000, "ms")
	b.ReportMetric(seconds(theirs[p.first:p.last+1])*1000, "ms-neutron")
	b.ReportMetric(float64(o.Spread), "spread")
	b.ReportMetric(float64(t.Spread), "spread-neutron")
	b.ReportMetric(float64(o.Failure), "failure")
	b.ReportMetric(float64(t.Failure), "failure-neutron")
	b.ReportMetric(float64(o.Best), "failure-best")
	b.ReportMetric(float64(o.Moved), "moved")
	b.ReportMetric(float64(t.Moved), "moved-neutron")
}

func seconds(all []outcome) (sum float64) {
	for _, o := range all {
		sum += o.Seconds
	}
	return sum
}

// rebalance makes added chassis first backups, as an operator would.
func rebalance(b *testing.B, c cloud, candidates map[string][]string) {
	b.Helper()
	last := len(c.Operations) - 1
	s := c.state(last, candidates)
	s = c.state(last, after(s, schedule.Reschedule(s, schedule.Options{})))
	var p schedule.Plan
	var took time.Duration
	for b.Loop() {
		begun := time.Now()
		p = schedule.Rebalance(s, schedule.Options{})
		took += time.Since(begun)
	}
	fewest := 0
	for _, bound := range p.Bounds {
		fewest += bound.Fewest
	}
	then := after(s, p)
	q := c.measure(c.there(last), then)
	b.ReportMetric(took.Seconds()*1000/float64(b.N), "ms")
	b.ReportMetric(float64(q.Spread), "spread")
	b.ReportMetric(float64(q.Failure), "failure")
	b.ReportMetric(float64(q.Best), "failure-best")
	b.ReportMetric(float64(moved(candidates, then)), "moved")
	b.ReportMetric(float64(fewest), "moved-at-least")
}

// Neutron's result for two clouds, by phase: Neutron 21.0.0 of Debian 12 with PYTHONHASHSEED=0.
var recorded = map[string]map[string]quality{
	"100-on-10-in-1": {
		"fresh":    {Spread: 0, Failure: 14, Best: 12},
		"removal":  {Spread: 2, Failure: 17, Best: 13, Moved: 10},
		"return":   {Spread: 12, Failure: 17, Best: 12},
		"restarts": {Spread: 50, Failure: 50, Best: 12, Moved: 232},
	},
	"100-on-10-in-4": {
		"fresh":    {Spread: 5, Failure: 7, Best: 3},
		"removal":  {Spread: 5, Failure: 7, Best: 4, Moved: 10},
		"return":   {Spread: 6, Failure: 7, Best: 3},
		"restarts": {Spread: 15, Failure: 15, Best: 3, Moved: 232},
	},
}

// In every phase the load is as even as Neutron's, also after any failure, and no more gateways lose traffic.
func TestPlans_are_never_worse_than_Neutron(t *testing.T) {
	t.Parallel()
	for _, c := range []cloud{newCloud(100, 10, 1), newCloud(100, 10, 4)} {
		t.Run(c.name(), func(t *testing.T) {
			t.Parallel()
			theirs := recorded[c.name()]
			if missing() == "" {
				all := asked(t, c)
				for _, p := range c.phases() {
					assert.Equal(t, theirs[p.name], c.judge(p, all), "Neutron's %s is not as recorded", p.name)
				}
			}
			all := planned(c)
			for _, p := range c.phases() {
				q := c.judge(p, all)
				assert.LessOrEqual(t, q.Spread, theirs[p.name].Spread, p.name)
				assert.LessOrEqual(t, q.Failure, theirs[p.name].Failure, p.name)
				assert.LessOrEqual(t, q.Moved, theirs[p.name].Moved, p.name)
			}
			last := len(c.Operations) - 1
			s := c.state(last, all[last].Candidates)
			q := c.measure(c.Chassis, after(s, schedule.Rebalance(s, schedule.Options{})))
			assert.LessOrEqual(t, q.Spread, 1, "after a rebalancing")
			assert.LessOrEqual(t, q.Failure, q.Best+1, "after a rebalancing")
		})
	}
}

type quality struct {
	// Spread is the difference between the chassis with most and with fewest masters, in the network with the largest.
	Spread int
	// Failure is the load of a network's fullest chassis after the worst failure; Best is that of an even spread.
	Failure, Best int
	// Moved is how many gateways have got another master.
	Moved int
}

func (c cloud) judge(p phase, all []outcome) (q quality) {
	q = c.measure(c.there(p.last), all[p.last].Candidates)
	for n := max(p.first, 1); n <= p.last; n++ {
		q.Moved += moved(all[n-1].Candidates, all[n].Candidates)
	}
	return q
}

func (c cloud) measure(chassis []string, candidates map[string][]string) (q quality) {
	count := map[string]int{}
	for _, g := range c.Gateways {
		count[g[1]]++
	}
	for network, gateways := range count {
		least, most := c.load(chassis, candidates, network, "")
		q.Spread = max(q.Spread, most-least)
		for _, failed := range chassis {
			_, most := c.load(chassis, candidates, network, failed)
			q.Failure = max(q.Failure, most)
		}
		q.Best = max(q.Best, (gateways+len(chassis)-2)/(len(chassis)-1))
	}
	return q
}

// load returns the fewest and the most gateways of a network's chassis.
func (c cloud) load(chassis []string, candidates map[string][]string, network, failed string) (least, most int) {
	load := map[string]int{}
	for _, g := range c.Gateways {
		if g[1] != network {
			continue
		}
		for _, name := range candidates[g[0]] {
			if name != failed {
				load[name]++
				break
			}
		}
	}
	least = len(c.Gateways)
	for _, name := range chassis {
		if name != failed {
			least, most = min(least, load[name]), max(most, load[name])
		}
	}
	return least, most
}

func moved(before, after map[string][]string) (n int) {
	for name, candidates := range after {
		if candidates[0] != before[name][0] {
			n++
		}
	}
	return n
}
