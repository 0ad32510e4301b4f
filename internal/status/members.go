package status

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// Clusters returns the findings about the clusters and their members, as far as this unit may judge. [Own] is about
// this unit's own servers.
func Clusters(r observe.Report) []finding.Finding {
	if r.Application.AllDying() { // stopped servers block no unit now
		return []finding.Finding{finding.New(finding.ApplicationRemoved, finding.Subject{}, finding.Args{})}
	}
	all := slices.Concat(elsewhere(r), quorum(r), closedPorts(r), oddMembers(r), replacesItself(r),
		r.Application.Unpublished(), r.Application.Problems, charms(r.Application))
	if works(r) { // else this unit may be cut off
		all = slices.Concat(all, leaves(r), notInNewCluster(r))
	}
	return slices.Concat(all, stale(r), down(r))
}

// Own returns the findings about this unit's servers that are not working members. The findings of package plan are
// more precise.
func Own(r observe.Report) (all []finding.Finding) {
	if r.Application.AllDying() {
		return nil
	}
	for _, c := range r.Clusters {
		switch healthOf(c, r.Application) {
		case absent:
			all = append(all, finding.Of(finding.ServerDown, c.Database, finding.Reason{Code: finding.NoDatabaseYet}.Args()))
		case notServing:
			all = append(all, notServed(c, r.Application.Unit))
		case joining:
			all = append(all, finding.Of(finding.ServerJoining, c.Database, finding.Args{}))
		case leaving:
			all = append(all, finding.Of(finding.ServerLeaving, c.Database, finding.Args{}))
		}
	}
	return all
}

func notServed(c observe.Cluster, unit string) finding.Finding {
	code, why := finding.ServerUnreadable, c.Reason()
	var ways []finding.Remedy
	switch {
	case c.Condition == ovndb.Former: // the text names the unit that it belonged to
		code = finding.ServerRemoved
	case c.Condition == ovndb.Left:
		code, why = finding.ServerRemoved, finding.Reason{}
	case c.Condition == ovndb.Standalone:
		code, why = finding.DatabaseStandalone, finding.Reason{}
	case c.Condition == ovndb.Failed:
		code, why = finding.ServerFailed, finding.Reason{}
	case c.Starting:
		code, why = finding.ServerStarting, finding.Reason{}
	case c.Condition == ovndb.Hung:
		code, why = finding.ServerHangs, finding.Quote(c.Err.Error())
	case c.Condition == ovndb.Down && c.FileErr == nil:
		code, why = finding.ServerDown, c.Cause
		ways = []finding.Remedy{finding.If(finding.BeforeHook, command.RunHook(unit))}
	}
	return finding.Of(code, c.Database, why.Args(), ways...)
}

func elsewhere(r observe.Report) (all []finding.Finding) {
	for _, c := range r.Clusters {
		if c.Condition != ovndb.Serving || c.Status.Cluster == "" {
			continue
		}
		for _, unit := range r.Application.Published.Names() {
			id := r.Application.Published[unit][c.Database].Cluster
			if id != "" && id != c.Status.Cluster && !superseded(c, id) {
				all = append(all, finding.Of(finding.ClusterElsewhere, c.Database,
					finding.Args{Unit: unit, Cluster: id.Brief(), Other: c.Status.Cluster.Brief()}))
			}
		}
	}
	return all
}

func superseded(c observe.Cluster, id raft.ID) bool {
	return id != "" && c.Condition == ovndb.Serving && slices.Contains(c.View.Superseded, id)
}

// charms finds the units whose charm has another version than most units', or than this unit's if no version has a
// majority. A unit counts only if it has seen this unit's version. Then it has run a hook since, and Juju upgrades a
// unit's charm before it runs a hook; Juju may still be about to upgrade any other unit.
func charms(m observe.Application) (all []finding.Finding) {
	if m.Charm == "" {
		return nil
	}
	units, judged := map[string][]string{m.Charm: {m.Unit}}, 1
	for _, unit := range m.Others() {
		s := m.Peers[unit].State
		if s.Charm != "" && !m.Dying(unit) && (s.Charm == m.Charm || slices.Contains(s.CharmsSeen, m.Charm)) {
			units[s.Charm] = append(units[s.Charm], unit)
			judged++
		}
	}
	usual := m.Charm
	for charm, its := range units {
		if 2*len(its) > judged {
			usual = charm
		}
	}
	delete(units, usual)
	for charm, its := range units {
		for _, unit := range its {
			all = append(all, finding.New(finding.CharmVersionDiffers, finding.Subject{Name: unit},
				finding.Args{
					Unit: unit, Version: charm,
					Reasons: []finding.Reason{{Code: finding.CharmsDiffer, Value: charm, Name: usual}},
				},
				finding.ByHand(finding.RefreshAgain)))
		}
	}
	return all
}

func memberName(m observe.Application, d ovndb.Database, row observe.Row) string {
	return cmp.Or(row.Owner.Unit, row.Owner.Was, Describe(m, d, row.Peer))
}

