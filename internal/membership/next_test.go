package membership_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

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
		scene func(s *scene)
		next  []string
	}{
		"nothing to do": {func(*scene) {}, nil},
		"one member of a former unit": {
			func(s *scene) { s.sb = s.sb.down("13fe") },
			[]string{"juju run ovn-central/0 kick sb-identity=" + string(full("13fe")) + " i-really-mean-it=true"},
		},
		"both members of a former unit": {
			func(s *scene) { s.nb, s.sb = s.nb.down("aa04"), s.sb.down("13fe") },
			[]string{"juju run ovn-central/0 kick sb-identity=" + string(full("13fe")) + " nb-identity=" + string(full("aa04")) + " i-really-mean-it=true"},
		},
		"members of two former units": {
			func(s *scene) {
				s.history[ovndb.SB]["13ff"] = "ovn-central/5"
				s.nb, s.sb = s.nb.down("aa04"), s.sb.down("13ff")
			},
			[]string{
				"juju run ovn-central/0 kick nb-identity=" + string(full("aa04")) + " i-really-mean-it=true",
				"juju run ovn-central/0 kick sb-identity=" + string(full("13ff")) + " i-really-mean-it=true",
			},
		},
		"members of nobody are not taken together": {
			func(s *scene) { s.nb, s.sb, s.history = s.nb.down("aa04"), s.sb.down("13fe"), nil },
			[]string{
				"juju run ovn-central/0 kick nb-identity=aa04 i-really-mean-it=true",
				"juju run ovn-central/0 kick sb-identity=13fe i-really-mean-it=true",
			},
		},
		"a stale member that is up": {
			func(s *scene) { s.nb.rows = append(s.nb.rows, row{identity: "aa04"}) },
			[]string{"juju run ovn-central/0 kick nb-identity=" + string(full("aa04")) + " force=true i-really-mean-it=true"},
		},
		"Juju 2.9": {
			func(s *scene) { s.version, s.sb = "2.9.42", s.sb.down("13fe") },
			[]string{"juju run-action ovn-central/0 kick sb-identity=" + string(full("13fe")) + " i-really-mean-it=true --wait"},
		},
		"a unit that goes sends to one that stays": {
			func(s *scene) { s.goal["ovn-central/0"], s.sb = "dying", s.sb.down("13fe") },
			[]string{"juju run ovn-central/1 kick sb-identity=" + string(full("13fe")) + " i-really-mean-it=true"},
		},
		"a unit has yet to publish": {
			func(s *scene) { s.goal["ovn-central/5"], s.sb = "waiting", s.sb.down("13fe") }, nil,
		},
		"a kick would break the quorum": {
			func(s *scene) {
				s.nb = up("aa00", "aa01").down("aa02")
				s.nb.rows = append(s.nb.rows, row{identity: "aa04"})
				s.nb.rows[1].down = true
			}, nil,
		},
		"there is no quorum": {
			func(s *scene) { s.nb = up("aa00").down("aa01", "aa04").cutOff() },
			[]string{"juju run ovn-central/1 cluster-status"},
		},
		"two members with one identity, which can't be told apart": {
			func(s *scene) { s.history, s.nb = nil, s.nb.down("aa04", "aa04") }, nil,
		},
		"a removal is not finished": {
			func(s *scene) {
				s.nb = s.nb.down("aa04")
				s.nb.rows[1].phase = raft.RemovingPhase
			}, nil,
		},
		"the database is not served": {
			func(s *scene) { s.nb, s.sb = members{condition: ovndb.Left}, s.sb.down("13fe") },
			[]string{"juju run ovn-central/0 kick sb-identity=" + string(full("13fe")) + " i-really-mean-it=true"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := joinedBy4(t)
			test.scene(&s)
			assert.Equal(t, test.next, status.Next(s.report()))
		})
	}
}

// typed is a kick as Juju hands it over, when a person has typed the line.
type typed struct {
	unit   string
	ids    map[ovndb.Database]raft.IDArgument
	target string
	force  bool
	really bool
}

