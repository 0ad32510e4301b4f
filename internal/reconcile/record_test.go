package reconcile

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// recorded keeps on the disk what an operator has asked of the unit, and returns the record.
func recorded(t *testing.T, u *Reconciler, kept unitKept) *record {
	t.Helper()
	r, err := u.loadRecord()
	require.NoError(t, err)
	r.unitKept = kept
	require.NoError(t, u.saveRecord(r))
	return r
}

// A unit that was removed by force leaves its record on the machine: the next one isn't
// paused because that one was, and tells Juju of its ports though that one has.
func TestRecordOfAnotherUnitIsNotUsed(t *testing.T) {
	t.Parallel()
	paths, log := ovndb.Paths{DB: t.TempDir()}, new(bytes.Buffer)
	unit := func(name string) *Reconciler {
		return &Reconciler{Machine: &observe.Machine{Env: juju.Env{Unit: name}, Log: slog.New(slog.NewTextHandler(log, nil))}, Paths: paths}
	}
	former, next := unit("ovn-central/1"), unit("ovn-central/5")
	recorded(t, former, unitKept{Known: true, Paused: true, Settled: true})
	r, err := former.loadRecord()
	require.NoError(t, err)
	assert.True(t, r.Paused, "its own it goes by")
	assert.Empty(t, log.String())

	r, err = next.loadRecord()
	require.NoError(t, err)
	assert.Equal(t, unitKept{}, r.unitKept)
	assert.Contains(t, log.String(), "ignoring the record of another unit that was on this machine before")

	// What it then records is its own.
	recorded(t, next, unitKept{Known: true})
	r, err = next.loadRecord()
	require.NoError(t, err)
	assert.Equal(t, "ovn-central/5", r.state.Owner().Unit)
	assert.Equal(t, unitKept{Known: true}, r.unitKept)
}

// A recovery was withdrawn for a reason that the record keeps, unless another release has written one that this one does not know.
func TestReasonOfAWithdrawalIsKept(t *testing.T) {
	t.Parallel()
	u := &Reconciler{Machine: &observe.Machine{Env: juju.Env{Unit: "ovn-central/1"}, Log: slog.New(slog.DiscardHandler)}, Paths: ovndb.Paths{DB: t.TempDir()}}
	why := finding.Of(finding.RecoveryNewerData, ovndb.NB, finding.Args{Unit: "ovn-central/0"}, recovery.Without(command.Resolved("ovn-central/0", true), "ovn-central/0"))
	r, err := u.loadRecord()
	require.NoError(t, err)
	r.Attempts = map[ovndb.Database]recovery.Attempt{
		ovndb.NB: attempted(recovery.Request{Cluster: "old"}).Withdraws(why),
		ovndb.SB: attempted(recovery.Request{Cluster: "old"}).Withdraws(finding.Finding{Code: "OF_A_LATER_RELEASE"}),
	}
	require.NoError(t, u.saveRecord(r))
	r, err = u.loadRecord()
	require.NoError(t, err)
	assert.Len(t, r.Attempts, 1)
	assert.Equal(t, why, r.Attempts[ovndb.NB].Why)
}

// attempted is a recovery that was asked for.
func attempted(r recovery.Request) recovery.Attempt { return recovery.Attempt{}.AskFor(r) }

// requests is a unit that was asked for a recovery of the Northbound database.
func requests(q recovery.Request) *record {
	return &record{recoveryKept: recoveryKept{Attempts: map[ovndb.Database]recovery.Attempt{ovndb.NB: attempted(q)}}}
}

// The machine may get a unit of the same name from another model, which goes by no pause and no clusters of that one.
func TestRecordOfAUnitOfAnotherModelIsNotUsed(t *testing.T) {
	t.Parallel()
	paths := ovndb.Paths{DB: t.TempDir()}
	unit := func(model string) *Reconciler {
		env := juju.Env{Unit: "ovn-central/1", ModelUUID: model}
		return &Reconciler{Machine: &observe.Machine{Env: env, Log: slog.New(slog.DiscardHandler)}, Paths: paths}
	}
	recorded(t, unit("former"), unitKept{Known: true, Paused: true})
	r, err := unit("former").loadRecord()
	require.NoError(t, err)
	assert.True(t, r.Paused)
	r, err = unit("next").loadRecord()
	require.NoError(t, err)
	assert.Equal(t, unitKept{}, r.unitKept)
}

// The new cluster of one database has taken the old one's place, and the action was killed before the other's: the
// same command names a member of the old one, and goes on.
func TestWhatARequestThatHasComeAboutGivesUpIsKnown(t *testing.T) {
	t.Parallel()
	const full = "57f8a1b2-0000-4000-8000-000000000001"
	r := &record{recoveryKept: recoveryKept{Attempts: map[ovndb.Database]recovery.Attempt{
		ovndb.NB: attempted(recovery.Request{Cluster: "old", GivenUp: []string{"57f8", "ovn-central/1"}}).Seen("new"),
		ovndb.SB: attempted(recovery.Request{Cluster: "old", GivenUp: []string{"39740000-0000-4000-8000-000000000002", full}}).Seen("new"),
	}}}
	for text, known := range map[string]bool{
		"57f8": true, "ovn-central/1": true, full: true, "57f8a1b2": true, "3974": true, "ovn-central/2": false, "dc55": false, "": false,
	} {
		assert.Equal(t, known, r.gaveUp(raft.IDArgument{Text: text}), text)
	}
	assert.True(t, r.gaveUp(raft.IDArgument{Text: "3974", Number: true}), "Juju takes it for a number")
	assert.False(t, r.gaveUp(raft.IDArgument{Text: "3975", Number: true}))
	assert.False(t, new(record).gaveUp(raft.IDArgument{Text: "57f8"}))
}