// down finds the members that are down. Without a quorum it finds none: this unit may be cut off.
func down(r observe.Report) []finding.Finding {
	return membersDown(r, func(row observe.Row) bool {
		return !row.Self && !row.Up && !row.OneWay && !row.Owner.Stale // the others have other findings
	})
}

// silentMembers finds the members of another unit whose servers don't run, as far as this unit can see. They can't
// leave by themselves.
func silentMembers(r observe.Report, unit string) []finding.Finding {
	return membersDown(r, func(row observe.Row) bool { return !row.Self && !row.Runs() && row.Owner.Unit == unit })
}

func membersDown(r observe.Report, is func(observe.Row) bool) (all []finding.Finding) {
	for _, c := range r.Clusters {
		if healthOf(c, r.Application) != working {
			continue
		}
		for _, row := range c.Rows {
			if !is(row) {
				continue
			}
			ways := []finding.Remedy{finding.ByHand(finding.FindOwner).For(Describe(r.Application, c.Database, row.Peer))}
			if unit := row.Owner.Unit; unit != "" {
				ways = WhileDown(r.Application, viewsOf(r), unit)
			}
			f := finding.Of(finding.MemberDown, c.Database, finding.Args{
				Unit: row.Owner.Unit, Reasons: downReason(row.Short+" at "+row.Address, row),
			}, ways...)
			f.Subject.Name = memberName(r.Application, c.Database, row)
			all = append(all, f)
		}
	}
	return all
}

// leaves finds the units, this one too, that are being removed and can't leave yet: a quorum needs them, or they are
// down. Juju itself shows only that a hook failed, or that it has lost the agent.
func leaves(r observe.Report) (all []finding.Finding) {
	m := r.Application
	for _, unit := range slices.SortedFunc(maps.Keys(m.Goal), unitname.Compare) {
		if !m.Dying(unit) {
			continue
		}
		plans := refusedLeaves(r, unit)
		var absent []finding.Finding
		if _, up := memberOf(r, unit); !up {
			absent = silentMembers(r, unit)
		}
		subject := finding.Subject{Name: unit}
		by := changedByAnother(viewsOf(r), m.Unit)
		switch {
		case len(plans)+len(absent) == 0 || by == unit: // it is leaving
		case by != "":
			all = append(all, finding.New(finding.LeaveWaits, subject, finding.Args{Unit: by}))
		default:
			f := finding.New(finding.LeaveBlocked, subject, finding.Args{}, Ways(m, plans, viewsOf(r))...)
			all = append(all, f.Because(append(absent, reasons(m, plans)...)...))
		}
	}
	return all
}

func refusedLeaves(r observe.Report, unit string) (refused []raft.Plan) {
	for _, c := range r.Clusters {
		for _, plan := range plans(c, unit, raft.PlanLeave) {
			if plan.Refusal != nil {
				refused = append(refused, plan)
			}
		}
	}
	return refused
}

func plans(c observe.Cluster, unit string, judge func(raft.Change) raft.Plan) (all []raft.Plan) {
	for _, row := range c.Rows {
		if row.Owner.Unit == unit {
			all = append(all, judge(raft.Change{Database: c.Database, View: c.View, Target: row.Longest()}))
		}
	}
	return all
}

func reasons(m observe.Application, plans []raft.Plan) (all []finding.Finding) {
	for _, plan := range plans {
		all = append(all, Named(m, plan.Database, *plan.Refusal))
	}
	return all
}

// joinPatience is how long a unit may take to join a new cluster: two intervals of update-status.
const joinPatience = 10 * time.Minute

// notInNewCluster finds the other units whose server is in the cluster that this unit's cluster has replaced.
// Published data is late, so a unit also counts as joined if there is a member at its address. A unit that the
// recovery has given up must be removed; a unit that had the time to join may be lost.
func notInNewCluster(r observe.Report) (all []finding.Finding) {
	for _, unit := range r.Application.Published.Names() {
		awaited, givenUp, late := false, false, false
		for _, c := range r.Clusters {
			if unit == r.Application.Unit || !superseded(c, r.Application.Published[unit][c.Database].Cluster) ||
				hasMemberAt(c, r.Application.Peers[unit].State.Address) {
				continue
			}
			awaited = true
			givenUp = givenUp || slices.Contains(c.View.GivenUp, unit)
			late = late || r.At.Sub(c.View.MadeAt) >= joinPatience
		}
		if !awaited {
			continue
		}
		f := finding.New(finding.NotInNewCluster, finding.Subject{Name: unit}, finding.Args{Unit: unit})
		switch {
		case givenUp: // its machine is off for good
			f.Remedies = []finding.Remedy{finding.If(finding.UnlessReturns, command.RemoveByForce(unit))}
		case r.Application.Peers[unit].State.Paused:
			f.Remedies = []finding.Remedy{resume(unit)}
		case late:
			f.Remedies = []finding.Remedy{
				finding.ByHand(finding.StartMachine),
				finding.If(finding.IfLost, command.RemoveByForce(unit)),
			}
		}
		all = append(all, f)
	}
	return all
}

