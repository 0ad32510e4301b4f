package restore

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// playedUnit returns one of three units, on a machine with simulated programs.
func playedUnit(t *testing.T) *Unit {
	t.Helper()
	return playedOn(t, new(observetest.Machine))
}

func playedOn(t *testing.T, m *observetest.Machine) *Unit {
	t.Helper()
	o := observetest.Three(t).ObserverOn(m)
	o.Log = slog.New(slog.DiscardHandler)
	members := &membership.Changer{Machine: o.Machine, Observer: o, Progress: func(context.Context, string) {}}
	return &Unit{Machine: o.Machine, Members: members, Save: func() error { return nil }}
}

// beingMade returns the state of a unit that has made a new cluster for a request.
func beingMade(r recovery.Request) map[ovndb.Database]recovery.State {
	old := observetest.Cluster(ovndb.NB)
	r.Cluster, r.New = old, observetest.Cluster(ovndb.SB)
	return map[ovndb.Database]recovery.State{ovndb.NB: {
		Cluster: old, Own: &recovery.Copy{Cluster: old, Stopped: true}, Unit: "ovn-central/0", Request: &r, Staged: r.New,
		Members: []recovery.Member{{ID: observetest.Full("aa00"), Unit: "ovn-central/0", Exists: true}},
	}}
}

// A command is refused if it asks for other data than the cluster that is already made: the made one would be
// published.
func TestJudge_other_backup_than_made_cluster(t *testing.T) {
	t.Parallel()
	u := playedUnit(t)
	const one, two = "/var/backups/ovn-central/20261123T190312Z", "/var/backups/ovn-central/20261124T190312Z"
	const restoreOne = "restore from=" + one + " database=nb i-really-mean-it=true"
	for name, c := range map[string]struct{ made, typed, way string }{
		"same backup":             {one, one, ""},
		"other backup":            {one, two, restoreOne},
		"recovery after a backup": {one, "", restoreOne},
		"backup after a recovery": {"", two, "recover database=nb i-really-mean-it=true"},
		"recovery":                {},
	} {
		var want []string
		if c.way != "" {
			want = []string{"error RECOVERY_UNDER_WAY nb -> ovn-central/0 " + c.way}
		}
		typed := Request{Databases: []ovndb.Database{ovndb.NB}, Backup: c.typed}
		j := u.judgeAll(typed, beingMade(recovery.Request{Backup: c.made}), new(Found))
		assert.Equal(t, want, briefs(j.refusals), name)
		assert.Len(t, j.asked, 1-len(want), name)
	}
}

// The new cluster is made of this unit's file.
func TestJudge_unit_that_is_given_up_itself(t *testing.T) {
	t.Parallel()
	typed := Request{Databases: []ovndb.Database{ovndb.NB}, GivenUp: []raft.IDArgument{{Text: "ovn-central/0"}}}
	states := map[ovndb.Database]recovery.State{ovndb.NB: {
		Database: ovndb.NB, Unit: "ovn-central/0", Cluster: "old", Own: &recovery.Copy{Cluster: "old"},
		Members: []recovery.Member{{ID: "a", Unit: "ovn-central/0", Exists: true}},
	}}
	j := playedUnit(t).judgeAll(typed, states, new(Found))
	assert.Equal(t, []string{"error RECOVERY_OF_GIVEN_UP nb ovn-central/0"}, briefs(j.refusals))
	assert.Empty(t, j.asked)
}

// A dry run and a refused request stop nothing, so that nothing waits for another unit's server.
func TestJudge_only_confirmed_request_waits(t *testing.T) {
	t.Parallel()
	u := playedUnit(t)
	serves := recovery.Peer{Unit: "ovn-central/1", Read: true, Copy: &recovery.Copy{Cluster: "old", HasRaftLeader: true}}
	states := map[ovndb.Database]recovery.State{ovndb.NB: {
		Database: ovndb.NB, Unit: "ovn-central/0", Cluster: "old", Own: &recovery.Copy{Cluster: "old", HasRaftLeader: true},
		Peers:   []recovery.Peer{serves},
		Members: []recovery.Member{{ID: "a", Unit: "ovn-central/0", Exists: true}, {ID: "b", Unit: serves.Unit, Exists: true}},
	}}
	for name, tt := range map[string]struct {
		request Request
		want    []finding.Code
	}{
		"dry run":     {Request{Confirmed: true, DryRun: true}, nil},
		"unconfirmed": {Request{}, nil},
		"confirmed":   {Request{Confirmed: true}, []finding.Code{finding.RecoveryNotStopped}},
	} {
		var found Found
		tt.request.Databases, tt.request.Backup = []ovndb.Database{ovndb.NB}, "/b"
		j := u.judgeAll(tt.request, states, &found)
		var codes []finding.Code
		for _, f := range append(found.Findings, j.waiting...) {
			codes = append(codes, f.Code)
		}
		assert.Equal(t, tt.want, codes, name)
		assert.NotEmpty(t, found.Plan)
	}
	var found Found
	confirmed := Request{Databases: []ovndb.Database{ovndb.NB}, Backup: "/no/backup", Confirmed: true}
	_, refusals := u.judge(t.Context(), confirmed, confirmed, plan.State{Recovery: states}, &found)
	assert.True(t, finding.Has(refusals, finding.RecoveryDataUnusable))
	assert.Empty(t, found.Findings, "refused for the backup")
}

