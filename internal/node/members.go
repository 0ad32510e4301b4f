package node

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/status"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// RemoveMember waits until what the charm has on a node's machine has left: only that step of a decommission.
func (s *Service) RemoveMember(ctx context.Context, r Request) answer.Status {
	n, refused := s.find(ctx, r.Node)
	if refused != nil {
		return *refused
	}
	return s.awaitMembers(ctx, n, r.Member)
}

// Health is the state of both clusters, by what a unit has observed of them. A cluster that was not observed counts
// as not accessible.
func Health(seen observe.Report) (all []maintenance.DatabaseHealth) {
	for _, d := range ovndb.Databases() {
		one := maintenance.DatabaseHealth{Name: string(d), Why: "it was not checked"}
		for _, c := range seen.Clusters {
			if c.Database != d {
				continue
			}
			_, leads := c.View.Leader()
			one.Accessible, one.Why = c.Condition == ovndb.Serving, string(c.Condition)
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

// CharmOf is what a unit knows of the application, by what it has observed; hostname is that of its machine. The
// machine of a unit, and the members, are unknown until they were read.
func CharmOf(m observe.Application, servers map[ovndb.Database]observe.ServerState,
	hostname string,
) (c maintenance.Charm) {
	if m.Unread != nil {
		c.Unknown = append(c.Unknown, m.Unread.Error())
	}
	at := map[string][]string{}
	for _, d := range ovndb.Databases() {
		l, seen := servers[d]
		if l.Condition != ovndb.Serving {
			why := "it was not checked"
			if seen {
				why = l.Text()
			}
			c.Unknown = append(c.Unknown, fmt.Sprintf("members of %s: %s", d, why))
			continue
		}
		for _, p := range (raft.View{Status: l.Status, Names: m.Names(d)}).Peers() {
			one := member(d, p, m.Owner(d, p))
			if p.Self {
				one.Unit = m.Unit
			}
			c.Members = append(c.Members, one)
			if one.Unit != "" {
				at[one.Unit] = append(at[one.Unit], one.Host)
			}
		}
	}
	for _, name := range slices.SortedFunc(slices.Values(append([]string{m.Unit}, m.Others()...)), unitname.Compare) {
		u, where := maintenance.Unit{Name: name, Addresses: at[name]}, m.Places[name]
		if where.Address != "" {
			u.Addresses = append(u.Addresses, where.Address)
		}
		if u.Hostname = where.Hostname; name == m.Unit {
			u.Hostname = hostname
		}
		slices.Sort(u.Addresses)
		u.Addresses = slices.Compact(u.Addresses)
		if u.Hostname == "" {
			c.Unknown = append(c.Unknown, name+" has not published the name of its machine")
		}
		c.Units = append(c.Units, u)
	}
	return c
}

// mayGo returns why a node may not be decommissioned, by what the clusters would be without what is on its machine
// (R1, 002-6); nil if it may. That is judged again when its unit leaves.
func (s *Service) mayGo(ctx context.Context, n maintenance.Node, unknown []string, minMembers int) *answer.Status {
	var why []answer.Message
	say := func(step string, reason answer.Reason, f finding.Finding) {
		m := s.detail(answer.MessageStep, step, f)
		m.Message = fmt.Sprintf("%s (%d): %s", reason, reason.Code(), m.Message)
		why = append(why, m)
	}
	named := func(code finding.Code, name string, args finding.Args) finding.Finding {
		return finding.New(code, finding.Subject{Name: name}, args)
	}
	for _, what := range unknown {
		say("remove-member", answer.RemoveMemberError, named(finding.MachineUnknown, "", finding.Args{Detail: what}))
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
					named(finding.MembersUnread, now.Name, finding.Args{Detail: now.Why}))
			case !now.Healthy(0):
				say("cluster-ready", answer.ClusterNotAccessible,
					finding.Of(finding.NoQuorum, db, finding.Args{Detail: now.Quorum()}))
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
	f := about(n, finding.NodeNeeded, finding.Args{Detail: why[0].Message},
		s.confirmed(maintenance.OperationDecommission, n))
	return new(s.refuse(answer.DisassociateFailure, f, why...))
}

// awaitMembers waits until the units on the node's machine have left the application, and until its
// members are proved to have left both clusters.
func (s *Service) awaitMembers(ctx context.Context, n maintenance.Node, timeout time.Duration) answer.Status {
	if s.Charm == nil || s.Health == nil {
		return answer.New(answer.Success,
			"this command cannot tell which units are on its machine: where the charm is deployed, run its action")
	}
	begun, said := s.Gateways.Now(), ""
	var departure maintenance.Departure
	carried := map[string]bool{}
	for {
		var left []answer.Message
		x, found, refused := s.findIn(ctx, maintenance.ByChassis(n.Chassis))
		switch {
		case refused == nil || refused.Reason == answer.NotFound: // the chassis may go meanwhile
			if refused == nil {
				n = found
			}
			units, members := x.charm.On(n)
			for _, u := range units {
				carried[u] = true
			}
			if n.Drain != nil {
				members = append(members, n.Drain.Members...)
			}
			all := departure.Observe(units, members, x.charm.Claim(n), x.charm.Unknown, s.Health(ctx))
			if len(all) == 0 {
				return departed(slices.Sorted(maps.Keys(carried)), departure.Gone())
			}
			for _, f := range all {
				left = append(left, s.detail(answer.MessageHold, cmp.Or(f.Args.Member.ID, f.Subject.Name, "unknown"), f))
			}
		case refused.Reason == answer.ClusterNotAccessible: // the server that was connected to may be the one that leaves
			f := finding.New(finding.MachineUnknown, finding.Subject{}, finding.Args{Detail: refused.Message})
			left = []answer.Message{s.detail(answer.MessageStep, "unknown", f)}
		default:
			refused.Reason, refused.Code = answer.RemoveMemberError, answer.RemoveMemberError.Code()
			return *refused
		}
		if text := texts(left); text != said {
			said = text
			s.progress(ctx, "waiting for what is on the machine of %s to leave: %s", n.Name(), said)
		}
		if s.Gateways.Now().Sub(begun) >= timeout || poll.Wait(ctx, min(memberInterval, timeout)) != nil {
			return s.refuse(answer.RemoveMemberError,
				about(n, finding.NodeInUse, finding.Args{Detail: fmt.Sprintf("after %s: %s", timeout, said)}), left...)
		}
	}
}

// departed is the answer that names what has left.
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

// ClusterHealth is the state of both clusters.
func (s *Service) ClusterHealth(ctx context.Context, r Request) answer.Status {
	return maintenance.ClusterHealth(s.Health(ctx), r.MinMembers)
}

// awaitReady waits until every database is healthy; members on the node's machine count for nothing.
func (s *Service) awaitReady(ctx context.Context, n maintenance.Node, timeout time.Duration,
	minMembers int,
) answer.Status {
	if s.Health == nil {
		return answer.New(answer.Success, "this command cannot tell the health of the clusters: see cluster-health")
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
