package node

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/shelltest"
)

// firstCode is the code of the first detail of a refusal.
func firstCode(t *testing.T, refused *answer.Status) finding.Code {
	t.Helper()
	require.NotNil(t, refused)
	require.NotEmpty(t, refused.Details.MessageList)
	return finding.Code(refused.Details.MessageList[0].Code)
}

func TestMayGo_too_few_members_stay(t *testing.T) {
	t.Parallel()
	leaves := maintenance.Member{Database: "OVN_Northbound", Short: "aa02"}
	health := maintenance.DatabaseHealth{Name: "OVN_Northbound", Accessible: true, HasRaftLeader: true, Members: 3, Up: 3}
	for _, short := range []string{"aa00", "aa01", "aa02"} {
		member := maintenance.Member{Database: health.Name, Short: short}
		health.Each = append(health.Each, maintenance.MemberHealth{Member: member, Up: true})
	}
	s := Service{
		Health:  func(context.Context) []maintenance.DatabaseHealth { return []maintenance.DatabaseHealth{health} },
		Command: func(command.Command) string { return "" },
	}
	n := maintenance.Node{Members: []maintenance.Member{leaves}}
	assert.Nil(t, s.mayGo(t.Context(), n, nil, 2))
	assert.Equal(t, finding.FewUpThen, firstCode(t, s.mayGo(t.Context(), n, nil, 3)))
}

func TestKeeps_candidate(t *testing.T) {
	t.Parallel()
	x := snapshot{inventory: &gateway.Inventory{State: schedule.State{
		Groups: []schedule.Group{{Name: "lrp-1", Candidates: []schedule.Candidate{{Chassis: "c1"}}}},
	}}}
	refused := new(Service).keeps(x, maintenance.Node{Chassis: "c1", Life: maintenance.Absent})
	assert.Equal(t, finding.NodeCandidate, firstCode(t, refused))
}

func TestRefusals_have_codes(t *testing.T) {
	t.Parallel()
	undone := new(Service).ended(maintenance.Node{}, maintenance.GivenUp, maintenance.Drainer{})
	assert.Equal(t, "DRAIN_UNDONE", undone.Metadata["finding"])
	assert.Equal(t, "CORDONS_CONTENDED", contended().Metadata["finding"])
}

// S15: a name in the database must not become a command.
func TestRemove_command_is_quoted(t *testing.T) {
	t.Parallel()
	for _, name := range shelltest.Hostile {
		x := snapshot{inventory: gateway.BuildInventory(ovsdb.Northbound{
			Groups: []ovsdb.HAChassisGroup{
				{UUID: "H", Name: name, Members: []string{"M"}},
			}, HAChassis: map[string]ovsdb.CandidateRow{"M": {UUID: "M", Chassis: name + "1"}},
		}, ovsdb.Southbound{})}
		refused := new(Service).keeps(x, maintenance.Node{Chassis: name + "1", Life: maintenance.Absent})
		require.NotNil(t, refused)
		require.Len(t, refused.Details.MessageList, 1)
		_, command, found := strings.Cut(refused.Details.MessageList[0].Message, "run: ")
		require.True(t, found)
		assert.Equal(t, []string{"ovn-nbctl", "ha-chassis-group-remove-chassis", name, name + "1"},
			shelltest.Words(t, command))
	}
}
