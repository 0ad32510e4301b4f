package reconcile

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// beingMade is what a unit knows that has made a new cluster for a request.
func beingMade(r recovery.Request) map[ovndb.Database]recovery.State {
	old := observetest.Cluster(ovndb.NB)
	r.Cluster, r.New = old, observetest.Cluster(ovndb.SB)
	return map[ovndb.Database]recovery.State{ovndb.NB: {
		Cluster: old, Own: &recovery.Copy{Cluster: old, Stopped: true}, Unit: "ovn-central/0", Request: &r, Staged: r.New,
		Members: []recovery.Member{{ID: observetest.Full("aa00"), Unit: "ovn-central/0", Exists: true}},
	}}
}

// What an operator types while the new cluster of another command is made is not what would be
// published, and then proved.
func TestOtherDataAreNotTakenForThoseWhoseNewClusterIsMade(t *testing.T) {
	t.Parallel()
	u := playedUnit(observetest.Three(t), new(observetest.Machine))
	const one, two = "/var/backups/ovn-central/20261123T190312Z", "/var/backups/ovn-central/20261124T190312Z"
	const way = "nb: another recovery or restore is under way, whose new cluster is made; to go on with it, run: juju run ovn-central/0 "
	for name, c := range map[string]struct {
		made, typed string
		refusals    []string
	}{
		"the same backup":              {made: one, typed: one},
		"another backup":               {one, two, []string{way + "restore from=" + one + " database=nb i-really-mean-it=true"}},
		"this unit's file":             {one, "", []string{way + "restore from=" + one + " database=nb i-really-mean-it=true"}},
		"a backup after a recovery":    {"", two, []string{way + "recover database=nb i-really-mean-it=true"}},
		"the same unit's file, as yet": {},
	} {
		typed := RecoverRequest{Databases: []ovndb.Database{ovndb.NB}, Backup: c.typed}
		asked, refusals := u.judgeRecovery(new(record), typed, beingMade(recovery.Request{Backup: c.made}), new(RecoverResult))
		assert.Equal(t, c.refusals, refusals, name)
		assert.Len(t, asked, 1-len(c.refusals), name)
	}
}

// A unit may be lost after the new cluster was made, and one that was given up be removed.
func TestCommandThatIsTypedAgainGivesUpWhatWasLostSince(t *testing.T) {
	t.Parallel()
	u := playedUnit(observetest.Three(t), new(observetest.Machine))
	states := beingMade(recovery.Request{GivenUp: []string{"ovn-central/2"}})
	state := states[ovndb.NB]
	state.Peers = []recovery.Peer{{Unit: "ovn-central/4", Read: true, Copy: &recovery.Copy{Cluster: state.Cluster}}}
	states[ovndb.NB] = state
	typed := RecoverRequest{Databases: []ovndb.Database{ovndb.NB}, GivenUp: []raft.IDArgument{{Text: "ovn-central/2"}, {Text: "ovn-central/4"}}}
	asked, refusals := u.judgeRecovery(new(record), typed, states, new(RecoverResult))
	assert.Empty(t, refusals)
	assert.Equal(t, []string{"ovn-central/2", "ovn-central/4"}, asked[ovndb.NB].GivenUp)
	assert.Equal(t, state.Request.New, asked[ovndb.NB].New)

	typed.GivenUp = append(typed.GivenUp, raft.IDArgument{Text: "ovn-central/44"})
	_, refusals = u.judgeRecovery(new(record), typed, states, new(RecoverResult))
	assert.Equal(t, []string{"ovn-central/44 is neither a unit nor an identity of a member"}, refusals)
}

// A command is completed with what is lost, in the order of the units, until it can act.
func TestCompletedRecovery(t *testing.T) {
	t.Parallel()
	u := playedUnit(observetest.Three(t), new(observetest.Machine))
	states := map[ovndb.Database]recovery.State{}
	for i, db := range ovndb.Databases() {
		cluster := observetest.Cluster(db)
		s := recovery.State{Cluster: cluster, Own: &recovery.Copy{Cluster: cluster, Term: 2, Index: 10}, Members: []recovery.Member{
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
	judge := func(r RecoverRequest) (RecoverResult, string, []string) {
		var found RecoverResult
		databases := r.Databases
		if databases == nil {
			r.Databases = ovndb.Databases()
		}
		_, refusals := u.judgeRecovery(new(record), r, states, &found)
		r.Databases = databases
		return found, u.Env.Version.Render(r.completed(u.Env.Unit, found)), refusals
	}
	member := string(observetest.Full("3974"))
	const act = "juju run ovn-central/0 recover "

	found, next, refusals := judge(RecoverRequest{DryRun: true})
	assert.Empty(t, refusals)
	assert.Len(t, found.Lacking, 2, "each reason once")
	assert.Equal(t, []string{member, "ovn-central/2", "ovn-central/10"}, found.GiveUp)
	assert.Equal(t, act+"give-up="+member+",ovn-central/2,ovn-central/10 dry-run=true", next)

	given := []raft.IDArgument{{Text: "3974", Number: true}, {Text: "ovn-central/10"}}
	found, next, _ = judge(RecoverRequest{DryRun: true, GivenUp: given})
	assert.Len(t, found.Lacking, 1)
	assert.Equal(t, act+"give-up="+member+",ovn-central/2,ovn-central/10 dry-run=true", next)

	found, next, _ = judge(RecoverRequest{DryRun: true, GivenUp: append(given, raft.IDArgument{Text: "ovn-central/2"})})
	assert.Empty(t, found.Lacking)
	assert.Equal(t, act+"give-up="+member+",ovn-central/2,ovn-central/10 i-really-mean-it=true", next)

	_, next, _ = judge(RecoverRequest{Databases: ovndb.Databases()[1:], GivenUp: given[1:], Backup: "/b/1", Force: true, Again: true})
	assert.Equal(t, "juju run ovn-central/0 restore from=/b/1 database=sb give-up=ovn-central/2,ovn-central/10 force=true again=true dry-run=true", next)
}
