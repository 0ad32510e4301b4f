package reconcile

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// A unit that was removed by force leaves its record on the machine: the next one isn't
// paused because that one was, and tells Juju of its ports though that one has.
func TestRecordOfAnotherUnitIsNotUsed(t *testing.T) {
	t.Parallel()
	paths, log := ovndb.Paths{DB: t.TempDir()}, new(bytes.Buffer)
	unit := func(name string) *Reconciler {
		return &Reconciler{Machine: &observe.Machine{Env: juju.Env{Unit: name}, Log: slog.New(slog.NewTextHandler(log, nil))}, Paths: paths}
	}
	former, next := unit("ovn-central/1"), unit("ovn-central/5")
	require.NoError(t, former.saveRecord(&record{Known: true, Paused: true, Ports: []int{6641}, Version: "23.03.1", Settled: true}))
	r, err := former.loadRecord()
	require.NoError(t, err)
	assert.True(t, r.Paused, "its own it goes by")
	assert.Empty(t, log.String())

	r, err = next.loadRecord()
	require.NoError(t, err)
	assert.Equal(t, &record{}, r)
	assert.Contains(t, log.String(), "ignoring the record of another unit that was on this machine before")

	// What it then records is its own.
	require.NoError(t, next.saveRecord(&record{Known: true}))
	r, err = next.loadRecord()
	require.NoError(t, err)
	assert.Equal(t, &record{Unit: "ovn-central/5", Known: true}, r)
}

// The machine may get a unit of the same name from another model, which goes by no pause and no clusters of that one.
func TestRecordOfAUnitOfAnotherModelIsNotUsed(t *testing.T) {
	t.Parallel()
	paths := ovndb.Paths{DB: t.TempDir()}
	unit := func(model string) *Reconciler {
		env := juju.Env{Unit: "ovn-central/1", ModelUUID: model}
		return &Reconciler{Machine: &observe.Machine{Env: env, Log: slog.New(slog.DiscardHandler)}, Paths: paths}
	}
	for _, model := range []string{"", "former"} { // one from before did not say
		require.NoError(t, unit(model).saveRecord(&record{Known: true, Paused: true}))
		r, err := unit("former").loadRecord()
		require.NoError(t, err)
		assert.True(t, r.Paused)
	}
	r, err := unit("next").loadRecord()
	require.NoError(t, err)
	assert.Equal(t, &record{}, r)
}

// The new cluster of one database has taken the old one's place, and the action was killed before the other's: the
// same command names a member of the old one, and goes on.
func TestWhatARequestThatHasComeAboutGivesUpIsKnown(t *testing.T) {
	t.Parallel()
	const full = "57f8a1b2-0000-4000-8000-000000000001"
	r := &record{Remade: map[ovndb.Database]recovery.Request{
		ovndb.NB: {GivenUp: []string{"57f8", "ovn-central/1"}},
		ovndb.SB: {GivenUp: []string{"39740000-0000-4000-8000-000000000002", full}},
	}}
	for text, known := range map[string]bool{
		"57f8": true, "ovn-central/1": true, full: true, "57f8a1b2": true, "3974": true, "ovn-central/2": false, "dc55": false, "": false,
	} {
		assert.Equal(t, known, r.gaveUp(raft.IDArgument{Text: text}), text)
	}
	assert.True(t, r.gaveUp(raft.IDArgument{Text: "3974", Number: true}), "Juju takes it for a number")
	assert.False(t, r.gaveUp(raft.IDArgument{Text: "3975", Number: true}))
	assert.False(t, new(record).gaveUp(raft.IDArgument{Text: "57f8"}))
}

// A restore begins anew once all that it was asked for is proved, a recovery once every unit is a member.
func TestRequestIsForgottenOnceItIsProved(t *testing.T) {
	t.Parallel()
	proofs := []recovery.Proof{
		{Database: ovndb.NB, Units: []recovery.UnitProof{{Unit: "ovn-central/0", Member: true}}},
		{Database: ovndb.SB, Units: []recovery.UnitProof{{Unit: "ovn-central/0", Member: true}, {Unit: "ovn-central/1", GivenUp: true}}},
	}
	both := func(backup string) *record {
		q := recovery.Request{Backup: backup}
		return &record{Remade: map[ovndb.Database]recovery.Request{ovndb.NB: q, ovndb.SB: q}}
	}
	asked := ovndb.Databases()
	restored, recovered := both("/var/backups/ovn-central/20260101T000000Z"), both("")
	require.True(t, proven(asked, proofs))
	restored.forgetProven(proofs)
	assert.Empty(t, restored.Remade)
	recovered.forgetProven(proofs)
	assert.Len(t, recovered.Remade, 1)
	assert.Contains(t, recovered.Remade, ovndb.SB, "a unit may still return")

	assert.False(t, proven(asked, proofs[:1]), "the other was killed before its new cluster")
	proofs[1].Waiting = "this unit is not a member of the new cluster yet"
	assert.False(t, proven(asked, proofs))
}

// A restore that another one went before, or that another one followed, is not what is served: the same command proves
// nothing then, and says so once.
func TestRestoreThatAnotherOneWentBeforeIsNotProved(t *testing.T) {
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
		r := &record{Requests: map[ovndb.Database]recovery.Request{ovndb.NB: {Cluster: "old", Backup: mine, New: c.made}}}
		r.forget(ids(c.placed))
		states := map[ovndb.Database]recovery.State{ovndb.NB: state(c.served)}
		assert.Empty(t, r.Requests, name)
		assert.Equal(t, !c.overtaken, r.remade(request(mine), states[ovndb.NB], ovndb.NB), name)
		assert.Equal(t, c.overtaken, len(r.overtaken(request(mine), states)) > 0, name)
		assert.Empty(t, r.overtaken(request(other), states), "%s: another backup is another command", name)
		assert.Empty(t, r.overtaken(request(""), states), "%s: a recovery", name)
	}

	// A recovery takes the newest copy, whichever unit makes the cluster of it.
	r := &record{Requests: map[ovndb.Database]recovery.Request{ovndb.NB: {Cluster: "old"}}}
	r.forget(ids("of another"))
	assert.True(t, r.remade(request(""), state("of another"), ovndb.NB))
	assert.False(t, r.remade(request(""), state("later"), ovndb.NB), "that one was given up too since")
	assert.False(t, r.unfinished(request(""), recovery.State{Cluster: "later"}, ovndb.NB))
}
