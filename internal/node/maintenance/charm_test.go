package maintenance_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

func nbMember(short, address, unit string) maintenance.Member {
	return maintenance.Member{
		Database: string(ovndb.NB), Short: short, Address: address, Host: ovndb.HostOf(address), Unit: unit,
	}
}

// If tunnels have their own network, a machine is known only by its name.
func TestCharmOn(t *testing.T) {
	t.Parallel()
	member := nbMember("aa03", "ssl:10.0.0.3:6643", "ovn-central/3")
	charm := maintenance.Charm{
		Units: []maintenance.Unit{
			{Name: "ovn-central/3", Hostname: "Three", Addresses: []string{"10.0.0.3"}},
			{Name: "ovn-central/4", Hostname: "four.lab"},
			{Name: "ovn-central/5"},
		},
		Members: []maintenance.Member{member, nbMember("aa09", "ssl:10.0.0.9:6643", "")},
	}
	for name, test := range map[string]struct {
		node    maintenance.Node
		units   []string
		members []string
		claim   finding.ReasonCode
	}{
		"by the name": {
			maintenance.Node{Hostname: "three.maas", Addresses: []string{"192.0.2.3"}},
			[]string{"ovn-central/3"},
			[]string{"aa03"},
			finding.ClaimsHost,
		},
		"by the address": {
			maintenance.Node{Hostname: "3", Addresses: []string{"192.0.2.3", "10.0.0.3"}},
			[]string{"ovn-central/3"},
			[]string{"aa03"},
			finding.ClaimsTunnel,
		},
		"by both": {
			maintenance.Node{Hostname: "three", Addresses: []string{"10.0.0.3"}},
			[]string{"ovn-central/3"},
			[]string{"aa03"},
			finding.ClaimsHostAndTunnel,
		},
		"another domain": {maintenance.Node{Hostname: "four.maas"}, nil, nil, ""},
		"the same domain": {
			maintenance.Node{Hostname: "FOUR.lab"}, []string{"ovn-central/4"}, nil, finding.ClaimsHost,
		},
		"a name that begins alike": {maintenance.Node{Hostname: "three-2.maas"}, nil, nil, ""},
		"a chassis without a name": {maintenance.Node{}, nil, nil, ""},
		"a member without a unit": {
			maintenance.Node{Hostname: "nine", Addresses: []string{"10.0.0.9"}},
			nil,
			[]string{"aa09"},
			finding.ClaimsTunnel,
		},
		"a chassis that was there once": {
			maintenance.Node{
				Drain: &maintenance.Drain{
					Members: []maintenance.Member{{Database: string(ovndb.NB), Short: "aa09", Address: "ssl:10.0.0.9:6643"}},
				},
			}, nil, []string{"aa09"}, finding.ClaimedBefore,
		},
		"what was there in another cluster": {
			maintenance.Node{
				Drain: &maintenance.Drain{
					Members: []maintenance.Member{{Database: string(ovndb.SB), Short: "aa09", Address: "ssl:10.0.0.9:6643"}},
				},
			}, nil, nil, "",
		},
	} {
		units, members, claim := charm.On(test.node)
		var shorts []string
		for _, m := range members {
			shorts = append(shorts, m.Short)
		}
		assert.Equal(t, test.units, units, name)
		assert.Equal(t, test.members, shorts, name)
		assert.Equal(t, test.claim, claim, name)
	}
}

