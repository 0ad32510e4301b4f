package maintenance

import (
	"fmt"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// DatabaseHealth is the health of one database's cluster.
type DatabaseHealth struct {
	// Name is the database's name, such as OVN_Northbound.
	Name string
	// Accessible reports whether a server answered; if not, Why describes its condition.
	Accessible bool
	Why        finding.Reason
	// Standalone reports whether a server answered that its database is not clustered. Such a database has no members to
	// ask, so it is not accessible.
	Standalone bool
	// HasRaftLeader reports whether the server knows a leader of the database.
	HasRaftLeader bool
	Members, Up   int
	// Each has the members; Status is the server's answer.
	Each   []MemberHealth
	Status raft.Status
}

// MemberHealth is the health of one member.
type MemberHealth struct {
	Member
	Up bool
	// Kick is the command that removes the member if it no longer belongs to a unit (rule R16).
	Kick command.Command
}

// Without returns the health without the members that will leave with a node.
func (d DatabaseHealth) Without(gone []Member) DatabaseHealth {
	for _, m := range gone {
		if one := d.each(m); one != nil {
			d.Members--
			if one.Up {
				d.Up--
			}
		}
	}
	return d
}

// Quorum returns how many members are up, and whether a leader is known.
func (d DatabaseHealth) Quorum() []finding.Reason {
	all := []finding.Reason{{Code: finding.UpNow, Count: d.Up, Total: d.Members}}
	if !d.HasRaftLeader {
		all = append(all, finding.Reason{Code: finding.LeaderUnknown})
	}
	return all
}

// Healthy reports whether the cluster has a leader, a majority, and at least minMembers members that are up.
// A standalone database is healthy if one member is enough.
func (d DatabaseHealth) Healthy(minMembers int) bool {
	if d.Standalone {
		return minMembers <= 1
	}
	return d.Accessible && d.HasRaftLeader && d.Up >= max(d.Members/2+1, minMembers)
}

// AllHealthy reports whether every database is healthy. It returns false if no database is known.
func AllHealthy(all []DatabaseHealth, minMembers int) bool {
	return len(all) > 0 && !slices.ContainsFunc(all, func(d DatabaseHealth) bool { return !d.Healthy(minMembers) })
}

// detail describes the members and the leader of an accessible database.
func (d DatabaseHealth) detail() finding.Reason {
	leader := finding.Reason{Code: finding.LeaderUnknown}
	switch {
	case d.Standalone:
		return finding.Reason{Code: finding.UpStandalone}
	case d.HasRaftLeader:
		leader.Code = finding.LeaderKnown
	}
	return finding.Reason{
		Code:    finding.Listed,
		Because: []finding.Reason{{Code: finding.MembersUp, Count: d.Up, Total: d.Members}, leader},
	}
}

// ClusterHealth returns the answer about all databases. An unhealthy database is not a failure. The answer is a failure
// if a database could not be asked, or if none is known.
func ClusterHealth(all []DatabaseHealth, minMembers int) answer.Status {
	var messages []answer.Message
	healthy, inaccessible := 0, 0
	for _, d := range all {
		m := answer.Message{Message: "Unhealthy", Kind: answer.MessageHealth, Name: d.Name}
		switch {
		case !d.Accessible && !d.Standalone:
			why := finding.Reason{Code: finding.DatabaseUnreached, Name: d.Name}
			if !d.Why.IsZero() {
				why.Because = []finding.Reason{d.Why}
			}
			m.Message, m.Error = why.String(), true
			inaccessible++
		case d.Healthy(minMembers):
			m.Message = "Healthy"
			healthy++
		}
		messages = append(messages, m)
		if d.Accessible || d.Standalone {
			messages = append(messages, answer.Message{Message: d.detail().String(), Kind: answer.MessageStep, Name: d.Name})
		}
	}
	message := fmt.Sprintf("databases healthy: %d of %d", healthy, len(all))
	if inaccessible > 0 || len(all) == 0 {
		return answer.New(answer.ClusterNotAccessible, message, messages...)
	}
	return answer.New(answer.Success, message, messages...)
}

// Departure proves that the charm's units on a node's machine have left the application, and that its members have left
// the committed configurations of both clusters (rule R6). Pass every look to [Departure.Observe], in order of time.
type Departure struct {
	units   []string
	targets []*departing
}

type departing struct {
	member Member
	proof  raft.RemovalWatcher
}

// Observe takes the units and members on the machine, the claim that matched them, and the health of the clusters. It
// returns those that are left; an unknown one counts as left.
func (d *Departure) Observe(units []string, members []Member, claim finding.ReasonCode, unknown []finding.Reason,
	all []DatabaseHealth,
) (left []finding.Finding) {
	say := func(code finding.Code, name string, args finding.Args, ways ...finding.Remedy) {
		left = append(left, finding.New(code, finding.Subject{Name: name}, args, ways...))
	}
	for _, why := range unknown {
		say(finding.MachineUnknown, "", why.Args())
	}
	d.units = append(d.units, units...)
	for _, u := range units {
		say(finding.UnitStays, u, finding.Args{Reasons: finding.Because(claim)}, finding.Do(command.RemoveUnit(u)))
	}
	for _, m := range members {
		if !slices.ContainsFunc(d.targets, func(t *departing) bool { return t.member.same(m) }) {
			d.targets = append(d.targets, &departing{member: m, proof: raft.RemovalWatcher{Target: m.Short, Address: m.Address}})
		}
	}
	if len(all) == 0 {
		say(finding.MembersUnread, "the databases", finding.Args{})
	}
	for _, h := range all {
		if !h.Accessible {
			say(finding.MembersUnread, h.Name, h.Why.Args())
		}
	}
	for _, t := range d.targets {
		at := slices.IndexFunc(all, func(h DatabaseHealth) bool { return h.Name == t.member.Database && h.Accessible })
		if at < 0 || t.proof.Observe(all[at].Status) {
			continue // it is reported above, or proved to have left
		}
		left = append(left, t.finding(all[at].each(t.member)))
	}
	return left
}

// finding describes a member that is not proved to have left; m is nil if the member is not in the configuration.
func (t *departing) finding(m *MemberHealth) finding.Finding {
	args := finding.Args{Member: finding.Server{ID: t.member.Short}}
	if m == nil {
		if t.proof.Absent() {
			args.Reasons = finding.Because(finding.LeaveUncommitted)
		}
		return finding.New(finding.MemberLeaves, finding.Subject{Name: t.member.text()}, args)
	}
	var ways []finding.Remedy
	switch {
	case m.Unit != "":
		args.Reasons = []finding.Reason{{Code: finding.MemberOfUnit, Name: m.Unit}}
	case m.Kick.Action != "":
		args.Reasons = finding.Because(finding.MemberOfNoUnit)
		ways = append(ways, finding.Do(m.Kick))
	default:
		args.Reasons = finding.Because(finding.MemberOfUnknown)
	}
	return finding.New(finding.MemberStays, finding.Subject{Name: m.text()}, args, ways...)
}

// each returns the health of a member, or nil if it is not in the configuration.
func (d DatabaseHealth) each(m Member) *MemberHealth {
	for _, one := range d.Each {
		if one.same(m) {
			return &one
		}
	}
	return nil
}

// Gone returns all units and members that were observed. Once Observe returns nothing, all of them have left.
func (d *Departure) Gone() (units, members []string) {
	for _, t := range d.targets {
		members = append(members, t.member.text())
	}
	return slices.Compact(slices.Sorted(slices.Values(d.units))), members
}
