package plan_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

func disconnect(x *plan.Database) {
	x.Status.State, x.Status.Role, x.Status.Leader = raft.Disconnected, raft.Candidate, raft.UnknownRef
}

func TestDecide_every_member_state(t *testing.T) {
	t.Parallel()
	joining := func(remote string) change {
		return sb(func(x *plan.Database) {
			x.Status.State, x.Status.Leader, x.Status.Remotes = raft.JoiningCluster, raft.UnknownRef, []string{remote}
		})
	}
	led := sb(func(x *plan.Database) { x.Status.Leader = "b001" })
	lost := sb(func(x *plan.Database) { x.Status.Leader, x.JoinLost = "b001", true })
	alone := func(s *plan.State) { s.Peers, s.Units = nil, 1 }
	const (
		member, stranger = "ssl:10.0.0.1:6644", "ssl:10.0.0.8:6644"
		joins            = "waiting SERVER_JOINING sb Count=2 Total=3"
		joinsOne         = "waiting SERVER_JOINING sb Count=1 Total=3"
		joinsAlone       = "waiting SERVER_JOINING sb Total=1"
		nbMoved          = "warning ADDRESS_CHANGED nb Other=ssl:10.0.0.7:6643 Address=ssl:10.0.0.0:6643" + replaceUnit
		sbMoved          = "warning ADDRESS_CHANGED sb Other=ssl:10.0.0.7:6644 Address=ssl:10.0.0.0:6644" + replaceUnit
		twoClusters      = "error TWO_CLUSTERS sb Reasons=CLUSTERS_SERVED (" +
			"CLUSTER_ON ovn-central/1 and ovn-central/2 cccc0002; CLUSTER_ON ovn-central/0 dddd0009)"
	)
	check(t, map[string]situation{
		"joining":                      {joining(member), finds(joins)},
		"joining, peer dying":          {all(joining(member), func(s *plan.State) { s.Peers[0].Dying = true }), finds(joins)},
		"joining, peer gone":           {joining(stranger), does(plan.ArchiveFile, "sb", joins)},
		"joining, peer gone, has led":  {all(joining(stranger), led), finds(joins)},
		"joining, peer gone, no other": {all(joining(stranger), alone), finds(joinsAlone)},
		"joining, peer joins too": {all(joining(member), func(s *plan.State) {
			s.Peers[0].Clusters = map[ovndb.Database]raft.ID{ovndb.NB: nbCluster}
		}), does(plan.ArchiveFile, "sb", joinsOne)},
		"join lost":           {all(joining(member), lost), does(plan.ArchiveFile, "sb", joins)},
		"join lost, no other": {all(joining(member), lost, alone), finds(joinsAlone)},
		"leaving": {
			sb(func(x *plan.Database) { x.Status.State, x.Status.Leader = raft.LeavingCluster, raft.UnknownRef }),
			finds("waiting SERVER_LEAVING sb"),
		},
		"no leader":           {sb(disconnect), decided{}},
		"candidate":           {sb(func(x *plan.Database) { x.Status.Role = raft.Candidate }), decided{}},
		"disconnected":        {sb(func(x *plan.Database) { x.Status.State = raft.Disconnected }), decided{}},
		"no cluster":          {sb(func(x *plan.Database) { x.Cluster = "" }), decided{}},
		"client ports closed": {sb(func(x *plan.Database) { x.ClientsServed = false }), decided{}},
		"no leader, removed": {
			sb(func(x *plan.Database) { disconnect(x); x.Removed = true }),
			does(plan.Leave, "sb", "waiting SERVER_REMOVED sb"),
		},
		"leader, removed": {sb(func(x *plan.Database) { x.Removed = true }), ready()},
		"other cluster": {sb(func(x *plan.Database) { x.Cluster = otherCluster }), finds(
			twoClusters+removeUnits, "error SERVER_OF_OTHER_CLUSTER sb Cluster=dddd0009 Other=cccc0002",
		)},
		"better address": {func(s *plan.State) { s.Better = "10.0.0.7" }, ready(nbMoved, sbMoved)},
		"other address":  {func(s *plan.State) { s.Address = "10.0.0.7" }, ready(nbMoved, sbMoved)},
	})
}

