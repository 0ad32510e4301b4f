package maintenance

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Departure proves that the charm's units on a node's machine have left the application, and its members the committed
// configurations of both clusters (rule R6). Pass every look to [Departure.Observe], in order of time.
type Departure struct {
	units   []string
	targets []*departing
}

type departing struct {
	member Member
	proof  raft.RemovalWatcher
}

// Observe takes the units and members on the machine, the claim that matched them, and the health of the clusters. It
// returns what is left; unknown parts count as left.
func (d *Departure) Observe(units []string, members []Member, claim string, unknown []string,
	all []DatabaseHealth,
) (left []finding.Finding) {
	say := func(code finding.Code, name string, args finding.Args, ways ...finding.Remedy) {
		left = append(left, finding.New(code, finding.Subject{Name: name}, args, ways...))
	}
	for _, what := range unknown {
		say(finding.MachineUnknown, "", finding.Args{Detail: what})
	}
	d.units = append(d.units, units...)
	for _, u := range units {
		say(finding.UnitStays, u, finding.Args{Value: claim}, finding.Do(command.RemoveUnit(u)))
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
			say(finding.MembersUnread, h.Name, finding.Args{Detail: h.Why})
		}
	}
	for _, t := range d.targets {
		at := slices.IndexFunc(all, func(h DatabaseHealth) bool { return h.Name == t.member.Database && h.Accessible })
		if at < 0 || t.proof.Observe(all[at].Status) {
			continue // it is reported above, or proved
		}
		left = append(left, t.finding(all[at].each(t.member)))
	}
	return left
}

// finding describes a member that is not proved to have left; m is nil if it is not in the configuration.
func (t *departing) finding(m *MemberHealth) finding.Finding {
	args := finding.Args{Member: finding.Server{ID: t.member.Short}}
	if m == nil {
		if t.proof.Absent() {
			args.Detail = "it has left, but that is not committed yet"
		}
		return finding.New(finding.MemberLeaves, finding.Subject{Name: t.member.text()}, args)
	}
	var ways []finding.Remedy
	switch {
	case m.Unit != "":
		args.Value = "of " + m.Unit
	case m.Kick.Action != "":
		args.Value = "of no unit any more"
		ways = append(ways, finding.Do(m.Kick))
	default:
		args.Value = "of an unknown unit: see cluster-status"
	}
	return finding.New(finding.MemberStays, finding.Subject{Name: m.text()}, args, ways...)
}

// each returns the health of a member; nil if it is not in the configuration.
func (d DatabaseHealth) each(m Member) *MemberHealth {
	for _, one := range d.Each {
		if one.same(m) {
			return &one
		}
	}
	return nil
}

// Gone returns all units and members that were observed. Once nothing is left, all of them have left.
func (d *Departure) Gone() (units, members []string) {
	for _, t := range d.targets {
		members = append(members, t.member.text())
	}
	return slices.Compact(slices.Sorted(slices.Values(d.units))), members
}
