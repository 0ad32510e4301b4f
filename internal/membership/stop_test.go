package membership_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/goldentest"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// stops are the commands that end the services for good.
var stops = []string{
	"systemctl stop ovn-northd ovn-ovsdb-server-nb ovn-ovsdb-server-sb ovn-central",
	"systemctl disable ovn-northd ovn-ovsdb-server-nb ovn-ovsdb-server-sb ovn-central",
}

// going is three units of which this one, which leads both clusters, is removed.
func going(t *testing.T) observetest.Scenario {
	t.Helper()
	s := observetest.JoinedBy4(t)
	s.Goal["ovn-central/0"] = "dying"
	s.Led()
	return s
}

// R9: what would break a quorum fails before anything is touched, with all ways
// out.
func TestR9StopThatIsRefusedTouchesNothing(t *testing.T) {
	tests := map[string]func(s *observetest.Scenario){
		"one of three dead and stale": func(s *observetest.Scenario) { s.NB = observetest.Up("aa00", "aa01").Down("aa04") },
		"one of three dead in both": func(s *observetest.Scenario) {
			s.NB, s.SB = observetest.Up("aa00", "aa01").Down("aa04"), observetest.Up("bb00", "bb01").Down("13fe")
		},
		"one of three dead, of a unit": func(s *observetest.Scenario) { s.NB = observetest.Up("aa00", "aa01").Down("aa02") },
		"one of three dead, of nobody": func(s *observetest.Scenario) { s.NB, s.History = observetest.Up("aa00", "aa01").Down("aa04"), nil },
		"one of three dead, not known whose": func(s *observetest.Scenario) {
			s.NB, s.Goal["ovn-central/5"] = observetest.Up("aa00", "aa01").Down("aa04"), "waiting"
		},
		"two of five dead": func(s *observetest.Scenario) {
			s.History[ovndb.NB]["aa05"] = "ovn-central/5"
			s.NB = observetest.Up("aa00", "aa01", "aa02").Down("aa04", "aa05")
		},
		"the other of two dead":                func(s *observetest.Scenario) { s.NB = observetest.Up("aa00").Down("aa01") },
		"no leader":                            func(s *observetest.Scenario) { s.NB = observetest.Up("aa00", "aa01", "aa02").CutOff() },
		"sole member while others are to come": func(s *observetest.Scenario) { s.NB, s.SB = observetest.Up("aa00"), observetest.Up("bb00") },
		"sole member that was told to leave":   func(s *observetest.Scenario) { s.NB = observetest.Up("aa00").In(raft.LeavingCluster) },
		"another removal is not finished":      func(s *observetest.Scenario) { s.NB.Rows[2].Phase = raft.RemovingPhase },
	}
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		s, m := going(t), new(observetest.Machine)
		tests[name](&s)
		service := on(s, m)
		var results []membership.LeaveResult
		var err error
		synctest.Test(t, func(t *testing.T) { // some wait for an election
			results, err = service.Stop(t.Context(), s.Application(), observe.Cache{})
		})
		require.ErrorAs(t, err, new(*finding.RefusedError), name)
		assert.Empty(t, m.Told, "nothing is touched")
		for _, d := range ovndb.Databases() {
			assert.FileExists(t, service.Files.Paths.File(d))
		}
		for _, r := range results {
			assert.False(t, r.Gone)
		}
		fmt.Fprintf(&all, "--- %s\n%s", name, findingtest.Briefs(err))
		for _, f := range finding.Reasons(err) {
			for _, r := range f.Remedies {
				switch {
				case r.Command.Action != "kick":
				case r.When == finding.IfCutOff: // it is meant for a unit that has a leader
					assert.NotEqual(t, s.Unit, r.Command.Unit)
				default:
					observetest.Accepts(t, s, s.Application().Version.Render(r.Command)) // R4
				}
			}
		}
	}
	goldentest.Equal(t, "stop.txt", all.String())
}

