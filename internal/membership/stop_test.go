package membership_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/goldentest"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// stops are the commands that end the services for good.
var stops = []string{
	"systemctl stop ovn-northd ovn-ovsdb-server-nb ovn-ovsdb-server-sb ovn-central",
	"systemctl disable ovn-northd ovn-ovsdb-server-nb ovn-ovsdb-server-sb ovn-central",
}

// going returns three units; the first leads both clusters and is being removed.
func going(t *testing.T) observetest.Scenario {
	t.Helper()
	s := observetest.JoinedBy4(t)
	s.Goal["ovn-central/0"] = "dying"
	s.Led()
	return s
}

// R9: a stop that would break a quorum fails before anything is changed, and shows all remedies.
func TestR9_refused_stop_changes_nothing(t *testing.T) {
	tests := map[string]func(s *observetest.Scenario){
		"one of three dead and stale": nb(observetest.Up("aa00", "aa01").Down("aa04")),
		"one of three dead in both": func(s *observetest.Scenario) {
			s.NB, s.SB = observetest.Up("aa00", "aa01").Down("aa04"), observetest.Up("bb00", "bb01").Down("13fe")
		},
		"one of three dead, of a unit": nb(observetest.Up("aa00", "aa01").Down("aa02")),
		"one of three dead, of an unknown unit": func(s *observetest.Scenario) {
			s.NB, s.History = observetest.Up("aa00", "aa01").Down("aa04"), nil
		},
		"one of three dead, not known whose": func(s *observetest.Scenario) {
			s.NB, s.Goal["ovn-central/5"] = observetest.Up("aa00", "aa01").Down("aa04"), "waiting"
		},
		"two of five dead": func(s *observetest.Scenario) {
			s.History[ovndb.NB]["aa05"] = "ovn-central/5"
			s.NB = observetest.Up("aa00", "aa01", "aa02").Down("aa04", "aa05")
		},
		"the other of two dead":     nb(observetest.Up("aa00").Down("aa01")),
		"no leader":                 nb(observetest.Up("aa00", "aa01", "aa02").CutOff()),
		"no leader, Juju is silent": func(s *observetest.Scenario) { s.Goal, s.NB = nil, s.NB.CutOff() },
		"sole member while others are to come": func(s *observetest.Scenario) {
			s.NB, s.SB = observetest.Up("aa00"), observetest.Up("bb00")
		},
		"sole member that was told to leave": nb(observetest.Up("aa00").In(raft.LeavingCluster)),
		"another removal is not finished":    func(s *observetest.Scenario) { s.NB.Rows[2].Phase = raft.RemovingPhase },
		"unknown goal state":                 func(s *observetest.Scenario) { s.Goal, s.NB = nil, observetest.Up("aa00") },
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
				case r.When == finding.IfCutOff: // it is for a unit that has a leader
					assert.NotEqual(t, s.Unit, r.Command.Unit)
				default:
					observetest.Accepts(t, s, s.Application().Version.Render(r.Command)) // R4
				}
			}
		}
	}
	goldentest.Equal(t, "stop.txt", all.String())
}