// A paused unit has a vote: before a recovery without it, a person resumes it.
func TestJudge_resumes_paused_units_first(t *testing.T) {
	t.Parallel()
	const lacks = "error RECOVERY_NOT_REPORTED nb Units=[ovn-central/1]"
	const has = "error RECOVERY_HAS_QUORUM nb ssl:10.0.0.11:6643"
	for name, tt := range map[string]struct {
		request Request
		paused  string
		serving []string
		want    string
	}{
		"other unit": {Request{}, "ovn-central/1", nil, lacks + " -> ovn-central/1 resume"},
		"other unit, given up": {
			Request{GivenUp: []raft.IDArgument{{Text: "ovn-central/1"}}}, "ovn-central/1", nil, "",
		},
		"this unit, and the others have a leader": {
			Request{}, "ovn-central/0", []string{"ssl:10.0.0.11:6643"}, has + " -> ovn-central/0 resume",
		},
		"none, and the others have a leader": {
			Request{}, "", []string{"ssl:10.0.0.11:6643"}, has + " -> TO_SEE_MEMBERS: ovn-central/0 cluster-status",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := recovery.State{
				Database: ovndb.NB, Unit: "ovn-central/0", Cluster: "old", Own: &recovery.Copy{Cluster: "old"},
				Peers: []recovery.Peer{{Unit: "ovn-central/1", Read: true}},
				Members: []recovery.Member{
					{ID: "a", Unit: "ovn-central/0", Exists: true}, {ID: "b", Unit: "ovn-central/1", Exists: true},
				},
				Serving: tt.serving,
			}
			request, found := tt.request, Found{}
			request.Databases, request.DryRun = []ovndb.Database{ovndb.NB}, true
			peer := plan.Peer{Unit: "ovn-central/1"}
			peer.Paused = tt.paused == peer.Unit
			_, refusals := playedUnit(t).judge(t.Context(), request, request, plan.State{
				Unit: "ovn-central/0", Paused: tt.paused == "ovn-central/0", Peers: []plan.Peer{peer},
				Recovery: map[ovndb.Database]recovery.State{ovndb.NB: state},
			}, &found)
			all := strings.Join(briefs(append(refusals, found.Findings...)), "\n")
			assert.Contains(t, all, tt.want)
			assert.Equal(t, strings.Contains(tt.want, "resume"), strings.Contains(all, "resume"), all)
		})
	}
}

// A repeated command may give up units that were lost since, and name a given up unit that was removed since.
func TestJudge_repeated_command_gives_up_more(t *testing.T) {
	t.Parallel()
	u := playedUnit(t)
	states := beingMade(recovery.Request{GivenUp: []string{"ovn-central/2"}})
	state := states[ovndb.NB]
	state.Peers = []recovery.Peer{{Unit: "ovn-central/4", Read: true, Copy: &recovery.Copy{Cluster: state.Cluster}}}
	states[ovndb.NB] = state
	typed := Request{
		Databases: []ovndb.Database{ovndb.NB}, GivenUp: []raft.IDArgument{{Text: "ovn-central/2"}, {Text: "ovn-central/4"}},
	}
	j := u.judgeAll(typed, states, new(Found))
	assert.Empty(t, j.refusals)
	assert.Equal(t, []string{"ovn-central/2", "ovn-central/4"}, j.asked[ovndb.NB].GivenUp)
	assert.Equal(t, state.Request.New, j.asked[ovndb.NB].New)

	typed.GivenUp = append(typed.GivenUp, raft.IDArgument{Text: "ovn-central/44"})
	j = u.judgeAll(typed, states, new(Found))
	assert.Equal(t, []string{"error RECOVERY_NAME_UNKNOWN ovn-central/44"}, briefs(j.misspelt))
	assert.Empty(t, j.refusals)
	assert.Equal(t, []string{"ovn-central/2", "ovn-central/4"}, j.giveUp)
}

