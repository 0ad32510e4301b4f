package restore

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

func TestDone_repeated_request(t *testing.T) {
	t.Parallel()
	for led, code := range map[bool]finding.Code{true: finding.RecoveryDone, false: finding.RecoveryNotLed} {
		k := requests(recovery.Request{Cluster: "old", New: "new"})
		k.See(relation.Clusters{IDs: map[ovndb.Database]raft.ID{ovndb.NB: "new"}})
		states := map[ovndb.Database]recovery.State{ovndb.NB: {Cluster: "new", Own: &recovery.Copy{HasRaftLeader: led}}}
		done, refused := k.Done(Request{Databases: []ovndb.Database{ovndb.NB}}, states, command.Command{})
		require.Len(t, append(done, refused...), 1)
		assert.Equal(t, code, append(done, refused...)[0].Code)
	}
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
	assert.Equal(t, []string{
		"error RECOVERY_WITHDRAWN nb <- error RECOVERY_NO_COPY nb",
		"waiting RECOVERY_MARK_UNREAD nb Detail=it serves no database",
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
