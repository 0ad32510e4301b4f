package status_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

func TestNextCommands(t *testing.T) {
	tests := map[string]struct {
		scenario func(s *observetest.Scenario)
		next     []string
	}{
		"nothing to do": {func(*observetest.Scenario) {}, nil},
		"one member of a former unit": {
			func(s *observetest.Scenario) { s.SB = s.SB.Down("13fe") },
			[]string{"juju run ovn-central/0 kick sb-identity=" + string(observetest.Full("13fe")) + " i-really-mean-it=true"},
		},
		"both members of a former unit": {
			func(s *observetest.Scenario) { s.NB, s.SB = s.NB.Down("aa04"), s.SB.Down("13fe") },
			[]string{"juju run ovn-central/0 kick sb-identity=" + string(observetest.Full("13fe")) + " nb-identity=" + string(observetest.Full("aa04")) + " i-really-mean-it=true"},
		},
		"members of two former units": {
			func(s *observetest.Scenario) {
				s.History[ovndb.SB]["13ff"] = "ovn-central/5"
				s.NB, s.SB = s.NB.Down("aa04"), s.SB.Down("13ff")
			},
			[]string{
				"juju run ovn-central/0 kick nb-identity=" + string(observetest.Full("aa04")) + " i-really-mean-it=true",
				"juju run ovn-central/0 kick sb-identity=" + string(observetest.Full("13ff")) + " i-really-mean-it=true",
			},
		},
		"members of nobody are not taken together": {
			func(s *observetest.Scenario) { s.NB, s.SB, s.History = s.NB.Down("aa04"), s.SB.Down("13fe"), nil },
			[]string{
				"juju run ovn-central/0 kick nb-identity=aa04 i-really-mean-it=true",
				"juju run ovn-central/0 kick sb-identity=13fe i-really-mean-it=true",
			},
		},
		"a stale member that is up": {
			func(s *observetest.Scenario) { s.NB.Rows = append(s.NB.Rows, observetest.Row{Identity: "aa04"}) },
			[]string{"juju run ovn-central/0 kick nb-identity=" + string(observetest.Full("aa04")) + " force=true i-really-mean-it=true"},
		},
		"every unit is being removed": {
			func(s *observetest.Scenario) {
				for unit := range s.Goal {
					s.Goal[unit] = "dying"
				}
				s.SB = s.SB.Down("13fe")
			},
			nil,
		},
		"Juju 2.9": {
			func(s *observetest.Scenario) { s.Version, s.SB = "2.9.42", s.SB.Down("13fe") },
			[]string{"juju run-action ovn-central/0 kick sb-identity=" + string(observetest.Full("13fe")) + " i-really-mean-it=true --wait"},
		},
		"a unit that goes sends to one that stays": {
			func(s *observetest.Scenario) { s.Goal["ovn-central/0"], s.SB = "dying", s.SB.Down("13fe") },
			[]string{"juju run ovn-central/1 kick sb-identity=" + string(observetest.Full("13fe")) + " i-really-mean-it=true"},
		},
		"a unit has yet to publish": {
			func(s *observetest.Scenario) { s.Goal["ovn-central/5"], s.SB = "waiting", s.SB.Down("13fe") }, nil,
		},
		"a kick would break the quorum": {
			func(s *observetest.Scenario) {
				s.NB = observetest.Up("aa00", "aa01").Down("aa02")
				s.NB.Rows = append(s.NB.Rows, observetest.Row{Identity: "aa04"})
				s.NB.Rows[1].Down = true
			}, nil,
		},
		"there is no quorum": {
			func(s *observetest.Scenario) { s.NB = observetest.Up("aa00").Down("aa01", "aa04").CutOff() },
			[]string{"juju run ovn-central/0 recover dry-run=true"},
		},
		"a leader is being elected": {
			func(s *observetest.Scenario) { s.NB = observetest.Up("aa00", "aa01").Down("aa02").CutOff() }, nil,
		},
		"two members with one identity, which can't be told apart": {
			func(s *observetest.Scenario) { s.History, s.NB = nil, s.NB.Down("aa04", "aa04") }, nil,
		},
		"a removal is not finished": {
			func(s *observetest.Scenario) {
				s.NB = s.NB.Down("aa04")
				s.NB.Rows[1].Phase = raft.RemovingPhase
			}, nil,
		},
		"the database is not served": {
			func(s *observetest.Scenario) {
				s.NB, s.SB = observetest.Members{Condition: ovndb.Left}, s.SB.Down("13fe")
			},
			[]string{"juju run ovn-central/0 kick sb-identity=" + string(observetest.Full("13fe")) + " i-really-mean-it=true"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := observetest.JoinedBy4(t)
			test.scenario(&s)
			assert.Equal(t, test.next, status.Next(s.Report()))
		})
	}
}