// The operator must see that a backup is of another application.
func TestOfOtherCluster(t *testing.T) {
	t.Parallel()
	manifest := backup.Manifest{Databases: []backup.Database{
		{Name: ovndb.NB, Cluster: "old"}, {Name: ovndb.SB, Cluster: "served"},
	}}
	states := map[ovndb.Database]recovery.State{ovndb.NB: {Cluster: "served"}, ovndb.SB: {Cluster: "served"}}
	plan := ofOtherCluster(Request{Databases: ovndb.Databases()}, manifest, states)
	assert.Equal(t, []finding.Statement{{
		Database: ovndb.NB, Line: finding.BackupOfOther, Args: finding.Args{Cluster: "served", Other: "old"},
	}}, plan)
	assert.Empty(t, ofOtherCluster(Request{Databases: []ovndb.Database{ovndb.SB}}, manifest, states))
}

func briefs(all []finding.Finding) (lines []string) {
	for _, f := range all {
		lines = append(lines, findingtest.Brief(f))
	}
	return lines
}

// A command is completed with all lost units, in order, until it is permitted.
func TestCompletedRecovery(t *testing.T) {
	t.Parallel()
	u := playedUnit(t)
	states := map[ovndb.Database]recovery.State{}
	for i, db := range ovndb.Databases() {
		cluster := observetest.Cluster(db)
		own := recovery.Copy{Cluster: cluster, Term: 2, Index: 10}
		s := recovery.State{Cluster: cluster, Own: &own, Members: []recovery.Member{
			{ID: observetest.Full("aa00"), Unit: "ovn-central/0", Exists: true},
			{ID: observetest.Full("aa0a"), Unit: "ovn-central/10", Exists: true},
			{ID: observetest.Full("aa02"), Unit: "ovn-central/2", Exists: true},
			{ID: observetest.Full("3974")},
		}}
		if i == 1 {
			s.Members = s.Members[:3]
		}
		states[db] = s
	}
	judge := func(r Request) ([]string, judgement) {
		databases := r.Databases
		if databases == nil {
			r.Databases = ovndb.Databases()
		}
		j := u.judgeAll(r, states, new(Found))
		r.Databases = databases
		return briefs([]finding.Finding{
			finding.New(finding.RecoveryPlanned, finding.Subject{}, finding.Args{}, u.completed(r, j, planned)),
		}), j
	}
	member := string(observetest.Full("3974"))
	next := func(action, lost string) []string {
		return []string{
			"info RECOVERY_PLANNED -> IF_LOST_AND_OFF: ovn-central/0 " + action + " dry-run=true {unit=" + lost + "}",
		}
	}
	all, lost := member+",ovn-central/2,ovn-central/10", member+", ovn-central/2, ovn-central/10"

	typed, j := judge(Request{DryRun: true})
	assert.Empty(t, j.refusals)
	assert.Len(t, j.lacking, 2, "one reason in each database")
	assert.Equal(t, next("recover give-up="+all, lost), typed)

	given := []raft.IDArgument{{Text: "3974", Number: true}, {Text: "ovn-central/10"}}
	typed, j = judge(Request{DryRun: true, GivenUp: given})
	assert.Len(t, j.lacking, 2)
	assert.Equal(t, next("recover give-up="+all, lost), typed)

	typed, j = judge(Request{DryRun: true, GivenUp: append(given, raft.IDArgument{Text: "ovn-central/2"})})
	assert.Empty(t, j.lacking)
	assert.Equal(t, next("recover give-up="+all, lost), typed)

	typed, _ = judge(Request{GivenUp: given[1:], Force: true})
	assert.Equal(t, next("recover give-up="+all+" force=true", lost), typed)

	typed, _ = judge(Request{
		Databases: ovndb.Databases()[1:], GivenUp: given[1:], Backup: "/b/1",
		Again: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	})
	assert.Equal(t, next("restore from=/b/1 database=sb give-up=ovn-central/2,ovn-central/10 again=20260102T030405Z",
		"ovn-central/2, ovn-central/10"), typed)
	assert.Equal(t, []string{"-> ovn-central/0 recover dry-run=true"}, []string{strings.TrimPrefix(findingtest.Brief(
		finding.New(finding.RecoveryPlanned, finding.Subject{}, finding.Args{},
			u.completed(Request{}, judgement{}, planned))), "info RECOVERY_PLANNED ")})
}

