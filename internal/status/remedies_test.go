package status_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// drawScenario returns any application of up to seven members in each cluster.
func drawScenario(t *rapid.T, outer *testing.T) scenario {
	s := scenario{
		T: outer, Unit: "ovn-central/0", Version: rapid.SampledFrom([]string{"2.9.42", "3.6.11", ""}).Draw(t, "version"),
		Goal: map[string]string{}, Published: map[string][2]string{},
		History: map[ovndb.Database]map[string]string{ovndb.NB: {}, ovndb.SB: {}},
	}
	// YAML takes many of these IDs for numbers, but no two for the same one.
	ids := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{
		"3974", "5234", "13e4", "1e10", "0017", "0999", "abcd", "f00d", "00e1", "9e99", "7777", "0b01", "beef", "4e4e",
	}), 14, 14, rapid.ID).Draw(t, "ids")
	for n := range len(ids) / 2 {
		unit, pair := fmt.Sprintf("ovn-central/%d", n), [2]string{ids[2*n], ids[2*n+1]}
		kind := "active"
		if n == 0 && rapid.IntRange(0, 3).Draw(t, "this unit goes") == 0 {
			kind = "dying"
		}
		if n > 0 {
			kinds := []string{"active", "active", "dying", "former", "former", "unknown", "none"}
			kind = rapid.SampledFrom(kinds).Draw(t, "kind")
		}
		switch kind {
		case "active", "dying":
			s.Goal[unit], s.Published[unit] = kind, pair
			if n > 0 && rapid.IntRange(0, 19).Draw(t, "silent") == 0 {
				s.Published[unit] = [2]string{pair[0], ""}
			}
		case "former":
			s.History[ovndb.NB][pair[0]], s.History[ovndb.SB][pair[1]] = unit, unit
		case "none":
			continue
		}
		for i, m := range []*observetest.Members{&s.NB, &s.SB} {
			if n > 0 && rapid.IntRange(0, 4).Draw(t, "not joined") == 0 {
				continue
			}
			m.Rows = append(m.Rows, observetest.Row{Identity: pair[i], Down: n > 0 && rapid.IntRange(0, 2).Draw(t, "down") == 0})
		}
	}
	for _, m := range []*observetest.Members{&s.NB, &s.SB} {
		m.State, m.Role = raft.ClusterMember, raft.Leader
		leader := rapid.IntRange(0, len(m.Rows)-1).Draw(t, "leader")
		if m.Leader = m.Rows[leader].Identity; leader > 0 {
			m.Role = raft.Follower
		}
	}
	return s
}

// R4: every printed command passes our own rules as printed, under the remedy's condition.
func TestR4_printed_commands_are_accepted(t *testing.T) {
	t.Parallel()
	const scenarios = 500
	drawn := rapid.Custom(func(r *rapid.T) scenario { return drawScenario(r, t) })
	judged := map[string]int{}
	for seed := range scenarios {
		s := drawn.Example(seed)
		for _, f := range findingsOf(s.Report()) {
			for _, r := range f.Remedies {
				for _, c := range slices.Concat([]command.Command{r.Command}, r.Then) {
					if line := s.Application().Version.Render(c); line != "" {
						judged[judge(t, s, r.When, c, line)]++
					}
				}
			}
		}
	}
	for _, what := range []string{"kick", "kick " + string(finding.OnceMachineOff), "recover", "backup", "remove-unit"} {
		assert.Positive(t, judged[what], what)
	}
}

// judge judges a command, and returns its kind.
func judge(t *testing.T, s scenario, when finding.Condition, c command.Command, line string) string {
	t.Helper()
	switch {
	case c.Action == "recover" && s.Goal[s.Unit] == "dying":
		assert.Equal(t, "active", s.Goal[c.Unit], "a unit that is being removed makes no new cluster")
	case c.Action == "recover":
		assert.Equal(t, s.Unit, c.Unit, "without a quorum no other unit is known to be up")
	case c.Action == "backup":
		assert.Equal(t, s.Unit, c.Unit)
		assert.Equal(t, "dying", s.Goal[c.Unit], line)
	case c.Action == "kick" && when == finding.OnceMachineOff:
		observetest.Accepts(t, poweredOff(t, s, line), line)
		return "kick " + string(when)
	case c.Action == "kick":
		observetest.Accepts(t, s, line)
	case c.Action == "resume", c.Action == "restart-services":
	case c.Unit == "" && slices.Equal(c.Words[:2], []string{"remove-unit", "--force"}):
		for _, unit := range c.Words[2:] {
			assert.Contains(t, s.Goal, unit, line)
			assert.NotEqual(t, s.Unit, unit, line)
		}
		return "remove-unit"
	default:
		require.Equal(t, []string{"add-unit", "ovn-central"}, c.Words, line)
		return "add-unit"
	}
	return c.Action
}

// poweredOff returns the scenario after the machine was powered off whose members a command kicks. If such a member
// led, this unit's member leads instead.
func poweredOff(t *testing.T, s scenario, line string) scenario {
	t.Helper()
	k := observetest.Parse(t, line)
	model := s.Application()
	for d, m := range map[ovndb.Database]*observetest.Members{ovndb.NB: &s.NB, ovndb.SB: &s.SB} {
		m.Rows = slices.Clone(m.Rows)
		for i := range m.Rows {
			row := &m.Rows[i]
			p := raft.Peer{ID: observetest.Full(row.Identity)}
			p.Short = row.Identity
			id := k.IDs[d].Text
			named := id != "" && strings.HasPrefix(string(p.ID), id)
			if i > 0 && (named || k.Target != "" && model.Owner(d, p).Was == k.Target) {
				row.Down = true
				if m.Leader == row.Identity {
					m.Role, m.Leader = raft.Leader, m.Rows[0].Identity
				}
			}
		}
	}
	return s
}

// 0010 is printed without quotes; Juju makes 8 of it, which could also mean 0008.
func TestR4_printed_IDs_survive_YAML(t *testing.T) {
	t.Parallel()
	s := observetest.Three(t)
	s.NB = s.NB.Down("0010", "0008")
	n := 0
	for _, f := range findingsOf(s.Report()) {
		for _, r := range f.Remedies {
			if r.Command.Action == "kick" {
				n++
				observetest.Accepts(t, s, s.Application().Version.Render(r.Command))
			}
		}
	}
	assert.Equal(t, 2, n)
}