func TestRequestThatHasComeAbout(t *testing.T) {
	t.Parallel()
	const backup, other = "/var/backups/ovn-central/20260101T000000Z", "/var/backups/ovn-central/20260102T000000Z"
	at := time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)
	request := func(backup string) RecoverRequest {
		return RecoverRequest{Databases: []ovndb.Database{ovndb.NB}, Backup: backup}
	}
	after := func(backup, made string) *record {
		r := requests(recovery.Request{Cluster: "old", Backup: backup, New: raft.ID(made), Asked: at})
		r.forget(relation.Clusters{IDs: map[ovndb.Database]raft.ID{ovndb.NB: raft.ID(made)}})
		return r
	}
	twice := after(backup, "first")
	twice.attempt(ovndb.NB, attempted(recovery.Request{Cluster: "first", Backup: other, New: "second", Asked: at}))
	twice.forget(relation.Clusters{IDs: map[ovndb.Database]raft.ID{ovndb.NB: "second"}})
	pending := func(next string) *record {
		r := after(backup, "new")
		r.attempt(ovndb.NB, attempted(recovery.Request{Cluster: "new", Backup: next, Asked: at}))
		return r
	}
	for name, c := range map[string]struct {
		record        *record
		request       RecoverRequest
		serves        raft.ID
		led           bool
		done, refused int
	}{
		"restored":                        {after(backup, "new"), request(backup), "new", true, 1, 0},
		"restored, no leader":             {after(backup, "new"), request(backup), "new", false, 0, 1},
		"restored, then another cluster":  {after(backup, "new"), request(backup), "later", true, 0, 1},
		"another backup":                  {after(backup, "new"), request(other), "new", true, 0, 0},
		"the backup before the last":      {twice, request(backup), "second", true, 0, 1},
		"recovered":                       {after("", "new"), request(""), "new", true, 1, 0},
		"recovered, no leader":            {after("", "new"), request(""), "new", false, 0, 1},
		"recovered, then another cluster": {after("", "new"), request(""), "later", false, 0, 0},
		"it is being restored again":      {pending(backup), request(backup), "new", true, 0, 0},
		"another one is being restored":   {pending(other), request(backup), "new", true, 0, 1},
		"nothing before":                  {&record{}, request(backup), "old", true, 0, 0},
	} {
		states := map[ovndb.Database]recovery.State{ovndb.NB: {Cluster: c.serves, Own: &recovery.Copy{HasRaftLeader: c.led}}}
		done, refused := c.record.alreadyDone(c.request, states, command.Command{})
		assert.Len(t, done, c.done, name)
		assert.Len(t, refused, c.refused, name)
		c.record.forgetRemade(c.request)
		done, refused = c.record.alreadyDone(c.request, states, command.Command{})
		assert.Empty(t, append(done, refused...), "%s: with again=true", name)
	}
}

// A restore that another one went before, or that another one followed, is not what is served.
func TestRestoreThatAnotherOneWentBeforeIsNotDone(t *testing.T) {
	t.Parallel()
	const mine, other = "/var/backups/ovn-central/20260101T000000Z", "/var/backups/ovn-central/20260102T000000Z"
	ids := func(nb raft.ID) relation.Clusters {
		return relation.Clusters{IDs: map[ovndb.Database]raft.ID{ovndb.NB: nb}}
	}
	request := func(backup string) RecoverRequest {
		return RecoverRequest{Databases: []ovndb.Database{ovndb.NB}, Backup: backup}
	}
	state := func(cluster raft.ID) recovery.State {
		return recovery.State{Cluster: cluster, Own: &recovery.Copy{HasRaftLeader: true}}
	}
	for name, c := range map[string]struct {
		made, placed, served raft.ID
		overtaken            bool
	}{
		"its own":                       {made: "new", placed: "new", served: "new"},
		"another went first":            {made: "new", placed: "of another", served: "of another", overtaken: true},
		"another, before it made one":   {made: "", placed: "of another", served: "of another", overtaken: true},
		"another one followed it later": {made: "new", placed: "new", served: "of another", overtaken: true},
	} {
		r := requests(recovery.Request{Cluster: "old", Backup: mine, New: c.made})
		r.forget(ids(c.placed))
		states := map[ovndb.Database]recovery.State{ovndb.NB: state(c.served)}
		assert.False(t, r.requested(), name)
		assert.Equal(t, !c.overtaken, r.stage(request(mine), states[ovndb.NB], ovndb.NB) == recovery.Served, name)
		_, refused := r.alreadyDone(request(mine), states, command.Command{})
		assert.Equal(t, c.overtaken, len(refused) > 0, name)
		_, refused = r.alreadyDone(request(other), states, command.Command{})
		assert.Empty(t, refused, "%s: another backup is another command", name)
		_, refused = r.alreadyDone(request(""), states, command.Command{})
		assert.Empty(t, refused, "%s: a recovery", name)
	}

	// A recovery takes the newest copy, whichever unit makes the cluster of it.
	r := requests(recovery.Request{Cluster: "old"})
	r.forget(ids("of another"))
	assert.Equal(t, recovery.Served, r.stage(request(""), state("of another"), ovndb.NB))
	assert.Equal(t, recovery.Overtaken, r.stage(request(""), state("later"), ovndb.NB), "that one was given up too since")
	assert.False(t, r.starts(request(""), recovery.State{Cluster: "later"}, ovndb.NB))
}