// R9: if a refusal protects nothing, the removal continues.
func TestR9_stop_without_use_of_refusal_succeeds(t *testing.T) {
	both := func(c ovndb.Condition) func(*observetest.Scenario) {
		return func(s *observetest.Scenario) {
			s.NB, s.SB = observetest.Members{Condition: c}, observetest.Members{Condition: c}
		}
	}
	tests := map[string]struct {
		scenario func(s *observetest.Scenario)
		left     bool
		// want are the reasons of each database's result; PATH means its file.
		want string
	}{
		"no server runs": {both(ovndb.Down), false, "NOT_RUNNING; STAYS_MEMBER"},
		"no database":    {both(ovndb.Absent), false, "NO_DATABASE"},
		"standalone":     {both(ovndb.Standalone), false, "STANDALONE_KEPT PATH"},
		"disk full":      {both(ovndb.Failed), false, "GAVE_UP; STAYS_MEMBER"},
		"left already":   {both(ovndb.Left), true, "LEFT_BEFORE; FILE_RENAMED PATH"},
		"had not joined": {
			func(s *observetest.Scenario) { s.NB, s.SB = s.NB.In(raft.JoiningCluster), s.SB.In(raft.JoiningCluster) }, false,
			"NOT_JOINED",
		},
		"every unit goes": {everybodyGoes, false, "DATA_KEPT PATH"},
		"the last unit goes": {
			func(s *observetest.Scenario) { s.Goal = map[string]string{"ovn-central/0": "dying"} }, false, "DATA_KEPT PATH",
		},
		"the last member goes": {func(s *observetest.Scenario) {
			everybodyGoes(s)
			s.NB, s.SB = observetest.Up("aa00"), observetest.Up("bb00")
		}, false, "DATA_KEPT PATH"},
		"the last units go without a quorum": {func(s *observetest.Scenario) {
			everybodyGoes(s)
			s.NB, s.SB = observetest.Up("aa00").Down("aa01", "aa02").CutOff(), observetest.Up("bb00").Down("bb01",
				"bb02").CutOff()
		}, false, "DATA_KEPT PATH"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := going(t)
			test.scenario(&s)
			m, want := &observetest.Machine{Left: test.left}, stops
			if name == "had not joined" { // each server is observed once it is down
				m.Joining = true
				want = append([]string{"systemctl stop ovn-ovsdb-server-nb", "systemctl stop ovn-ovsdb-server-sb"}, stops...)
			}
			service := on(s, m)
			results, err := service.Stop(t.Context(), s.Application(), observe.Cache{})
			require.NoError(t, err)
			assert.Equal(t, want, m.Told, "the services end, and nothing else is done")
			require.Len(t, results, 2)
			for _, r := range results {
				assert.Equal(t, test.left, r.Gone)
				path := service.Files.Paths.File(r.Database)
				if test.left { // R10
					assert.NoFileExists(t, path)
					path = fmt.Sprintf("%s.left-%s", path, observetest.Now.Format("20060102T150405Z"))
				}
				assert.Equal(t, strings.Replace(test.want, "PATH", path, 1), findingtest.Reasons(r.Reasons...), r.Database)
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

// An unreadable server may vote, so it must not be stopped.
func TestR9_stop_of_unreadable_server_is_refused(t *testing.T) {
	for _, said := range []string{
		`ovs-appctl: cannot connect to "ovnnb_db.ctl" (Permission denied)`, "ovs-appctl: transaction error (End of file)",
	} {
		s, m := going(t), new(observetest.Machine)
		service := on(s, m)
		m.Errors[ovndb.NB] = said
		_, err := service.Stop(t.Context(), s.Application(), observe.Cache{})
		assert.Equal(t, []string{"nb SERVER_UNREADABLE"}, findingtest.Codes(err), said)
		assert.Contains(t, findingtest.Briefs(err), "-> TO_LEAVE_BEHIND: resolved --no-retry ovn-central/0")
		assert.Empty(t, m.Told, said)
	}
}

// A refused stop leaves the agent running. Any other stop halts it, even without a leave.
func TestStop_halts_agent_unless_refused(t *testing.T) {
	const agent = "the agent stops"
	stop := func(s observetest.Scenario) (told []string) {
		m := new(observetest.Machine)
		service := on(s, m)
		service.BeforeLeaving = func(context.Context) { m.Told = append(m.Told, agent) }
		synctest.Test(t, func(t *testing.T) {
			_, _ = service.Stop(t.Context(), s.Application(), observe.Cache{}) // the test only checks the commands
		})
		return m.Told
	}
	s := going(t)
	everybodyGoes(&s)
	assert.Equal(t, append([]string{agent}, stops...), stop(s))

	s = going(t)
	s.NB = observetest.Up("aa00", "aa01").Down("aa04")
	assert.Empty(t, stop(s), "the stop is refused")
}

// R9: the file of a down server is the only copy if no staying unit is known to have joined.
func TestR9_only_copy_stays(t *testing.T) {
	seen := func(members ...string) relation.Configuration {
		return relation.Configuration{Server: observetest.Full(members[0]), Members: members, Since: 3}
	}
	isSole, two, another := seen("aa00"), seen("aa00", "aa01"), seen("ee00")
	peer := func(since uint64) relation.Identities {
		return relation.Identities{ovndb.NB: {Server: observetest.Full("aa01"), Since: since}}
	}
	old := relation.Identities{
		ovndb.NB: {Server: observetest.Full("aa01"), Cluster: "01d00000-0000-4000-8000-000000000000", Since: 3},
	}
	tests := map[string]struct {
		seen                             relation.Configuration
		goal                             string
		peer                             relation.Identities
		removed, damaged, alone, refused bool
	}{
		"sole, the other has not joined":           {seen: isSole, goal: "active", peer: peer(0), refused: true},
		"sole, the other has published nothing":    {seen: isSole, goal: "waiting", refused: true},
		"sole, the other has joined since":         {seen: isSole, goal: "active", peer: peer(9)},
		"sole, the other goes too, and none stays": {seen: isSole, goal: "dying", peer: peer(0)},
		"sole, the other was a member and is removed": {
			seen: isSole, goal: "active", peer: peer(3), removed: true, refused: true,
		},
		"sole of a new cluster, the other is in the old one": {seen: isSole, goal: "active", peer: old, refused: true},
		"the same, and its file can't be read": {
			seen: isSole, goal: "active", peer: old, damaged: true, refused: true,
		},
		"the same, and no server has run on its file":         {goal: "active", peer: old, alone: true, refused: true},
		"no server has run on the file, the other has joined": {goal: "active", peer: peer(3), alone: true},
		"two, the other stays":                                {seen: two, goal: "active", peer: peer(0)},
		"never seen as a member":                              {goal: "active", peer: peer(0)},
		"the memory is of another server":                     {seen: another, goal: "active", peer: peer(0)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := going(t)
			s.Goal = map[string]string{"ovn-central/0": "dying", "ovn-central/1": test.goal}
			s.NB, s.SB = observetest.Members{Condition: ovndb.Down}, observetest.Members{Condition: ovndb.Absent}
			m := new(observetest.Machine)
			service := on(s, m)
			model := s.Application()
			own := relation.Identities{ovndb.NB: {Server: observetest.Full("aa00"), Cluster: observetest.Cluster(ovndb.NB)}}
			model.Published = relation.UnitIdentities{"ovn-central/0": own, "ovn-central/1": test.peer}
			text := observetest.FileOf(ovndb.NB, observetest.Full("aa00"), observetest.Cluster(ovndb.NB), nil)
			if test.alone {
				text = observetest.FileOf(ovndb.NB, observetest.Full("aa00"), observetest.Cluster(ovndb.NB),
					map[raft.ID]string{observetest.Full("aa00"): "ssl:192.0.2.1:6643"})
			}
			if test.damaged {
				text = text[:len(text)-1]
			}
			require.NoError(t, os.WriteFile(service.Files.Paths.File(ovndb.NB), text, 0o600))
			cache := observe.Cache{Configurations: map[ovndb.Database]relation.Configuration{ovndb.NB: test.seen}}
			if test.removed {
				cache.History = relation.History{
					ovndb.NB: {observetest.Full("aa01"): {Unit: "ovn-central/1", Removed: time.Unix(1, 0)}},
				}
			}
			_, err := service.Stop(t.Context(), model, cache)
			if !test.refused {
				require.NoError(t, err)
				return
			}
			brief := findingtest.Briefs(err)
			assert.Contains(t, brief, "error ONLY_COPY nb Reasons=QUOTED "+service.Files.Paths.File(ovndb.NB)+" (")
			assert.Contains(t, brief, " -> ovn-central/0 resume -> then wait")
			assert.Contains(t, brief, " -> TO_TAKE_THE_ONLY_COPY: resolved --no-retry ovn-central/0")
			assert.Empty(t, m.Told)
		})
	}
}

type missing struct{}

func (missing) Run(_ context.Context, c run.Command) ([]byte, error) {
	return nil, &run.Error{Command: c, ExitCode: -1, Err: exec.ErrNotFound}
}
