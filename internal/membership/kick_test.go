package membership_test

import (
	"context"
	"crypto/sha1"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/goldentest"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// dryKick returns a dry run that names members as typed: `aa04`, `aa04 13fe` with the other database's member, or a
// unit. A permit may follow.
func dryKick(typed string) membership.KickRequest {
	r := membership.KickRequest{DryRun: true, IDs: map[ovndb.Database]raft.IDArgument{}}
	databases := ovndb.Databases()
	for _, word := range strings.Fields(typed) {
		switch {
		case word == string(raft.PermitForce) || word == string(raft.PermitUnitInModel):
			r.Permit = raft.Permit(word)
		case strings.Contains(word, "/"):
			r.Unit = word
		default:
			r.IDs[databases[len(r.IDs)]] = observetest.Given(word)
		}
	}
	return r
}

// asIs leaves a scenario unchanged, nb sets its members of the Northbound database, joined adds a member that is up.
func asIs(*observetest.Scenario) {}

func nb(m observetest.Members) func(*observetest.Scenario) {
	return func(s *observetest.Scenario) { s.NB = m }
}

func joined(identity string) func(*observetest.Scenario) {
	return func(s *observetest.Scenario) { s.NB.Rows = append(s.NB.Rows, observetest.Row{Identity: identity}) }
}

// The golden file has the result of each case.
func TestKick_is_judged(t *testing.T) {
	up := observetest.Up
	dead := func(s *observetest.Scenario) { s.NB, s.SB = s.NB.Down("aa04"), s.Led().SB.Down("13fe") }
	led := func(s *observetest.Scenario) { s.Led() }
	off := func(s *observetest.Scenario) {
		s.NB, s.SB = up("aa00", "aa01").Down("aa02"), up("bb00", "bb01").Down("bb02")
	}
	unrecorded := func(identity string) func(*observetest.Scenario) {
		return func(s *observetest.Scenario) { s.NB, s.History[ovndb.NB] = s.NB.Down(identity), nil }
	}
	tests := map[string]struct {
		scenario func(s *observetest.Scenario)
		typed    string
	}{
		"dead stale member":              {dead, "aa04"},
		"by the whole ID":                {dead, string(observetest.Full("aa04"))},
		"what a former unit left behind": {dead, "ovn-central/4"},
		"both databases":                 {dead, "aa04 13fe"},
		"unit that nothing is known of":  {func(s *observetest.Scenario) { dead(s); s.History = nil }, "ovn-central/4"},
		"unit without a record in one database": { // R7: otherwise the stale member of sb would stay unnoticed
			func(s *observetest.Scenario) { dead(s); delete(s.History[ovndb.SB], "13fe") }, "ovn-central/4",
		},
		"unit that there never was": {
			func(s *observetest.Scenario) { s.Led().History = nil }, "ovn-central/9",
		},
		"unit that has nothing any more":              {asIs, "ovn-central/4"},
		"unit that is in the model":                   {led, "ovn-central/2"},
		"unit of the model that is down":              {off, "ovn-central/2"},
		"members of a unit of the model that is down": {off, "aa02 bb02"},
		"this unit":                                     {led, "ovn-central/0"},
		"own member":                                    {asIs, "aa00"},
		"live member of a unit":                         {asIs, "aa02"},
		"live member of a unit with force":              {asIs, "aa02 force"},
		"live stale member":                             {joined("aa04"), "aa04"},
		"live stale member with force":                  {joined("aa04"), "aa04 force"},
		"dead member of a unit":                         {nb(up("aa00", "aa01").Down("aa02")), "aa02"},
		"dead member of a unit, permitted":              {nb(up("aa00", "aa01").Down("aa02")), "aa02 unit-in-model"},
		"member of a unit that is back":                 {asIs, "aa02 unit-in-model"},
		"live member while another is dead, with force": {nb(up("aa00", "aa01").Down("aa02")), "aa01 force"},
		"live member while another's server is down, with force": {func(s *observetest.Scenario) {
			s.Led().NB = up("aa00", "aa01").Down("aa02")
		}, "aa01 force"},
		"live member while a stale one is dead, with force": {nb(up("aa00", "aa01").Down("aa04")), "aa01 force"},
		"no quorum":                       {nb(up("aa00").Down("aa01", "aa04").CutOff()), "aa04"},
		"no quorum as the leader sees it": {nb(up("aa00").Down("aa01", "aa04")), "aa04"},
		"sole member with garbage":        {nb(up("aa00")), "zzzz"},
		"sole member with another ID":     {nb(up("aa00")), "ffff"},
		"sole member itself":              {nb(up("aa00")), "aa00"},
		"ID of the other database":        {asIs, "bb01"},
		"one digit":                       {asIs, "a"},
		"three digits":                    {asIs, "aa0"},
		"too long":                        {asIs, string(observetest.Full("aa04")) + "0"},
		"another ID that begins the same": {dead, "aa04ffff-0000-4000-8000-000000000000"},
		"unknown ID":                      {asIs, "ffff"},
		"ID of a unit that has yet to join": {func(s *observetest.Scenario) {
			s.Goal["ovn-central/5"], s.Published["ovn-central/5"] = "waiting", [2]string{"aa05", "bb05"}
		}, "aa05"},
		"ID that two members have": {func(s *observetest.Scenario) {
			s.History, s.NB = nil, s.NB.Down("aa04")
			s.NB.Rows = append(s.NB.Rows, observetest.Row{Identity: "aa04", Down: true, Address: "ssl:10.0.0.19:6643"})
		}, "aa04"},
		"decimal number":       {unrecorded("3974"), "3974"},
		"octal number":         {unrecorded("0017"), "0017"},
		"number with exponent": {unrecorded("13e4"), "13e4"},
		"number that is no ID": {asIs, "9999"},
		"while another one goes": {
			func(s *observetest.Scenario) { dead(s); s.NB.Rows[1].Phase = raft.RemovingPhase }, "aa04",
		},
		"one of two is refused": {dead, "aa04 bb02"},
		"server down":           {nb(observetest.Members{Condition: ovndb.Down}), "aa04"},
		"server down, the other database not": {
			func(s *observetest.Scenario) { dead(s); s.NB = observetest.Members{Condition: ovndb.Down} }, "aa04 13fe",
		},
		"server that joins":  {nb(up("aa00", "aa01").In(raft.JoiningCluster)), "aa01"},
		"server that leaves": {nb(up("aa00", "aa01").In(raft.LeavingCluster)), "aa01"},
		"server that left":   {nb(observetest.Members{Condition: ovndb.Left}), "aa01"},
	}
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		synctest.Test(t, func(t *testing.T) { // some wait for an election
			s := observetest.JoinedBy4(t)
			tests[name].scenario(&s)
			m := &observetest.Machine{Left: s.NB.Condition == ovndb.Left}
			results, err := on(s, m).Kick(t.Context(), s.Application(), dryKick(tests[name].typed))
			require.NoError(t, err, name)
			require.NotEmpty(t, results, name)
			assert.Empty(t, m.Told, "a dry run changes nothing")
			fmt.Fprintf(&all, "--- %s\n", name)
			for _, r := range results {
				fmt.Fprintf(&all, "%s: %s: %s\n%s%s", r.Database.Short(), r.Outcome, findingtest.Reasons(r.Reasons...),
					findingtest.Briefs(finding.Refuse(r.Against)), findingtest.Briefs(finding.Refuse(r.Warnings)))
			}
		})
	}
	goldentest.Equal(t, "kick.txt", all.String())
}