// A unit that is being removed would keep the request and never carry it out.
func TestRefuseDying(t *testing.T) {
	t.Parallel()
	u := &Unit{Machine: &observe.Machine{Env: juju.Env{Unit: "ovn-central/0"}}}
	const first = "error RECOVERY_DYING -> ovn-central/0 backup -> "
	there, anew := []string{first + string(finding.RestoreThere)}, []string{first + string(finding.RestoreAnew)}
	peer := func(dying bool, cluster raft.ID) recovery.Peer {
		return recovery.Peer{Dying: dying, Copy: &recovery.Copy{Cluster: cluster}}
	}
	for name, test := range map[string]struct {
		dying bool
		peers []recovery.Peer
		want  []string
	}{
		"stays":                    {false, []recovery.Peer{peer(false, "c")}, nil},
		"staying peer has copy":    {true, []recovery.Peer{peer(true, "c"), peer(false, "c")}, there},
		"staying peer has no copy": {true, []recovery.Peer{peer(true, "c"), peer(false, "d")}, anew},
		"no peer stays":            {true, []recovery.Peer{peer(true, "c")}, anew},
	} {
		s := plan.State{
			Dying: test.dying, Recovery: map[ovndb.Database]recovery.State{ovndb.NB: {Cluster: "c", Peers: test.peers}},
		}
		assert.Equal(t, test.want, briefs(u.refuseDying(s)), name)
	}
}

func TestRecover_with_quorum_names_what_to_look_at(t *testing.T) {
	t.Parallel()
	led := map[ovndb.Database]recovery.State{}
	for _, db := range ovndb.Databases() {
		led[db] = recovery.State{Database: db, Own: &recovery.Copy{HasRaftLeader: true}}
	}
	o := Operation{
		Look: func(context.Context) (Seen, error) {
			return Seen{Unit: playedUnit(t), Plan: plan.State{Recovery: led}}, nil
		},
		Progress: func(context.Context, string) {},
	}
	_, err := o.Recover(t.Context(), Request{DryRun: true})
	want := "error RECOVERY_HAS_QUORUM nb sb ovn-central/0 -> TO_SEE_MEMBERS: ovn-central/0 cluster-status"
	assert.Equal(t, []string{want}, briefs(finding.Reasons(err)))
}

func TestBegin_reports_the_recovery(t *testing.T) {
	t.Parallel()
	u := Seen{Unit: playedUnit(t)}
	o := Operation{Reconcile: func(context.Context) (Seen, error) { return u, nil }}
	found := Found{}
	require.NoError(t, o.begin(t.Context(), u, Request{}, nil, &found))
	require.Len(t, found.Findings, 1)
	assert.Equal(t, finding.RecoveryBegun, found.Findings[0].Code)
}

func TestStatus_withdrawn_and_unread(t *testing.T) {
	t.Parallel()
	u, s := Seen{Unit: playedUnit(t)}, Status{}
	why := finding.Of(finding.RecoveryNoCopy, ovndb.NB, finding.Args{})
	u.Note(ovndb.NB, recovery.Attempt{Stage: recovery.Withdrawn, Why: why})
	s.add(t.Context(), u, ovndb.NB)
	for i := range s.Findings {
		s.Findings[i].Args.Detail = finding.Words{} // for people
	}
	assert.Equal(t, []string{
		"error RECOVERY_WITHDRAWN nb <- error RECOVERY_NO_COPY nb",
		"waiting RECOVERY_MARK_UNREAD nb",
	}, briefs(s.Findings))
}

func TestRejoin_refusals(t *testing.T) {
	t.Parallel()
	u := Seen{Unit: playedUnit(t), Plan: plan.State{Databases: map[ovndb.Database]plan.Database{
		ovndb.NB: {Condition: ovndb.Down, FileUnknown: true},
	}}}
	_, _, refusals := u.judgeRejoin(t.Context(), RejoinRequest{}, new(Found))
	assert.Equal(t, []string{"error REJOIN_UNKNOWN nb -> " + string(finding.KickElsewhere)}, briefs(refusals))

	u.Snapshot.Servers = map[ovndb.Database]observe.ServerState{ovndb.NB: {Status: raft.Status{
		Servers: []raft.Member{{Short: "aa01"}},
	}}}
	err := u.proveRejoined(t.Context(), map[ovndb.Database]raft.ID{ovndb.NB: "aa01"}, new(Found))
	assert.Equal(t, []string{"nb aa01 REJOIN_OLD_MEMBER"}, findingtest.Codes(err))
}
