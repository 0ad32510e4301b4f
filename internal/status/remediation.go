package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// NoQuorumRemediation is what to do where this unit's server has no leader, a line for each way
// out. No member is named as dead: this unit may be the one that is cut off.
func NoQuorumRemediation(m observe.Application, l observe.ServerState) []string {
	// A leader that does not answer is leaving, or soon followed by another: no member is
	// to be kicked for that.
	if l.Status.Role == raft.Follower && l.Status.HasLeader() {
		return []string{"wait: the leader is leaving, or an election is under way"}
	}
	target := map[ovndb.Database]string{l.Database: string(l.Status.Server)}
	clusters := Views{l.Database: {Status: l.Status}}
	other := OtherUnit(m, clusters)
	return []string{
		fmt.Sprintf("if %s shows a leader, this unit is cut off: %s", StatusCommand(m, other), m.Version.Render(KickCommand(other, target, raft.PermitUnitInModel))),
		LostQuorumRemediation(m, clusters),
	}
}

// LostQuorumRemediation is what to do where no unit has a leader, in one line.
func LostQuorumRemediation(m observe.Application, clusters Views) string {
	return "if no unit shows a leader, start the servers that are down; if they are lost for good: " + m.Version.Render(recoveryPlanCommand(m, clusters)) +
		" (docs/how-to/recover-quorum.md)"
}

// Remediation says how to get rid of the members that are down and stand in the way of
// a change of one database.
func Remediation(r *raft.Refusal, v raft.View, m observe.Application) []string {
	return Remediations([]*raft.Refusal{r}, Views{r.Database: v}, m)
}

// blocker are the members of one unit, or one member of an unknown unit, that
// stand in the way.
type blocker struct {
	owner   observe.Owner
	targets map[ovndb.Database]string
	// names are the members, each as it is described; down says of each in which
	// database it is down.
	names, down []string
	// mayGo reports that a kick with the permit would be allowed in each of the databases.
	mayGo  bool
	permit raft.Permit
	// noted is why one of them that is up counts as down; empty where none is up.
	noted string
}

// Remediations is [Remediation] for both databases, with one way out for each unit: one
// command does for both.
func Remediations(refusals []*raft.Refusal, clusters Views, m observe.Application) []string {
	if by := changedByAnother(clusters, m.Unit); by != "" {
		return []string{"wait: " + by + " is changing the membership"}
	}
	var advice []string
	for _, b := range blockersOf(m, refusals, clusters) {
		what, server, it, them := strings.Join(b.names, " and "), "server", "it is", "it"
		if len(b.names) > 1 {
			server, it, them = "servers", "they are", "them"
		}
		paused := m.Peers[b.owner.Unit].State.Paused
		if paused { // systemd doesn't start its services
			advice = append(advice, fmt.Sprintf("resume %s, which is paused: %s", b.owner.Unit, m.Version.Render(resumeCommand(b.owner.Unit))))
		}
		switch {
		case b.noted != "" && b.owner.Unit != "": // its unit ends that by itself: nothing is to be kicked for it
			advice = append(advice, fmt.Sprintf("wait for the next hook of %s, or see its status: %s", b.owner.Unit, b.noted))
		case paused && !b.mayGo:
		case paused:
			advice = append(advice, fmt.Sprintf("if the machine of %s is lost, kick %s first: %s", b.owner.Unit, what, m.Version.Render(kickBlocker(b, b.targets, clusters, m))))
		case !b.mayGo:
			advice = append(advice, fmt.Sprintf("start the %s of %s again", server, what))
		case b.owner.Unit != "":
			advice = append(advice, fmt.Sprintf("start the %s of %s again, or, if %s lost, kick %s first: %s",
				server, what, it, them, m.Version.Render(kickBlocker(b, b.targets, clusters, m))))
		case b.owner.Stale:
			advice = append(advice, fmt.Sprintf("kick %s first: %s", what, m.Version.Render(kickBlocker(b, b.targets, clusters, m))))
		default:
			advice = append(advice, fmt.Sprintf("find out which unit %s belongs to before you kick it (%s)", what, strings.Join(m.Unpublished(), "; ")))
		}
	}
	return advice
}