// parse reads a printed line as the shell and Juju do.
func parse(t require.TestingT, line string) typed {
	words := strings.Fields(line)
	words = slices.DeleteFunc(words, func(w string) bool { return w == "--wait" })
	require.Greater(t, len(words), 4, line)
	require.Equal(t, "juju", words[0])
	require.Contains(t, []string{"run", "run-action"}, words[1])
	require.Equal(t, "kick", words[3])
	k := typed{unit: words[2], ids: map[ovndb.Database]raft.IDArgument{}}
	for _, w := range words[4:] {
		key, value, ok := strings.Cut(w, "=")
		require.True(t, ok, line)
		switch key {
		case "nb-identity":
			k.ids[ovndb.NB] = given(value)
		case "sb-identity":
			k.ids[ovndb.SB] = given(value)
		case "unit":
			k.target = value
		case "force":
			k.force = value == "true"
		case "i-really-mean-it":
			k.really = value == "true"
		default:
			require.Fail(t, "no such parameter", line)
		}
	}
	return k
}

// given is what Juju's reader of YAML makes of an unquoted ID: digits are a number,
// after a zero an octal one, and 0b begins a binary one.
func given(value string) raft.IDArgument {
	if text, quoted := strings.CutPrefix(value, `'"`); quoted {
		return raft.IDArgument{Text: strings.TrimSuffix(text, `"'`)}
	}
	if n, err := strconv.ParseInt(value, 0, 64); err == nil {
		return raft.IDArgument{Text: strconv.FormatInt(n, 10), Number: true}
	}
	return raft.IDArgument{Text: value}
}

// accepts judges a printed kick by the action's own rules.
func accepts(t require.TestingT, s scene, line string) {
	k := parse(t, line)
	require.True(t, k.really, line)
	require.NotEqual(t, len(k.ids) > 0, k.target != "", line)
	model, views := s.model(), map[ovndb.Database]raft.View{}
	for _, c := range s.report().Clusters {
		if c.Condition == ovndb.Serving {
			views[c.Database] = c.View
		}
	}
	targets := map[string]bool{}
	kicks := 0
	for _, d := range ovndb.Databases() {
		view := views[d]
		var found []raft.Peer
		if id, given := k.ids[d]; given {
			resolved, ok := raft.Resolve(id, view.Peers())
			require.True(t, ok, "%s: %v is no ID", line, id)
			require.Len(t, resolved.Peers, 1, line)
			found = resolved.Peers
		}
		for _, p := range view.Peers() {
			if o := model.Owner(d, p); k.target != "" && (o.Unit == k.target || o.Was == k.target) {
				found = append(found, p)
			}
		}
		require.LessOrEqual(t, len(found), 1, line)
		for _, p := range found {
			kicks++
			owner := model.Owner(d, p).Unit
			targets[owner] = owner != ""
			plan := raft.PlanKick(raft.Change{Database: d, View: view, Target: p.Longest(), UnitInModel: owner, Force: k.force})
			require.Nil(t, plan.Refusal, line)
		}
	}
	require.Positive(t, kicks, line)
	runsOnAWorkingUnit(t, s, line, k.unit, targets)
}

// runsOnAWorkingUnit says whether a command that was printed names a unit that can
// carry it out: not one that it is about, none that is known to be down, and one
// that goes only where no other would do.
func runsOnAWorkingUnit(t require.TestingT, s scene, line, unit string, targets map[string]bool) {
	if strings.HasSuffix(unit, "/leader") {
		return
	}
	require.Contains(t, s.goal, unit, line)
	require.False(t, targets[unit], line)
	units := map[string]int{}
	for _, c := range s.report().Clusters {
		for _, row := range c.Rows {
			if c.Quorum.Holds() && row.Owner.Unit != "" && row.Up {
				units[row.Owner.Unit]++
			}
			if c.Quorum.Holds() && row.Owner.Unit == unit {
				require.True(t, row.Up, "%s: its member of %s is down", line, c.Database)
			}
		}
	}
	for other, n := range units {
		if n == len(ovndb.Databases()) && s.goal[other] != "dying" && !targets[other] {
			require.NotEqual(t, "dying", s.goal[unit], "%s: %s stays", line, other)
		}
	}
}

