package node

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/status"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// RemoveMember waits until the charm's units and members on a node's machine have left. This is one step of a
// decommission.
func (s *Service) RemoveMember(ctx context.Context, r Request) answer.Status {
	_, n, refused := s.find(ctx, r.Node)
	if refused != nil {
		return *refused
	}
	return s.awaitMembers(ctx, n, r.Member)
}

// Health returns the health of both clusters, as a unit has observed it. A cluster that was not observed counts as not
// accessible.
func Health(seen observe.Report) (all []maintenance.DatabaseHealth) {
	for _, d := range ovndb.Databases() {
		one := maintenance.DatabaseHealth{Name: string(d), Why: finding.Reason{Code: finding.NotChecked}}
		for _, c := range seen.Clusters {
			if c.Database != d {
				continue
			}
			_, leads := c.View.Leader()
			one.Accessible, one.Why = c.Condition == ovndb.Serving, finding.Quote(string(c.Condition))
			one.Standalone = c.ServesStandalone()
			one.HasRaftLeader, one.Members, one.Up, one.Status = leads, c.Quorum.Members, c.Quorum.Up, c.Status
			for _, row := range c.Rows {
				one.Each = append(one.Each, maintenance.MemberHealth{
					Member: member(d, row.Peer, row.Owner), Up: row.Up,
					Kick: status.KickOf(seen, d, row),
				})
			}
		}
		all = append(all, one)
	}
	return all
}

func member(d ovndb.Database, p raft.Peer, o observe.Owner) maintenance.Member {
	return maintenance.Member{
		Database: string(d), Short: p.Short, Address: p.Address, Host: ovndb.HostOf(p.Address),
		Unit: o.Unit,
	}
}

// CharmOf returns the application's units and members, as a unit has observed them; hostname is the name of its
// machine.
func CharmOf(m observe.Application, servers map[ovndb.Database]observe.ServerState,
	hostname string,
) (c maintenance.Charm) {
	if m.Unread != nil {
		c.Unknown = append(c.Unknown, finding.Cause(m.Unread))
	}
	for _, d := range ovndb.Databases() {
		switch server, seen := servers[d]; {
		case !seen:
			c.Unknown = append(c.Unknown, membersUnknown(d, finding.Reason{Code: finding.NotChecked}))
		case server.Condition != ovndb.Serving:
			c.Unknown = append(c.Unknown, membersUnknown(d, server.Reason()))
		default:
			c.Members = append(c.Members, members(m, d, server)...)
		}
	}
	for _, name := range slices.SortedFunc(slices.Values(append([]string{m.Unit}, m.Others()...)), unitname.Compare) {
		place := m.Places[name]
		if name == m.Unit {
			place.Hostname = hostname
		}
		addUnit(&c, name, place)
	}
	return c
}

func membersUnknown(d ovndb.Database, why finding.Reason) finding.Reason {
	return finding.Reason{Code: finding.MembersOf, Name: string(d), Because: []finding.Reason{why}}
}

func addUnit(c *maintenance.Charm, name string, place observe.Place) {
	if place.Hostname == "" {
		c.Unknown = append(c.Unknown, finding.Reason{Code: finding.MachineUnnamed, Name: name})
	}
	c.Units = append(c.Units, maintenance.Unit{Name: name, Hostname: place.Hostname})
	if place.Address != "" {
		c.Add(name, place.Address)
	}
	for _, m := range c.Members {
		if m.Unit == name {
			c.Add(name, m.Host)
		}
	}
}

// members returns the members of a database's cluster, by the status of this unit's server.
func members(m observe.Application, d ovndb.Database, server observe.ServerState) (all []maintenance.Member) {
	for _, p := range (raft.View{Status: server.Status, Names: m.Names(d)}).Peers() {
		one := member(d, p, m.Owner(d, p))
		if p.Self {
			one.Unit = m.Unit
		}
		all = append(all, one)
	}
	return all
}

// mayGo returns why a node may not be decommissioned, or nil if it may. It judges the clusters without the members on
// the node's machine (R1, 002-6). That is judged again when the unit leaves.
func (s *Service) mayGo(ctx context.Context, n maintenance.Node, unknown []finding.Reason,
	minMembers int,
) *answer.Status {
	var why []answer.Message
	say := func(step string, reason answer.Reason, f finding.Finding) {
		m := s.detail(answer.MessageStep, step, f)
		m.Message = fmt.Sprintf("%s (%d): %s", reason, reason.Code(), m.Message)
		why = append(why, m)
	}
	named := func(code finding.Code, name string, args finding.Args) finding.Finding {
		return finding.New(code, finding.Subject{Name: name}, args)
	}
	for _, why := range unknown {
		say("remove-member", answer.RemoveMemberError, named(finding.MachineUnknown, "", why.Args()))
	}
	if s.Health != nil {
		all := s.Health(ctx)
		if len(all) == 0 {
			say("cluster-ready", answer.ClusterNotAccessible, named(finding.MembersUnread, "the databases", finding.Args{}))
		}
		for _, now := range all {
			then, db := now.Without(n.Members), ovndb.Database(now.Name)
			switch {
			case !now.Accessible:
				say("cluster-ready", answer.ClusterNotAccessible,
					named(finding.MembersUnread, now.Name, now.Why.Args()))
			case !now.Healthy(0):
				say("cluster-ready", answer.ClusterNotAccessible,
					finding.Of(finding.NoQuorum, db, finding.Args{Reasons: now.Quorum()}))
			case !then.Healthy(0):
				say("remove-member", answer.RemoveMemberError, finding.Of(finding.QuorumWouldBeLost, db, finding.Args{
					Count: now.Up, Total: now.Members, After: finding.Tally{Up: then.Up, Members: then.Members},
				}))
			case !then.Healthy(minMembers):
				say("cluster-ready", answer.ClusterNotAccessible,
					named(finding.FewUpThen, now.Name, finding.Args{Count: then.Up, Total: minMembers}))
			}
		}
	}
	if len(why) == 0 {
		return nil
	}
	f := about(n, finding.NodeNeeded, finding.Quote(why[0].Message).Args(),
		s.way(maintenance.OperationDecommission, n))
	return new(s.refuse(answer.DisassociateFailure, f, why...))
}