// R9: if failing protects nothing, the removal must not be held up.
func TestR9StopThatProtectsNothingEnds(t *testing.T) {
	both := func(c ovndb.Condition) func(*observetest.Scenario) {
		return func(s *observetest.Scenario) {
			s.NB, s.SB = observetest.Members{Condition: c}, observetest.Members{Condition: c}
		}
	}
	tests := map[string]struct {
		scenario func(s *observetest.Scenario)
		left     bool
		// want is how the text of each database's result begins.
		want string
	}{
		"no server runs":     {both(ovndb.Down), false, "the server is not running; it stays a member until another unit kicks it"},
		"no database":        {both(ovndb.Absent), false, "there is no database"},
		"standalone":         {both(ovndb.Standalone), false, "the database is standalone; it stays in "},
		"disk full":          {both(ovndb.Failed), false, "the server runs but has given up the database"},
		"left already":       {both(ovndb.Left), true, "the server has left already; its file is now "},
		"had not joined":     {func(s *observetest.Scenario) { s.NB, s.SB = s.NB.In(raft.JoiningCluster), s.SB.In(raft.JoiningCluster) }, false, "the server had not joined yet"},
		"every unit goes":    {everybodyGoes, false, "no unit stays that could serve the database; its data stay in "},
		"the last unit goes": {func(s *observetest.Scenario) { s.Goal = map[string]string{"ovn-central/0": "dying"} }, false, "no unit stays"},
		"the last member goes": {func(s *observetest.Scenario) {
			everybodyGoes(s)
			s.NB, s.SB = observetest.Up("aa00"), observetest.Up("bb00")
		}, false, "no unit stays"},
		"the last units go without a quorum": {func(s *observetest.Scenario) {
			everybodyGoes(s)
			s.NB, s.SB = observetest.Up("aa00").Down("aa01", "aa02").CutOff(), observetest.Up("bb00").Down("bb01", "bb02").CutOff()
		}, false, "no unit stays"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := going(t)
			test.scenario(&s)
			m, want := &observetest.Machine{Left: test.left}, stops
			if name == "had not joined" { // each is looked at once it is down
				m.Joining = true
				want = append([]string{"systemctl stop ovn-ovsdb-server-nb", "systemctl stop ovn-ovsdb-server-sb"}, stops...)
			}
			service := on(s, m)
			results, err := service.Stop(t.Context(), s.Application(), observe.Cache{})
			require.NoError(t, err)
			assert.Equal(t, want, m.Told, "the services end, and nothing else is done")
			require.Len(t, results, 2)
			for _, r := range results {
				assert.Truef(t, strings.HasPrefix(r.Text, test.want), "%s: %s", r.Database.Short(), r.Text)
				assert.Equal(t, test.left, r.Gone)
				path := service.Files.Paths.File(r.Database)
				if test.left { // R10
					assert.NoFileExists(t, path)
					path = fmt.Sprintf("%s.left-%s", path, observetest.Now.Format("20060102T150405Z"))
				}
				if _, err := os.Stat(path); name != "no database" {
					assert.NoError(t, err, "the data stay")
				}
			}
		})
	}
}

func everybodyGoes(s *observetest.Scenario) {
	for unit := range s.Goal {
		s.Goal[unit] = "dying"
	}
}

// R9: an unreadable goal state means that others stay.
func TestR9StopWithoutAnAnswerFromJujuIsJudged(t *testing.T) {
	s := going(t)
	s.Goal, s.NB = nil, observetest.Up("aa00")
	m := new(observetest.Machine)
	_, err := on(s, m).Stop(t.Context(), s.Application(), observe.Cache{})
	require.ErrorAs(t, err, new(*finding.RefusedError))
	assert.Empty(t, m.Told)
}

// A server that may well vote must not be stopped because it can't be asked.
func TestR9StopOfAServerThatCannotBeAskedIsRefused(t *testing.T) {
	for name, said := range map[string]string{
		"denied":  `ovs-appctl: cannot connect to "ovnnb_db.ctl" (Permission denied)`,
		"cut off": "ovs-appctl: transaction error (End of file)",
	} {
		t.Run(name, func(t *testing.T) {
			s := going(t)
			m := new(observetest.Machine)
			service := on(s, m)
			m.Errors[ovndb.NB] = said
			_, err := service.Stop(t.Context(), s.Application(), observe.Cache{})
			assert.Equal(t, []string{"nb SERVER_UNREADABLE"}, findingtest.Codes(err))
			assert.Contains(t, findingtest.Briefs(err), "-> TO_LEAVE_BEHIND: resolved --no-retry ovn-central/0")
			assert.Empty(t, m.Told)
		})
	}
}