func hasMemberAt(c observe.Cluster, address netip.Addr) bool {
	return address.IsValid() && slices.ContainsFunc(c.Rows, func(row observe.Row) bool {
		return ovndb.HostOf(row.Address) == address.String()
	})
}

// oddMembers finds servers of the other database, shared addresses, too few members, and texts of a newer
// ovsdb-server.
func oddMembers(r observe.Report) (all []finding.Finding) {
	for _, c := range r.Clusters {
		if c.Condition != ovndb.Serving {
			continue
		}
		for _, row := range c.Rows {
			all = append(all, oddMember(r, c, row)...)
		}
		for _, line := range c.Status.Unknown {
			args := finding.Args{Value: fmt.Sprintf("%q", line)}
			all = append(all, finding.Of(finding.UnknownText, c.Database, args))
		}
		if n := len(c.Rows); c.Status.State != raft.JoiningCluster && (n < 3 || n%2 == 0) {
			args := finding.Args{Count: n, Total: max(0, (n-1)/2)}
			few := finding.Of(finding.FewMembers, c.Database, args)
			if args.Total == 0 {
				few.Remedies = waysToMore(r.Application, c)
			}
			all = append(all, few)
		}
	}
	return all
}

// waysToMore returns the remedies for a cluster that tolerates no failure. A paused unit joins once it is resumed. If
// Juju did not answer, there may be units that this one does not know.
func waysToMore(m observe.Application, c observe.Cluster) (ways []finding.Remedy) {
	if m.Unread != nil {
		return nil
	}
	for _, unit := range m.Others() {
		state := m.Peers[unit].State
		if state.Paused && !m.Dying(unit) && !hasMemberAt(c, state.Address) {
			ways = append(ways, resume(unit))
		}
	}
	if len(ways) == 0 {
		ways = []finding.Remedy{finding.Do(command.Client("add-unit", unitname.Application(m.Unit)))}
	}
	return ways
}

func oddMember(r observe.Report, c observe.Cluster, row observe.Row) (all []finding.Finding) {
	name := Describe(r.Application, c.Database, row.Peer)
	add := func(code finding.Code, name string, args finding.Args, remedies ...finding.Remedy) {
		f := finding.Of(code, c.Database, args, remedies...)
		f.Subject.Name = name
		all = append(all, f)
	}
	if owner := wrongDatabase(r, c.Database, row); owner != "" {
		add(finding.WrongDatabase, name, finding.Args{Value: owner}, removeWrong(r, c, row)...)
	}
	if row.Extra != "" {
		add(finding.UnknownText, name, finding.Args{Value: fmt.Sprintf("%q", row.Extra)})
	}
	for _, other := range c.Rows {
		if other.Address == row.Address && other.Short < row.Short {
			add(finding.SameAddress, Describe(r.Application, c.Database, other.Peer)+" and "+name,
				finding.Args{Address: row.Address})
		}
	}
	return all
}

// removeWrong returns the kick of a server of the other database. Its machine, which may be another unit's, stays on.
func removeWrong(r observe.Report, c observe.Cluster, row observe.Row) []finding.Remedy {
	permit, allowed := raft.WeakestPermit(raft.Change{Database: c.Database, View: c.View, Target: row.Longest()})
	if !allowed || !row.Owner.Stale || healthOf(c, r.Application) != working {
		return nil
	}
	targets := shortened(map[ovndb.Database]string{c.Database: row.Longest()})
	return []finding.Remedy{finding.Do(KickCommand(runOn(r.Application, viewsOf(r)), targets, permit))}
}

// wrongDatabase returns the other database, with the unit if known, if the member's ID or port shows that it is a
// server of that database; otherwise it is empty. ovsdb-server lets such a server join.
func wrongDatabase(r observe.Report, d ovndb.Database, row observe.Row) string {
	other := d.Other()
	for _, unit := range r.Application.Published.Names() {
		if id := r.Application.Published[unit][other].Server; id != "" && len(id) > 4 && id == row.ID {
			return fmt.Sprintf("%s, of %s", other, unit)
		}
	}
	if ovndb.PortOf(row.Address) == fmt.Sprint(ovndb.RaftPort(other)) {
		return string(other)
	}
	return ""
}

func replacesItself(r observe.Report) (all []finding.Finding) {
	for _, c := range r.Clusters {
		if c.View.SupersedesItself {
			tool := "ovn-" + c.Database.Short() + "ctl"
			all = append(all, finding.Of(finding.ReplacesItself, c.Database,
				finding.Quote("external_ids:"+observe.SupersededKey+" of "+c.Database.GlobalTable()).Args(),
				finding.Do(command.OnMachine(r.Application.Unit,
					fmt.Sprintf(`sudo %s --no-leader-only remove %s . external_ids '"%s"'`, tool, c.Database.GlobalTable(),
						observe.SupersededKey)))))
		}
	}
	return all
}