// awaitMembers waits until the units on the node's machine have left the application, and until its
// members are proved to have left both clusters.
func (s *Service) awaitMembers(ctx context.Context, n maintenance.Node, timeout time.Duration) answer.Status {
	if s.Charm == nil || s.Health == nil {
		return skip(finding.Reason{
			Code:  finding.UnitsUnseen,
			Value: ofCharm(maintenance.OperationDecommission, command.Param{Key: "node", Value: n.Typed()}),
		})
	}
	var departure maintenance.Departure
	var left []answer.Message
	var ended *answer.Status
	said := ""
	tell := func() {
		if text := texts(left); text != said {
			said = text
			s.progress(ctx, "waiting for what is on the machine of %s to leave: %s", n.Name(), said)
		}
	}
	if !poll.Await(ctx, timeout, min(memberInterval, timeout), tell, func() bool {
		left, ended = s.lookAtMembers(ctx, &n, &departure)
		return ended != nil
	}) {
		why := finding.Reason{Code: finding.AfterWaiting, Age: timeout, Because: []finding.Reason{finding.Quote(texts(left))}}
		return s.refuse(answer.RemoveMemberError, about(n, finding.NodeInUse, why.Args()), left...)
	}
	return *ended
}

// lookAtMembers returns the units and members that are left on the node's machine. ended is nil if any is left or
// unknown. It updates the node.
func (s *Service) lookAtMembers(ctx context.Context, n *maintenance.Node,
	departure *maintenance.Departure,
) (left []answer.Message, ended *answer.Status) {
	x, found, refused := s.find(ctx, maintenance.ByChassis(n.Chassis))
	switch {
	case refused == nil:
		*n = found
	case refused.Reason == answer.ClusterNotAccessible: // its server may be the member that leaves
		f := finding.New(finding.MachineUnknown, finding.Subject{}, finding.Quote(refused.Message).Args())
		return []answer.Message{s.detail(answer.MessageStep, "unknown", f)}, nil
	case refused.Reason != answer.NotFound: // the chassis may have been removed meanwhile
		refused.Reason, refused.Code = answer.RemoveMemberError, answer.RemoveMemberError.Code()
		return nil, refused
	}
	units, members, claim := x.charm.On(*n)
	if n.Drain != nil {
		members = append(members, n.Drain.Members...)
	}
	all := departure.Observe(units, members, claim, x.charm.Unknown, s.Health(ctx))
	if len(all) == 0 {
		return nil, new(departed(departure.Gone()))
	}
	for _, f := range all {
		left = append(left, s.detail(answer.MessageHold, cmp.Or(f.Args.Member.ID, f.Subject.Name, "unknown"), f))
	}
	return left, nil
}

func departed(units, members []string) answer.Status {
	var parts []string
	switch len(units) {
	case 0:
	case 1:
		parts = append(parts, units[0]+" has left")
	default:
		parts = append(parts, strings.Join(units, ", ")+" have left")
	}
	if len(members) > 0 {
		parts = append(parts, "gone from the committed configuration: "+strings.Join(members, ", "))
	}
	if len(parts) == 0 {
		parts = append(parts, "no unit of this application is on its machine, and no member of either cluster")
	}
	return answer.New(answer.Success, strings.Join(parts, "; "))
}

func texts(all []answer.Message) string {
	var parts []string
	for _, m := range all {
		parts = append(parts, m.Message)
	}
	return strings.Join(parts, "; ")
}

// ClusterHealth returns the answer about the health of both clusters.
func (s *Service) ClusterHealth(ctx context.Context, r Request) answer.Status {
	return maintenance.ClusterHealth(s.Health(ctx), r.MinMembers)
}

// ofCharm formats an action of the charm for a text of the command line, which does not know the unit.
func ofCharm(action string, params ...command.Param) string {
	return juju.Version{}.Render(command.Command{Unit: "ovn-central/leader", Action: action, Params: params})
}

// awaitReady waits until every database is healthy without the members on the node's machine.
func (s *Service) awaitReady(ctx context.Context, n maintenance.Node, timeout time.Duration,
	minMembers int,
) answer.Status {
	if s.Health == nil {
		return skip(finding.Reason{Code: finding.HealthUnseen, Value: ofCharm("cluster-health")})
	}
	var health answer.Status
	tell := func() { s.progress(ctx, "waiting for the clusters: %s", health.Message) }
	if !poll.Await(ctx, timeout, min(readyInterval, timeout), tell, func() bool {
		all := s.Health(ctx)
		for i := range all {
			all[i] = all[i].Without(n.Members)
		}
		health = maintenance.ClusterHealth(all, minMembers)
		return maintenance.AllHealthy(all, minMembers)
	}) {
		health.Reason, health.Code, health.Status = answer.ClusterNotAccessible, answer.ClusterNotAccessible.Code(), "Failure"
	}
	return health
}