// drawScenario is any application of up to seven members in each cluster.
func drawScenario(t *rapid.T, outer *testing.T) observetest.Scenario {
	s := observetest.Scenario{
		T: outer, Unit: "ovn-central/0", Version: rapid.SampledFrom([]string{"2.9.42", "3.6.11", ""}).Draw(t, "version"),
		Goal: map[string]string{}, Published: map[string][2]string{},
		History: map[ovndb.Database]map[string]string{ovndb.NB: {}, ovndb.SB: {}},
	}
	// IDs are such that YAML takes many of them for numbers, but no two for the
	// same one.
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
			kind = rapid.SampledFrom([]string{"active", "active", "dying", "former", "former", "unknown", "none"}).Draw(t, "kind")
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

// scenarios are how many applications the commands are judged in.
const scenarios = 500

// judgeCommands judges the commands that are printed in each of the scenarios.
func judgeCommands(t *testing.T, printed func(s observetest.Scenario) []string) {
	t.Helper()
	drawn := rapid.Custom(func(r *rapid.T) observetest.Scenario { return drawScenario(r, t) })
	judged := 0
	for seed := range scenarios {
		s := drawn.Example(seed)
		for _, line := range printed(s) {
			switch going := s.Goal[s.Unit] == "dying"; {
			case strings.Contains(line, " recover dry-run=true") && going:
				assert.Equal(t, "active", s.Goal[strings.Fields(line)[2]], "a unit that is being removed makes no new cluster")
				continue
			case strings.Contains(line, " recover dry-run=true"):
				assert.Equal(t, s.Unit, strings.Fields(line)[2], "without a quorum no other unit is known to be up")
				continue
			case strings.Contains(line, " cluster-status"): // it changes nothing
				assert.NotEqual(t, s.Unit, strings.Fields(line)[2])
				continue
			case going && strings.Contains(line, " backup"):
				assert.Equal(t, s.Unit, strings.Fields(line)[2])
				continue
			}
			judged++
			observetest.Accepts(t, s, line)
		}
	}
	assert.Greater(t, judged, scenarios/100, "enough was judged")
}

// R4: every command that is printed passes our own rules as printed.
func TestR4NextCommandsAreNeverRefused(t *testing.T) {
	judgeCommands(t, func(s observetest.Scenario) []string { return status.Next(s.Report()) })
}

// command is what is to be typed of a status that goes on from there.
func command(text string) string {
	text, _, _ = strings.Cut(text, ";")
	text, _, _ = strings.Cut(text, " (")
	return text
}

func TestR4CommandsInTheStatusOfTheUnitAreNeverRefused(t *testing.T) {
	judgeCommands(t, func(s observetest.Scenario) []string {
		text := status.Ready(status.Summarize(s.Report(), true).String())
		if i := strings.Index(text, "juju run"); i >= 0 {
			assert.True(t, i == 0 || i+len(command(text[i:])) <= status.StatusWidth, "Juju shows no more: %s", text)
			return []string{command(text[i:])}
		}
		return nil
	})
}

// Three units, one machine off, two being removed: what was printed for the second
// named the unit whose machine is off, and was to kick it.
func TestCommandIsForAUnitThatCanCarryItOut(t *testing.T) {
	s := observetest.Three(t)
	s.Goal["ovn-central/0"], s.Goal["ovn-central/1"] = "dying", "dying"
	s.NB, s.SB = observetest.Up("aa00", "aa01").Down("aa02"), observetest.Up("bb00", "bb01").Down("bb02").Following("bb01")
	text := status.Ready(status.Summarize(s.Report(), true).String())
	assert.Contains(t, text, "juju run ovn-central/0 kick unit=ovn-central/2 unit-in-model=true i-really-mean-it=true")
	assert.Equal(t, 1, strings.Count(text, "juju run"), "one command for both databases: %s", text)
}

// Where a server of the unit is up in the other database, its unit is not named as
// a whole.
func TestCommandForOneDatabaseLeavesTheOtherAlone(t *testing.T) {
	s := observetest.Three(t)
	s.Goal["ovn-central/1"] = "dying"
	s.NB = observetest.Up("aa00", "aa01").Down("aa02")
	text := status.Ready(status.Summarize(s.Report(), true).String())
	assert.Contains(t, text, "juju run ovn-central/0 kick nb-identity="+string(observetest.Full("aa02"))[:8]+" unit-in-model=true i-really-mean-it=true")
}

// Of two members that no longer make a majority with this one, the one that still answers
// is asked first, and the recovery is planned on this unit: the other may be off.
func TestOperatorIsSentToAUnitThatIsHeard(t *testing.T) {
	s := observetest.Three(t)
	s.NB = observetest.Members{Rows: []observetest.Row{{Identity: "aa00"}, {Identity: "aa01", Down: true}, {Identity: "aa02"}, {Identity: "aa03", Down: true}, {Identity: "aa04", Down: true}}}.CutOff()
	r := s.Report()
	assert.Equal(t, []string{"juju run ovn-central/0 recover dry-run=true"}, status.Next(r))
	advice := strings.Join(status.NoQuorumRemediation(r.Application, r.Clusters[0].ServerState), "\n")
	assert.Contains(t, advice, "if juju run ovn-central/2 cluster-status shows a leader, this unit is cut off")
	assert.Contains(t, advice, "lost for good: juju run ovn-central/0 recover dry-run=true")
}

// The command of each version is one that its Juju has.
func TestCommandsAreThoseOfTheVersion(t *testing.T) {
	s := observetest.JoinedBy4(t)
	s.SB = s.SB.Down("13fe")
	for version, verb := range map[string]string{"2.9.42": "juju run-action ", "3.5-beta1": "juju run ", "": "juju run "} {
		s.Version = version
		next := status.Next(s.Report())
		require.Len(t, next, 1)
		assert.True(t, strings.HasPrefix(next[0], verb), next[0])
	}
	assert.Equal(t, "juju remove-unit ovn-central/4", juju.RemoveUnit("ovn-central/4"))
}