// drawScene is any application of up to seven members in each cluster.
func drawScene(t *rapid.T, outer *testing.T) scene {
	s := scene{
		t: outer, unit: "ovn-central/0", version: rapid.SampledFrom([]string{"2.9.42", "3.6.11", ""}).Draw(t, "version"),
		goal: map[string]string{}, published: map[string][2]string{},
		history: map[ovndb.Database]map[string]string{ovndb.NB: {}, ovndb.SB: {}},
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
			s.goal[unit], s.published[unit] = kind, pair
			if n > 0 && rapid.IntRange(0, 19).Draw(t, "silent") == 0 {
				s.published[unit] = [2]string{pair[0], ""}
			}
		case "former":
			s.history[ovndb.NB][pair[0]], s.history[ovndb.SB][pair[1]] = unit, unit
		case "none":
			continue
		}
		for i, m := range []*members{&s.nb, &s.sb} {
			if n > 0 && rapid.IntRange(0, 4).Draw(t, "not joined") == 0 {
				continue
			}
			m.rows = append(m.rows, row{identity: pair[i], down: n > 0 && rapid.IntRange(0, 2).Draw(t, "down") == 0})
		}
	}
	for _, m := range []*members{&s.nb, &s.sb} {
		m.state, m.role = raft.ClusterMember, raft.Leader
		leader := rapid.IntRange(0, len(m.rows)-1).Draw(t, "leader")
		if m.leader = m.rows[leader].identity; leader > 0 {
			m.role = raft.Follower
		}
	}
	return s
}

// scenes are how many applications the commands are judged in.
const scenes = 500

// judgeCommands judges the commands that are printed in each of the scenes.
func judgeCommands(t *testing.T, printed func(s scene) []string) {
	t.Helper()
	drawn := rapid.Custom(func(r *rapid.T) scene { return drawScene(r, t) })
	judged := 0
	for seed := range scenes {
		s := drawn.Example(seed)
		for _, line := range printed(s) {
			if strings.Contains(line, " cluster-status") {
				runsOnAWorkingUnit(t, s, line, strings.Fields(line)[2], map[string]bool{s.unit: true})
				continue
			}
			judged++
			accepts(t, s, line)
		}
	}
	assert.Greater(t, judged, scenes/100, "enough was judged")
}

// R4: every command that is printed passes our own rules as printed.
func TestR4NextCommandsAreNeverRefused(t *testing.T) {
	judgeCommands(t, func(s scene) []string { return status.Next(s.report()) })
}

// command is what is to be typed of a status that goes on from there.
func command(text string) string {
	text, _, _ = strings.Cut(text, ";")
	text, _, _ = strings.Cut(text, " (")
	return text
}

func TestR4CommandsInTheStatusOfTheUnitAreNeverRefused(t *testing.T) {
	judgeCommands(t, func(s scene) []string {
		text := status.Ready(status.Summarize(s.report(), true).String())
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
	s := three(t)
	s.goal["ovn-central/0"], s.goal["ovn-central/1"] = "dying", "dying"
	s.nb, s.sb = up("aa00", "aa01").down("aa02"), up("bb00", "bb01").down("bb02").following("bb01")
	text := status.Ready(status.Summarize(s.report(), true).String())
	assert.Contains(t, text, "juju run ovn-central/0 kick unit=ovn-central/2 force=true i-really-mean-it=true")
	assert.Equal(t, 1, strings.Count(text, "juju run"), "one command for both databases: %s", text)
}

// Where a server of the unit is up in the other database, its unit is not named as
// a whole.
func TestCommandForOneDatabaseLeavesTheOtherAlone(t *testing.T) {
	s := three(t)
	s.goal["ovn-central/1"] = "dying"
	s.nb = up("aa00", "aa01").down("aa02")
	text := status.Ready(status.Summarize(s.report(), true).String())
	assert.Contains(t, text, "juju run ovn-central/0 kick nb-identity="+string(full("aa02"))[:8]+" force=true i-really-mean-it=true")
}

// During an election it is not known who is up, but who has a connection.
func TestOperatorIsSentToAUnitThatIsHeard(t *testing.T) {
	s := three(t)
	s.nb = members{rows: []row{{identity: "aa00"}, {identity: "aa01", down: true}, {identity: "aa02"}}}.cutOff()
	assert.Equal(t, []string{"juju run ovn-central/2 cluster-status"}, status.Next(s.report()))
}

// The command of each version is one that its Juju has.
func TestCommandsAreThoseOfTheVersion(t *testing.T) {
	s := joinedBy4(t)
	s.sb = s.sb.down("13fe")
	for version, verb := range map[string]string{"2.9.42": "juju run-action ", "3.5-beta1": "juju run ", "": "juju run "} {
		s.version = version
		next := status.Next(s.report())
		require.Len(t, next, 1)
		assert.True(t, strings.HasPrefix(next[0], verb), next[0])
	}
	assert.Equal(t, "juju remove-unit ovn-central/4", juju.RemoveUnit("ovn-central/4"))
}
