package status

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// Named adds to a finding of one database the units of the members that it names.
func Named(m observe.Application, d ovndb.Database, f finding.Finding) finding.Finding {
	if f.Code == finding.MemberOfOther {
		d = d.Other()
	}
	named := func(s finding.Server) finding.Server {
		if id := raft.ID(s.ID); id != "" {
			p := raft.Peer{Member: raft.Member{Short: id.Short(), Address: s.Address}}
			if len(s.ID) > len(p.Short) {
				p.ID = id
			}
			if o := m.Owner(d, p); o.Unit != "" || o.Was != "" {
				s.Unit = cmp.Or(o.Unit, "was "+o.Was)
			}
		}
		return s
	}
	f.Args.Member = named(f.Args.Member)
	for _, list := range []*[]finding.Server{&f.Args.Members, &f.Args.Down, &f.Args.OneWay} {
		*list = slices.Clone(*list)
		for i, s := range *list {
			(*list)[i] = named(s)
		}
	}
	return f
}

// WithoutLeader returns the remedies if this unit's server has no leader. They name no member as dead: this unit may be
// cut off. If the server follows a leader that does not answer, that leader is leaving or is soon replaced.
func WithoutLeader(m observe.Application, servers ...observe.ServerState) []finding.Remedy {
	clusters, own := Views{}, map[ovndb.Database]string{}
	for _, l := range servers {
		if l.Status.Role == raft.Follower && l.Status.HasLeader() {
			return []finding.Remedy{finding.ByHand(finding.AwaitElection)}
		}
		clusters[l.Database], own[l.Database] = raft.View{Status: l.Status}, string(l.Status.Server)
	}
	other, ways := otherUnit(m, clusters), ElsewhereOrLost(m, clusters)
	kick := KickCommand(other, own, raft.PermitUnitInModel)
	return slices.Insert(ways, 1, finding.If(finding.IfCutOff, kick).For(other))
}

// ElsewhereOrLost returns the remedies if this unit's server does not know the state of the cluster: ask another unit,
// or recover a lost quorum.
func ElsewhereOrLost(m observe.Application, clusters Views) []finding.Remedy {
	other := otherUnit(m, clusters)
	return []finding.Remedy{
		finding.If(finding.ToAskAnother, StatusCommand(other)).For(other),
		finding.If(finding.IfNoneLeads, recoveryPlanCommand(m, clusters)),
	}
}

// blocker is the members of one unit, or one member of an unknown unit, that block a change.
type blocker struct {
	owner   observe.Owner
	targets map[ovndb.Database]string
	// names describe the members.
	names []string
	// mayGo reports whether a kick with the permit is allowed in each of the databases.
	mayGo  bool
	permit raft.Permit
	// noted reports whether one of them is up and counts as down because of a record.
	noted bool
}

// changedByAnother returns the other unit that changes the membership of one of the databases; empty if there is none.
// After the change a member that is down may be up again, or gone.
func changedByAnother(clusters Views, unit string) string {
	for _, d := range ovndb.Databases() {
		if by := clusters[d].ChangedBy; by != unit && by != "" {
			return by
		}
	}
	return ""
}

// blockersOf groups the blockers of plans by unit.
func blockersOf(m observe.Application, plans []raft.Plan, clusters Views) []*blocker {
	var all []*blocker
	byUnit := map[observe.Owner]*blocker{}
	for _, plan := range plans {
		d := plan.Database
		for _, p := range plan.Blockers {
			o := m.Owner(d, p)
			known := o.Unit != "" || o.Was != ""
			b := byUnit[o]
			if b == nil || !known || b.targets[d] != "" {
				b = &blocker{owner: o, targets: map[ovndb.Database]string{}, mayGo: true}
				all = append(all, b)
				byUnit[o] = b
			}
			permit, allowed := raft.WeakestPermit(raft.Change{
				Database: d, View: clusters[d], Target: p.Longest(), UnitInModel: o.Unit,
			})
			b.mayGo, b.permit, b.noted = b.mayGo && allowed, b.permit.Stronger(permit), b.noted || p.Noted
			b.targets[d] = p.Longest()
			b.names = append(b.names, Describe(m, d, p))
		}
	}
	return all
}

// Ways returns the remedies of refusals of both databases, the best first. For each unit whose members block the
// change, one command suffices for both.
func Ways(m observe.Application, plans []raft.Plan, clusters Views) (all []finding.Remedy) {
	if by := changedByAnother(clusters, m.Unit); by != "" {
		return []finding.Remedy{finding.ByHand(finding.AwaitChange).For(by)}
	}
	for _, b := range blockersOf(m, plans, clusters) {
		switch unit := b.owner.Unit; {
		case unit != "":
			for _, r := range WhileDown(m, unit, b.noted) {
				all = append(all, r.For(unit))
			}
		case !b.owner.Stale:
			all = append(all, finding.ByHand(finding.FindOwner).For(strings.Join(b.names, " and ")))
		case b.mayGo:
			all = append(all, finding.Do(kickMembers(m, clusters, b.owner.Was, b.targets, b.permit)))
		default:
			all = append(all, finding.ByHand(finding.StartServer).For(strings.Join(b.names, " and ")))
		}
	}
	return all
}

// WhileDown returns the remedies if members of a unit of the model are down. A lost unit is first removed from the
// model: after a kick alone no finding would name it, and it would join again once its machine is back. After the
// removal its members are stale, and that finding has the command for their kick.
func WhileDown(m observe.Application, unit string, noted bool) []finding.Remedy {
	lost := finding.If(finding.IfLost, command.RemoveByForce(unit))
	if !m.Dying(unit) {
		lost.Then = []command.Command{command.Client("add-unit", unitname.Application(unit))}
	}
	switch {
	case m.Peers[unit].State.Paused: // systemd does not start the services of a paused unit
		return []finding.Remedy{finding.Do(command.Command{Unit: unit, Action: "resume"}), lost}
	case noted: // its next hook removes the record
		return []finding.Remedy{finding.ByHand(finding.AwaitHook)}
	}
	return []finding.Remedy{finding.ByHand(finding.StartMachine), lost}
}

// kickMembers returns the kick of the members of a former unit. It names the unit if that means exactly these members,
// which is shorter; otherwise it names their IDs.
func kickMembers(
	m observe.Application, clusters Views, unit string, targets map[ovndb.Database]string, permit raft.Permit,
) command.Command {
	on := runOn(m, clusters)
	if hasOnly(m, clusters, unit, targets) {
		return kick(on, permit, command.Param{Key: "unit", Value: unit})
	}
	return KickCommand(on, shortened(targets), permit)
}

// hasOnly reports whether a kick of the unit means exactly these members, in both databases. Each must have a record of
// the unit.
func hasOnly(m observe.Application, clusters Views, unit string, targets map[ovndb.Database]string) bool {
	if unit == "" || len(clusters) < len(ovndb.Databases()) {
		return false
	}
	for d, v := range clusters {
		ids := m.ServersOf(d, unit)
		if len(ids) == 0 {
			return false
		}
		for _, p := range v.Peers() {
			if slices.ContainsFunc(ids, p.Is) && p.Longest() != targets[d] {
				return false
			}
		}
	}
	return true
}
