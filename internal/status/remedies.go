package status

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// leftover is the members of a former unit, in one database or in both.
type leftover struct {
	// unit is the former unit; empty if unknown.
	unit    string
	targets map[ovndb.Database]string
	permit  raft.Permit
	finding finding.Finding
	// refused are the databases in which a kick is refused now.
	refused map[ovndb.Database]bool
	// runs reports whether a member that can be kicked is up, needed whether the quorum needs it until the kick.
	runs, needed bool
	// wrong reports whether the member is a server of the other database.
	wrong bool
}

// stale finds the members that belong to no unit (R16), and groups them by former unit.
func stale(r observe.Report) (all []finding.Finding) {
	for _, k := range leftovers(r) {
		f := k.finding
		switch {
		case k.wrong: // has another finding
			continue
		case len(k.refused) == len(k.targets):
		case k.runs && !k.needed:
			f.Remedies = []finding.Remedy{
				finding.ByHand(finding.PowerOff),
				finding.If(finding.OnceMachineOff, k.kick(r, raft.PermitNone)),
			}
		default:
			f.Remedies = []finding.Remedy{finding.Do(k.kick(r, k.permit))}
		}
		all = append(all, f)
	}
	return all
}

func leftovers(r observe.Report) []*leftover {
	var all []*leftover
	byUnit := map[string]*leftover{}
	for _, c := range r.Clusters {
		for _, row := range c.Rows {
			if !row.Owner.Stale || healthOf(c, r.Application) != working {
				continue
			}
			k, wrong := byUnit[row.Owner.Was], wrongDatabase(r, c.Database, row) != ""
			if k == nil || wrong || k.wrong || row.Owner.Was == "" || k.targets[c.Database] != "" {
				k = &leftover{
					unit: row.Owner.Was, targets: map[ovndb.Database]string{}, refused: map[ovndb.Database]bool{},
					wrong: wrong,
				}
				k.finding = finding.About(finding.StaleMember, memberName(r.Application, c.Database, row), finding.Args{})
				all = append(all, k)
				byUnit[row.Owner.Was] = k
			}
			k.add(r, c, row)
		}
	}
	return all
}

func (k *leftover) add(r observe.Report, c observe.Cluster, row observe.Row) {
	k.targets[c.Database] = row.Longest()
	k.finding.Subject.Databases = append(k.finding.Subject.Databases, c.Database)
	state := finding.Reason{
		Code: finding.MemberDead, Name: fmt.Sprintf("%s %s at %s", c.Database.Short(), row.Short, row.Address),
	}
	if row.Runs() {
		state.Code = finding.MemberRuns
	}
	k.finding.Args.Reasons = append(k.finding.Args.Reasons, state)
	change := raft.Change{Database: c.Database, View: c.View, Target: row.Longest()}
	permit, allowed := raft.WeakestPermit(change)
	if allowed {
		k.permit = k.permit.Stronger(permit)
		k.runs = k.runs || row.Runs()
		k.needed = k.needed || row.Up && c.Quorum.Tolerance() <= 0
	} else {
		k.refused[c.Database] = true
		change.Permit = raft.PermitForce
		if plan := raft.PlanKick(change); plan.Refusal != nil {
			refused := Named(r.Application, c.Database, *plan.Refusal)
			refused.Subject = finding.Subject{}
			k.finding = k.finding.Because(finding.Of(finding.KickRefused, c.Database, finding.Args{}).Because(refused))
		}
	}
}

func (k *leftover) kick(r observe.Report, permit raft.Permit) command.Command {
	return kickMembers(r.Application, viewsOf(r), k.unit, k.allowed(), permit)
}

func (k *leftover) allowed() map[ovndb.Database]string {
	targets := maps.Clone(k.targets)
	maps.DeleteFunc(targets, func(d ovndb.Database, _ string) bool { return k.refused[d] })
	return targets
}

// KickOf returns the kick of a stale member, together with its former unit's other member. It is zero if the member
// is not stale, or if the kick would be refused now.
func KickOf(r observe.Report, d ovndb.Database, row observe.Row) command.Command {
	for _, k := range leftovers(r) {
		if k.targets[d] == row.Longest() && !k.refused[d] {
			return KickCommand(runOn(r.Application, viewsOf(r)), k.allowed(), k.permit)
		}
	}
	return command.Command{}
}

// Named adds, to a finding about one database, the units of the members that it names.
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

// WithoutLeader returns the remedies if this unit's server has no leader. They name no member as dead: this unit may
// be cut off. A leader that the server follows but that does not answer is leaving, or is soon replaced.
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
	return slices.Insert(ways, len(ways)-1, finding.If(finding.IfCutOff, kick).For(other))
}

// ElsewhereOrLost returns the remedies if this unit's server does not know the state of the cluster: resume what is
// paused, ask another unit, or, at last, recover a lost quorum.
func ElsewhereOrLost(m observe.Application, clusters Views) (ways []finding.Remedy) {
	for _, unit := range m.Others() {
		if m.Peers[unit].State.Paused {
			ways = append(ways, resume(unit))
		}
	}
	other := otherUnit(m, clusters)
	return append(ways,
		finding.If(finding.ToAskAnother, StatusCommand(other)).For(other),
		finding.If(finding.IfNoneLeads, recoveryPlanCommand(m, clusters)),
	)
}

// resume starts the servers of a paused unit, which systemd does not start.
func resume(unit string) finding.Remedy {
	return finding.Do(command.RunHook(unit))
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
}

