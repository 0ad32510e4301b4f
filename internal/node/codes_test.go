package node

import (
	"context"
	"strings"
	"testing"
	"time"

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

func action(c command.Command) string { return c.Action }

func firstCode(t *testing.T, refused *answer.Status) finding.Code {
	t.Helper()
	require.NotNil(t, refused)
	require.NotEmpty(t, refused.Details.MessageList)
	return finding.Code(refused.Details.MessageList[0].Code)
}

// A zero is a row that its ovn-controller has not written yet: it has not followed any nb_cfg.
func TestAnswered(t *testing.T) {
	at := time.Date(2026, 11, 20, 3, 15, 7, 0, time.UTC)
	assert.Equal(t, map[string]time.Time{"c1": at}, answered([]ovsdb.ChassisRow{
		{Name: "c1", Known: true, Follows: 3, At: at.Add(321 * time.Millisecond)},
		{Name: "c2", Known: true, At: time.UnixMilli(0)},
		{Name: "c3", Known: true, Follows: 3, At: time.UnixMilli(0)},
		{Name: "c4"},
	}))
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
		Command: action,
	}
	n := maintenance.Node{Members: []maintenance.Member{leaves}}
	assert.Nil(t, s.mayGo(t.Context(), n, nil, 2))
	assert.Equal(t, finding.FewUpThen, firstCode(t, s.mayGo(t.Context(), n, nil, 3)))
}

// R13: only a dead, unreferenced node without holds is removed.
func TestR13_node_that_is_needed_is_kept(t *testing.T) {
	t.Parallel()
	x := snapshot{inventory: &gateway.Inventory{State: schedule.State{
		Groups: []schedule.Group{{Name: "lrp-1", Candidates: []schedule.Candidate{{Chassis: "c1"}}}},
	}}}
	s := &Service{Gateways: &gateway.Service{Now: time.Now}, Command: action}
	candidate := maintenance.Node{Chassis: "c1", Life: maintenance.Absent}
	assert.Equal(t, finding.NodeCandidate, firstCode(t, s.keeps(x, candidate)))
	alive := maintenance.Node{Chassis: "c2", Life: maintenance.Up}
	assert.Equal(t, finding.NodeResponds, firstCode(t, s.keeps(x, alive)))
	dead := maintenance.Node{Chassis: "c2", Life: maintenance.Unresponsive}
	assert.Nil(t, s.keeps(x, dead))
	dead.Holds = []maintenance.Hold{{Name: "ovn-bgp-agent"}}
	assert.NotNil(t, s.keeps(x, dead))
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

func nextOf(s *answer.Status) (all []string) {
	for _, m := range s.Details.MessageList {
		if m.Kind == answer.MessageNext {
			all = append(all, m.Name)
		}
	}
	return all
}

func TestKeeps_responding_node_is_stopped_first(t *testing.T) {
	t.Parallel()
	s := Service{Command: action}
	refused := s.keeps(snapshot{inventory: new(gateway.Inventory)}, maintenance.Node{Chassis: "c1", Life: maintenance.Up})
	assert.Equal(t, finding.NodeResponds, firstCode(t, refused))
	assert.Equal(t, []string{"by-hand", "remove-node"}, nextOf(refused))
}

func TestKeeps_VTEP_gateway(t *testing.T) {
	t.Parallel()
	s := Service{Command: action}
	n := maintenance.Node{Chassis: "tor", Life: maintenance.VTEP, Backups: 1}
	refused := s.keeps(snapshot{inventory: new(gateway.Inventory)}, n)
	assert.Equal(t, finding.NodeIsVTEP, firstCode(t, refused))
	assert.Equal(t, []string{"by-hand", "remove-node"}, nextOf(refused), "a decommission would be refused")
}

// The first command is the first to type; the undrain is an alternative.
func TestUnfinishedDrain_commands_are_in_order(t *testing.T) {
	t.Parallel()
	s := Service{Command: action}
	after := finding.Reason{Code: finding.AfterWaiting, Age: time.Hour}
	unfinished := s.unfinishedDrain(maintenance.Node{Chassis: "c1"}, after,
		[]maintenance.Hold{{Name: "gateway", Derived: true}, {Name: "nova-compute", Derived: true}, {Name: "ovn-bgp-agent"}})
	assert.Equal(t, []string{"release", "drain", "undrain"}, nextOf(&unfinished))
	for _, m := range unfinished.Details.MessageList {
		assert.Equal(t, m.Name == "undrain", m.When != "", m.Name)
	}
}

func TestBlocked_names_what_ends_each_cordon(t *testing.T) {
	t.Parallel()
	state := schedule.State{
		Groups: []schedule.Group{{
			Name: "lrp", Candidates: []schedule.Candidate{{Chassis: "c1", Priority: 1}}, Ports: []schedule.Port{{Network: "p"}},
		}},
	}
	for _, name := range []string{"c1", "c2", "c3"} {
		state.Chassis = append(state.Chassis,
			schedule.Chassis{Name: name, Gateway: true, Networks: []string{"p"}, Cordoned: name != "c1"})
	}
	x := snapshot{inventory: &gateway.Inventory{State: state}, nodes: []maintenance.Node{
		{Chassis: "c1"}, {Chassis: "c2", Cordon: new(maintenance.Note)}, {Chassis: "c3", Drain: new(maintenance.Drain)},
	}}
	p := schedule.Drain(state, "c1", nil)
	s := Service{Command: action}
	refused := s.blocked(x, x.nodes[0], p)
	assert.Equal(t, string(finding.DrainBlocked), refused.Metadata["finding"])
	assert.Equal(t, []string{"uncordon", "undrain"}, nextOf(&refused))
}

func TestRestored_counts_each_gateway_once(t *testing.T) {
	t.Parallel()
	changed := []schedule.Change{{Group: "a"}, {Group: "b"}, {Group: "c"}}
	assert.Regexp(t, `^\D*3 \D*$`, restored(changed, nil))
	assert.Regexp(t, `^\D*1 \D* 3$`, restored(changed, []finding.Finding{
		finding.About(finding.CandidatesChanged, "a", finding.Args{}),
		finding.About(finding.CandidatesChanged, "b", finding.Args{}),
		finding.About(finding.GatewayGone, "d", finding.Args{}),
	}))
}

func TestLaterSteps_of_dry_run(t *testing.T) {
	t.Parallel()
	steps := func(s Service, force bool) (names []string) {
		n := maintenance.Node{First: 1, Holds: []maintenance.Hold{{Name: maintenance.HoldMember, Count: 1, Derived: true}}}
		for _, m := range s.laterSteps(n, force) {
			names = append(names, m.Name)
		}
		return names
	}
	assert.Equal(t, []string{"clear-labels", "remove-member", "shutdown"}, steps(Service{}, false))
	health := func(context.Context) []maintenance.DatabaseHealth { return nil }
	assert.Equal(t, []string{"clear-labels", "evict", "remove-member", "cluster-ready", "shutdown"},
		steps(Service{Health: health}, true))
}

func TestUnreachable_dry_run_refuses_like_the_run(t *testing.T) {
	t.Parallel()
	s := Service{Command: action}
	ports := maintenance.Node{Holds: []maintenance.Hold{{Name: maintenance.HoldCompute, Derived: true, Count: 1}}}
	assert.Nil(t, s.unreachable(t.Context(), ports, true))
	for _, dryRun := range []bool{true, false} {
		refused := s.unreachable(t.Context(), maintenance.Node{}, dryRun)
		require.NotNil(t, refused)
		assert.Equal(t, string(finding.NothingForced), refused.Metadata["finding"])
	}
}