// R8: a member with a record of its removal is no error.
func TestR8_kick_of_removed_member_succeeds(t *testing.T) {
	s := observetest.JoinedBy4(t)
	model := s.Application()
	model.History = model.History.Merge(relation.History{
		ovndb.NB: {observetest.Full("aa04"): {Unit: "ovn-central/4", Removed: observetest.Now.Add(-time.Hour)}},
	})
	request := dryKick("aa04")
	for _, request.DryRun = range []bool{true, false} { // it needs no confirmation
		results, err := on(s, new(observetest.Machine)).Kick(t.Context(), model, request)
		require.NoError(t, err)
		require.Len(t, results, 1)
		assert.Equal(t, membership.AlreadyGone, results[0].Outcome)
		assert.True(t, results[0].Done())
	}
}

// A kick that would be refused is refused before it asks for a confirmation, which would not help.
func TestKick_unconfirmed(t *testing.T) {
	for typed, code := range map[string]string{
		"aa04": "UNCONFIRMED", "aa04 13fe": "UNCONFIRMED", "ffff": "nb UNKNOWN_MEMBER", "aa01": "nb UNIT_IN_MODEL",
		"aa01 unit-in-model": "nb MEMBER_IS_LIVE", "aa04 bb02": "sb UNIT_IN_MODEL",
	} {
		s := observetest.JoinedBy4(t)
		s.NB, s.SB = s.NB.Down("aa04"), s.Led().SB.Down("13fe")
		m := new(observetest.Machine)
		request := dryKick(typed)
		request.DryRun = false
		results, err := on(s, m).Kick(t.Context(), s.Application(), request)
		for _, r := range results {
			if r.Outcome == membership.Refused {
				err = finding.Refuse(r.Against)
			}
		}
		assert.Contains(t, findingtest.Codes(err), code, typed)
		assert.Empty(t, m.Told, typed)
	}
}