func TestJoin_remotes(t *testing.T) {
	t.Parallel()
	at := func(addresses ...string) (all []string) {
		for _, address := range addresses {
			all = append(all, ovndb.RaftAddress(ovndb.NB, address))
		}
		return all
	}
	members := func(addresses ...string) change {
		return func(s *plan.State) { s.Members = map[ovndb.Database][]string{ovndb.NB: at(addresses...)} }
	}
	// Juju may drop the data of a unit that is being removed and serves the cluster that it has created in a recovery.
	remade := all(members(addressOf(0), addressOf(1)), func(s *plan.State) {
		s.Clusters.IDs[ovndb.NB] = otherCluster
		s.Clusters.Superseded = map[ovndb.Database][]raft.ID{ovndb.NB: {nbCluster}}
		s.Peers[0].Dying = true
	})
	one, two := addressOf(1), addressOf(2)
	for name, tt := range map[string]struct {
		change change
		want   []string
	}{
		"no members known":     {func(*plan.State) {}, at(two, one)},
		"members known":        {members(addressOf(9), two, one), at(two, one)},
		"all have moved":       {members("10.9.9.1", "10.9.9.2"), at(two, one, "10.9.9.1", "10.9.9.2")},
		"one has moved":        {members("10.9.9.1", one), at(two, one, "10.9.9.1")},
		"one had this address": {members(addressOf(0), one), at(two, one)},
		// First the creator, last the units that are being removed.
		"members only": {func(s *plan.State) {
			silent, dying, stranger, joining, six := peer(3), peer(4), peer(5), peer(6), peer(7)
			silent.Address, six.Address = netip.Addr{}, netip.MustParseAddr("fd99::7")
			dying.Dying, joining.Clusters = true, nil
			stranger.Clusters = map[ovndb.Database]raft.ID{ovndb.NB: otherCluster}
			s.Peers = append(s.Peers, silent, dying, stranger, joining, six)
		}, at(two, one, "fd99::7", addressOf(4))},
		"made by dying creator": {all(remade, func(s *plan.State) { s.Clusters.CreatedBy = "ovn-central/1" }), at(one)},
		"made by dying requester": {all(remade, func(s *plan.State) {
			s.Peers[0].Requests = map[ovndb.Database]recovery.Request{ovndb.NB: {Cluster: nbCluster, New: otherCluster}}
		}), at(one)},
		"made by another": {remade, nil},
		"made by staying creator": {all(remade, func(s *plan.State) {
			s.Peers[0].Dying, s.Clusters.CreatedBy = false, "ovn-central/1"
		}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := well()
			s.Databases[ovndb.NB] = plan.Database{Condition: ovndb.Absent}
			tt.change(&s)
			step := plan.Decide(s).Step
			if tt.want == nil {
				assert.Nil(t, step)
				return
			}
			require.NotNil(t, step)
			want := plan.Step{Kind: plan.JoinCluster, Database: ovndb.NB, Cluster: s.Clusters.IDs[ovndb.NB], Remotes: tt.want}
			assert.Equal(t, want, *step)
		})
	}
}

func TestJoin_no_member_known(t *testing.T) {
	t.Parallel()
	const (
		awaited = "waiting CLUSTER_AWAITED nb Unit=ovn-central/2 Cluster=cccc"
		lost    = "error CLUSTER_LOST nb Cluster=cccc0001"
		none    = lost + " Reasons=NONE_SHOWS_IT; CREATOR_GONE ovn-central/9 -> IF_GONE: " + string(finding.DeployAgain)
	)
	members := func(units ...int) change {
		return func(s *plan.State) {
			s.Members = map[ovndb.Database][]string{}
			for _, n := range units {
				s.Members[ovndb.NB] = append(s.Members[ovndb.NB], ovndb.RaftAddress(ovndb.NB, addressOf(n)))
			}
		}
	}
	last := func(p plan.Peer) change { return func(s *plan.State) { s.Peers[1] = p } }
	dying := func(data relation.Data) change {
		return last(plan.Peer{Unit: "ovn-central/2", Dying: true, Data: data})
	}
	read := peer(2)
	read.Servers, read.Clusters = nil, nil
	empty, unread, joining := read, read, read
	empty.Data, unread.Data, joining.Servers = relation.Read(nil), relation.Data{}, peer(2).Servers
	situations := map[string]situation{}
	for name, tt := range map[string]struct {
		creator int
		change  change
		want    decided
	}{
		"creator not ready":          {2, last(read), finds(awaited)},
		"creator unknown":            {-1, last(read), finds("waiting CLUSTER_AWAITED nb Unit=a unit Cluster=cccc")},
		"created here":               {0, last(read), finds(lost + " Reasons=FILE_GONE" + deployAgain)},
		"creator gone":               {9, last(read), finds(none)},
		"creator gone, peer empty":   {9, last(empty), finds(awaited + " Reasons=PUBLISHED_NOTHING")},
		"creator gone, peer unread":  {9, last(unread), finds(awaited + " Reasons=IS_UNREAD")},
		"creator gone, peer joins":   {9, last(joining), finds(awaited + " Reasons=IS_JOINING")},
		"creator gone, member known": {9, members(2), finds(awaited + " Reasons=IS_MEMBER")},
		"creator gone, members gone": {9, members(9), finds(none)},
		"creator dying, unread":      {2, dying(relation.Data{}), finds(awaited + " Reasons=DYING_AND_UNREAD")},
		"creator dying, empty":       {2, dying(relation.Read(nil)), finds(awaited + " Reasons=DYING_AND_SILENT")},
		"creator dying, not joined":  {2, dying(published), finds(awaited + " Reasons=DYING_AND_MAY_HAVE_JOINED")},
		"no other unit":              {-1, func(s *plan.State) { s.Peers = nil }, finds(lost + deployAgain)},
		"creator dying, member known": {
			2, all(dying(relation.Data{}), members(0, 2)), does(plan.JoinCluster, "nb", "waiting SERVER_JOINING nb Total=3"),
		},
	} {
		situations[name] = situation{all(func(s *plan.State) {
			set(s, plan.Database{Condition: ovndb.Absent}, ovndb.NB)
			for i := range s.Peers {
				s.Peers[i].Servers, s.Peers[i].Clusters = nil, nil
			}
			if s.Clusters.CreatedBy = ""; tt.creator >= 0 {
				s.Clusters.CreatedBy = fmt.Sprintf("ovn-central/%d", tt.creator)
			}
		}, tt.change), tt.want}
	}
	check(t, situations)
}

