package observetest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Typed is a kick as Juju passes it on after a person has typed the line.
type Typed struct {
	Unit   string
	IDs    map[ovndb.Database]raft.IDArgument
	Target string
	Permit raft.Permit
	Really bool
}

// Parse reads a printed line as the shell and Juju do.
func Parse(t require.TestingT, line string) Typed {
	words := strings.Fields(line)
	words = slices.DeleteFunc(words, func(w string) bool { return w == "--wait" })
	require.Greater(t, len(words), 4, line)
	require.Equal(t, "juju", words[0])
	require.Contains(t, []string{"run", "run-action"}, words[1])
	require.Equal(t, "kick", words[3])
	k := Typed{Unit: words[2], IDs: map[ovndb.Database]raft.IDArgument{}}
	for _, w := range words[4:] {
		key, value, ok := strings.Cut(w, "=")
		require.True(t, ok, line)
		switch key {
		case "nb-identity":
			k.IDs[ovndb.NB] = Given(value)
		case "sb-identity":
			k.IDs[ovndb.SB] = Given(value)
		case "unit":
			k.Target = value
		case "force", "unit-in-model":
			require.Equal(t, "true", value, line)
			k.Permit = raft.Permit(key)
		case "i-really-mean-it":
			k.Really = value == "true"
		default:
			require.Fail(t, "no such parameter", line)
		}
	}
	return k
}

// Given returns an unquoted ID as Juju's YAML parser reads it: digits are a number, octal after a zero, and 0b begins
// a binary one.
func Given(value string) raft.IDArgument {
	if text, quoted := strings.CutPrefix(value, `'"`); quoted {
		return raft.IDArgument{Text: strings.TrimSuffix(text, `"'`)}
	}
	if n, err := strconv.ParseInt(value, 0, 64); err == nil {
		return raft.IDArgument{Text: strconv.FormatInt(n, 10), Number: true}
	}
	return raft.IDArgument{Text: value}
}

// Accepts judges a printed kick by the rules of the action.
func Accepts(t require.TestingT, s Scenario, line string) {
	k := Parse(t, line)
	require.True(t, k.Really, line)
	require.NotEqual(t, len(k.IDs) > 0, k.Target != "", line)
	model, views := s.Application(), map[ovndb.Database]raft.View{}
	for _, c := range s.Report().Clusters {
		if c.Condition == ovndb.Serving {
			views[c.Database] = c.View
		}
	}
	targets := map[string]bool{}
	kicks := 0
	for _, d := range ovndb.Databases() {
		view := views[d]
		var found []raft.Peer
		if id, given := k.IDs[d]; given {
			resolved, ok := raft.Resolve(id, view.Peers())
			require.True(t, ok, "%s: %v is no ID", line, id)
			require.Len(t, resolved.Peers, 1, line)
			found = resolved.Peers
		}
		for _, p := range view.Peers() {
			if o := model.Owner(d, p); k.Target != "" && (o.Unit == k.Target || o.Was == k.Target) {
				found = append(found, p)
			}
		}
		require.LessOrEqual(t, len(found), 1, line)
		for _, p := range found {
			kicks++
			owner := model.Owner(d, p).Unit
			targets[owner] = owner != ""
			plan := raft.PlanKick(raft.Change{
				Database: d, View: view, Target: p.Longest(), UnitInModel: owner,
				Permit: k.Permit,
			})
			require.Nil(t, plan.Refusal, line)
		}
	}
	require.Positive(t, kicks, line)
	runsOnAWorkingUnit(t, s, line, k.Unit, targets)
}

// runsOnAWorkingUnit reports whether a printed command names a unit that can run it: not one of its targets, no unit
// that is known to be down, and a unit that is being removed only if there is no other.
func runsOnAWorkingUnit(t require.TestingT, s Scenario, line, unit string, targets map[string]bool) {
	if strings.HasSuffix(unit, "/leader") {
		return
	}
	require.Contains(t, s.Goal, unit, line)
	require.False(t, targets[unit], line)
	units := map[string]int{}
	for _, c := range s.Report().Clusters {
		for _, row := range c.Rows {
			holds, owner := c.Quorum.Holds(), row.Owner.Unit
			require.False(t, holds && owner == unit && !row.Up, "%s: its member of %s is down", line, c.Database)
			if holds && owner != "" && row.Up {
				units[owner]++
			}
		}
	}
	for other, n := range units {
		if n == len(ovndb.Databases()) && s.Goal[other] != "dying" && !targets[other] {
			require.NotEqual(t, "dying", s.Goal[unit], "%s: %s stays", line, other)
		}
	}
}