func TestKick_invalid_request(t *testing.T) {
	id := map[ovndb.Database]raft.IDArgument{ovndb.NB: {Text: "aa04"}}
	for name, test := range map[string]struct {
		request membership.KickRequest
		code    string
	}{
		"nothing named": {membership.KickRequest{Confirmed: true}, "unit PARAMETER_INVALID"},
		"named twice":   {membership.KickRequest{Confirmed: true, IDs: id, Unit: "u/4"}, "unit PARAMETER_INVALID"},
	} {
		results, err := new(membership.Changer).Kick(t.Context(), observe.Application{}, test.request)
		assert.Equal(t, []string{test.code}, findingtest.Codes(err), name)
		assert.Empty(t, results, name)
	}
}

// R4: the printed commands are permitted.
func TestR4_remedies_are_permitted(t *testing.T) {
	oneDown := nb(observetest.Up("aa00", "aa01").Down("aa02"))
	tests := map[string]struct {
		scenario func(s *observetest.Scenario)
		typed    string
		// printed counts the commands. None of them kicks a member that is up and belongs to a unit.
		printed int
	}{
		"live member of a unit":                       {asIs, "aa02", 0},
		"dead member of a unit":                       {oneDown, "aa02", 1},
		"live stale member":                           {joined("aa04"), "aa04", 1},
		"live one, while one of another unit is dead": {oneDown, "aa01 force", 0},
		"live one, while one of a former unit is dead": {
			nb(observetest.Up("aa00", "aa01").Down("aa04")), "aa01 force", 1,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := observetest.JoinedBy4(t)
			test.scenario(&s)
			results, err := on(s, new(observetest.Machine)).Kick(t.Context(), s.Application(), dryKick(test.typed))
			require.NoError(t, err)
			require.Len(t, results, 1)
			require.Equal(t, membership.Refused, results[0].Outcome)
			printed := 0
			for _, r := range results[0].Against[0].Remedies {
				if r.Command.Action != "" && r.When != finding.OnceMachineOff {
					printed++
					observetest.Accepts(t, s, s.Application().Version.Render(r.Command))
				}
			}
			assert.Equal(t, test.printed, printed, findingtest.Brief(results[0].Against[0]))
		})
	}
}

// R9: after the packages were removed, a refusal protects nothing, and no retry succeeds.
func TestR9_stop_without_OVN_programs(t *testing.T) {
	s := going(t)
	m := new(observetest.Machine)
	service := on(s, m)
	service.Control.Runner = missing{}
	_, err := service.Stop(t.Context(), s.Application(), observe.Cache{})
	assert.NoError(t, err)
}

// clustered returns the file of server aa00 of a cluster with these members. None of them answers on its client port.
func clustered(identities ...string) string {
	members := make([]string, len(identities))
	for i, identity := range identities {
		members[i] = fmt.Sprintf(`"%s":"tcp:127.255.255.%d:6643"`, observetest.Full(identity), i+1)
	}
	text := fmt.Sprintf(`{"server_id":"%s","local_address":"tcp:127.255.255.1:6643","name":"OVN_Northbound",`+
		`"prev_index":1,"prev_term":1,"prev_servers":{%s}}`+"\n", observetest.Full("aa00"), strings.Join(members, ","))
	return fmt.Sprintf("OVSDB CLUSTER %d %x\n%s", len(text), sha1.Sum([]byte(text)), text)
}