// The leader removes members for their units. The only hook of a unit that is being removed may be a `stop` that is
// refused until this member is gone. So the first unit that stays removes the member if the leader is such a unit, or
// if the leader requests its own removal, since its server may run with different data.
func TestRejoin_removed_by_first_unit_that_stays(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		asks   int
		change func(s *plan.State)
		does   bool
	}{
		"other leads":               {2, func(*plan.State) {}, false},
		"leader dying":              {2, func(s *plan.State) { s.Peers[0].Dying = true }, true},
		"leader dying, unit before": {2, func(s *plan.State) { s.Peers[0].Dying = true; preceded(s, before()) }, false},
		"follower dying": {2, func(s *plan.State) {
			p := before()
			p.Dying, p.Servers = true, nil
			s.Peers = append(s.Peers, p)
		}, false},
		"no leader": {2, func(s *plan.State) {
			s.Peers[0].Dying = true
			edit(s, ovndb.SB, func(x *plan.Database) { x.Status.Leader = raft.UnknownRef })
		}, false},
		"asker dying":              {2, func(s *plan.State) { s.Peers[0].Dying, s.Peers[1].Dying = true, true }, false},
		"leader asks":              {1, func(*plan.State) {}, true},
		"leader asks, unit before": {1, func(s *plan.State) { preceded(s, before()) }, false},
		"asked for former server": {1, func(s *plan.State) {
			s.Peers[0].Rejoin[ovndb.SB] = "dddddddd-0000-4000-8000-000000000000"
			s.Peers[1].Rejoin = map[ovndb.Database]raft.ID{ovndb.SB: serverOf(ovndb.SB, 2)}
		}, false},
	} {
		s := well()
		asking, id := s.Peers[tt.asks-1].Unit, serverOf(ovndb.SB, tt.asks)
		s.Peers[tt.asks-1].Rejoin = map[ovndb.Database]raft.ID{ovndb.SB: id}
		tt.change(&s)
		d := plan.Decide(s)
		if !tt.does {
			assert.False(t, d.Step != nil && d.Step.Kind == plan.RemoveDamaged, "%s: %v", name, d.Step)
			continue
		}
		require.NotNil(t, d.Step, name)
		want := plan.Step{
			Kind: plan.RemoveDamaged, Database: ovndb.SB, Unit: asking, Server: id,
		}
		assert.Contains(t, d.Step.Reason, asking, name)
		d.Step.Reason = ""
		assert.Equal(t, want, *d.Step, name)
	}
}

func preceded(s *plan.State, p plan.Peer) { s.Unit, s.Peers = "ovn-central/9", append(s.Peers, p) }

// before returns a unit that stays, precedes ovn-central/9, and is connected.
func before() plan.Peer {
	p := peer(1)
	p.Unit = "ovn-central/3"
	return p
}

// R18: a client of the database wrote the target.
func TestListenerWithoutTLS(t *testing.T) {
	t.Parallel()
	const uuid = "0e0eaf6e-6b3c-4d55-8a59-6d1ffae6ab2e"
	s := well()
	edit(&s, ovndb.SB, func(x *plan.Database) {
		x.WithoutTLS = []plan.Listener{{Target: "ptcp:1:\x1b" + strings.Repeat("x", 500), UUID: uuid}}
	})
	other := func(f finding.Finding) bool { return f.Code != finding.ListenerWithoutTLS }
	all := slices.DeleteFunc(plan.Decide(s).Findings, other)
	require.Len(t, all, 1)
	assert.Equal(t, `"ptcp:1:\x1b`+strings.Repeat("x", 52)+`"`, all[0].Args.Value)
	require.Len(t, all[0].Remedies, 1)
	words := []string{"sudo", "ovn-sbctl", "--no-leader-only", "remove", "SB_Global", ".", "connections", uuid}
	assert.Equal(t, command.OnMachine(s.Unit, words...), all[0].Remedies[0].Command)
}