// R6: a member that is absent from the newest entry may come back; one that is absent from the committed configuration
// does not. Unknown health proves nothing.
func TestR6_departure_needs_commit(t *testing.T) {
	t.Parallel()
	member := nbMember("aa03", "ssl:10.0.0.3:6643", "ovn-central/3")
	health := func(end, uncommitted uint64, each ...maintenance.MemberHealth) []maintenance.DatabaseHealth {
		s := raft.Status{
			State: raft.ClusterMember, Role: raft.Leader, Leader: raft.Self, Log: raft.Log{Start: 2, End: end},
			NotCommitted: uncommitted,
		}
		for _, m := range each {
			s.Servers = append(s.Servers, raft.Member{Short: m.Short, Address: m.Address})
		}
		return []maintenance.DatabaseHealth{
			{Name: string(ovndb.NB), Accessible: true, HasRaftLeader: true, Each: each, Status: s},
		}
	}
	var d maintenance.Departure
	observe := func(units []string, unknown []finding.Reason, all []maintenance.DatabaseHealth, says ...string) {
		t.Helper()
		var said []string
		for _, f := range d.Observe(units, []maintenance.Member{member}, finding.ClaimsTunnel,
			unknown, all) {
			said = append(said, findingtest.Brief(f))
		}
		assert.Equal(t, says, said)
	}
	there := maintenance.MemberHealth{Member: member, Up: true}
	const stays = "error MEMBER_STAYS member aa03 of OVN_Northbound at ssl:10.0.0.3:6643 Member=aa03 Reasons="
	observe([]string{"ovn-central/3"}, nil, health(12, 0, there),
		"error UNIT_STAYS ovn-central/3 Reasons=BY_TUNNEL -> remove-unit ovn-central/3",
		stays+"OF_UNIT ovn-central/3")
	there.Unit = ""
	observe(nil, nil, health(12, 0, there), stays+"OF_UNKNOWN_UNIT")
	there.Kick = command.Command{Unit: "ovn-central/0", Action: "kick"}
	observe(nil, nil, health(12, 0, there), stays+"OF_NO_UNIT -> ovn-central/0 kick")
	observe(nil, nil, health(13, 1),
		"error MEMBER_LEAVES member aa03 of OVN_Northbound at ssl:10.0.0.3:6643 Member=aa03 Reasons=LEAVE_NOT_COMMITTED")
	observe(nil, nil, health(12, 0, there), stays+"OF_NO_UNIT -> ovn-central/0 kick")
	observe(nil, nil, []maintenance.DatabaseHealth{{Name: string(ovndb.NB), Why: finding.Quote("down")}},
		"error MEMBERS_UNREAD OVN_Northbound Detail=down")
	observe(nil, nil, nil, "error MEMBERS_UNREAD the databases")
	observe(nil, []finding.Reason{finding.Quote("Juju")}, health(13, 0), "error MACHINE_UNKNOWN Detail=Juju")
	observe(nil, nil, health(13, 0))
	units, members := d.Gone()
	assert.Equal(t, []string{"ovn-central/3"}, units)
	require.Len(t, members, 1)
	assert.Regexp(t, `\baa03 .*\bOVN_Northbound .*\bssl:10\.0\.0\.3:6643$`, members[0])
}

// 002-6: members on the node count for nothing.
func TestDatabaseHealth_without_node(t *testing.T) {
	t.Parallel()
	one, two := nbMember("aa01", "ssl:10.0.0.1:6643", ""), nbMember("aa02", "ssl:10.0.0.2:6643", "")
	d := maintenance.DatabaseHealth{
		Accessible: true, HasRaftLeader: true, Members: 3, Up: 2,
		Each: []maintenance.MemberHealth{{Member: one, Up: true}, {Member: two}},
	}
	assert.Equal(t, "UP_NOW 1 2", findingtest.Reasons(d.Without([]maintenance.Member{one}).Quorum()...))
	leaderless := d
	leaderless.HasRaftLeader = false
	assert.Equal(t, "UP_NOW 2 3; NO_LEADER_KNOWN", findingtest.Reasons(leaderless.Quorum()...))
	assert.False(t, d.Without([]maintenance.Member{one}).Healthy(0))
	assert.True(t, d.Without([]maintenance.Member{two}).Healthy(0))
	assert.False(t, d.Without([]maintenance.Member{two}).Healthy(3))
	assert.True(t, d.Without([]maintenance.Member{nbMember("aa09", "x", "")}).Healthy(2), "it is no member")
}