// changedByAnother returns the other unit that changes the membership of one of the databases; empty if there is
// none. After the change a member that is down may be up again, or gone.
func changedByAnother(clusters Views, unit string) string {
	for _, d := range ovndb.Databases() {
		if by := clusters[d].ChangedBy; by != unit && by != "" {
			return by
		}
	}
	return ""
}

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
			b.mayGo, b.permit = b.mayGo && allowed, b.permit.Stronger(permit)
			b.targets[d] = p.Longest()
			b.names = append(b.names, Describe(m, d, p))
		}
	}
	return all
}

// Ways returns the remedies of refusals of both databases, the best first. For each unit whose members block the
// change, one command suffices for both databases.
func Ways(m observe.Application, plans []raft.Plan, clusters Views) (all []finding.Remedy) {
	if by := changedByAnother(clusters, m.Unit); by != "" {
		return []finding.Remedy{finding.ByHand(finding.AwaitChange).For(by)}
	}
	for _, b := range blockersOf(m, plans, clusters) {
		switch unit := b.owner.Unit; {
		case unit != "":
			for _, r := range WhileDown(m, clusters, unit) {
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

// WhileDown returns the remedies if members of a unit of the model are down. If the unit may be lost, it must be
// removed from the model before its members are kicked. After a kick alone no finding would name it, and it would join
// again once its machine is back. After the removal its members are stale, and that finding has the command for their
// kick.
func WhileDown(m observe.Application, clusters Views, unit string) []finding.Remedy {
	ways, mayBeLost := repairs(m, clusters, unit)
	if !mayBeLost {
		return ways
	}
	lost := finding.If(finding.IfLost, command.RemoveByForce(unit))
	if !m.Dying(unit) {
		lost.Then = []command.Command{command.Client("add-unit", unitname.Application(unit))}
	}
	lost.Deed = finding.KickLeftovers
	return append(ways, lost)
}

// repairs returns the remedies that bring the members of a unit back. If the unit's machine is known to be on, or the
// unit has published what keeps its servers down, they are the remedies of the cause there. Without a quorum, nothing
// there repairs a file on which no server can start: only a recovery makes a new member. mayBeLost reports whether
// nothing shows that the machine is on.
func repairs(m observe.Application, clusters Views, unit string) (ways []finding.Remedy, mayBeLost bool) {
	state := m.Peers[unit].State
	if state.Paused {
		return []finding.Remedy{resume(unit)}, false
	}
	on := symptomsOf(m, clusters, unit)
	if state.DiskFull {
		return []finding.Remedy{finding.ByHand(finding.MakeSpaceOn)}, !on.machineOn
	}
	if state.Unusable[ovndb.NB] || state.Unusable[ovndb.SB] {
		for d := range state.Unusable {
			if !clusters[d].Quorum().Holds() {
				return nil, !on.machineOn
			}
		}
		rejoin := command.Command{Unit: unit, Action: "rejoin", Params: []command.Param{confirmed}}
		return []finding.Remedy{finding.Do(rejoin)}, !on.machineOn
	}
	if on.diskMayBeFull {
		full := finding.ByHand(finding.MakeSpaceThere)
		full.When = finding.IfDiskFull
		ways = append(ways, full)
	}
	if !on.machineOn {
		return append(ways, finding.ByHand(finding.StartMachine)), true
	}
	switch {
	case m.Dying(unit): // its hook stop runs, or Juju tries it again
		ways = append(ways, finding.ByHand(finding.AwaitRemoval))
	case on.silent != "" && !on.diskMayBeFull:
		ways = append(ways, finding.If(finding.IfThisLasts, plan.RestartOn(unit, on.silent)))
	default:
		ways = append(ways, finding.If(finding.BeforeHook, command.RunHook(unit)))
	}
	return ways, false
}

// symptoms is this unit's view of another unit's servers.
type symptoms struct {
	// machineOn reports whether one of the unit's servers answers, so that its machine is on.
	machineOn bool
	// diskMayBeFull reports whether a server has recorded that it lost entries, or stores nothing while it answers.
	diskMayBeFull bool
	// silent is the service of a server that does not answer: it hangs, or has ended. A hook starts the latter, and a
	// restart repairs both.
	silent ovndb.Service
}

func symptomsOf(m observe.Application, clusters Views, unit string) (s symptoms) {
	for _, d := range ovndb.Databases() {
		for _, p := range clusters[d].Peers() {
			if m.Owner(d, p).Unit != unit {
				continue
			}
			s.machineOn = s.machineOn || p.Runs() || p.Answers
			s.diskMayBeFull = s.diskMayBeFull || p.Lost || p.Lag > 0 && p.Answers
			if !p.Runs() && !p.Answers {
				s.silent = ovndb.ServiceOf(d)
			}
		}
	}
	return s
}

// kickMembers returns the kick of the members of a former unit. It names the unit if that means exactly these
// members, which is shorter; otherwise it names their IDs.
func kickMembers(
	m observe.Application, clusters Views, unit string, targets map[ovndb.Database]string, permit raft.Permit,
) command.Command {
	on := runOn(m, clusters)
	if hasOnly(m, clusters, unit, targets) {
		return KickUnit(on, unit, permit)
	}
	return KickCommand(on, shortened(targets), permit)
}

// hasOnly reports whether a kick of the unit means exactly these members, in both databases. Each must have a record
// of the unit.
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
