package status

import (
	"fmt"
	"maps"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// leftover has the members of a former unit, in one database or in both.
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
	// wrong reports whether it is a server of the other database.
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

// leftovers groups the stale members by former unit.
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
	state := "down"
	if row.Runs() {
		state = "up: its servers and its ovn-northd run until its machine is off"
	}
	detail := fmt.Sprintf("%s %s at %s, %s", c.Database.Short(), row.Short, row.Address, state)
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
	if k.finding.Args.Detail != "" {
		detail = k.finding.Args.Detail + "; " + detail
	}
	k.finding.Args.Detail = detail
}

func (k *leftover) kick(r observe.Report, permit raft.Permit) command.Command {
	return kickMembers(r.Application, viewsOf(r), k.unit, k.allowed(), permit)
}

// allowed returns the members that may be kicked now.
func (k *leftover) allowed() map[ovndb.Database]string {
	targets := maps.Clone(k.targets)
	maps.DeleteFunc(targets, func(d ovndb.Database, _ string) bool { return k.refused[d] })
	return targets
}

// KickOf returns the kick of a stale member, together with its former unit's other member. It is zero if the member is
// not stale, or the kick would be refused now.
func KickOf(r observe.Report, d ovndb.Database, row observe.Row) command.Command {
	for _, k := range leftovers(r) {
		if k.targets[d] == row.Longest() && !k.refused[d] {
			return KickCommand(runOn(r.Application, viewsOf(r)), k.allowed(), k.permit)
		}
	}
	return command.Command{}
}