// changedByAnother is the unit, other than this one, that changes the membership of one of the
// databases: a member that is down may be up again, or gone, once it is done.
func changedByAnother(clusters Views, unit string) string {
	for _, d := range ovndb.Databases() {
		if by := clusters[d].ChangedBy; by != unit && by != "" {
			return by
		}
	}
	return ""
}

// blockersOf puts the members of one unit together.
func blockersOf(m observe.Application, refusals []*raft.Refusal, clusters Views) []*blocker {
	var all []*blocker
	byUnit := map[observe.Owner]*blocker{}
	for _, r := range refusals {
		for _, p := range r.Blockers {
			o := m.Owner(r.Database, p)
			known := o.Unit != "" || o.Was != ""
			b := byUnit[o]
			if b == nil || !known || b.targets[r.Database] != "" {
				b = &blocker{owner: o, targets: map[ovndb.Database]string{}, mayGo: true}
				all = append(all, b)
				byUnit[o] = b
			}
			permit, allowed := raft.WeakestPermit(raft.Change{Database: r.Database, View: clusters[r.Database], Target: p.Longest(), UnitInModel: o.Unit})
			b.mayGo, b.permit = b.mayGo && allowed, b.permit.Stronger(permit)
			b.targets[r.Database] = p.Longest()
			b.names = append(b.names, Describe(m, r.Database, p))
			b.down = append(b.down, r.Database.Short()+" "+Describe(m, r.Database, p)+" is down")
			if p.Noted && b.noted == "" {
				b.noted = Describe(m, r.Database, p) + " is up, but counts as down: " + p.Why
			}
		}
	}
	return all
}

// ways are the ways out of refusals, the best first: for each unit whose members are down, what brings them back, and
// what removes them.
func ways(m observe.Application, refusals []*raft.Refusal, clusters Views) (all []finding.Remedy) {
	for _, b := range blockersOf(m, refusals, clusters) {
		unit := b.owner.Unit
		kick := func(when finding.Condition) finding.Remedy {
			return finding.If(when, kickBlocker(b, shortened(b.targets), clusters, m))
		}
		switch {
		case m.Peers[unit].State.Paused:
			all = append(all, finding.Do(resumeCommand(unit)))
		case b.noted != "" && unit != "": // its unit ends that by itself: nothing is to be kicked for it
			all = append(all, finding.ByHand(finding.AwaitHook).For(unit))
			continue
		case unit != "":
			all = append(all, finding.ByHand(finding.StartMachine).For(unit))
		case b.owner.Stale && b.mayGo:
			all = append(all, kick(""))
			continue
		case !b.mayGo:
			all = append(all, finding.ByHand(finding.StartServer).For(strings.Join(b.names, " and ")))
			continue
		default:
			all = append(all, finding.ByHand(finding.FindOwner))
			continue
		}
		if b.mayGo {
			all = append(all, kick(finding.IfLost).For(unit))
		}
	}
	return all
}

func resumeCommand(unit string) command.Command {
	return command.Command{Unit: unit, Action: "resume"}
}

// kickBlocker names the unit where that means these members and no others, which
// is the shorter line and the same for both databases; else these IDs of them.
func kickBlocker(b *blocker, ids map[ovndb.Database]string, clusters Views, m observe.Application) command.Command {
	unit := cmp.Or(b.owner.Unit, b.owner.Was)
	on := runOn(m, clusters, b.owner.Unit)
	if hasOnly(m, clusters, unit, b.targets) {
		return kickUnitCommand(on, unit, b.permit)
	}
	return KickCommand(on, ids, b.permit)
}

// hasOnly reports whether a kick of the unit means these members and no others, in
// both databases, each of which has a record of it.
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
			its := slices.ContainsFunc(ids, p.Is)
			if its && p.Longest() != targets[d] {
				return false
			}
		}
	}
	return true
}