// R1, R9: a member that does not run stays if the other members are no majority without it: they could commit
// nothing, not even its removal.
func TestR1_down_server_is_needed_for_majority(t *testing.T) {
	damaged := clustered("aa00", "aa01") + strings.Replace(clustered("aa00"), "{", "[", 1) + clustered("aa00")
	tests := map[string]struct {
		file      string
		condition ovndb.Condition
		goal      string
		removed   bool
		refused   int // the members
	}{
		"two, the other stays":    {file: clustered("aa00", "aa01"), goal: "active", refused: 2},
		"three, no other answers": {file: clustered("aa00", "aa01", "aa02"), goal: "active", refused: 3},
		"two, it gave its database up": {
			file: clustered("aa00", "aa01"), condition: ovndb.Failed, goal: "active", refused: 2,
		},
		"two, no other unit stays":     {file: clustered("aa00", "aa01"), goal: "dying"},
		"two, the other has kicked it": {file: clustered("aa00", "aa01"), goal: "active", removed: true},
		"its own removal was stored":   {file: clustered("aa01"), goal: "active"},
		"no server starts on the file": {file: damaged, goal: "active"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := going(t)
			s.Goal = map[string]string{"ovn-central/0": "dying", "ovn-central/1": test.goal}
			s.NB, s.SB = observetest.Members{Condition: ovndb.Down}, observetest.Members{Condition: ovndb.Absent}
			next := finding.Do(command.Command{Unit: s.Unit, Action: "resume"})
			var told []string
			if test.condition == ovndb.Failed {
				s.NB.Condition = test.condition
				next, told = finding.ByHand(finding.AwaitServer), []string{"systemctl restart ovn-ovsdb-server-nb"}
			}
			m := new(observetest.Machine)
			service := on(s, m)
			require.NoError(t, os.WriteFile(service.Files.Paths.File(ovndb.NB), []byte(test.file), 0o600))
			cache := observe.Cache{}
			if test.removed {
				cache.History = relation.History{
					ovndb.NB: {observetest.Full("aa00"): {Unit: "ovn-central/0", Removed: observetest.Now}},
				}
			}
			_, err := service.Stop(t.Context(), s.Application(), cache)
			if test.refused == 0 {
				require.NoError(t, err)
				assert.Equal(t, stops, m.Told)
				return
			}
			require.Equal(t, []string{"nb SERVER_NEEDED"}, findingtest.Codes(err))
			f := finding.Reasons(err)[0]
			assert.Equal(t, finding.Tally{Members: test.refused}, f.Args.After)
			assert.Equal(t, next, f.Remedies[0])
			assert.Equal(t, finding.If(finding.ToLeaveBehind, command.Resolved(s.Unit, true)), f.Remedies[2])
			assert.Equal(t, told, m.Told, "else nothing is touched")
		})
	}
}

// R1: the published servers of a cluster that a recovery replaced are not members of the new one.
func TestR1_members_of_replaced_cluster_do_not_count(t *testing.T) {
	s := going(t)
	s.Goal = map[string]string{"ovn-central/0": "dying", "ovn-central/1": "active"}
	s.NB, s.SB = observetest.Members{Condition: ovndb.Down}, observetest.Members{Condition: ovndb.Absent}
	service := on(s, new(observetest.Machine))
	members := map[raft.ID]string{}
	for i, identity := range []string{"aa00", "aa01"} {
		members[observetest.Full(identity)] = fmt.Sprintf("tcp:127.255.255.%d:6643", i+1)
	}
	text := observetest.FileOf(ovndb.NB, observetest.Full("aa00"), observetest.Cluster(ovndb.NB), members)
	require.NoError(t, os.WriteFile(service.Files.Paths.File(ovndb.NB), text, 0o600))
	model := s.Application()
	model.Published["ovn-central/1"] = relation.Identities{
		ovndb.NB: {Server: observetest.Full("01d1"), Cluster: "01d00000-0000-4000-8000-000000000000", Since: 3},
	}
	_, err := service.Stop(t.Context(), model, observe.Cache{})
	require.Equal(t, finding.Tally{Members: 2}, finding.Reasons(err)[0].Args.After)
}

// R7: if the lock can't be taken, the result of a kick is that nothing was changed.
func TestKick_lock_cannot_be_taken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := observetest.JoinedBy4(t)
		s.NB = s.NB.Down("aa04")
		request := dryKick("aa04")
		request.DryRun, request.Confirmed = false, true
		m := new(observetest.Machine)
		results, err := on(s, m).Kick(t.Context(), s.Application(), request)
		require.NoError(t, err)
		require.Len(t, results, 1)
		assert.True(t, finding.Has(results[0].Against, finding.ChangeFailed), results[0].Against)
		assert.Empty(t, m.Told)
	})
}

// on returns the changer of a scenario's unit on a machine.
func on(s observetest.Scenario, m *observetest.Machine) *membership.Changer {
	o := s.ObserverOn(m)
	return &membership.Changer{
		Machine: o.Machine, Observer: o,
		Progress: func(context.Context, string) {},
		Goal:     func(context.Context) (juju.GoalState, error) { return juju.GoalState{Units: s.Application().Goal}, nil },
	}
}
